"""What values templates compute with: Helm's values with their places, and how Go and Helm write them out.

A value is a string of parts, a Leaf (number or truth value), a Map, a List, None for nil, or Unknown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Union

from gpulint.deferred import regex
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.project.helm_text import Part, PartKind, Traced, Undecided, hole, literal, of_text, of_unknown
from gpulint.source import Location, Text, Unknown

MAX_DEPTH = 100
MAX_VALUES = 50_000
"""How deep a value that is written or copied may nest, and how many values it may hold."""


class Leaf:
    """A number or truth value; `written` is how its file has it, if one does."""

    __slots__ = ("data", "written")

    def __init__(self, data: int | float | bool, written: Text | None = None) -> None:
        self.data = data
        self.written = written

    @property
    def location(self) -> Location | None:
        return None if self.written is None else self.written.location


class Undefined(Unknown):
    """A value for which a chart has no default: who installs it may give one. Where a template itself has a default that one holds."""


class Decided(Unknown):
    """A value of which no more is known than whether it is true."""

    __slots__ = ("truth",)

    def __init__(self, raw: str, location: Location, truth: bool) -> None:
        super().__init__(raw, location)
        self.truth = truth


class Map(dict[str, "Value"]):
    """A mapping. `names` has the places of its keys; `open` says that it may hold more keys than are known, and `is_default` that it holds
    the defaults of a chart, to which who installs it may add."""

    def __init__(self, entries: Iterable[tuple[str, Value]] = (), location: Location | None = None, open: bool = False) -> None:
        super().__init__(entries)
        self.location = location
        self.names: dict[str, Text] = {}
        self.open = open
        self.is_default = False

    def read(self, key: str) -> Value:
        """The value of a key; None where there is none."""
        if key not in self and (self.open or self.is_default):
            return (Unknown if self.open else Undefined)(f".{key}", self.location or _NOWHERE)
        return self.get(key)


class List(list["Value"]):
    """A list. `open` says that it may hold more than is known."""

    def __init__(self, items: Iterable[Value] = (), location: Location | None = None, open: bool = False) -> None:
        super().__init__(items)
        self.location = location
        self.open = open


Value = Union[Traced, Leaf, Map, List, Unknown, None]

_NOWHERE = Location("", 0, 0, 0, 0)

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"))
_FALSE = frozenset(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"))
_INTEGER = regex(r"[-+]?(?:0|[1-9][0-9_]*)")
_OTHER_INTEGER = regex(r"[-+]?(?:0[0-7_]+|0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+)")
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_LONGEST_NUMBER = 40
_PLAIN = regex(r"[A-Za-z_./][\w./@%+-]*(?:[:=,][\w./@%+-]+)*")


# --- From files -----------------------------------------------------------------------------------------------------------------------


def from_node(node: Node | None, is_default: bool = False) -> Value:
    """The value of a node of YAML. `is_default` as a Map's; an item of a list is whole as it stands."""
    if isinstance(node, Mapping):
        found = Map(((_key(entry.key), from_node(entry.value, is_default)) for entry in node), node.location, node.open)
        found.names = {_key(entry.key): entry.key for entry in node}
        found.is_default = is_default
        return found
    if isinstance(node, Sequence):
        return List(map(from_node, node), node.location, node.open)
    return from_scalar(node) if isinstance(node, Scalar) else node


def _key(key: Scalar) -> str:
    """A key as Helm reads it: `y` and `on` without quotes are truth values there, too."""
    return _words(str(key) in _TRUE) if key.plain and (key in _TRUE or key in _FALSE) else str(key)


def from_scalar(scalar: Scalar) -> Value:
    """A scalar as Helm reads it: numbers become floating ones."""
    if not scalar.plain:
        return of_text(scalar)
    if scalar in _NULL:
        return None
    if scalar in _TRUE or scalar in _FALSE:
        return Leaf(str(scalar) in _TRUE, scalar)
    if len(scalar) > _LONGEST_NUMBER:
        return of_text(scalar)
    if _INTEGER.fullmatch(scalar):
        return Leaf(float(int(scalar.replace("_", ""))), scalar)
    if _OTHER_INTEGER.fullmatch(scalar):
        return Unknown(str(scalar), scalar.location)
    if _FLOAT.fullmatch(scalar) and any(map(str.isdigit, scalar)):
        return Leaf(float(scalar.replace("_", "")), scalar)
    return of_text(scalar)


