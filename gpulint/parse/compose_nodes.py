"""The events of a YAML parser made into trees of nodes with exact places.

One loop without recursion over the events of PyYAML's C parser, or of ruamel.yaml, whose events have the same names and fields.
Depth and the growth by aliases are bounded, so that whoever walks a tree may recurse and need not look out for shared nodes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, count, repeat
from typing import Any

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.source import Location, Piece

MAX_DEPTH = 200
"""How deep collections may nest. Manifests nest some 30 levels deep, schemas of custom resources some 60."""

MAX_ALIASED = 250_000
"""How many values the aliases of one file may repeat. Beyond, it is made to overwhelm whoever reads it."""

LONG_VALUE = 64
"""A longer value that aliases repeat counts as several: one for each so many characters."""

Event = Any
"""An event of PyYAML or of ruamel.yaml: the same fields, in unrelated classes."""


class SyntaxProblem(NamedTuple):
    """Why a document could not be read, or a part of it, and where."""

    message: str
    location: Location


class RefusedError(Exception):
    """A document that the parser takes and that is not read all the same: past a bound, or with an alias of nothing."""

    def __init__(self, problem: SyntaxProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Mark:
    """A place in the text of a part: its offset, and its line and column from 0."""

    __slots__ = ("column", "index", "line")

    def __init__(self, index: int, line: int, column: int) -> None:
        self.index = index
        self.line = line
        self.column = column


class _Frame:
    """A collection being read: the event that opened it, its nodes so far (of a mapping: key, value, key ...), the count before it."""

    __slots__ = ("before", "event", "items")

    def __init__(self, event: Event, before: int) -> None:
        self.event = event
        self.before = before
        self.items: list[Node] = []


_INDICATORS = ("-", ":", "?")
_BLOCK_STYLES = ("|", ">")
_STRING_TAGS = ("!", "tag:yaml.org,2002:str")
_PROPERTIES = regex(r"(?:!<[^>\n]*>|[&!][^\s,\[\]{}]*|#[^\n]*|\s)*")
_BLANKS = regex(r"\s*")
_ONLY_SCALARS = frozenset((Scalar,))
_new_string = str.__new__
_new = tuple.__new__  # A named tuple made this way takes half the time, and these are most of what a file costs.


class Composer:
    """Makes the nodes of one file, part by part.

    `problems` holds what is wrong with the documents of the last part that could be read all the same.
    """

    def __init__(self, path: str) -> None:
        self.problems: list[SyntaxProblem] = []
        self._path = path
        self._aliased = 0
        self._handlers = {
            "ScalarEvent": self._scalar,
            "AliasEvent": self._alias,
            "MappingStartEvent": self._open,
            "SequenceStartEvent": self._open,
            "MappingEndEvent": self._close_mapping,
            "SequenceEndEvent": self._close_sequence,
        }

    def roots(self, events: Iterable[Event], text: str, first_line: int) -> Iterator[Node | None]:
        """The root of each document of `text`, whose first line has that number; None for an empty document.

        Raises RefusedError, and what the iteration of the events raises.
        """
        self.problems = []
        self._text = text
        self._line = first_line
        handler_of = self._handlers.get
        for event in events:
            name = type(event).__name__
            handler = handler_of(name)
            if handler is not None:
                handler(event)
            elif name == "DocumentStartEvent":
                self._begin()
            elif name == "DocumentEndEvent":
                root = self._top.items[0]
                yield None if isinstance(root, Scalar) and root.plain and not root else root

    def _begin(self) -> None:
        self._stack: list[_Frame] = []
        self._top = _Frame(None, 0)
        self._anchors: dict[str, _Frame | tuple[Node, int]] = {}
        self._end = (self._line, 1)
        self._count = 0

    # Scalars

    def _scalar(self, event: Event) -> None:
        value, start, end, tag = event.value, event.start_mark, event.end_mark, event.tag
        quote = 1 if event.style else 0
        column, end_column = start.column + 1 + quote, end.column + 1 - quote
        if end_column - column == len(value) and start.line == end.line:
            line = start.line + self._line
            if not value and not quote and line != self._end[0] and self._text[start.index - 1 : start.index] not in _INDICATORS:
                line, column = self._end  # For some values that are left out the parser stands at the next token, lines below.
                end_column = column
            location, pieces = _new(Location, (self._path, line, column, line, end_column)), None
            self._end = (line, end_column + quote)
        else:
            location, pieces = self._irregular(event)
        scalar = _new_string(Scalar, value)
        scalar.location = location
        scalar.pieces = pieces
        scalar.plain = not quote and (tag is None or tag not in _STRING_TAGS)
        scalar.tag = tag
        size = 1 + len(value) // LONG_VALUE
        self._count += size
        if event.anchor:
            self._anchors[event.anchor] = (scalar, size)
        self._top.items.append(scalar)

    def _irregular(self, event: Event) -> tuple[Location, tuple[Piece, ...] | None]:
        """The place of a scalar with an anchor, a tag, escapes or several lines; without its quotes if its characters can be told apart."""
        start, end = self._content(event, event.end_mark.index), event.end_mark
        if event.style in _BLOCK_STYLES:
            return self._block(event, start)
        self._end = (end.line + self._line, end.column + 1)
        quote = 1 if event.style else 0
        body = self._text[start.index + quote : end.index - quote]
        line, column = start.line + self._line, start.column + 1 + quote
        pieces = None if body == event.value and start.line == end.line else _folded(event.value, body.split("\n"), line, column)
        if pieces == ():
            return Location(self._path, line, column - quote, *self._end), ()
        return Location(self._path, line, column, self._end[0], self._end[1] - quote), pieces

    def _block(self, event: Event, start: Mark) -> tuple[Location, tuple[Piece, ...]]:
        """The place of a block scalar: its content without the indentation; its header where it has no content."""
        header, *lines = self._text[start.index : event.end_mark.index].replace("\r\n", "\n").split("\n")
        line, literal = start.line + self._line, event.style == "|"
        pieces = _literal(event.value, lines, line + 1) if literal else _folded(event.value, lines, line + 1, 1)
        if not pieces:
            self._end = (line, start.column + 1 + len(header.rstrip()))
            return Location(self._path, line, start.column + 1, *self._end), ()
        last = len(event.value.rstrip("\n" if literal else None)) - 1
        piece = pieces[bisect_right(pieces, last, key=lambda piece: piece.offset) - 1]
        self._end = (piece.line, piece.column + last - piece.offset + 1)
        return Location(self._path, pieces[0].line, pieces[0].column, *self._end), pieces

    def _content(self, event: Event, end: int) -> Mark:
        """Where a node begins behind its anchor and tag; `end` is an offset that is not before that."""
        start: Mark = event.start_mark
        if not event.anchor and event.tag is None:
            return start
        match = _PROPERTIES.match(self._text, start.index, end)
        index = match.end() if match else start.index
        breaks = self._text.count("\n", start.index, index)
        column = index - self._text.rfind("\n", 0, index) - 1 if breaks else start.column + index - start.index
        return Mark(index, start.line + breaks, column)

    # Collections

    def _open(self, event: Event) -> None:
        if len(self._stack) == MAX_DEPTH:
            raise RefusedError(SyntaxProblem(f"the document nests deeper than {MAX_DEPTH} levels", self._location(event)))
        frame = _Frame(event, self._count)
        if event.anchor:
            self._anchors[event.anchor] = frame
        self._stack.append(self._top)
        self._top = frame
        self._count += 1

    def _close_mapping(self, event: Event) -> None:
        items = self._top.items
        keys, values = items[::2], items[1::2]
        if "<<" in keys or not _ONLY_SCALARS.issuperset(map(type, keys)):
            entries = self._merged(keys, values)
        else:
            entries = tuple([_new(Entry, row) for row in zip(keys, values, repeat(False))])
        self._close(Mapping(entries, self._extent(event), self._top.event.tag))

    def _close_sequence(self, event: Event) -> None:
        self._close(Sequence(tuple(self._top.items), self._extent(event), self._top.event.tag))

    def _extent(self, event: Event) -> Location:
        """The place of the collection that an event closes. A block collection ends where its last value does, not at the next token."""
        end = event.end_mark
        if end.index > event.start_mark.index:
            self._end = (end.line + self._line, end.column + 1)
        start = self._content(self._top.event, end.index)
        begin = (start.line + self._line, start.column + 1)
        return Location(self._path, *begin, *max(begin, self._end))

    def _close(self, node: Mapping | Sequence) -> None:
        frame, self._top = self._top, self._stack.pop()
        anchor = frame.event.anchor
        if anchor and self._anchors[anchor] is frame:
            self._anchors[anchor] = (node, self._count - frame.before)
        self._top.items.append(node)

    def _merged(self, keys: list[Node], values: list[Node]) -> tuple[Entry, ...]:
        """The entries of a mapping that has `<<`, or keys that are no scalars: its own, then those merged in that it has not itself."""
        own: list[Entry] = []
        sources: list[Node] = []
        for key, value in zip(keys, values, strict=True):
            if not isinstance(key, Scalar):
                self._note("a mapping or a list stands here as a key, where only a name can", key.location)
            elif key == "<<" and key.plain:
                sources.extend(value.items if isinstance(value, Sequence) else (value,))
            else:
                own.append(Entry(key, value))
        merged: dict[str, Entry] = {}
        taken = {entry.key for entry in own}
        for source in sources:
            for entry in source if isinstance(source, Mapping) else ():
                if entry.key not in taken:
                    merged.setdefault(entry.key, Entry(entry.key, entry.value, merged=True))
        return (*own, *merged.values())

    # Aliases

    def _alias(self, event: Event) -> None:
        self._end = (event.end_mark.line + self._line, event.end_mark.column + 1)
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise RefusedError(SyntaxProblem(f"the alias *{event.anchor} has no anchor &{event.anchor} before it", self._location(event)))
        if isinstance(anchored, _Frame):
            self._note(f"the alias *{event.anchor} stands inside of what &{event.anchor} names", self._location(event))
            anchored = (Sequence((), self._location(event)), 1)
        node, size = anchored
        self._count += size
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            raise RefusedError(SyntaxProblem(f"the aliases up to here repeat more than {MAX_ALIASED:,} values", self._location(event)))
        self._top.items.append(node)

    def _note(self, message: str, location: Location) -> None:
        if not self.problems:
            self.problems.append(SyntaxProblem(message, location))

    def _location(self, event: Event) -> Location:
        start, end = event.start_mark, event.end_mark
        return Location(self._path, start.line + self._line, start.column + 1, end.line + self._line, end.column + 1)


def _literal(value: str, lines: list[str], number: int) -> tuple[Piece, ...]:
    """One piece for each line of a literal block scalar whose lines begin at the line `number`; none where it has no text."""
    value = value.rstrip("\n")
    first = len(value) - len(value.lstrip())
    source = next((line for line in lines if line.strip()), "")
    indentation = len(source) - len(source.lstrip()) - (first - value.rfind("\n", 0, first) - 1)
    texts = [line[indentation:] for line in lines]
    if not value.strip() or not "\n".join(texts).startswith(value):
        return ()
    offsets = accumulate((len(text) + 1 for text in texts[: value.count("\n")]), initial=0)
    return tuple([_new(Piece, row) for row in zip(offsets, count(number), repeat(indentation + 1))])


def _folded(value: str, lines: list[str], number: int, column: int) -> tuple[Piece, ...]:
    """One piece for each line of a scalar whose lines are joined to `value`; none where what stands there is not what the value says.

    The first line has the number `number` and begins in `column`, the others in the first.
    """
    pieces: list[Piece] = []
    offset = 0
    for line_number, line in enumerate(lines, number):
        text = line.strip()
        if text:
            offset = _BLANKS.match(value, offset).end()  # type: ignore[union-attr]
            if not value.startswith(text, offset) or not (pieces or offset == 0):
                return ()
            pieces.append(Piece(offset, line_number, column + len(line) - len(line.lstrip())))
            offset += len(text)
        column = 1
    return () if value[offset:].strip() else tuple(pieces)
