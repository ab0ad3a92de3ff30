"""The lines of a file that a finding shows, made safe and aligned for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.report.terminal import printable, width
from gpulint.source import Location, Source

MOST_LINES = 4
LONGEST_LINE = 120
BEFORE_MARK = 40
TAB = " " * 4
CUT = "..."


class Row(NamedTuple):
    """A row of an excerpt: the number of its line, or None for a row that is not in the file; marks that point at the region; text."""

    number: int | None
    marks: str
    text: str


def excerpt(source: Source, place: Location) -> Iterator[Row]:
    """A region of one line with carets below it; of several, its first lines with a mark before each. Nothing for one beyond the file."""
    if not 1 <= place.line <= source.line_count:
        return
    last = min(_last_line(place), source.line_count)
    if last == place.line:
        end = place.end_column if place.end_line == place.line else len(source.line(last)) + 1
        yield from _one_line(source.line(last), place.line, place.column - 1, end - 1)
    else:
        yield from _many_lines(source, place.line, last)


def _last_line(place: Location) -> int:
    """The line of the region's last character: one that ends before the first of a line ends on the line above."""
    return max(place.line, place.end_line - 1 if place.end_column == 1 else place.end_line)


def _many_lines(source: Source, first: int, last: int) -> Iterator[Row]:
    shown = last if last - first < MOST_LINES else first + MOST_LINES - 2
    for number in range(first, shown + 1):
        line = source.line(number)
        yield Row(number, "> ", _shown(line[:LONGEST_LINE]) + (CUT if len(line) > LONGEST_LINE else ""))
    if shown < last:
        yield Row(None, "> ", f"{CUT} {last - shown} more lines")


def _one_line(line: str, number: int, start: int, end: int) -> Iterator[Row]:
    """The line, cut to what stands around the region if it is long, and the carets under its characters from `start` up to `end`."""
    first = max(start - BEFORE_MARK, 0) if len(line) > LONGEST_LINE else 0
    beyond = min(first + LONGEST_LINE, len(line))
    left = (CUT if first else "") + _shown(line[first:start])
    marked = _shown(line[start : min(end, beyond)])
    right = _shown(line[max(start, min(end, beyond)) : beyond]) + (CUT if beyond < len(line) else "")
    yield Row(number, "", left + marked + right)
    yield Row(None, " " * width(left) + "^" * max(width(marked), 1), "")


def _shown(text: str) -> str:
    return printable(text.replace("\t", TAB))
