"""The words by which container tools are asked for an accelerator: drivers, runtimes, device nodes, variables, annotations."""

from __future__ import annotations

from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import fullmatch, table, words


class Driver(NamedTuple):
    """A device driver of Docker Engine: the vendor it serves and the capabilities by which it is found where a request names none."""

    vendor: str
    capabilities: frozenset[str]


@cache
def drivers() -> dict[str, Driver]:
    """The device drivers that Docker Engine knows, by name; names are case-sensitive."""
    return {row["driver"]: Driver(row["vendor"], frozenset(row["capabilities"])) for row in table("requests")["drivers"]}


def runtime_vendor(name: str) -> str | None:
    """The vendor whose accelerators a container runtime or RuntimeClass of that name brings; None for any other runtime."""
    return _vendor("runtimes", name)


def device_vendor(path: str) -> str | None:
    """The vendor whose accelerator a device node belongs to, "" where several share the node; None for any other path."""
    return _vendor("device_nodes", path)


@cache
def visible_devices_vendor(variable: str) -> str | None:
    """The vendor whose runtime reads that variable to choose the devices to inject; None for any other variable."""
    return next((row["vendor"] for row in table("requests")["visible_devices"] if row["variable"] == variable), None)


def names_no_device(value: str) -> bool:
    """Whether a value of such a variable means that nothing is injected."""
    return value.strip().lower() in words("requests", "no_devices")


def is_driver_path(path: str) -> bool:
    """Whether a path, or the name of a volume, is where a host keeps the parts of its GPU driver that containers need."""
    return any(fullmatch(row["pattern"], path) for row in table("requests")["driver_paths"])


def needs_other_devices(word: str) -> bool:
    """Whether a device, mount or image shows that a container uses other devices of the host, or runs containers itself."""
    return any(fullmatch(row["pattern"], word) for row in table("requests")["other_devices"])


def gpu_annotation(key: str) -> bool:
    """Whether a pod's annotation of that key asks a scheduler for a share of a GPU."""
    return any(fullmatch(row["pattern"], key) for row in table("requests")["annotations"])


@cache
def _vendor(key: str, name: str) -> str | None:
    return next((row["vendor"] for row in table("requests")[key] if fullmatch(row["pattern"], name)), None)
