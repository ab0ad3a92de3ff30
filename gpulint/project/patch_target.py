"""Which objects a kustomization's entry is for: those that its selector means, or the one that a patch names itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gpulint.deferred import NamedTuple, regex
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Entry, Mapping
from gpulint.source import Text

_LONGEST_NAME = 253
_LONGEST_SELECTOR = 1000
_BRANCHES = {"*": 2, "+": 2, "{": 2, "?": 3, "(": 2}
"""How often a pattern may hold each sign that lets the time to try it grow."""
_REPEATED_GROUP = regex(r"\)[*+?{]")
_NO_NAMESPACE = "default"
_REQUIREMENT = regex(r"(!?)\s*([\w./-]+)\s*(?:(=|==|!=)\s*([\w.-]*)|(in|notin)\s*\(([^()]*)\))?\s*")
_BETWEEN_REQUIREMENTS = regex(r",(?![^()]*\))")


class Name(NamedTuple):
    """A namespace and name of an object; "" where it has none."""

    namespace: str
    name: str


def is_selected(selector: Mapping, root: Mapping, names: Sequence[Name]) -> bool | None:
    """Whether an object is one that a selector means; None where that cannot be told. `names` are those it had, the last one it has: the
    first and the last count. Their fields are patterns."""
    first, last = names[0], names[-1]
    return _all(
        (
            _agrees(selector, "kind", kind_of(root)),
            _agrees(selector, "group", group_of(root)),
            _agrees(selector, "version", text_at(root, "apiVersion").rpartition("/")[2]),
            _agrees(selector, "name", first.name, last.name),
            _agrees(selector, "namespace", first.namespace or _NO_NAMESPACE, last.namespace or _NO_NAMESPACE),
            meets(text_at(selector, "labelSelector"), root.mapping("metadata", "labels")),
            meets(text_at(selector, "annotationSelector"), root.mapping("metadata", "annotations")),
        )
    )


def _all(answers: Iterable[bool | None]) -> bool | None:
    found = tuple(answers)
    return False if False in found else None if None in found else True


def names_itself(body: Mapping, root: Mapping, names: Sequence[Name]) -> bool | None:
    """Whether a patch without a target holds the version, kind, name and namespace of an object, as it is or was. None where it is not
    exact: kustomize then builds nothing at all."""
    if kind_of(body) != kind_of(root) or text_at(body, "metadata", "name") not in {each.name for each in names}:
        return False
    own = Name(text_at(body, "metadata", "namespace") or _NO_NAMESPACE, text_at(body, "metadata", "name"))
    is_exact = own in {Name(each.namespace or _NO_NAMESPACE, each.name) for each in names}
    return True if is_exact and text_at(body, "apiVersion") == text_at(root, "apiVersion") else None


def _agrees(selector: Mapping, key: str, *actual: str) -> bool | None:
    """Whether a field of a selector means one of the words, or says nothing."""
    pattern = text_at(selector, key)
    found = {_matches(pattern, each) for each in actual}
    return True if not pattern or True in found else None if None in found else False


def _matches(pattern: str, name: str) -> bool | None:
    """Whether a pattern means a name; None where it cannot be tried, or not in a short time."""
    if pattern == name:
        return True
    if len(name) > _LONGEST_NAME or _REPEATED_GROUP.search(pattern) or any(pattern.count(sign) > most for sign, most in _BRANCHES.items()):
        return None
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return None


def meets(selector: str, notes: Mapping) -> bool | None:
    """Whether labels or annotations meet each requirement of a selector (`a`, `!a`, `a=b`, `a != b`, `a in (b, c)`); None where one of
    these is of no such form."""
    if not selector.strip():
        return True
    if len(selector) > _LONGEST_SELECTOR:
        return None
    return _all(_meets_one(part, notes) for part in _BETWEEN_REQUIREMENTS.split(selector))


def _meets_one(requirement: str, notes: Mapping) -> bool | None:
    match = _REQUIREMENT.fullmatch(requirement.strip())
    if match is None:
        return None
    absent, key, sign, wanted, word, listed = match.groups()
    if not (sign or word):
        return (key in notes) != bool(absent)
    words = [wanted] if sign else [each.strip() for each in listed.split(",")]
    return (key in notes and text_at(notes, key) in words) == (sign in ("=", "==") or word == "in")


def text_at(mapping: Mapping, *path: str) -> str:
    """The scalar at a path of keys where it is known, else ""."""
    found = mapping.scalar(*path)
    return str(found) if isinstance(found, Text) else ""


def group_of(root: Mapping) -> str:
    """The API group of an object."""
    return text_at(root, "apiVersion").rpartition("/")[0]


def without_identity(body: Mapping) -> Mapping:
    """A patch without what says what it is for: an object keeps its kind, name and namespace."""
    entries = (entry for entry in body if entry.key not in ("apiVersion", "kind"))
    return Mapping(tuple(_nameless(entry) if entry.key == "metadata" else entry for entry in entries), body.location)


def _nameless(metadata: Entry) -> Entry:
    if not isinstance(metadata.value, Mapping):
        return metadata
    entries = tuple(entry for entry in metadata.value if entry.key not in ("name", "namespace"))
    return Entry(metadata.key, Mapping(entries, metadata.value.location))
