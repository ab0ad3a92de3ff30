"""The functions of Go templates, Sprig and Helm that charts decide containers with. What is not here gives a value that is not known.

Each takes values and gives one. It raises Undecided where an argument does not tell enough or Go might refuse it, and RenderFailed where
the chart itself ends the rendering.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from gpulint.deferred import regex
from gpulint.project.helm_text import MAX_LENGTH, Part, PartKind, Traced, Undecided, literal, of_unknown
from gpulint.project.helm_values import (
    Leaf,
    List,
    Map,
    Undefined,
    Value,
    as_text,
    copied,
    json_text,
    place_of,
    put,
    to_json,
    to_yaml,
    truth,
)
from gpulint.source import Location, Unknown

MAX_COUNT, MAX_ITEMS = 1000, 10_000
"""How often a text is repeated and how far is counted; how long a list may grow."""

_VERB = regex(r"%(?:(%)|([-+# 0]*[\d.]*)(\w))")
_INTEGER = regex(r"[-+]?\d{1,18}")


class RenderFailed(Exception):
    """The chart refuses to be rendered with these values."""


# --- Arguments ------------------------------------------------------------------------------------------------------------------------


def known(value: Value) -> str:
    """A string that is known. Raises Undecided."""
    if isinstance(value, Traced):
        return value.known()
    raise Undecided


def _string(value: Value) -> Traced:
    """A string, which may hold what is not known."""
    if isinstance(value, Unknown):
        return of_unknown(value)
    if isinstance(value, Traced):
        return value
    raise Undecided


def _list(value: Value) -> List:
    if isinstance(value, List) and not value.open:
        return value
    raise Undecided


def _map(value: Value) -> Map:
    if isinstance(value, Map):
        return value
    raise Undecided


def _integer(value: Value) -> int:
    """A number as Sprig casts it to a whole one."""
    if value is None:
        return 0
    if isinstance(value, Leaf):
        return int(value.data)
    text = known(value)
    if not _INTEGER.fullmatch(text):
        raise Undecided
    return int(text)


def _number(value: Value) -> int | float:
    if isinstance(value, Leaf) and not isinstance(value.data, bool):
        return value.data
    raise Undecided


def _bool(value: Value) -> bool:
    if isinstance(value, Leaf) and isinstance(value.data, bool):
        return value.data
    raise Undecided


def _new(text: str, *values: Value) -> Traced:
    """A string that was made of others: it stands where the first of them does."""
    return literal(text, _place(*values))


def _place(*values: Value) -> Location | None:
    return next((place for place in map(place_of, values) if place is not None), None)


def _decided(values: tuple[Value, ...]) -> None:
    if any(isinstance(value, Unknown) for value in values):
        raise Undecided


# --- Choice ---------------------------------------------------------------------------------------------------------------------------


def _default(default: Value, *given: Value) -> Value:
    return given[0] if given and _is_given(given[0]) else default


def _is_given(value: Value) -> bool:
    return not isinstance(value, Undefined) and truth(value)


def _coalesce(*values: Value) -> Value:
    return next((value for value in values if _is_given(value)), None)


def _ternary(when_true: Value, when_false: Value, condition: Value) -> Value:
    return when_true if _bool(condition) else when_false


def _required(_message: Value, value: Value) -> Value:
    if isinstance(value, Unknown):
        return value
    if value is None or (isinstance(value, Traced) and value.is_known and not value.literal):
        raise RenderFailed
    return value


def _fail(*_message: Value) -> Value:
    raise RenderFailed


def _compared(left: Value, right: Value) -> tuple[str | int | float | bool, str | int | float | bool]:
    """Two values of one kind, as Go compares no others."""
    pair = [value.data if isinstance(value, Leaf) else known(value) for value in (left, right)]
    if type(pair[0]) is not type(pair[1]):
        raise Undecided
    return pair[0], pair[1]


def _equal(left: Value, right: Value) -> bool:
    if left is None or right is None:
        _decided((left, right))
        return left is right
    first, second = _compared(left, right)
    return first == second


def _less(left: Value, right: Value) -> bool:
    first, second = _compared(left, right)
    if isinstance(first, bool):
        raise Undecided
    return first < second  # type: ignore[operator]


def _empty(value: Value) -> Leaf:
    return Leaf(not truth(value))


# --- Strings --------------------------------------------------------------------------------------------------------------------------


def _quote(*values: Value) -> Traced:
    parts: list[Part] = []
    for value in values:
        if value is not None:
            parts += (*([Part(" ")] if parts else ()), *json_text(as_text(value)).parts)
    return Traced(parts)


def _squote(*values: Value) -> Traced:
    parts: list[Part] = []
    for value in values:
        if value is not None:
            mark = Part("'", place_of(value))
            parts += (*([Part(" ")] if parts else ()), mark, *as_text(value).parts, mark)
    return Traced(parts)


def _print(*values: Value) -> Traced:
    """Go's Sprint: with a blank between two operands of which neither is a string."""
    parts: list[Part] = []
    for number, value in enumerate(values):
        if value is None:
            raise Undecided
        if number and not isinstance(value, Traced) and not isinstance(values[number - 1], Traced):
            _decided((value, values[number - 1]))
            parts.append(Part(" "))
        parts += as_text(value).parts
    return Traced(parts)


