"""Which objects a kustomization's patch is for: by the patch's target, or by the kind and name that the patch holds itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Entry, Mapping
from gpulint.source import Text

_LONGEST_NAME = 253
_REPETITIONS = 2


def is_target(target: Mapping, root: Mapping, names: Iterable[str], namespaces: Iterable[str]) -> bool:
    """Whether an object is one that a target means. `names` are those it has and had, `namespaces` likewise; all fields are patterns."""
    return (
        _agrees(target, "kind", (kind_of(root),))
        and _agrees(target, "group", (group_of(root),))
        and _agrees(target, "version", (text_at(root, "apiVersion").rpartition("/")[2],))
        and _agrees(target, "name", names)
        and _agrees(target, "namespace", namespaces)
        and _has_labels(target, root)
    )


def names_itself(body: Mapping, root: Mapping, names: Iterable[str]) -> bool:
    """Whether a patch without a target holds the kind, group and name of an object."""
    return kind_of(body) == kind_of(root) and group_of(body) == group_of(root) and text_at(body, "metadata", "name") in names


def _agrees(target: Mapping, key: str, actual: Iterable[str]) -> bool:
    pattern = text_at(target, key)
    return not pattern or any(_matches(pattern, each) for each in actual)


def _matches(pattern: str, name: str) -> bool:
    """Whether a pattern means a name. One that could take long to try is read as a plain name."""
    if len(name) > _LONGEST_NAME or sum(map(pattern.count, "*+{")) > _REPETITIONS or ")" in pattern:
        return pattern == name
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return pattern == name


def _has_labels(target: Mapping, root: Mapping) -> bool:
    """Whether an object has the labels of a target's `labelSelector`; forms other than `a=b` and `a` count as met."""
    labels = root.mapping("metadata", "labels")
    for part in text_at(target, "labelSelector").split(","):
        key, equals, wanted = (piece.strip() for piece in part.replace("==", "=").partition("="))
        plain = key and "!" not in key and " " not in key
        if plain and not (key in labels and (not equals or text_at(labels, key) == wanted)):
            return False
    return True


def text_at(mapping: Mapping, *path: str) -> str:
    """The scalar at a path of keys where it is known, else ""."""
    found = mapping.scalar(*path)
    return str(found) if isinstance(found, Text) else ""


def group_of(root: Mapping) -> str:
    """The API group of an object."""
    return text_at(root, "apiVersion").rpartition("/")[0]


def without_identity(body: Mapping) -> Mapping:
    """A patch that has a target, without what says what it would patch by itself."""
    entries = (entry for entry in body if entry.key not in ("apiVersion", "kind"))
    return Mapping(tuple(_nameless(entry) if entry.key == "metadata" else entry for entry in entries), body.location)


def _nameless(metadata: Entry) -> Entry:
    if not isinstance(metadata.value, Mapping):
        return metadata
    entries = tuple(entry for entry in metadata.value if entry.key not in ("name", "namespace"))
    return Entry(metadata.key, Mapping(entries, metadata.value.location))
