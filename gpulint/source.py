"""Files and places: a Source, a Location in it, and Text, a string that knows where it stands.

Lines and columns count from 1, columns in characters, and an end column is the one behind the last character.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Any, NamedTuple, NoReturn


class Location(NamedTuple):
    """A region of a file: from its first character to the one behind its last."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    def to(self, end: Location) -> Location:
        """The region from the start of this one to the end of another in the same file."""
        return Location(self.path, self.line, self.column, end.end_line, end.end_column)


class Piece(NamedTuple):
    """A run of a Text's characters that stands unbroken on one line: its offset in the Text, and where it begins."""

    offset: int
    line: int
    column: int


_BEHIND_ALL_LINES = 1 << 62


class Text(str):
    """A string read from a file, with its location.

    `pieces` maps its characters to the file where the value does not simply run on from the location's start: one piece for each
    unbroken run. An empty tuple says that the characters cannot be told apart (escapes, folded lines): then each part of the text
    stands where the whole does.
    """

    __slots__ = ("location", "pieces")
    location: Location
    pieces: tuple[Piece, ...] | None

    def __new__(cls, value: str, location: Location, pieces: tuple[Piece, ...] | None = None) -> Text:
        text = str.__new__(cls, value)
        text.location = location
        text.pieces = pieces
        return text

    def cut(self, start: int, end: int) -> Text:
        """The characters from `start` up to `end` as a Text of their own, `0 <= start <= end <= len(self)`."""
        if start == 0 and end == len(self):
            return self
        value = str.__getitem__(self, slice(start, end))
        pieces = self.pieces
        if pieces == ():
            return Text(value, self.location, pieces)
        path, line, column, _, _ = self.location
        if pieces is None:
            return Text(value, Location(path, line, column + start, line, column + end))
        low = bisect_right(pieces, (start, _BEHIND_ALL_LINES))
        high = bisect_left(pieces, (end,), low)
        first, last = pieces[max(low - 1, 0)], pieces[max(high - 1, 0)]
        line, column = first.line, first.column + start - first.offset
        location = Location(path, line, column, last.line, last.column + end - last.offset)
        if low == high:
            return Text(value, location)
        inner = [Piece(offset - start, *at) for offset, *at in pieces[low:high]]
        return Text(value, location, (Piece(0, line, column), *inner))


class UnknownValue(Exception):
    """A value that the files do not tell was compared, ordered or tested."""


class Unknown:
    """A value that cannot be known from the files, such as `${TAG}` without a default.

    Whatever would look into it (comparison, order, truth, length, any string method) raises UnknownValue, which ends the rule for
    that node: neither `value == "x"` nor `not value` can speak of what is not known. `raw` is what the file says.
    """

    __slots__ = ("location", "raw")

    def __init__(self, raw: str, location: Location) -> None:
        self.raw = raw
        self.location = location

    def __repr__(self) -> str:
        return f"Unknown({self.raw!r})"

    def _refuse(self, *_: object) -> NoReturn:
        raise UnknownValue(self.raw)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = __iter__ = __contains__ = __str__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise UnknownValue(self.raw)


Value = Text | Unknown
"""What stands at a place of a file: known or not. An absent value is None."""


def as_written(value: Value) -> str:
    """The value, or what the file says where it cannot be known: for messages, and for look-ups that no expression matches."""
    return value.raw if isinstance(value, Unknown) else str(value)


def known(value: Value | None) -> Text | None:
    """The value as a Text, or None where nothing stands. Raises UnknownValue where it cannot be known."""
    if isinstance(value, Unknown):
        raise UnknownValue(value.raw)
    return value


class Source:
    """One file of the tree: its path from the root with `/`, its bytes, and its text without a byte order mark.

    Bytes that are not UTF-8 are read as U+FFFD, so that one bad byte costs one character and not the file.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self._last_line = (0, "")

    @cached_property
    def lowered(self) -> bytes:
        """The bytes in lower case, for the search of anchors."""
        return self.data.lower()

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", errors="replace").removeprefix("\ufeff")

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """The line of that number without its end; empty beyond the last."""
        if not 1 <= number <= len(self._starts):
            return ""
        if self._last_line[0] != number:  # thousands of findings may stand on one line, as long as the file
            end = self._starts[number] if number < len(self._starts) else len(self.text)
            self._last_line = (number, self.text[self._starts[number - 1] : end].rstrip("\r\n"))
        return self._last_line[1]

    @cached_property
    def _wide(self) -> list[int]:
        """The offsets of the characters that UTF-16 writes in two units."""
        return [] if self.text.isascii() else [match.start() for match in re.finditer("[\U00010000-\U0010ffff]", self.text)]

    def utf16_column(self, line: int, column: int) -> int:
        """A column of a line that the file has, counted in UTF-16 code units."""
        start = self._starts[line - 1]
        return column + bisect_left(self._wide, start + column - 1) - bisect_left(self._wide, start)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at that offset of the text."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def location(self, start: int, end: int) -> Location:
        """The region of the characters from offset `start` up to `end` of the text."""
        return Location(self.path, *self.position(start), *self.position(end))

    def cut(self, start: int, end: int) -> Text:
        """The characters from offset `start` up to `end` of the text; they may run over several lines."""
        value = self.text[start:end]
        pieces = None
        if "\n" in value:
            offsets = [start, *self._starts[bisect_right(self._starts, start) : bisect_left(self._starts, end)]]
            pieces = tuple(Piece(offset - start, *self.position(offset)) for offset in offsets)
        return Text(value, self.location(start, end), pieces)

    def written(self, location: Location) -> str:
        """The characters of a region, as the file has them."""
        lines = [self.line(number) for number in range(location.line, location.end_line + 1)]
        lines[-1] = lines[-1][: location.end_column - 1]
        lines[0] = lines[0][location.column - 1 :]
        return "\n".join(lines)

    def line_location(self, number: int) -> Location:
        """The region of a whole line, without leading and trailing blanks."""
        line = self.line(number)
        first = len(line) - len(line.lstrip()) + 1
        return Location(self.path, number, first, number, max(len(line.rstrip()) + 1, first))
