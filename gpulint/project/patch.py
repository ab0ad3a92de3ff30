"""Patches on YAML trees as kustomize applies them: strategic merges and JSON 6902 operations. Every node keeps the file it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpulint.facts.kustomize import merge_key
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown

_DIRECTIVE = "$patch"
_LONGEST_INDEX = 9
_DEEPEST_PATH = 100
"""Steps of a JSON pointer: far above any real one, and a bound for patches that make a tree deeper and deeper."""
_MOST_OPERATIONS = 1000
"""Operations of one patch: each makes its list anew."""
_LARGEST_COPY = 200
"""Nodes that an operation copies or moves: a bound for patches that double a tree again and again."""


class PatchError(Exception):
    """A patch that meets nothing it could change, or holds what is not known."""


def merge(base: Mapping, patch: Mapping, by_key: bool) -> Mapping:
    """The base with a strategic merge patch on it. `by_key` where the lists have merge keys, as only those of known schemas do.

    Raises PatchError where a mapping meets a list or a scalar.
    """
    if _directive(patch) == "replace":
        return _cleaned_mapping(patch, by_key)
    entries = {str(entry.key): entry for entry in base}
    for entry in patch:
        below = entries.get(entry.key)
        if removes(entry.value):
            entries.pop(entry.key, None)
        elif entry.key != _DIRECTIVE:
            entries[str(entry.key)] = _merged_entry(entry, below, by_key)
    return Mapping(tuple(entries.values()), base.location, base.tag, base.open or patch.open)


def removes(node: Node) -> bool:
    """Whether a patch's value takes away what it is put on."""
    return _is_null(node) or (isinstance(node, Mapping) and _directive(node) == "delete")


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _directive(mapping: Mapping) -> str:
    directive = mapping.scalar(_DIRECTIVE)
    return str(directive) if isinstance(directive, Text) else ""


def _merged_entry(entry: Entry, below: Entry | None, by_key: bool) -> Entry:
    """The entry of a patch over that of the base. What is merged keeps its old key, what is replaced stands where the patch has it."""
    if below is None or _is_null(below.value):
        return Entry(entry.key, _cleaned(entry.value, by_key))
    value, old = entry.value, below.value
    if isinstance(value, Unknown) or isinstance(old, Unknown):
        return Entry(entry.key, Unknown(f"${{{entry.key}}}", entry.key.location))
    if isinstance(value, Mapping) and isinstance(old, Mapping):
        return Entry(below.key, merge(old, value, by_key))
    if isinstance(value, Sequence) and isinstance(old, Sequence):
        key = merge_key(entry.key) if by_key else None
        return Entry(below.key, _merge_items(old, value, key)) if key else Entry(entry.key, value)
    if isinstance(value, Scalar) and isinstance(old, Scalar):
        return Entry(entry.key, value)
    raise PatchError


def _merge_items(base: Sequence, patch: Sequence, key: str) -> Sequence:
    """The items of both, merged by their key: those of the patch in its order, then what else the base holds."""
    if any(_directive(item) == "replace" for item in patch.mappings()):
        items = tuple(_cleaned(item, True) for item in patch if not (isinstance(item, Mapping) and _DIRECTIVE in item))
        return Sequence(items, base.location)
    waiting: dict[int, Node] = dict(enumerate(base))
    places = {_name(item, key): index for index, item in reversed(waiting.items())}
    first: list[Node] = []
    for item in patch:
        name = _name(item, key)
        below = None if name is None else waiting.pop(places.get(name, -1), None)
        if not (isinstance(item, Mapping) and _directive(item) == "delete"):
            merges = isinstance(item, Mapping) and isinstance(below, Mapping)
            first.append(merge(below, item, True) if merges else _cleaned(item, True))  # type: ignore[arg-type]
    return Sequence((*first, *waiting.values()), base.location, base.tag, base.open or patch.open)


def _name(item: Node, key: str) -> str | None:
    """What an item is called by its merge key; None where that is not known."""
    name = item.scalar(key) if isinstance(item, Mapping) else None
    return str(name) if isinstance(name, Text) else None


def _cleaned(node: Node, by_key: bool) -> Node:
    """What a patch adds where the base has nothing: without its nulls, and without what it would take away."""
    if isinstance(node, Mapping):
        return _cleaned_mapping(node, by_key)
    if isinstance(node, Sequence) and by_key:
        items = tuple(_cleaned(item, by_key) for item in node if not (isinstance(item, Mapping) and _DIRECTIVE in item))
        return Sequence(items, node.location, node.tag, node.open)
    return node


def _cleaned_mapping(mapping: Mapping, by_key: bool) -> Mapping:
    kept = (entry for entry in mapping if entry.key != _DIRECTIVE and not removes(entry.value))
    return Mapping(tuple(Entry(key, _cleaned(value, by_key)) for key, value, _ in kept), mapping.location, mapping.tag, mapping.open)