# --- Truth ----------------------------------------------------------------------------------------------------------------------------


def truth(value: Value) -> bool:
    """Whether a template takes a value for true. Raises Undecided."""
    if isinstance(value, Decided):
        return value.truth
    if isinstance(value, Unknown):
        raise Undecided
    if isinstance(value, Traced):
        if value.literal:
            return True
        if value.is_known:
            return False
        raise Undecided
    if isinstance(value, (Map, List)):
        if not value and value.open:
            raise Undecided
        return bool(value)
    return value is not None and bool(value.data)


def place_of(value: Value) -> Location | None:
    """Where a value stands."""
    return None if value is None else value.location


def place_of_key(mapping: Map, key: str) -> Location | None:
    """Where a key stands, or its mapping."""
    return mapping.names[key].location if key in mapping.names else mapping.location


# --- Written out ----------------------------------------------------------------------------------------------------------------------


def as_text(value: Value) -> Traced:
    """A value as an action writes it. Raises Undecided for collections, which nobody writes so on purpose."""
    if value is None:
        return literal("")
    if isinstance(value, Traced):
        return value
    if isinstance(value, Unknown):
        return of_unknown(value)
    if isinstance(value, Leaf):
        return _leaf_text(value, _go_number)
    raise Undecided


def _leaf_text(leaf: Leaf, number: Callable[[int | float], str]) -> Traced:
    text = _words(leaf.data) if isinstance(leaf.data, bool) else number(leaf.data)
    if leaf.written is not None and leaf.written == text:
        return of_text(leaf.written)
    return literal(text, leaf.location)


def _words(data: bool) -> str:
    return "true" if data else "false"


def _go_number(number: int | float) -> str:
    """A number as Go's `%v` has it: a floating one from a million on with an exponent."""
    if isinstance(number, int):
        return str(number)
    if not isfinite(number):
        raise Undecided
    from decimal import Decimal

    shortest = Decimal(repr(number)).normalize()
    power = shortest.adjusted()
    if -5 < power < 6:
        return format(shortest, "f")
    digits = "".join(map(str, shortest.as_tuple().digits))
    sign, fraction = "-" if number < 0 else "", f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{power:+03d}"


def _json_number(number: int | float) -> str:
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    if isinstance(number, float) and not 1e-6 < abs(number) < 1e21:
        raise Undecided
    return repr(number)


class _Writer:
    """Writes one value out and counts what it writes."""

    def __init__(self) -> None:
        self._left = MAX_VALUES

    def count(self, depth: int) -> None:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise Undecided

    def scalar(self, value: Value) -> Traced:
        if value is None:
            return literal("null")
        if isinstance(value, Traced):
            return quoted_if_needed(value)
        return _leaf_text(value, _json_number) if isinstance(value, Leaf) else as_text(value)

    def key(self, mapping: Map, key: str) -> Traced:
        name = mapping.names.get(key)
        return quoted_if_needed(of_text(name) if name is not None and name == key else literal(key, place_of_key(mapping, key)))

    def block(self, value: Value, indentation: int, depth: int = 0) -> list[Part]:
        """A value in lines, the first of which is not indented."""
        self.count(depth)
        if not isinstance(value, (Map, List)):
            return list(self.scalar(value).parts)
        if not value:
            return _opened(value, [Part("{}" if isinstance(value, Map) else "[]", value.location)], indentation)
        break_ = Part("\n" + " " * indentation)
        parts: list[Part] = []
        if isinstance(value, Map):
            for key in sorted(value):
                parts += (*([break_] if parts else ()), *self.key(value, key).parts, Part(":"), *self.entry(value[key], indentation, depth))
        else:
            for item in value:
                parts += (*([break_] if parts else ()), Part("- "), *self.block(item, indentation + 2, depth + 1))
        return _opened(value, parts, indentation)

    def entry(self, value: Value, indentation: int, depth: int) -> list[Part]:
        """A value behind the colon of its key."""
        if isinstance(value, (Map, List)) and value:
            deeper = indentation + 2 if isinstance(value, Map) else indentation
            return [Part("\n" + " " * deeper), *self.block(value, deeper, depth + 1)]
        return [Part(" "), *self.block(value, indentation + 2, depth + 1)]

    def flow(self, value: Value, depth: int = 0) -> list[Part]:
        """A value as JSON."""
        self.count(depth)
        if isinstance(value, (Map, List)) and value.open:
            raise Undecided
        if isinstance(value, Map):
            names = {key: json_text(literal(key, place_of_key(value, key))).parts for key in value}
            pairs = [[*names[key], Part(":"), *self.flow(value[key], depth + 1)] for key in sorted(value)]
            return [Part("{", value.location), *_joined(pairs), Part("}", value.location)]
        if isinstance(value, List):
            return [Part("[", value.location), *_joined([self.flow(item, depth + 1) for item in value]), Part("]", value.location)]
        if isinstance(value, Traced):
            return list(json_text(value).parts)
        return list(self.scalar(value).parts)