def _printf(form: Value, *values: Value) -> Traced:
    pattern = _string(form)
    text, position, left = pattern.known(), 0, list(values)
    made = literal("")
    for match in _VERB.finditer(text):
        made += pattern.cut(position, match.start())
        position = match.end()
        made += literal("%") if match[1] else _formatted(match[2], match[3], left)
    if left:
        raise Undecided
    return made + pattern.cut(position, len(text))


def _formatted(flags: str, verb: str, left: list[Value]) -> Traced:
    if not left or flags:
        raise Undecided
    value = left.pop(0)
    fits = {
        "s": isinstance(value, (Traced, Unknown)),
        "v": value is not None,
        "d": isinstance(value, Leaf) and type(value.data) is int,
        "t": isinstance(value, Leaf) and isinstance(value.data, bool),
        "q": isinstance(value, Traced),
    }
    if not fits.get(verb):
        raise Undecided
    return json_text(as_text(value)) if verb == "q" else as_text(value)


def _trunc(count: Value, value: Value) -> Value:
    length, text = _integer(count), _string(value)
    size = len(text.known())
    return text.cut(max(size + length, 0), size) if length < 0 else text.cut(0, min(length, size))


def _trim_suffix(suffix: Value, value: Value) -> Traced:
    text, end = _string(value), known(suffix)
    if text.is_known:
        return text.cut(0, len(text.literal.removesuffix(end)))
    last = text.parts[-1]
    if last.kind is not PartKind.TEXT or len(last.text) < len(end):
        raise Undecided
    return Traced((*text.parts[:-1], last.cut(0, len(last.text.removesuffix(end)))))


def _trim_prefix(prefix: Value, value: Value) -> Traced:
    text = _string(value)
    content = text.known()
    return text.cut(len(content) - len(content.removeprefix(known(prefix))), len(content))


def _replace(old: Value, new: Value, value: Value) -> Traced:
    text = known(value)
    _within(len(text) + text.count(known(old)) * len(known(new)))
    return _mapped(value, lambda text: text.replace(known(old), known(new)))


def _within(length: int) -> None:
    """Raises Undecided for a text past the bound, before it is made."""
    if length > MAX_LENGTH:
        raise Undecided


def _mapped(value: Value, change: Callable[[str], str]) -> Traced:
    """A string with its characters changed; in its own places where none was."""
    text = _string(value)
    before = text.known()
    after = change(before)
    return text if after == before else _new(after, value)


def _contains(part: Value, value: Value) -> Leaf:
    text, wanted = _string(value), known(part)
    if any(wanted in each.text for each in text.parts if Traced((each,)).is_known):
        return Leaf(True)
    return Leaf(wanted in text.known())


def _cat(*values: Value) -> Traced:
    made = literal("")
    for number, value in enumerate(values):
        made += (literal(" ") if number else literal("")) + as_text(value)
    return made


