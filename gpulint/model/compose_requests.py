"""GPU requests of a Compose service: `gpus`, device reservations, generic resources, and blocks that Compose's schema refuses.

What is refused follows the Compose specification's schema, compose-go's loader and Docker Engine's drivers (gpulint/facts/requests.json).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpulint.deferred import regex
from gpulint.facts.images import gpu_word
from gpulint.facts.requests import device_vendor, drivers, runtime_vendor
from gpulint.facts.resources import looks_like_gpu
from gpulint.model.compose_faults import engine_faults, is_string, loader_faults, shape_faults
from gpulint.model.container import GpuRequest, RequestFault, RequestKind, RequestState
from gpulint.model.requests import cdi_request
from gpulint.model.service import RawService, is_null, kept, tag_of
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown, Value

_RESERVATIONS = ("deploy", "resources", "reservations")
_DEVICES = (*_RESERVATIONS, "devices")
_HOLDERS = (
    ("deploy",),
    ("deploy", "resources"),
    ("deploy", "resources", "limits"),
    _RESERVATIONS,
    ("deploy", "limits"),
    ("deploy", "reservations"),
    ("resources",),
    ("resources", "limits"),
    ("resources", "reservations"),
    ("limits",),
    ("reservations",),
)
"""Where a block of devices is found that belongs under deploy.resources.reservations, or `gpus` or `runtime` that belong to the service."""

_ZERO = regex(r"0+")


def service_requests(service: RawService) -> Iterator[GpuRequest]:
    """What a service asks for under its own keys, in the order of its layers, well formed or not.

    Compose holds its schema against the files so far each time that it adds one: what is refused in them no later file can mend.
    """
    whole = tuple(_requests(service))
    yield from whole
    told = {request.location for request in whole if request.faults}
    for part in service.parts():
        yield from (request for request in _requests(part, whole=False) if request.faults and request.location not in told)
    yield from _misplaced(service)


def _requests(service: RawService, whole: bool = True) -> Iterator[GpuRequest]:
    """The requests of a service, or of a part of its files, which nobody but the schema looks at."""
    yield from _gpus(service, whole)
    for node in service.every(*_DEVICES):
        yield from _reservation(service, node, whole)
    yield from _without_value(service)
    yield from _repeated(service)
    yield from _runtime_no_string(service)
    yield from _devices_no_list(service)
    for node in service.items(*_RESERVATIONS, "generic_resources"):
        yield from _generic_resource(service, node)


def _gpus(service: RawService, whole: bool) -> Iterator[GpuRequest]:
    """The requests of `gpus`. Lists are appended, and a word in an earlier file counts as a list by then; the word `all` can be put over
    no list, and within one file it gives way to what is put over it."""
    found: tuple[GpuRequest, ...] = ()
    word_in: tuple[str, int] | None = None
    for index, (node, step) in enumerate(service.every_by_step("gpus")):
        requests, place = tuple(_gpus_of(service, node, whole)), (node.location.path, step)
        if index and place != word_in:
            requests = (*found, *(requests if isinstance(node, Sequence) else map(_refused_over_list, requests)))
        found, word_in = requests, None if isinstance(node, Sequence) else place
    yield from found


def _refused_over_list(request: GpuRequest) -> GpuRequest:
    if request.faults or isinstance(request.count, Unknown):
        return request
    reason = "`gpus: all` is put over another `gpus`, and Compose merges no word into a list"
    return replace(request, state=RequestState.BROKEN, faults=(RequestFault(reason, request.location, remedy="gpus: !override all"),))


def _gpus_of(service: RawService, node: Node, whole: bool) -> Iterator[GpuRequest]:
    if isinstance(node, Sequence):
        for item in kept(node):
            yield _device(service, item, RequestKind.GPUS, whole)
    elif isinstance(node, Mapping):
        yield _broken(RequestKind.GPUS, node, "`gpus` is a mapping, not a list of them")
    else:
        count = service.read(node).value()
        if isinstance(count, Text) and (count != "all" or not is_string(node)):
            remedy = f"gpus: [{{count: {count}}}]" if count.isdigit() else "gpus: all"
            yield _broken(RequestKind.GPUS, node, f"`gpus: {count}` is neither `all` nor a list", remedy)
        else:
            yield GpuRequest(RequestKind.GPUS, RequestState.ASKED, node.location, count=count)


def _reservation(service: RawService, node: Node, whole: bool) -> Iterator[GpuRequest]:
    if isinstance(node, Sequence):
        for item in kept(node):
            yield _device(service, item, RequestKind.RESERVATION, whole)
    elif not isinstance(node, Unknown):
        yield _broken(RequestKind.RESERVATION, node, "`devices` is no list")


def _without_value(service: RawService) -> Iterator[GpuRequest]:
    """Keys without a value, as a list of which every item is commented out: Compose passes one over only where it stands over another,
    as that of a fragment may."""
    if not service.has_image:
        return
    for kind, path in ((RequestKind.GPUS, ("gpus",)), (RequestKind.RESERVATION, _DEVICES), (RequestKind.RUNTIME, ("runtime",))):
        if service.node(*path) is None:
            entries = (layer.mapping(*path[:-1]).entry(path[-1]) for layer in service.layers)
            empty = next((entry for entry in entries if entry and is_null(entry.value) and not tag_of(entry.value)), None)
            if empty:
                yield _broken(kind, empty.key, f"`{empty.key}` is empty")


def _repeated(service: RawService) -> Iterator[GpuRequest]:
    """Keys on the way to a request that stand twice in one mapping. Other readers of YAML keep the last; Compose refuses the file."""
    for layer in service.layers:
        for key in layer.repeated:
            if key in ("gpus", "runtime"):
                yield _broken(RequestKind.GPUS, key, f"`{key}` stands here twice")
        for depth, name in enumerate(_DEVICES):
            holder = layer.mapping(*_DEVICES[:depth])
            for key in holder.repeated:
                if key == name and any(_holds(entry.value, _DEVICES[depth + 1 :]) for entry in holder.entries if entry.key == name):
                    yield _broken(RequestKind.RESERVATION, key, f"`{key}` stands here twice")


def _holds(node: Node, path: tuple[str, ...]) -> bool:
    return not path or (isinstance(node, Mapping) and node.get(*path) is not None)


def _runtime_no_string(service: RawService) -> Iterator[GpuRequest]:
    runtime = service.node("runtime")
    if runtime is not None and not is_string(runtime):
        yield _broken(RequestKind.RUNTIME, runtime, "`runtime` is no string")


def _devices_no_list(service: RawService) -> Iterator[GpuRequest]:
    """GPUs among the devices that are mapped in, in a form that Compose refuses."""
    for node in service.every("devices"):
        if isinstance(node, Scalar) and _names_gpu(service.read(node).value()):
            yield _broken(RequestKind.CDI, node, "`devices` is no list", f"devices: [{node}]")
        for item in node if isinstance(node, Sequence) else ():
            fields = RawService(service.key, (item,), service.variables) if isinstance(item, Mapping) else None
            if fields and fields.node("target") is None and _names_gpu(fields.value("source")):
                yield _broken(RequestKind.CDI, item, "a device has a `source` and no `target`")


def _names_gpu(device: Value | None) -> bool:
    return isinstance(device, Text) and (cdi_request(device) is not None or device_vendor(device) is not None)


def _broken(kind: RequestKind, node: Node, reason: str, remedy: str = "") -> GpuRequest:
    return GpuRequest(kind, RequestState.BROKEN, node.location, faults=(RequestFault(reason, node.location, remedy=remedy),))


def _device(service: RawService, item: Node, kind: RequestKind, whole: bool) -> GpuRequest:
    """One item of `gpus` or of `reservations.devices`. Of a service that is not `whole` only the shape counts."""
    if isinstance(item, Unknown):
        return GpuRequest(kind, RequestState.ASKED, item.location)
    if not isinstance(item, Mapping):
        return _broken(kind, item, "a device is no mapping")
    fields = RawService(service.key, (item,), service.variables)
    driver, count = fields.value("driver"), fields.value("count")
    faults = tuple(shape_faults(item, service, kind))
    if whole:
        faults += tuple(loader_faults(item, count))
        faults = faults or tuple(engine_faults(fields, driver))
    return GpuRequest(
        kind,
        _state(faults, count, item.get("count")),
        item.location,
        drivers()[driver].vendor if isinstance(driver, Text) and driver in drivers() else "",
        count,
        fields.values("device_ids"),
        fields.values("capabilities"),
        driver,
        faults=faults,
    )


def _state(faults: tuple[RequestFault, ...], count: Value | None, written: Node | None) -> RequestState:
    """A zero that is a variable's default is a switch: who sets the variable gets the GPU."""
    if faults:
        return RequestState.BROKEN
    if not isinstance(count, Text) or not _ZERO.fullmatch(count):
        return RequestState.ASKED
    return RequestState.OPTIONAL if isinstance(written, Scalar) and "$" in written else RequestState.ZERO


