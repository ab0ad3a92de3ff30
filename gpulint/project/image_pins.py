"""The `images` of a kustomization: the names, tags and digests that it puts in place of those in an object's containers."""

from __future__ import annotations

from collections.abc import Iterable

from gpulint.deferred import regex
from gpulint.parse.nodes import Entry, JoinedScalar, Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown

_VERSION = regex(r"(?P<tag>:[A-Za-z0-9_.{}-]*)?(?P<digest>@[A-Za-z0-9_.+-]+:[A-Za-z0-9_.{}-]*)?")
_LISTS = ("containers", "initContainers")
_DEEPEST_POD = 50
"""How deep in an object a container may stand: a bound for recursion."""


def with_images(root: Mapping, pins: Iterable[Mapping]) -> Mapping:
    """An object with the entries of `images` applied in their order; the object itself where none of them names an image of it."""
    named = tuple(pin for pin in pins if isinstance(pin.scalar("name"), Scalar))
    changed = _below(root, named, 0) if named else root
    return changed if isinstance(changed, Mapping) else root


def _below(node: Node, pins: tuple[Mapping, ...], depth: int) -> Node:
    """The node with the images of the containers below it pinned, wherever in it lists of containers stand."""
    if depth > _DEEPEST_POD:
        return node
    if isinstance(node, Mapping):
        entries = tuple(Entry(entry.key, _value(entry, pins, depth), entry.merged) for entry in node.entries)
        is_same = all(new.value is old.value for new, old in zip(entries, node.entries, strict=True))
        return node if is_same else Mapping(entries, node.location, node.tag, node.open)
    if isinstance(node, Sequence):
        items = tuple(_below(item, pins, depth + 1) for item in node)
        return (
            node if all(new is old for new, old in zip(items, node, strict=True)) else Sequence(items, node.location, node.tag, node.open)
        )
    return node


def _value(entry: Entry, pins: tuple[Mapping, ...], depth: int) -> Node:
    if entry.key not in _LISTS or not isinstance(entry.value, Sequence):
        return _below(entry.value, pins, depth + 1)
    items = tuple(_container(item, pins) for item in entry.value)
    is_same = all(new is old for new, old in zip(items, entry.value, strict=True))
    return entry.value if is_same else Sequence(items, entry.value.location, entry.value.tag, entry.value.open)


def _container(item: Node, pins: tuple[Mapping, ...]) -> Node:
    image = item.get("image") if isinstance(item, Mapping) else None
    if not isinstance(image, Scalar) or not isinstance(item, Mapping):
        return item
    pinned: Scalar | Unknown = image
    for pin in pins:
        pinned = _pinned(pinned, pin) if isinstance(pinned, Scalar) else pinned
    if pinned is image:
        return item
    entries = (Entry(entry.key, pinned if entry.key == "image" else entry.value) for entry in item)
    return Mapping(tuple(entries), item.location, item.tag, item.open)


def _pinned(image: Scalar, pin: Mapping) -> Scalar | Unknown:
    """The image with an entry applied where the entry names it: a new name, and a tag or digest in place of both."""
    name = pin.scalar("name")
    match = _VERSION.fullmatch(image, len(name)) if isinstance(name, Scalar) and image.startswith(name) else None
    given = [pin.scalar(key) for key in ("newName", "newTag", "digest", "tagSuffix")]
    if match is None or all(each is None for each in given):
        return image
    if "tagSuffix" in pin or any(isinstance(each, Unknown) for each in given):  # kustomize may add a suffix more than once
        return Unknown(f"{image.cut(0, match.start())}:${{tag}}" if given[0] is None else "${image}", image.location)
    parts: list[Text | None] = [each if isinstance(each, Scalar) and each else None for each in given]
    new_name, tag, digest, _ = parts
    if tag is None and digest is None:
        tag, digest = (_rest(image, *match.span(part)) for part in ("tag", "digest"))
    pieces = (new_name or image.cut(0, match.start()), *_signed(":", tag), *_signed("@", digest))
    return JoinedScalar.of(image.location, *pieces)


def _rest(image: Scalar, start: int, end: int) -> Text | None:
    """A part of an image behind its sign; None where it has none."""
    return image.cut(start + 1, end) if start >= 0 else None


def _signed(sign: str, part: Text | None) -> tuple[str, ...]:
    return () if part is None else (sign, part)
