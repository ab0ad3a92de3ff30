"""Patches on YAML trees as kustomize applies them: strategic merges and JSON 6902 operations. Every node keeps the file it came from."""

from __future__ import annotations

from collections.abc import Callable

from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.source import Text

_MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "resourceClaims": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
}
"""The lists of built-in kinds that are merged by a key of their items; all other lists are replaced."""

_DIRECTIVE = "$patch"
_LONGEST_INDEX = 9
_DEEPEST_PATH = 100
"""Steps of a JSON pointer: far above any real one, and a bound for patches that make a tree deeper and deeper."""
_MOST_OPERATIONS = 1000
"""Operations of one patch: each makes its list anew."""


class PatchError(Exception):
    """A patch that meets nothing it could change, or holds what is not known."""


def merge(base: Mapping, patch: Mapping, by_key: bool) -> Mapping:
    """The base with a strategic merge patch on it. `by_key` where the lists have merge keys, as only those of built-in kinds do."""
    if _directive(patch) == "replace":
        return Mapping(tuple(entry for entry in patch if entry.key != _DIRECTIVE), base.location)
    entries = {str(entry.key): entry for entry in base}
    for entry in patch:
        below = entries.get(entry.key)
        if removes(entry.value):
            entries.pop(entry.key, None)
        elif entry.key != _DIRECTIVE:
            entries[str(entry.key)] = Entry(entry.key, _merged(entry, below.value, by_key)) if below else Entry(entry.key, entry.value)
    return Mapping(tuple(entries.values()), base.location, open=base.open or patch.open)


def removes(node: Node) -> bool:
    """Whether a patch's value takes away what it is put on."""
    return (isinstance(node, Scalar) and node.is_null) or (isinstance(node, Mapping) and _directive(node) == "delete")


def _directive(mapping: Mapping) -> str:
    directive = mapping.scalar(_DIRECTIVE)
    return str(directive) if isinstance(directive, Text) else ""


def _merged(entry: Entry, below: Node, by_key: bool) -> Node:
    if isinstance(entry.value, Mapping) and isinstance(below, Mapping):
        return merge(below, entry.value, by_key)
    key = _MERGE_KEYS.get(entry.key) if by_key else None
    if key and isinstance(entry.value, Sequence) and isinstance(below, Sequence):
        return _merge_items(below, entry.value, key)
    return entry.value


def _merge_items(base: Sequence, patch: Sequence, key: str) -> Sequence:
    """The items of the base with those of the patch merged in by their key; new ones come first."""
    if any(_directive(item) == "replace" for item in patch.mappings()):
        return Sequence(tuple(item for item in patch if not (isinstance(item, Mapping) and _DIRECTIVE in item)), base.location)
    items: dict[int, Node] = dict(enumerate(base))
    places = {_name(item, key): index for index, item in reversed(items.items())}
    added: list[Node] = []
    for item in patch:
        name = _name(item, key)
        index = None if name is None else places.get(name)
        removes = isinstance(item, Mapping) and _directive(item) == "delete"
        if index is None or index not in items:
            added += () if removes else (item,)
        elif removes:
            del items[index]
        else:
            items[index] = merge(items[index], item, True)  # type: ignore[arg-type]
    return Sequence((*added, *items.values()), base.location, open=base.open or patch.open)


def _name(item: Node, key: str) -> str | None:
    """What an item is called by its merge key; None where that is not known."""
    name = item.scalar(key) if isinstance(item, Mapping) else None
    return str(name) if isinstance(name, Text) else None


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
        return root
    if name == "remove" and keys:
        return _edit(root, keys, lambda holder, key: _without(holder, key))
    if name in ("add", "replace") and keys and value is not None:
        inserts = name == "add"
        return _edit(root, keys, lambda holder, key: _with(holder, key, value, inserts))
    raise PatchError


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
    index = int(key) if len(key) < _LONGEST_INDEX and key.isdecimal() else limit
    if index >= limit:
        raise PatchError
    return index


def _with(holder: Node, key: Scalar, value: Node, inserts: bool) -> Node:
    """The holder with a value at a key or index; in a sequence put before what stands there if it `inserts`."""
    if isinstance(holder, Mapping):
        entries = {str(entry.key): entry for entry in holder}
        entries[str(key)] = Entry(key, value)
        return Mapping(tuple(entries.values()), holder.location, open=holder.open)
    if not isinstance(holder, Sequence):
        raise PatchError
    items = list(holder)
    index = len(items) if key == "-" else _index(key, len(items) + inserts)
    items[index : index if inserts else index + 1] = [value]
    return Sequence(tuple(items), holder.location, open=holder.open)


def _without(holder: Node, key: Scalar) -> Node:
    if isinstance(holder, Mapping) and key in holder:
        return Mapping(tuple(entry for entry in holder if entry.key != key), holder.location, open=holder.open)
    if isinstance(holder, Sequence):
        index = _index(key, len(holder))
        return Sequence((*holder.items[:index], *holder.items[index + 1 :]), holder.location, open=holder.open)
    raise PatchError
