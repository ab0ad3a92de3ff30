"""Text that a template writes: each part knows the place that a person would edit for it, and what is not decided stays a hole.

A whole of parts is written out as a template again, in which the holes are actions: the template reader then makes Unknown of them, and
marks as open what a block without a decided condition may add or leave out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator

from gpulint.deferred import NamedTuple
from gpulint.source import Location, Text, Unknown

MAX_LENGTH = 2_000_000
MAX_PARTS = 100_000
"""How long a rendered text may be, and of how many parts: the largest of real charts have some 100,000 characters."""


class Undecided(Exception):
    """What was asked for cannot be told from the files, or is past a bound."""


class PartKind(enum.Enum):
    """What a part is: text; a value that is not known; an action of a block whose condition is not known; or nothing, at the place of a
    branch that the values leave out."""

    TEXT = "text"
    HOLE = "hole"
    BLOCK = "block"
    LEFT_OUT = "left out"


class Part(NamedTuple):
    """A run of text on one line. Of an `exact` one each character stands behind the one before it, from the start of `location` on; any
    other stands as a whole at `location`, or at its neighbours' where that is None.

    `written_by` is the action of the rendered template that wrote it, where its location is elsewhere. Of a branch that is left out
    `text` is what it says in the template.
    """

    text: str
    location: Location | None = None
    exact: bool = False
    kind: PartKind = PartKind.TEXT
    written_by: Location | None = None

    def cut(self, start: int, end: int) -> Part:
        """The characters from `start` up to `end`."""
        if not self.exact or self.location is None:
            return self._replace(text=self.text[start:end])
        path, line, column, _, _ = self.location
        return self._replace(text=self.text[start:end], location=Location(path, line, column + start, line, column + end))


class Traced:
    """A string of parts."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts = tuple(parts)
        if len(self.parts) > MAX_PARTS or sum(len(part.text) for part in self.parts) > MAX_LENGTH:
            raise Undecided

    def __add__(self, other: Traced) -> Traced:
        return Traced((*self.parts, *other.parts))

    @property
    def is_known(self) -> bool:
        """Whether all of it is decided."""
        return all(part.kind in (PartKind.TEXT, PartKind.LEFT_OUT) for part in self.parts)

    @property
    def has_blocks(self) -> bool:
        return any(part.kind is PartKind.BLOCK for part in self.parts)

    @property
    def literal(self) -> str:
        """The decided text alone."""
        return "".join(part.text for part in self.parts if part.kind is PartKind.TEXT)

    def known(self) -> str:
        """The string. Raises Undecided where a part is not known."""
        if not self.is_known:
            raise Undecided
        return self.literal

    @property
    def location(self) -> Location | None:
        """The place of its first part that has one."""
        return next((part.location for part in self.parts if part.location is not None and part.text), None)

    def cut(self, start: int, end: int) -> Traced:
        """The characters from `start` up to `end` of a known string."""
        found, offset = [], 0
        for part in self.parts:
            length = len(part.text) if part.kind is PartKind.TEXT else 0
            first, last = max(start - offset, 0), min(end - offset, length)
            if first < last:
                found.append(part.cut(first, last))
            elif part.kind is PartKind.LEFT_OUT:
                found.append(part)
            offset += length
        return Traced(found)

    def stripped(self, characters: str | None = None, left: bool = True, right: bool = True) -> Traced:
        """Without these characters (blanks by default) at its ends, up to what is not known."""
        parts = list(self.parts)
        if left:
            _strip(parts, lambda text: len(text) - len(text.lstrip(characters)), from_left=True)
        if right:
            _strip(parts, lambda text: len(text.rstrip(characters)), from_left=False)
        return Traced(parts)

    def indented(self, count: int) -> Traced:
        """With blanks before each of its lines."""
        blanks = " " * count
        found = [Part(blanks)]
        for part in self.parts:
            if part.kind is PartKind.TEXT and "\n" in part.text:
                for line in _lines(part):
                    found.append(line)
                    if line.text.endswith("\n"):
                        found.append(Part(blanks))
            else:
                found.append(part)
        return Traced(found)


def _strip(parts: list[Part], bound: Callable[[str], int], from_left: bool) -> None:
    """Shorten the first or last parts of a list in place."""
    at = 0 if from_left else len(parts) - 1
    while 0 <= at < len(parts):
        part = parts[at]
        if part.kind in (PartKind.HOLE, PartKind.BLOCK):
            return
        if part.kind is PartKind.TEXT:
            end = bound(part.text)
            parts[at] = part.cut(end, len(part.text)) if from_left else part.cut(0, end)
            if parts[at].text:
                return
        at += 1 if from_left else -1


def _lines(part: Part) -> Iterator[Part]:
    """The lines of a part, each with its end. One that is exact has a single line."""
    start = 0
    while start < len(part.text):
        end = part.text.find("\n", start) + 1 or len(part.text)
        yield part.cut(start, end)
        start = end


def literal(text: str, location: Location | None = None) -> Traced:
    """A string that stands as a whole at one place."""
    return Traced((Part(text, location),) if text else ())


def hole(raw: str, location: Location | None) -> Traced:
    """A string of which nothing is known; `raw` is the expression that would tell."""
    return Traced((Part(raw, location, kind=PartKind.HOLE),))


def of_unknown(value: Unknown) -> Traced:
    """What writes a value that is not known."""
    return hole(value.raw, value.location)


def of_text(text: Text) -> Traced:
    """A string of a file, in its places."""
    if text.pieces is None:
        return Traced((Part(str(text), text.location, exact=True),) if text else ())
    if text.pieces == ():
        return literal(str(text), text.location)
    starts = [piece.offset for piece in text.pieces]
    runs = [text.cut(start, end) for start, end in zip(starts, (*starts[1:], len(text)), strict=True)]
    return Traced(Part(str(run), run.location, exact=True) for run in runs if run)
