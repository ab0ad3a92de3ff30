"""GPU requests of a Compose service: `gpus`, device reservations, generic resources, and blocks that Compose's schema refuses.

What is refused follows the Compose specification's schema, compose-go's loader and Docker Engine's drivers (gpulint/facts/requests.json).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.facts.images import gpu_word
from gpulint.facts.requests import drivers, runtime_vendor
from gpulint.model.container import GpuRequest, RequestFault, RequestKind, RequestState
from gpulint.model.service import RawService, is_null, tag_of
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown, Value

_RESERVATIONS = ("deploy", "resources", "reservations")
_ITEM_KEYS = frozenset({"capabilities", "count", "device_ids", "driver", "options"})
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

_NOT_A_STRING = re.compile(r"[-+]?\d[\d_]*|[-+]?\d*\.\d+|0[xo][0-9a-fA-F]+|true|false|~|null|", re.IGNORECASE)
_ZERO = re.compile(r"0+")
_COUNT = re.compile(r"all|-?\d+|0[xo][0-9a-f]+", re.IGNORECASE)
_CDI_DEVICE = re.compile(r"[\w.-]+/[\w.-]+=\S+")


def service_requests(service: RawService) -> Iterator[GpuRequest]:
    """What a service asks for under its own keys, in the order of its layers, well formed or not."""
    for node in service.every("gpus"):
        yield from _gpus(service, node)
    for node in service.every(*_RESERVATIONS, "devices"):
        yield from _reservation(service, node)
    yield from _empty(service, RequestKind.GPUS, "gpus")
    yield from _empty(service, RequestKind.RESERVATION, *_RESERVATIONS, "devices")
    for node in service.items(*_RESERVATIONS, "generic_resources"):
        yield from _generic_resource(service, node)
    yield from _misplaced(service)


def _gpus(service: RawService, node: Node) -> Iterator[GpuRequest]:
    if isinstance(node, Sequence):
        for item in node:
            yield _device(service, item, RequestKind.GPUS)
    elif isinstance(node, Mapping):
        yield _broken(RequestKind.GPUS, node, "`gpus` is a mapping, not a list of them")
    else:
        count = service.read(node).value()
        if isinstance(count, Text) and count != "all":
            yield _broken(RequestKind.GPUS, node, f"`gpus: {count}` is neither `all` nor a list")
        else:
            yield GpuRequest(RequestKind.GPUS, RequestState.ASKED, node.location, count=count)


def _reservation(service: RawService, node: Node) -> Iterator[GpuRequest]:
    if isinstance(node, Sequence):
        for item in node:
            yield _device(service, item, RequestKind.RESERVATION)
    elif not isinstance(node, Unknown):
        yield _broken(RequestKind.RESERVATION, node, "`devices` is no list")


def _empty(service: RawService, kind: RequestKind, *path: str) -> Iterator[GpuRequest]:
    """A key without a value, as a list of which every item is commented out: Compose passes it over only where another layer has one."""
    if service.node(*path) is None:
        entries = (layer.mapping(*path[:-1]).entry(path[-1]) for layer in service.layers)
        empty = next((entry for entry in entries if entry and is_null(entry.value) and not tag_of(entry.value)), None)
        if empty:
            yield _broken(kind, empty.key, f"`{empty.key}` is empty")


def _broken(kind: RequestKind, node: Node, reason: str) -> GpuRequest:
    return GpuRequest(kind, RequestState.BROKEN, node.location, faults=(RequestFault(reason, node.location),))


def _device(service: RawService, item: Node, kind: RequestKind) -> GpuRequest:
    """One item of `gpus` or of `reservations.devices`."""
    if isinstance(item, Unknown):
        return GpuRequest(kind, RequestState.ASKED, item.location)
    if not isinstance(item, Mapping):
        return _broken(kind, item, "a device is no mapping")
    fields = RawService(service.key, (item,), service.variables)
    driver, count = fields.value("driver"), fields.value("count")
    misshapen = (
        *_key_faults(item, kind),
        *_list_faults(item, "capabilities"),
        *_count_faults(item, count),
        *_list_faults(item, "device_ids"),
    )
    faults = misshapen or tuple(_driver_faults(fields, driver))
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


def _fault(reason: str, node: Node | Text) -> RequestFault:
    return RequestFault(reason, node.location)


def _key_faults(item: Mapping, kind: RequestKind) -> Iterator[RequestFault]:
    """Keys that the schema does not know or misses. It lets any pass in an item of `gpus`, and none is missing there."""
    if kind is RequestKind.RESERVATION:
        for key, _, _ in item:
            if key not in _ITEM_KEYS and not key.startswith("x-"):
                yield _fault(f"`{key}` is no key of a device", key)
        if "capabilities" not in item:
            yield _fault("`capabilities` is missing", item)
    driver = item.entry("driver")
    if driver and is_null(driver.value):
        yield _fault("`driver` is empty", driver.key)


def _list_faults(item: Mapping, key: str) -> Iterator[RequestFault]:
    """What the schema refuses in a list of strings. What a variable brings counts as a string, and as a list where it is the whole."""
    node = item.get(key)
    if isinstance(node, Sequence):
        for index, each in enumerate(node):
            if not _is_string(each):
                yield _fault(f"`{key}` holds {_as_written(each)}, which is no string", each)
            elif isinstance(each, Scalar) and any(isinstance(other, Scalar) and other == each for other in node.items[:index]):
                yield _fault(f"`{key}` holds `{each}` twice", each)
    elif node is not None and not isinstance(node, Unknown) and not (isinstance(node, Scalar) and "$" in node):
        yield _fault(f"`{key}` is no list of strings", node)


def _is_string(node: Node) -> bool:
    if isinstance(node, Scalar):
        return not (node.plain and _NOT_A_STRING.fullmatch(node))
    return isinstance(node, Unknown)


def _count_faults(item: Mapping, count: Value | None) -> Iterator[RequestFault]:
    entry = item.entry("count")
    if entry is None:
        return
    if is_null(entry.value) or not isinstance(entry.value, (Scalar, Unknown)):
        yield _fault("`count` is no number", entry.value)
    elif isinstance(count, Text) and not _COUNT.fullmatch(count):
        yield _fault(f"`count: {count}` is neither a whole number nor `all`", entry.value)
    if "device_ids" in item:
        yield _fault("`count` and `device_ids` exclude each other", entry.key)


def _as_written(node: Node) -> str:
    return f"`{node}`" if isinstance(node, Scalar) else "a list or mapping"


def _driver_faults(fields: RawService, driver: Value | None) -> Iterator[RequestFault]:
    """What Docker Engine finds no driver for, or refuses of a CDI request."""
    if isinstance(driver, Unknown):
        return
    if not driver:
        yield from _undriven_faults(fields.values("capabilities"))
    elif driver not in drivers():
        yield _fault(f"no device driver is named `{driver}`", driver)
    elif driver == "cdi":
        yield from _cdi_faults(fields, driver)


def _undriven_faults(capabilities: tuple[Value, ...]) -> Iterator[RequestFault]:
    """Without a driver's name the engine takes one that has all the capabilities asked for."""
    asked = [each for each in capabilities if isinstance(each, Text)]
    if not any(all(each in driver.capabilities for each in asked) for driver in drivers().values()):
        unknown = next((each for each in asked if not any(each in driver.capabilities for driver in drivers().values())), asked[0])
        yield _fault(f"no device driver has the capability `{unknown}`", unknown)