def _generic_resource(service: RawService, node: Node) -> Iterator[GpuRequest]:
    """Swarm's form: `discrete_resource_spec` with a kind of the node's own naming."""
    if not isinstance(node, Mapping):
        return
    fields = RawService(service.key, (node,), service.variables)
    kind = fields.value("discrete_resource_spec", "kind")
    if isinstance(kind, Text) and gpu_word(kind):
        count = fields.value("discrete_resource_spec", "value")
        state = _state((), count, node.get("discrete_resource_spec", "value"))
        yield GpuRequest(RequestKind.RESERVATION, state, node.location, count=count, resource=kind)


def _misplaced(service: RawService) -> Iterator[GpuRequest]:
    """Blocks that would ask for a GPU in another place of the service, each once, at its key; and a key that the service has not."""
    for layer in service.layers:
        for path in _HOLDERS:
            for entry in layer.mapping(*path):
                if (*path, entry.key) != _DEVICES and _asks(entry):
                    yield _at_wrong_place(entry.key, f"under `{'.'.join(path)}`")
        devices = layer.entry("devices")
        if devices and isinstance(devices.value, Sequence) and any(map(_is_reservation, devices.value)):
            yield _at_wrong_place(devices.key, "under the service itself")
        stray = layer.entry("gpu")
        if stray:
            yield _broken(RequestKind.GPUS, stray.key, "`gpu` is no key of a service", "gpus: all")
    for key in service.stray:
        yield _at_wrong_place(key, "outside of a service")


def _asks(entry: Entry) -> bool:
    """Whether a key is one by which a service, a reservation or another tool asks for GPUs. None of them may stand here, whatever it
    holds."""
    key, value = entry.key, entry.value
    if key == "runtime":
        return isinstance(value, Scalar) and runtime_vendor(value) is not None
    if key == "gpus" and isinstance(value, Sequence) and not value.items:
        return False
    return key in ("gpus", "gpu", "devices", "device") or ("/" in key and looks_like_gpu(key))


def _is_reservation(item: Node) -> bool:
    return isinstance(item, Mapping) and ("capabilities" in item or "driver" in item)


def _at_wrong_place(key: Text, place: str) -> GpuRequest:
    wrong = RequestFault(f"`{key}` stands {place}", key.location, misplaced=True)
    return GpuRequest(RequestKind.RESERVATION, RequestState.BROKEN, key.location, resource=key, faults=(wrong,))
