"""What is refused of one device of a Compose service: by the specification's schema, by the loader, or by Docker Engine.

The schema is held against every file as it is added to those before it, the loader looks at the whole, and the engine gets what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gpulint.deferred import regex
from gpulint.facts.requests import drivers
from gpulint.model.container import RequestFault, RequestKind
from gpulint.model.service import RawService, is_null
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown, Value

_ITEM_KEYS = frozenset({"capabilities", "count", "device_ids", "driver", "options"})

_YAML_NUMBER = r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[\da-fA-F_]+|[\d_]+)"
_NOT_A_STRING = regex(
    rf"{_YAML_NUMBER}|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|true|True|TRUE|false|False|FALSE|~|null|Null|NULL|\d{4}-\d\d?-\d\d?(?:[Tt ].*)?"
)
"""What a scalar without quotes is no string as, the way Compose's reader takes it."""

_NO_COUNT = "is neither a whole number nor `all`"
_MOST_DIGITS = 18
_WHOLE_NUMBER = regex(rf"{_YAML_NUMBER}|[-+]?\d+(?:\.0*)?(?:[eE]\+?\d+)?")
_YAML_COUNT = regex(rf"all|{_YAML_NUMBER}", re.IGNORECASE)
_COUNT = regex(r"all|[-+]?\d+", re.IGNORECASE)
_CDI_DEVICE = regex(r"[\w.-]+/[\w.-]+=\S+")


def shape_faults(item: Mapping, service: RawService, kind: RequestKind) -> Iterator[RequestFault]:
    """What the schema refuses in an item of `gpus` or `reservations.devices`."""
    yield from _key_faults(item, kind)
    yield from _list_faults(item, service, "capabilities")
    yield from _driver_shape_faults(item)
    yield from _option_faults(item)
    if "count" in item:
        yield from _count_shape_faults(item)
    yield from _list_faults(item, service, "device_ids")


def loader_faults(item: Mapping, count: Value | None) -> Iterator[RequestFault]:
    """What the loader refuses of an item that has the right shape."""
    entry = item.entry("count")
    if entry is None:
        return
    written = entry.value
    if isinstance(count, Text) and isinstance(written, Scalar) and _may_be_count(written) and not _is_count(written, count):
        yield _fault(f"`count: {count}` {_NO_COUNT}", written)
    if "device_ids" in item:
        yield _fault("`count` and `device_ids` exclude each other", entry.key)


def engine_faults(fields: RawService, driver: Value | None) -> Iterator[RequestFault]:
    """What Docker Engine finds no driver for, or refuses of a CDI request."""
    if isinstance(driver, Unknown):
        return
    if not driver:
        yield from _undriven_faults(fields.values("capabilities"))
    elif driver not in drivers():
        known = driver.lower() if driver.lower() in drivers() else ""
        yield _fault(f"no device driver is named `{driver}`", driver, known and f"driver: {known}")
    elif driver == "cdi":
        yield from _cdi_faults(fields, driver)


def _fault(reason: str, node: Node | Text, remedy: str = "") -> RequestFault:
    return RequestFault(reason, node.location, remedy=remedy)


def is_string(node: Node) -> bool:
    """Whether the schema takes a node for a string."""
    if isinstance(node, Scalar):
        return not (node.plain and (not node or _NOT_A_STRING.fullmatch(node)))
    return isinstance(node, Unknown)


def _key_faults(item: Mapping, kind: RequestKind) -> Iterator[RequestFault]:
    """Keys that the schema does not know or misses, and repeated ones. It lets any pass in an item of `gpus`, and none is missing there."""
    if kind is RequestKind.RESERVATION:
        for key, _, _ in item:
            if key not in _ITEM_KEYS and not key.startswith("x-"):
                yield _fault(f"`{key}` is no key of a device", key)
        if "capabilities" not in item:
            yield _fault("`capabilities` is missing", item, "capabilities: [gpu]")
    for key in item.repeated:
        yield _fault(f"`{key}` stands here twice", key)


def _list_faults(item: Mapping, service: RawService, key: str) -> Iterator[RequestFault]:
    """What is refused in a list of strings. What a variable brings counts as a string, and as a list where it is the whole."""
    node = item.get(key)
    if isinstance(node, Sequence):
        yield from islice(_string_faults(node, service, key), 1)
    elif node is not None and not isinstance(node, Unknown) and not (isinstance(node, Scalar) and "$" in node):
        yield _fault(f"`{key}` is no list of strings", node, _as_list(key, node))


