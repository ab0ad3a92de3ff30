"""Rendered text read as YAML, with each node in the place that a person would edit for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

from gpulint.deferred import NamedTuple
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.parse.template import parse_template
from gpulint.parse.yaml import Document
from gpulint.project.helm_text import Part, PartKind, Traced, Undecided
from gpulint.source import Location, Source, Text, Unknown

_BRACES, _HIDDEN = "{{", "\ue000\ue000"
"""Braces that a template writes are no action; while the text is read characters of no meaning stand for them."""

_CONTROL = frozenset(("if", "with", "range", "define", "block", "else", "end", "break", "continue"))
_MOST_WORDS = 12
"""How much of an expression is kept for a message."""


class Rendering(NamedTuple):
    """The documents of a rendered text, and the branches that the values leave out of it, each with the line of the text it stands at."""

    documents: list[Document]
    left_out: list[tuple[int, Part]]


def parse_traced(text: Traced, path: str) -> Rendering:
    """A rendered text as YAML. Raises Undecided where it is none.

    What is not known in it is Unknown, and a collection to which it may add, or of which it may drop a part, is open.
    """
    written = [_written(part) for part in text.parts]
    source = Source(path, "".join(written).encode("utf-8", "replace"))
    syntax = parse_template(source)
    if syntax.problems:
        raise Undecided
    placement = _Placement(text.parts, written, source)
    documents = [replace(document, root=None if document.root is None else placement.node(document.root)) for document in syntax.documents]
    starts = accumulate(map(len, written), initial=0)
    found = zip(starts, text.parts, strict=False)
    return Rendering(documents, [(source.position(start)[0], part) for start, part in found if part.kind is PartKind.LEFT_OUT])


def _written(part: Part) -> str:
    """A part as the text of a template."""
    if part.kind is PartKind.TEXT:
        return part.text.replace(_BRACES, _HIDDEN)
    if part.kind is PartKind.HOLE:
        return "{{ " + _expression(part.text) + " }}"
    return part.text if part.kind is PartKind.BLOCK else ""


def _expression(raw: str) -> str:
    """An expression on one line, with nothing in it that would end or move it, or make it another kind of action."""
    for mark in ("{", "}", '"', "'", "`", "indent", "/*", ":=", "="):
        raw = raw.replace(mark, " ")
    words = raw.split()[:_MOST_WORDS]
    return "values" if not words or words[0] in _CONTROL or words[0].isdigit() else " ".join(words)


class _Placement:
    """Maps the nodes that were read from a text to the places of its parts."""

    def __init__(self, parts: tuple[Part, ...], written: list[str], source: Source) -> None:
        self._path = source.path
        self._line_starts = list(accumulate((len(line) + 1 for line in source.text.split("\n")), initial=0))
        kept = [(part, text) for part, text in zip(parts, written, strict=True) if text]
        self._parts = [part for part, _ in kept]
        self._starts = list(accumulate((len(text) for _, text in kept), initial=0))[:-1]
        self._done: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        """The node in its places."""
        if isinstance(node, Scalar):
            return _placed(node, self)
        if isinstance(node, Unknown):
            return Unknown(_shown(node.raw), self.region(node.location))
        if id(node) not in self._done:
            self._done[id(node)] = self._mapping(node) if isinstance(node, Mapping) else self._sequence(node)
        return self._done[id(node)]

    def _mapping(self, node: Mapping) -> Mapping:
        several = frozenset(map(str, node.repeated)) if node.open else frozenset[str]()
        entries = tuple(Entry(_placed(entry.key, self), self._value(entry, several), entry.merged) for entry in node.entries)
        inner = [place for entry in entries if not entry.merged for place in (entry.key.location, entry.value.location)]
        return Mapping(entries, self._extent(node.location, inner), node.tag, node.open)

    def _value(self, entry: Entry, several: frozenset[str]) -> Node:
        """The value of an entry; of a key that several branches write, of which one will, it is not known."""
        if entry.key in several:
            return Unknown(str(entry.key), self.region(entry.value.location))
        return self.node(entry.value)

    def _sequence(self, node: Sequence) -> Sequence:
        items = tuple(map(self.node, node.items))
        return Sequence(items, self._extent(node.location, [item.location for item in items]), node.tag, node.open)

    def _extent(self, location: Location, inner: Iterable[Location]) -> Location:
        """The place of a collection: from where it begins to the last that its own file has of it, or that writes of it."""
        first, end = self.region(location), self._offset(location.end_line, location.end_column)
        places = (first, *inner, self._parts[self._at(end - 1)].written_by or first)
        return first.to(max((place for place in places if place.path == first.path), key=_end))

    def _offset(self, line: int, column: int) -> int:
        return self._line_starts[line - 1] + column - 1

    def _at(self, offset: int) -> int:
        return max(bisect_right(self._starts, offset) - 1, 0)

    def region(self, location: Location) -> Location:
        """The place of a region of the rendered text: exact where one part has it all, else from its first part on."""
        start, end = self._offset(location.line, location.column), self._offset(location.end_line, location.end_column)
        first, last = self._at(start), self._at(max(end - 1, start))
        placed = self._placed_part(first, last)
        if placed is None or placed.location is None:
            return Location(self._path, 1, 1, 1, 1)
        begin = self._cut(placed, first, start, end) if placed is self._parts[first] else placed.location
        final = self._parts[last]
        if final is placed or final.location is None or final.location.path != begin.path:
            return begin
        finish = self._cut(final, last, max(start, self._starts[last]), end)
        return begin.to(finish) if _end(finish) >= _end(begin) else begin

    def _placed_part(self, first: int, last: int) -> Part | None:
        """The first part of a run that has a place, else the nearest before it, else behind it."""
        run = (*range(first, last + 1), *range(first - 1, -1, -1), *range(last + 1, len(self._parts)))
        return next((self._parts[at] for at in run if self._parts[at].location is not None), None)

    def _cut(self, part: Part, at: int, start: int, end: int) -> Location:
        assert part.location is not None
        if not part.exact:
            return part.location
        first = start - self._starts[at]
        last = min(end - self._starts[at], len(part.text))
        found = part.cut(first, max(last, first)).location
        assert found is not None
        return found


def _shown(raw: str) -> str:
    return raw.replace(_HIDDEN, _BRACES)


def _end(location: Location) -> tuple[int, int]:
    return location.end_line, location.end_column


class _Placed(Scalar):
    """A scalar of a rendered text. What is cut from it stands where its own characters do."""

    __slots__ = ("inner", "placement")
    inner: Text
    placement: _Placement

    def cut(self, start: int, end: int) -> Text:
        """The characters from `start` up to `end`, in their places."""
        return self if start == 0 and end == len(self) else _placed_text(self.inner.cut(start, end), self.placement)


class _PlacedText(Text):
    """A part of such a scalar."""

    __slots__ = ("inner", "placement")
    inner: Text
    placement: _Placement

    def cut(self, start: int, end: int) -> Text:
        """The characters from `start` up to `end`, in their places."""
        return self if start == 0 and end == len(self) else _placed_text(self.inner.cut(start, end), self.placement)


def _placed(scalar: Scalar, placement: _Placement) -> Scalar:
    found = _Placed(_shown(scalar), placement.region(scalar.location), (), scalar.plain, scalar.tag)
    assert isinstance(found, _Placed)
    found.inner, found.placement = scalar, placement
    return found


def _placed_text(text: Text, placement: _Placement) -> Text:
    found = _PlacedText(_shown(text), placement.region(text.location), ())
    assert isinstance(found, _PlacedText)
    found.inner, found.placement = text, placement
    return found
