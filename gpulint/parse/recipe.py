"""What a Makefile and a justfile are read into: recipes, each a target with the script of its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpulint.deferred import NamedTuple
from gpulint.parse.shell import Script
from gpulint.source import Text


class Recipe(NamedTuple):
    """The commands that make a target, as the shell gets them, behind those of the targets that it `needs`. Targets of one rule stand
    together, as they are written."""

    target: Text
    script: Script
    needs: tuple[str, ...] = ()


def one_script(scripts: Iterable[Script]) -> Script:
    """The scripts of a recipe's lines, each run by a shell of its own, as one; it has the first error of them."""
    parts = tuple(scripts)
    commands = tuple(command for part in parts for command in part.commands)
    wrong = next((part for part in parts if part.error), None)
    return Script(commands, wrong.error, wrong.error_location) if wrong else Script(commands)


def logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """The lines with those that continue them, from their first character to the one behind their end."""
    start = at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].rstrip("\r")
        continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        at = end + 1
        if not continued or at >= len(text):
            yield start, min(at, len(text))
            start = at
