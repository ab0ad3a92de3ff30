"""What container runtimes and device plugins read: driver capabilities, device nodes, settings."""

from __future__ import annotations

import re
from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import fullmatch, table


class Nodes(NamedTuple):
    """The device nodes that a vendor's containers need, all of them, and the groups that may open these."""

    paths: tuple[str, ...]
    groups: tuple[str, ...]


def driver_capabilities(value: str | None) -> frozenset[str]:
    """The capabilities that a value of NVIDIA_DRIVER_CAPABILITIES grants: `all` is every one, none or an empty value the default."""
    rows = table("environment")["driver_capabilities"]
    named = {part.strip() for part in (value or "").split(",") if part.strip()}
    if not named:
        return frozenset(row["name"] for row in rows if row["default"])
    return frozenset(row["name"] for row in rows) if "all" in named else frozenset(named)


def known_capabilities() -> frozenset[str]:
    """Every driver capability that there is, `all` apart."""
    return frozenset(row["name"] for row in table("environment")["driver_capabilities"])


def device_nodes(vendor: str) -> Nodes | None:
    """The device nodes that containers of a vendor need where no runtime injects them; None for a vendor with such a runtime."""
    row = next((row for row in table("environment")["device_nodes"] if row["vendor"] == vendor), None)
    return Nodes(tuple(row["all_of"]), tuple(row["groups"])) if row else None


def plugin_values(key: str) -> tuple[str, ...]:
    """The values that a setting of the NVIDIA device plugin takes, () for a setting without a fixed set."""
    return next((tuple(row["values"]) for row in table("environment")["plugin_settings"] if row["key"] == key), ())


def read_at(variable: str) -> str:
    """When an environment variable of the GPU world is read: start (by the runtime), process, build or image; "" for any other."""
    rows = table("environment")["variables"]
    matches = (row for row in rows if row["name"] == variable or (row["name"].endswith("*") and variable.startswith(row["name"][:-1])))
    return next((str(row["read_at"]) for row in matches), "")


START_CHECK = ("NVIDIA_DISABLE_REQUIRE", "NVIDIA_REQUIRE_CUDA")
"""The variables by which an image's check of the driver is turned off, or set anew."""


def disables_start_check(variable: str, value: str) -> bool:
    """Whether a variable of the environment has the container start whatever the image asks of the driver."""
    return any(row["variable"] == variable and value in row["off"] for row in table("environment")["start_check"])


def asks_of_driver(repository: str, tag: str) -> bool:
    """Whether an image with CUDA may ask anything of the driver at its start; not all of them do."""
    rows = table("environment")["unchecked_images"]
    return not any(fullmatch(row["images"], repository) and fullmatch(row["tag"], tag) for row in rows)


def image_may_set(repository: str, variable: str) -> bool | None:
    """Whether an image may set an environment variable of that name; None where the variables of the image are not known."""
    row = next((row for row in table("environment")["image_variables"] if fullmatch(row["images"], repository)), None)
    return None if row is None else fullmatch(row["pattern"], variable) is not None


def in_every_stage(argument: str) -> bool:
    """Whether a build argument of that name is set in every stage, declared or not."""
    return any(fullmatch(row["pattern"], argument) for row in table("environment")["own_arguments"])


def speaks_of_gpu(text: str) -> bool:
    """Whether a part of a build, such as a command or the name of a variable, speaks of GPU software: `torch==`, `TORCH_CUDA_ARCH_LIST`."""
    return _gpu_names().search(text.lower()) is not None


@cache
def _gpu_names() -> re.Pattern[str]:
    names = "|".join(row["pattern"] for row in table("environment")["gpu_names"])
    return re.compile(rf"(?<![a-z])(?:{names})(?![a-z])")


def build_choices(code: str) -> frozenset[str]:
    """What a piece of a build script is about: `cuda` where it names CUDA code, `architectures` where it names those to compile for."""
    return frozenset(row["means"] for row in table("environment")["build_choices"] if any(word in code for word in row["words"]))


def sets_cuda_build(variable: str) -> bool:
    """Whether a variable of that name says how CUDA is built, as FORCE_CUDA does."""
    return any(fullmatch(row["pattern"], variable) for row in table("environment")["build_overrides"])