def _opened(value: Map | List, parts: list[Part], indentation: int) -> list[Part]:
    """The parts of a collection with, where it is open, what else it may hold."""
    if not value.open:
        return parts
    if not value:
        return list(hole("values", value.location).parts)
    return [*parts, Part("\n" + " " * indentation), *hole("values", value.location).parts]


def _joined(runs: list[list[Part]]) -> list[Part]:
    return [part for number, run in enumerate(runs) for part in ([Part(",")] if number else []) + run]


def to_yaml(value: Value) -> Traced:
    """A value as `toYaml` writes it: sorted, each part in its place."""
    return Traced(_Writer().block(value, 0))


def to_json(value: Value) -> Traced:
    """A value as `toJson` writes it."""
    return Traced(_Writer().flow(value))


def quoted_if_needed(text: Traced) -> Traced:
    """A string as a scalar of YAML that says the same."""
    if not text.is_known:
        return text
    content = text.literal
    if _PLAIN.fullmatch(content) and content not in _NULL | _TRUE | _FALSE and not _FLOAT.fullmatch(content):
        return text
    if "\n" not in content and "'" not in content and content.isprintable():
        quote = literal("'", text.location)
        return quote + text + quote
    return json_text(text)


def json_text(text: Traced) -> Traced:
    """A string in double quotes, with what needs it escaped."""
    mark = literal('"', text.location)
    if text.has_blocks:
        raise Undecided
    if any(json.dumps(part.text)[1:-1] != part.text for part in text.parts if part.kind is PartKind.TEXT):
        if not text.is_known:
            raise Undecided
        return literal(json.dumps(text.literal), text.location)
    return mark + text + mark


def size(value: Value, deep: bool) -> int:
    """How many values and lines of text there are in a value, or of a collection at its outermost. Nothing is counted past
    MAX_VALUES."""
    waiting, found = [value], 0
    while waiting and found <= MAX_VALUES:
        each = waiting.pop()
        found += 1
        if isinstance(each, Traced):
            found += len(each.parts)
        elif isinstance(each, (Map, List)) and (deep or each is value):
            found += len(each)
            waiting += (each.values() if isinstance(each, Map) else each) if deep else ()
    return found


def copied(value: Value, depth: int = 0, counter: list[int] | None = None) -> Value:
    """A copy that shares no collection with the value. Raises Undecided where that would be too large."""
    counter = [MAX_VALUES] if counter is None else counter
    counter[0] -= 1
    if counter[0] < 0 or depth > MAX_DEPTH:
        raise Undecided
    if isinstance(value, Map):
        found = Map(((key, copied(each, depth + 1, counter)) for key, each in value.items()), value.location, value.open)
        found.names, found.is_default = dict(value.names), value.is_default
        return found
    if isinstance(value, List):
        return List((copied(each, depth + 1, counter) for each in value), value.location, value.open)
    return value


def put(mapping: Map, key: str, value: Value, name: Text | None = None) -> None:
    """Set a key, with the place of its name if it has one."""
    mapping[key] = value
    if name is not None:
        mapping.names[key] = name


def coalesced(given: Map, defaults: Map) -> Map:
    """Values over the defaults of a chart, as Helm lays them: mappings are merged, and null takes a default away."""
    found = Map((), given.location or defaults.location, given.open or defaults.open)
    found.is_default = True
    for key, value in defaults.items():
        put(found, key, value, defaults.names.get(key))
    for key, value in given.items():
        below = defaults.get(key)
        if value is None and key in defaults:
            del found[key]
        elif isinstance(value, Map) and isinstance(below, Map):
            put(found, key, coalesced(value, below), given.names.get(key))
        else:
            put(found, key, value, given.names.get(key))
    return found