def apply_operations(root: Mapping, operations: Sequence) -> Mapping:
    """The root after JSON 6902 operations in their order. Raises PatchError where one misses its place or is of an unknown form."""
    node: Node = root
    if len(operations) > _MOST_OPERATIONS:
        raise PatchError
    for operation in operations:
        if not isinstance(operation, Mapping):
            raise PatchError
        node = _apply(node, operation)
    if not isinstance(node, Mapping):
        raise PatchError
    return node


def _apply(root: Node, operation: Mapping) -> Node:
    name, path, value = operation.scalar("op"), operation.scalar("path"), operation.get("value")
    if not isinstance(name, Text) or not isinstance(path, Text):
        raise PatchError
    keys = _pointer(path)
    if name == "test":
        if isinstance(value, Scalar) and _reached(root, keys) != value:
            raise PatchError
        return root
    if not keys:
        raise PatchError
    if name == "remove":
        return _edit(root, keys, _without)
    if name in ("copy", "move"):
        source = _pointer(_known(operation.scalar("from")))
        value = _small(_reached(root, source))
        root = root if name == "copy" else _edit(root, source, _without)
    if name in ("add", "replace", "copy", "move") and value is not None:
        inserts, found = name != "replace", value
        return _edit(root, keys, lambda holder, key: _with(holder, key, found, inserts))
    raise PatchError


def _known(value: Scalar | Unknown | None) -> Text:
    if not isinstance(value, Text):
        raise PatchError
    return value


def _reached(root: Node, keys: tuple[Scalar, ...]) -> Node:
    node: Node | None = root
    for key in keys:
        node = node.items[_index(key, len(node))] if isinstance(node, Sequence) else node.get(key) if isinstance(node, Mapping) else None
    if node is None:
        raise PatchError
    return node


def _small(node: Node) -> Node:
    """The node, where it is small enough to stand in a second place."""
    waiting: list[Node] = [node]
    for _ in range(_LARGEST_COPY):
        if not waiting:
            return node
        waiting += _below(waiting.pop())
    raise PatchError


def _below(node: Node) -> Iterator[Node]:
    if isinstance(node, Mapping):
        yield from (value for _, value, _ in node)
    elif isinstance(node, Sequence):
        yield from node


def _pointer(path: Text) -> tuple[Scalar, ...]:
    """The keys of a JSON pointer, each with its place in it."""
    keys, at = [], 1
    if path.count("/") > _DEEPEST_PATH:
        raise PatchError
    for part in path.split("/")[1:]:
        text = path.cut(at, at + len(part))
        keys.append(scalar(part.replace("~1", "/").replace("~0", "~"), text))
        at += len(part) + 1
    return tuple(keys)


def scalar(value: str, place: Text) -> Scalar:
    """A scalar that stands where a text does."""
    made = Scalar(value, place.location, place.pieces if value == place else ())
    made.plain, made.tag = True, None
    return made


def _edit(node: Node, keys: tuple[Scalar, ...], change: Callable[[Node, Scalar], Node]) -> Node:
    """The node with what the last key names changed, and everything on the way there made anew."""
    if not keys:
        raise PatchError
    key, *rest = keys
    if not rest:
        return change(node, key)
    if isinstance(node, Mapping):
        entry = node.entry(key)
        if entry is None:
            raise PatchError
        return _with(node, entry.key, _edit(entry.value, tuple(rest), change), False)
    if isinstance(node, Sequence):
        index = _index(key, len(node))
        return _with(node, key, _edit(node.items[index], tuple(rest), change), False)
    raise PatchError


def _index(key: str, limit: int) -> int:
    """The index below a limit that a step names; -1 is the last one."""
    digits = key.removeprefix("-")
    number = int(digits) if len(digits) < _LONGEST_INDEX and digits.isdecimal() else limit
    index = limit - number if key.startswith("-") else number
    if not 0 <= index < limit:
        raise PatchError
    return index


def _with(holder: Node, key: Scalar, value: Node, inserts: bool) -> Node:
    """The holder with a value at a key or index; in a sequence put before what stands there if it `inserts`."""
    if isinstance(holder, Mapping):
        entries = {str(entry.key): entry for entry in holder}
        entries[str(key)] = Entry(key, value)
        return Mapping(tuple(entries.values()), holder.location, holder.tag, holder.open)
    if not isinstance(holder, Sequence):
        raise PatchError
    items = list(holder)
    index = len(items) if key == "-" and inserts else _index(key, len(items) + inserts)
    items[index : index if inserts else index + 1] = [value]
    return Sequence(tuple(items), holder.location, holder.tag, holder.open)


def _without(holder: Node, key: Scalar) -> Node:
    if isinstance(holder, Mapping) and key in holder:
        return Mapping(tuple(entry for entry in holder if entry.key != key), holder.location, holder.tag, holder.open)
    if isinstance(holder, Sequence):
        index = _index(key, len(holder))
        return Sequence((*holder.items[:index], *holder.items[index + 1 :]), holder.location, holder.tag, holder.open)
    raise PatchError
