"""GPU203: the GPU's device nodes or the host's driver are mapped into a container by hand."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.facts.requests import device_vendor, is_driver_path
from gpulint.model.container import Container, Mount, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Text, Unknown, Value

NODES = "/dev/nvidia"


def check(container: Container, project: Project) -> Iterator[Problem]:
    """One problem at the first such device or mount, unless a request beside it brings the GPU anyway; in a pod always."""
    mapped = next((mount for mount in (*container.devices, *container.mounts) if _is_node(mount.source) or _driver_path(mount)), None)
    if mapped is None or is_infrastructure(container):
        return
    if not container.is_in_pod and (_has_another_way(container) or project.machines_of(container).default_runtime == "nvidia"):
        return
    library = next(filter(None, map(_driver_path, container.mounts)), "")
    shown = library or str(mapped.source)
    if container.is_in_pod:
        message = f"{shown} is mounted from the node by hand: it comes past the scheduler and the device plugin, and fits one driver only"
        help_line = "set a limit such as nvidia.com/gpu: 1, and drop these mounts"
    elif not library:
        message = f"{shown} is mapped in by hand, without the driver's libraries: CUDA finds no driver and the program runs on CPU"
        help_line = "ask for the GPU: a device reservation in Compose, --gpus or --device nvidia.com/gpu=all on the command line"
    else:
        message = f"the driver's {shown} is mounted from the host by hand: it fits this driver only, and breaks with the next"
        help_line = "ask for the GPU: a device reservation in Compose, --gpus on the command line brings the libraries that fit"
    yield Problem(mapped.location, message, Severity.WARNING, help=help_line)


def _is_node(source: Value | None) -> bool:
    return isinstance(source, Text) and source.startswith(NODES) and device_vendor(source) == "nvidia"


def _driver_path(mount: Mount) -> str:
    """The side of a mount that is a part of the host's driver; "" for none. What a variable brings may be a copy of it."""
    if isinstance(mount.source, Unknown):
        return ""
    sides = (str(place) for place in (mount.source, mount.target) if isinstance(place, Text))
    return next((side for side in sides if is_driver_path(side)), "")


def _has_another_way(container: Container) -> bool:
    """Whether a request, or something that is not known, brings the GPU with its libraries."""
    by_hand = (RequestKind.RAW_DEVICE, RequestKind.VISIBLE_DEVICES)
    return "gpu" in container.open or any(each.is_meant and each.kind not in by_hand for each in container.requests)


RULE = Rule("GPU203", "gpu-mapped-by-hand", Container, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
