"""The items of a list of Kubernetes objects as kubectl prints it, found by their lines: so long a list need not be read as one document."""

from __future__ import annotations

from collections.abc import Iterator
from re import MULTILINE

from gpulint.deferred import regex

_KIND = regex(r'^(?:kind: |    "kind": ")\w*List"?,?$', MULTILINE)
_ITEMS = regex(r'^(?:items:|    "items": \[)$', MULTILINE)
_ITEM = regex(r"^(?:- | {8}\{$)", MULTILINE)
_END = regex(r"^(?:[^\s-]| {4}\])", MULTILINE)
_LAST = ",\n"
"""What follows an item of JSON and is no part of it."""


def items(text: str) -> Iterator[tuple[int, int]]:
    """The offsets between which the items of a list stand; none for a text that is no such list."""
    head = _ITEMS.search(text)
    if head is None or _KIND.search(text) is None:
        return
    end = _END.search(text, head.end() + 1)
    starts = [match.start() for match in _ITEM.finditer(text, head.end(), end.start() if end else len(text))]
    for start, following in zip(starts, [*starts[1:], end.start() if end else len(text)], strict=True):
        yield start, start + len(text[start:following].rstrip(_LAST))