def _repeat(count: Value, value: Value) -> Traced:
    text, times = known(value), _bounded(_integer(count))
    _within(len(text) * times)
    return _new(text * times, value)


def _bounded(count: int) -> int:
    if not 0 <= count <= MAX_COUNT:
        raise Undecided
    return count


def _indent(count: Value, value: Value) -> Traced:
    text, blanks = _string(value), _bounded(_integer(count))
    _within(text.literal.count("\n") * blanks)
    return text.indented(blanks)


def _nindent(count: Value, value: Value) -> Traced:
    return literal("\n") + _indent(count, value)


def _to_string(value: Value) -> Value:
    return as_text(value) if value is not None else literal("")


def _join(mark: Value, values: Value) -> Traced:
    made = literal("")
    for number, value in enumerate(_list(values)):
        made += (literal(known(mark)) if number else literal("")) + as_text(value)
    return made


def _split_list(mark: Value, value: Value) -> List:
    text, by = _string(value), known(mark)
    if not by or text.known().count(by) > MAX_ITEMS:
        raise Undecided
    found, start = [], 0
    for word in text.known().split(by):
        found.append(text.cut(start, start + len(word)))
        start += len(word) + len(by)
    return List(found, text.location)


def _split(mark: Value, value: Value) -> Map:
    return Map((f"_{number}", each) for number, each in enumerate(_split_list(mark, value)))


# --- Numbers --------------------------------------------------------------------------------------------------------------------------


def _arithmetic(combine: Callable[[int, int], int]) -> Callable[..., Leaf]:
    def compute(first: Value, *others: Value) -> Leaf:
        result = _integer(first)
        for other in others:
            result = combine(result, _integer(other))
            if abs(result) >= 1 << 63:
                raise Undecided
        return Leaf(result)

    return compute


def _divided(left: int, right: int) -> int:
    if right == 0:
        raise Undecided
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _rest(left: int, right: int) -> int:
    return left - right * _divided(left, right)


def _whole(value: Value) -> Leaf:
    """A whole number, in its place where it is written as one."""
    number = _integer(value)
    return Leaf(number, value.written if isinstance(value, Leaf) and value.written == str(number) else None)


def _floating(value: Value) -> Leaf:
    return Leaf(float(_integer(value) if isinstance(value, Traced) else _number(value)))


def _until(count: Value) -> List:
    return List(map(Leaf, range(_bounded(_integer(count)))))


def _until_step(start: Value, stop: Value, step: Value) -> List:
    if _integer(step) == 0:
        raise Undecided
    counted = range(_integer(start), _integer(stop), _integer(step))
    _bounded(len(counted))
    return List(map(Leaf, counted))


# --- Lists ----------------------------------------------------------------------------------------------------------------------------


def _list_of(*values: Value) -> List:
    return List(values)


def _first(values: Value) -> Value:
    return next(iter(_list(values)), None)


def _last(values: Value) -> Value:
    return next(reversed(_list(values)), None)


def _without_first(values: Value) -> List:
    return List(islice(_list(values), 1, None))


def _without_last(values: Value) -> List:
    return List(_list(values)[:-1])


def _append(values: Value, item: Value) -> List:
    return List((*_list(values), item), place_of(values))


def _prepend(values: Value, item: Value) -> List:
    return List((item, *_list(values)), place_of(values))


def _concat(*values: Value) -> List:
    if sum(map(len, map(_list, values))) > MAX_ITEMS:
        raise Undecided
    return List((item for each in values for item in _list(each)), _place(*values))


def _plain(value: Value) -> str:
    """What tells values apart that Go compares deeply."""
    return f"{type(value).__name__} {to_json(value).known()}"


def _has(item: Value, values: Value) -> Leaf:
    return Leaf(values is not None and _plain(item) in map(_plain, _list(values)))


def _uniq(values: Value) -> List:
    found: dict[str, Value] = {}
    for value in _list(values):
        found.setdefault(_plain(value), value)
    return List(found.values())


def _without(values: Value, *left_out: Value) -> List:
    unwanted = set(map(_plain, left_out))
    return List(value for value in _list(values) if _plain(value) not in unwanted)


