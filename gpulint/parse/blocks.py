"""The lines of a file of any language, and which of them belong to the block that a line opens: by indentation alone."""

from __future__ import annotations

from collections.abc import Sequence

_CLOSING = (")", "]", "}")
_ITEM = "- "


class Blocks:
    """The lines of a file, counted from 1. Blank lines, comments (`#`) and lines of a template's actions belong to any block."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._stripped = [line.strip() for line in lines]
        self._indents = [len(line) - len(line.lstrip()) for line in lines]
        self._following = [0] * len(lines)
        self._ends = [0] * len(lines)
        self._commands = [0] * len(lines)
        self._read()

    def _read(self) -> None:
        """From the last line up, note for each line the next that says something, the next that is indented no deeper, and the last of
        its command."""
        count = len(self._lines)
        outer: list[int] = []
        following = command = count + 1
        for number in range(count, 0, -1):
            command = command if self._stripped[number - 1].endswith("\\") and number < count else number
            self._following[number - 1], self._commands[number - 1] = following, command
            if self._is_blank(number):
                continue
            while outer and self._indents[outer[-1] - 1] > self._indents[number - 1]:
                outer.pop()
            self._ends[number - 1] = outer[-1] if outer else count + 1
            outer.append(number)
            following = number

    def _is_blank(self, number: int) -> bool:
        return not self._stripped[number - 1] or self._stripped[number - 1].startswith(("#", "{{"))

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        return self._lines[number - 1]

    def next_line(self, number: int) -> int:
        """The next line that says something; the line itself where there is none."""
        following = self._following[number - 1]
        return number if following > len(self) else following

    def last_line(self, number: int) -> int:
        """The last line of the command or block that begins on a line that says something.

        To a block belong the bracket that closes what its first line opened, with what that line opens in turn, and the items of a list,
        which may stand at the column of their key.
        """
        return max(self._commands[number - 1], self._end(number) - 1)

    def _end(self, number: int) -> int:
        """The first line behind the block."""
        end = self._ends[number - 1] or number + 1
        if self._continues(number, end, _CLOSING):
            end = self._ends[end - 1]
        while self._opens_list(number) and self._continues(number, end, (_ITEM,)):
            end = self._ends[end - 1]
        return end

    def _continues(self, number: int, end: int, beginnings: tuple[str, ...]) -> bool:
        """Whether the line behind a block begins so and stands at the block's own column."""
        if end > len(self) or self._indents[end - 1] != self._indents[number - 1]:
            return False
        return self._stripped[end - 1].startswith(beginnings)

    def _opens_list(self, number: int) -> bool:
        opening = self._stripped[number - 1].partition(" #")[0].rstrip()
        return opening.endswith(":") and not opening.startswith(_ITEM)