def _cdi_faults(fields: RawService, driver: Text) -> Iterator[RequestFault]:
    for key in ("count", "options"):
        node = fields.node(key)
        if node is not None:
            yield _fault(f"the driver `cdi` takes no `{key}`", node)
    ids = fields.values("device_ids")
    if not ids and fields.node("count") is None:
        yield _fault("the driver `cdi` needs `device_ids`", driver)
    for each in ids:
        if isinstance(each, Text) and not _CDI_DEVICE.fullmatch(each):
            yield _fault(f"`{each}` is no CDI name such as vendor/class=device", each)


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
    """Blocks that would ask for a GPU in another place of the service, each once, at its key."""
    for layer in service.layers:
        for path in _HOLDERS:
            for entry in layer.mapping(*path):
                if _asks(entry) and (*path, entry.key) != (*_RESERVATIONS, "devices"):
                    yield _at_wrong_place(entry.key, f"under `{'.'.join(path)}`")
        devices = layer.entry("devices")
        if devices and isinstance(devices.value, Sequence) and any(map(_is_reservation, devices.value)):
            yield _at_wrong_place(devices.key, "under the service itself")
    for key in service.stray:
        yield _at_wrong_place(key, "outside of a service")


def _asks(entry: Entry) -> bool:
    """Whether a key is one by which a service or a reservation asks for GPUs."""
    value = entry.value
    if isinstance(value, Scalar):
        return not value.is_null and (entry.key == "gpus" or (entry.key == "runtime" and runtime_vendor(value) is not None))
    if entry.key == "gpus":
        return not isinstance(value, Sequence) or len(value) > 0
    if entry.key in ("devices", "device"):
        return isinstance(value, Mapping) or (isinstance(value, Sequence) and any(map(_is_reservation, value)))
    return False


def _is_reservation(item: Node) -> bool:
    return isinstance(item, Mapping) and ("capabilities" in item or "driver" in item)


def _at_wrong_place(key: Text, place: str) -> GpuRequest:
    fault = RequestFault(f"`{key}` stands {place}", key.location, misplaced=True)
    return GpuRequest(RequestKind.RESERVATION, RequestState.BROKEN, key.location, faults=(fault,))