def _compact(values: Value) -> List:
    return List(value for value in _list(values) if truth(value))


def _reversed(values: Value) -> List:
    return List(reversed(_list(values)))


def _sorted(values: Value) -> List:
    return List(sorted(map(as_text, _list(values)), key=known))


def _length(value: Value) -> Leaf:
    if isinstance(value, (List, Map)):
        if value.open:
            raise Undecided
        return Leaf(len(value))
    return Leaf(len(known(value).encode()))


def _index(value: Value, *keys: Value) -> Value:
    for key in keys:
        if isinstance(value, Map):
            value = value.read(known(key))
        else:
            items, at = _list(value), _integer(key)
            if not 0 <= at < len(items):
                raise Undecided
            value = items[at]
    return value


# --- Mappings -------------------------------------------------------------------------------------------------------------------------


def _dict(*values: Value) -> Map:
    found = Map()
    for key, value in zip(values[::2], (*values[1::2], *([literal("")] if len(values) % 2 else ())), strict=True):
        found[known(key)] = value
    return found


def _get(mapping: Value, key: Value) -> Value:
    name, found = known(key), _map(mapping)
    return found.read(name) if name in found or found.open or found.is_default else literal("")


def _has_key(mapping: Value, key: Value) -> Leaf:
    name, found = known(key), _map(mapping)
    if name not in found and (found.open or found.is_default):
        raise Undecided
    return Leaf(name in found)


def _dig(*arguments: Value) -> Value:
    *keys, default, value = arguments
    for key in keys:
        found, name = _map(value), known(key)
        if name not in found:
            if found.open:
                raise Undecided
            return default  # the chart's own, as by `default`
        value = found[name]
    return value


def _pick(mapping: Value, *keys: Value) -> Map:
    wanted = set(map(known, keys))
    return _subset(_map(mapping), lambda key: key in wanted)


def _omit(mapping: Value, *keys: Value) -> Map:
    unwanted = set(map(known, keys))
    return _subset(_map(mapping), lambda key: key not in unwanted)


def _subset(mapping: Map, wanted: Callable[[str], bool]) -> Map:
    found = Map(((key, value) for key, value in mapping.items() if wanted(key)), mapping.location, mapping.open)
    found.names = mapping.names
    return found


def _keys(*mappings: Value) -> List:
    """The keys of mappings. Go gives them in no certain order, so that charts sort them."""
    if any(_map(mapping).open for mapping in mappings):
        raise Undecided
    return List(literal(key) for mapping in mappings for key in sorted(_map(mapping)))


def _values(mapping: Value) -> List:
    if _map(mapping).open or len(_map(mapping)) > 1:
        raise Undecided
    return List(_map(mapping).values())


def _pluck(key: Value, *mappings: Value) -> List:
    name = known(key)
    return List(_map(each)[name] for each in mappings if name in _map(each))


def _deep_copy(value: Value) -> Value:
    return copied(value)


def merged(target: Map, source: Map, overrides: bool) -> Map:
    """Two mappings merged as Sprig does: what is empty in the one that wins gives way to the other's."""
    found = Map(target.items(), target.location, target.open or source.open)
    found.names = {**source.names, **target.names}
    for key, value in source.items():
        own = target.get(key)
        if isinstance(own, Map) and isinstance(value, Map):
            found[key] = merged(own, value, overrides)
        elif key not in target or (overrides and _wins(value)) or not (overrides or _wins(own)):
            put(found, key, value, source.names.get(key))
    return found


def _wins(value: Value) -> bool:
    return truth(value)


# --- Kinds and forms ------------------------------------------------------------------------------------------------------------------


def _kind(value: Value) -> Traced:
    _decided((value,))
    if isinstance(value, Leaf):
        kinds = {bool: "bool", int: "int", float: "float64"}
        return literal(kinds[type(value.data)])
    return literal({Traced: "string", Map: "map", List: "slice"}.get(type(value), "invalid"))


def _kind_is(name: Value, value: Value) -> Leaf:
    found = known(_kind(value))
    if found == "int" and known(name) != "string":
        raise Undecided
    return Leaf(known(name) == found)


