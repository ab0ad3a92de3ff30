"""CUDA toolkits, NVIDIA drivers and GPUs: what runs on what.

A program built with any toolkit of a CUDA major runs on a driver of at least that major's floor, if it has machine code for the GPU
(minor-version compatibility). Between the floor and the toolkit's own driver, code that must be compiled from PTX and calls that need
the newer driver fail. No driver is ever too new.
"""

from __future__ import annotations

import re
from functools import cache

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import Row, fullmatch, table, version_key


class StartCheck(NamedTuple):
    """What an nvidia/cuda image asks of the driver before it starts (its NVIDIA_REQUIRE_CUDA).

    The driver must report at least CUDA `cuda`, or be of one of `branches`, each with the brands of card that it holds for (tesla,
    quadro, geforce). Only the container runtime's legacy hook and the Jetson mode make the check.
    """

    cuda: str
    branches: dict[str, tuple[str, ...]]


class Gpu(NamedTuple):
    """A GPU model: its compute capability, the first and last CUDA whose compiler knows it (None for no last one), and the first CUDA
    whose programs can run on it at all, since machine code of an older capability of the same major also runs. `brand` is tesla (a
    data-centre card, on which forward compatibility works), quadro, geforce or jetson."""

    capability: str
    first_cuda: str
    last_cuda: str | None
    oldest_cuda: str
    brand: str


def below(driver: str, minimum: str) -> bool:
    """Whether a driver is older than a minimum. A branch alone ("450") is not taken for older than a release of it."""
    have, need = version_key(driver), version_key(minimum)
    return have < need[: len(have)]


def toolkit_driver(cuda: str) -> str | None:
    """The driver that a toolkit ships with and fully works on; for "12.4" that of its first release; None where not known.

    A driver branch stands for the release where only the branch is known.
    """
    rows = [row for row in table("drivers")["toolkits"] if _is_release_of(row["cuda"], cuda)]
    row: Row = min(rows, key=lambda row: version_key(row["cuda"]), default={})
    driver = row.get("driver") or row.get("branch")
    return None if driver is None else str(driver)


def _is_release_of(release: str, cuda: str) -> bool:
    wanted = version_key(cuda)
    return version_key(release)[: len(wanted)] == wanted


def major_floor(cuda: str) -> str | None:
    """The oldest driver on which programs of that CUDA's major run; before CUDA 11 that is the toolkit's own driver."""
    major = cuda.partition(".")[0]
    floor = next((str(row["driver"]) for row in table("drivers")["floors"] if row["major"] == major), None)
    return floor or (toolkit_driver(cuda) if int(major) < _first_major() else None)


def _first_major() -> int:
    return min(int(row["major"]) for row in table("drivers")["floors"])


def driver_cuda(driver: str) -> str | None:
    """The CUDA version that a driver reports (what nvidia-smi prints); that of the nearest older branch for a branch not listed."""
    branch = version_key(driver)[0]
    older = [row for row in table("drivers")["branches"] if int(row["branch"]) <= branch]
    row: Row = max(older, key=lambda row: int(row["branch"]), default={})
    return row.get("cuda")


@cache
def start_check(image_cuda: str) -> StartCheck | None:
    """The start check of the nvidia/cuda image of that version, None where it was not read."""
    row = next((row for row in table("drivers")["image_requirements"] if row["image"] == image_cuda), None)
    admits = {row["name"]: tuple(row["admits"]) for row in table("drivers")["brands"]}
    return StartCheck(row["cuda"], {branch: admits[brands] for branch, brands in row["branches"].items()}) if row else None


def passes_start_check(image_cuda: str, driver: str, brand: str) -> bool | None:
    """Whether the start check of an nvidia/cuda image admits a driver on a card of that brand; None where the check was not read."""
    check, reported = start_check(image_cuda), driver_cuda(driver)
    if check is None or reported is None:
        return None
    if version_key(reported) >= version_key(check.cuda):
        return True
    return brand in check.branches.get(driver.partition(".")[0], ())


_BOUND = regex(r"cuda\s*>=\s*(\d{1,3}\.\d{1,3})")


def refuses_older_branches(image_cuda: str, requirement: str) -> bool:
    """Whether a value of NVIDIA_REQUIRE_CUDA refuses drivers that the check of the nvidia/cuda image itself admits by their branch.

    A bound at the beginning of the CUDA major admits every driver that runs the image.
    """
    check, bounds = start_check(image_cuda), _BOUND.findall(requirement)
    if check is None or not check.branches or not bounds or "driver" in requirement:
        return False
    return min(map(version_key, bounds)) > (version_key(check.cuda)[0], 0)


def forward_compatible(cuda: str, driver: str) -> bool:
    """Whether the cuda-compat package of that CUDA lets its programs run on an older driver's branch, on data-centre cards."""
    minor = ".".join(cuda.split(".")[:2])
    rows = table("drivers")["forward_compatibility"]
    return any(row["cuda"] == minor and driver.partition(".")[0] in row["usable_on"] for row in rows)


@cache
def gpu(model: str) -> Gpu | None:
    """What is known of a GPU by its name, as nvidia-smi or people write it: "T4", "RTX 4090", "NVIDIA A100-SXM4-80GB"."""
    name = re.sub(r"[-_\s]+", " ", model.upper())
    name = re.sub(r"^(?:NVIDIA |TESLA |GEFORCE )+", "", name)
    name = re.sub(r" (?:SXM\d?|PCIE|NVL|HBM\d\w?|\d+ ?GB|LAPTOP GPU|MIG.*)\b", "", name).strip()
    row = next((row for row in table("drivers")["gpus"] if fullmatch(row["models"], name)), None)
    if row is None:
        return None
    first, last = compiler_range(row["capability"]) or ("", None)
    return Gpu(row["capability"], first, last, row["oldest_cubin_cuda"], row["brand"])


@cache
def compiler_range(capability: str) -> tuple[str, str | None] | None:
    """The first and the last CUDA whose compiler has a target for a compute capability; None for one not known."""
    row = next((row for row in table("drivers")["architectures"] if row["capability"] == capability), None)
    return (row["first_cuda"], row["last_cuda"]) if row else None
