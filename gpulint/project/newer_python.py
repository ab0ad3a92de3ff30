"""Python files whose syntax is newer than the interpreter that runs gpulint."""

from __future__ import annotations

import sys

from gpulint.facts.python import may_be_newer
from gpulint.parse.python import PythonSyntax, parse
from gpulint.source import Location, Source

MOST_FILES = 16
"""How many such files of a run are read: each takes a process of its own, and a third of a second or more."""

_LONGEST_LINE = 1000  # characters of a line whose syntax is asked after


class PythonReader:
    """Reads the Python files of a run."""

    def __init__(self) -> None:
        self._left = MOST_FILES

    def read(self, source: Source) -> PythonSyntax:
        """A file's tree, also where only a newer Python reads it as it stands."""
        syntax = parse(source)
        if syntax.tree is not None or not self._left or not any(is_newer(source, *problem) for problem in syntax.problems):
            return syntax
        from gpulint.parse.newer_python import parse_newer

        self._left -= 1
        return parse_newer(source) or syntax


def is_newer(source: Source, message: str, location: Location) -> bool:
    """Whether what this Python refuses there, with that message, may be the syntax of a newer one."""
    return may_be_newer(message, source.line(location.line)[:_LONGEST_LINE], sys.version_info[:2])