def _type_is(name: Value, value: Value) -> Leaf:
    found = known(_kind(value))
    types = {"map": "map[string]interface {}", "slice": "[]interface {}"}
    if found == "int":
        raise Undecided
    return Leaf(known(name) == types.get(found, found))


def _same(value: Value) -> Value:
    return value


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "default": _default,
    "coalesce": _coalesce,
    "ternary": _ternary,
    "required": _required,
    "fail": _fail,
    "empty": _empty,
    "eq": lambda first, *others: Leaf(any(_equal(first, other) for other in others)),
    "ne": lambda first, second: Leaf(not _equal(first, second)),
    "lt": lambda first, second: Leaf(_less(first, second)),
    "le": lambda first, second: Leaf(not _less(second, first)),
    "gt": lambda first, second: Leaf(_less(second, first)),
    "ge": lambda first, second: Leaf(not _less(first, second)),
    "not": _empty,
    "all": lambda *values: Leaf(all(map(truth, values))),
    "any": lambda *values: Leaf(any(map(truth, values))),
    "quote": _quote,
    "squote": _squote,
    "print": _print,
    "printf": _printf,
    "trunc": _trunc,
    "trim": lambda value: _string(value).stripped(),
    "trimAll": lambda characters, value: _string(value).stripped(known(characters)),
    "trimSuffix": _trim_suffix,
    "trimPrefix": _trim_prefix,
    "replace": _replace,
    "lower": lambda value: _mapped(value, str.lower),
    "upper": lambda value: _mapped(value, str.upper),
    "nospace": lambda value: _mapped(value, lambda text: "".join(text.split())),
    "contains": _contains,
    "hasPrefix": lambda start, value: Leaf(known(value).startswith(known(start))),
    "hasSuffix": lambda end, value: Leaf(known(value).endswith(known(end))),
    "cat": _cat,
    "repeat": _repeat,
    "indent": _indent,
    "nindent": _nindent,
    "toString": _to_string,
    "join": _join,
    "splitList": _split_list,
    "split": _split,
    "add": _arithmetic(int.__add__),
    "add1": lambda value: Leaf(_integer(value) + 1),
    "sub": lambda left, right: Leaf(_integer(left) - _integer(right)),
    "mul": _arithmetic(int.__mul__),
    "div": lambda left, right: Leaf(_divided(_integer(left), _integer(right))),
    "mod": lambda left, right: Leaf(_rest(_integer(left), _integer(right))),
    "max": _arithmetic(max),
    "min": _arithmetic(min),
    "int": _whole,
    "int64": _whole,
    "atoi": _whole,
    "float64": _floating,
    "until": _until,
    "untilStep": _until_step,
    "list": _list_of,
    "tuple": _list_of,
    "first": _first,
    "last": _last,
    "rest": _without_first,
    "initial": _without_last,
    "append": _append,
    "push": _append,
    "prepend": _prepend,
    "concat": _concat,
    "has": _has,
    "uniq": _uniq,
    "without": _without,
    "compact": _compact,
    "reverse": _reversed,
    "sortAlpha": _sorted,
    "len": _length,
    "index": _index,
    "dict": _dict,
    "get": _get,
    "hasKey": _has_key,
    "dig": _dig,
    "pick": _pick,
    "omit": _omit,
    "keys": _keys,
    "values": _values,
    "pluck": _pluck,
    "deepCopy": _deep_copy,
    "kindOf": _kind,
    "kindIs": _kind_is,
    "typeIs": _type_is,
    "toYaml": to_yaml,
    "toJson": to_json,
    "toRawJson": to_json,
    "toPrettyJson": to_json,
}
_WITH_ERRORS = (
    *("first", "last", "rest", "initial", "append", "push", "prepend", "has", "uniq", "without", "compact", "reverse"),
    *("deepCopy", "toJson", "toRawJson", "toPrettyJson"),
)
"""Functions that have a twin which fails where they give nothing: `mustFirst`."""

FUNCTIONS.update({f"must{name[0].upper()}{name[1:]}": FUNCTIONS[name] for name in _WITH_ERRORS})
