"""YAML that stands in a scalar of another file, such as an inline patch: its nodes, each in its place in that file."""

from __future__ import annotations

from itertools import accumulate

from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import parse
from gpulint.source import Location, Piece, Source, Text, Unknown


def embedded(text: Text) -> tuple[Node, ...]:
    """The roots of the documents in a text. What cannot be read gives none."""
    syntax = parse(Source(text.location.path, str(text).encode("utf-8", errors="replace")))
    moved = _Moved(text)
    return tuple(moved.node(document.root) for document in syntax.documents if document.root is not None)


class _Moved:
    """Gives nodes read from the text the places that its characters have in the file."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._starts = (0, *accumulate(len(line) + 1 for line in text.split("\n")))

    def node(self, node: Node) -> Node:
        if isinstance(node, Mapping):
            entries = tuple(Entry(self._scalar(entry.key), self.node(entry.value), entry.merged) for entry in node.entries)
            return Mapping(entries, self._location(node.location), node.tag, node.open)
        if isinstance(node, Sequence):
            return Sequence(tuple(map(self.node, node.items)), self._location(node.location), node.tag, node.open)
        return self._scalar(node) if isinstance(node, Scalar) else Unknown(node.raw, self._location(node.location))

    def _scalar(self, scalar: Scalar) -> Scalar:
        moved = Scalar(scalar, self._location(scalar.location), self._pieces(scalar))
        moved.plain, moved.tag = scalar.plain, scalar.tag
        return moved

    def _pieces(self, scalar: Scalar) -> tuple[Piece, ...] | None:
        if self._text.pieces == () or not scalar.pieces:
            return () if self._text.pieces == () else scalar.pieces
        return tuple(Piece(piece.offset, *self._position(piece.line, piece.column)) for piece in scalar.pieces)

    def _location(self, location: Location) -> Location:
        if self._text.pieces == ():
            return self._text.location
        end_line, end_column = self._position(location.end_line, location.end_column)
        return Location(self._text.location.path, *self._position(location.line, location.column), end_line, end_column)

    def _position(self, line: int, column: int) -> tuple[int, int]:
        offset = min(self._starts[min(line, len(self._starts)) - 1] + column - 1, len(self._text))
        place = self._text.cut(offset, offset).location
        return place.line, place.column
