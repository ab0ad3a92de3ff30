"""Requests for an accelerator that every tool writes alike: a runtime, a variable that its hook reads, device nodes and CDI names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpulint.deferred import regex
from gpulint.facts.requests import device_vendor, names_no_device, runtime_vendor, visible_devices_vendor
from gpulint.facts.resources import gpu_resource, looks_like_gpu
from gpulint.model.container import GpuRequest, Mount, RequestKind, RequestState
from gpulint.model.variable import EnvVar
from gpulint.source import Location, Text, Unknown, Value

_CDI_NAME = regex(r"(?P<kind>[A-Za-z][\w.-]*/[A-Za-z][\w.-]*)=(?P<device>[\w.:,-]+)")


def runtime_request(runtime: Value | None) -> GpuRequest | None:
    """The request that a container runtime or RuntimeClass is, where it brings accelerators."""
    if not isinstance(runtime, Text):
        return None
    vendor = runtime_vendor(runtime)
    if vendor is None:
        return None
    return GpuRequest(RequestKind.RUNTIME, RequestState.ASKED, runtime.location, vendor, resource=runtime)


def variable_requests(env: Iterable[EnvVar]) -> Iterator[GpuRequest]:
    """The requests in variables that a runtime's hook reads, such as `NVIDIA_VISIBLE_DEVICES=all`; one that names no device is none.

    A value that cannot be known counts: what it names may be a device.
    """
    last = {variable.name: variable for variable in env}
    for variable in last.values():
        vendor = visible_devices_vendor(variable.name)
        if vendor is None or (isinstance(variable.value, Text) and names_no_device(variable.value)):
            continue
        place = variable.value.location if variable.value is not None else variable.name.location
        count, ids = _selection(variable.value)
        yield GpuRequest(RequestKind.VISIBLE_DEVICES, RequestState.ASKED, place, vendor, count, ids, resource=variable.name)


def _selection(value: Value | None) -> tuple[Value | None, tuple[Value, ...]]:
    """Count (the word `all`) or the devices that a comma list names."""
    if isinstance(value, Unknown):
        return value, ()
    if value is None or value.strip().lower() == "all":
        return value, ()
    return None, tuple(value.cut(match.start(), match.end()) for match in re.finditer(r"[^,\s]+", value))


def device_requests(devices: Iterable[Mount]) -> Iterator[GpuRequest]:
    """The accelerators among mapped devices: by a CDI name (`nvidia.com/gpu=all`), or the node itself."""
    for device in devices:
        if isinstance(device.source, Text):
            request = cdi_request(device.source) or _node_request(device.source, device.location)
            if request:
                yield request


def cdi_request(name: Text) -> GpuRequest | None:
    """The request that a CDI name is, where its kind is an accelerator's."""
    match = _CDI_NAME.fullmatch(name)
    if not match or not looks_like_gpu(match["kind"]):
        return None
    resource = gpu_resource(match["kind"])
    count, ids = _selection(name.cut(match.start("device"), match.end("device")))
    vendor = resource.vendor if resource else ""
    kind = name.cut(match.start("kind"), match.end("kind"))
    return GpuRequest(RequestKind.CDI, RequestState.ASKED, name.location, vendor, count, ids, resource=kind)


def _node_request(path: Text, location: Location) -> GpuRequest | None:
    vendor = device_vendor(path)
    if vendor is None:
        return None
    return GpuRequest(RequestKind.RAW_DEVICE, RequestState.ASKED, location, vendor, resource=path)