def _string_faults(items: Sequence, service: RawService, key: str) -> Iterator[RequestFault]:
    values: set[str] = set()
    for each in items:
        value = service.read(each).value() if isinstance(each, (Scalar, Unknown)) else None
        if not is_string(each):
            yield _fault(f"`{key}` holds {_as_written(each)}, which is no string", each, _as_list(key, items))
        elif isinstance(value, Text):
            if value in values:
                yield _fault(f"`{key}` holds `{value}` twice", each)
            values.add(value)


def _as_list(key: str, node: Node) -> str:
    """The list of strings that is meant; "" where the values are none that could stand in one."""
    values = [each for item in _items(node) for each in _items(item)]
    if not values or not all(isinstance(each, Scalar) and each for each in values):
        return ""
    quote = '"' if key == "device_ids" else ""
    return f"{key}: [{', '.join(f'{quote}{each}{quote}' for each in values)}]"


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else (node,)


def _as_written(node: Node) -> str:
    return f"`{node}`" if isinstance(node, Scalar) else "a list or mapping"


def _driver_shape_faults(item: Mapping) -> Iterator[RequestFault]:
    driver = item.entry("driver")
    if driver and is_null(driver.value):
        yield _fault("`driver` is empty", driver.key)
    elif driver and not is_string(driver.value):
        yield _fault("`driver` is no string", driver.value)


def _option_faults(item: Mapping) -> Iterator[RequestFault]:
    """Options are a mapping of plain values, or a list of strings."""
    options = item.get("options")
    if isinstance(options, Mapping):
        values = tuple(value for _, value, _ in options)
        yield from (_fault("`options` holds a list or mapping, which is no value", each) for each in values if not _is_plain(each))
    elif isinstance(options, Sequence):
        yield from (_fault(f"`options` holds {_as_written(each)}, which is no string", each) for each in options if not is_string(each))
    elif isinstance(options, Scalar) and "$" not in options:
        yield _fault("`options` is neither a mapping nor a list", options)


def _is_plain(node: Node) -> bool:
    return isinstance(node, (Scalar, Unknown))


def _count_shape_faults(item: Mapping) -> Iterator[RequestFault]:
    count = item.get("count")
    if isinstance(count, (Mapping, Sequence)) or (isinstance(count, Scalar) and is_null(count)):
        yield _fault("`count` is no number", count)
    elif isinstance(count, Scalar) and not _may_be_count(count):
        yield _fault(f"`count: {count}` {_NO_COUNT}", count)


def _may_be_count(written: Scalar) -> bool:
    """Whether the schema takes a count: a string, or a number without a fraction, be it written with one of zeros."""
    return is_string(written) or bool(_WHOLE_NUMBER.fullmatch(written))


def _is_count(written: Scalar, value: Text) -> bool:
    """Whether a count is all or a whole number: as YAML writes numbers, or in a string, which a variable brings too, as decimal digits."""
    pattern = _YAML_COUNT if written.plain and "$" not in written else _COUNT
    return bool(pattern.fullmatch(value)) and sum(map(str.isdigit, value)) <= _MOST_DIGITS


def _undriven_faults(capabilities: tuple[Value, ...]) -> Iterator[RequestFault]:
    """Without a driver's name the engine takes one that has all the capabilities asked for."""
    asked = [each for each in capabilities if isinstance(each, Text)]
    if not any(all(each in driver.capabilities for each in asked) for driver in drivers().values()):
        unknown = next((each for each in asked if not any(each in driver.capabilities for driver in drivers().values())), asked[0])
        yield _fault(f"no device driver has the capability `{unknown}`", unknown, "capabilities: [gpu]")


def _cdi_faults(fields: RawService, driver: Text) -> Iterator[RequestFault]:
    for key in ("count", "options"):
        node = fields.node(key)
        if node is not None:
            yield _fault(f"the driver `cdi` takes no `{key}`", node)
    ids = fields.values("device_ids")
    if not ids and fields.node("count") is None:
        yield _fault("the driver `cdi` needs `device_ids`", driver, 'device_ids: ["nvidia.com/gpu=all"]')
    for each in ids:
        if isinstance(each, Text) and not _CDI_DEVICE.fullmatch(each):
            yield _fault(f"`{each}` is no CDI name such as vendor/class=device", each)
