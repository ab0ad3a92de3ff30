"""The syntax of a shell script as it is read, before anything in it is expanded.

Offsets are those of the text that a node names.
"""

from __future__ import annotations

import enum
from typing import Union

from gpulint.deferred import NamedTuple
from gpulint.source import Location, Piece, Text

DEPTH_LIMIT = 50
"""Blocks and expansions inside one another: nobody writes more, and each level costs a few calls of this interpreter's stack."""

HOLE = "\ue000"
"""Stands, in the text that is read, for each character of a part that another tool fills in before the shell sees it."""


class PartKind(enum.Enum):
    """What a run of a word is: characters as they stand, decoded ones, a parameter, or what only running the script could tell.

    LIST is an unknown that may become any number of words.
    """

    LITERAL = "literal"
    DECODED = "decoded"
    PARAMETER = "parameter"
    UNKNOWN = "unknown"
    LIST = "list"


class Part(NamedTuple):
    """A run of a word. `value` is the name of a parameter or the decoded characters; `word` what follows a parameter's operator."""

    kind: PartKind
    start: int
    end: int
    quoted: bool = False
    value: str = ""
    operator: str = ""
    word: tuple[Part, ...] = ()


class Word(NamedTuple):
    """One word of the script with its quotes."""

    parts: tuple[Part, ...]
    start: int
    end: int


class AssignmentSyntax(NamedTuple):
    """`NAME=word` or `NAME+=word`; no word for an array or one of its elements."""

    name: str
    word: Word | None
    append: bool
    start: int
    end: int


class RedirectSyntax(NamedTuple):
    """A redirection; the word of a heredoc is its body."""

    operator: str
    word: Word


class Simple(NamedTuple):
    """A simple command. `changes` are the names that it sets to what cannot be known; `forgets` where it may set any name."""

    text: Text
    start: int
    end: int
    assignments: tuple[AssignmentSyntax, ...]
    words: tuple[Word, ...]
    redirects: list[RedirectSyntax]
    substitutions: tuple[Block, ...]
    operator: str
    negated: bool
    changes: tuple[str, ...]
    forgets: bool


class Section(NamedTuple):
    """A list of commands of a block, such as the condition or the else branch of an `if`."""

    label: str
    nodes: list[Node]


class Block(NamedTuple):
    """A compound command: `kind` is if, while (also for until), for (also for select), case, function, subshell, group or substitution.

    `assigned` are the names that something in it sets; `function` is the number of a function, 0 for any other block.
    """

    kind: str
    operator: str
    sections: list[Section]
    assigned: set[str]
    function: int


Node = Union[Simple, Block]


class ShellError(Exception):
    """Reading cannot go on: why, and where."""

    def __init__(self, message: str, location: Location) -> None:
        super().__init__(message)
        self.message = message
        self.location = location


MOST_COMMANDS = 5_000
"""Commands of one script, with those inside of others. The longest that people write have some hundreds."""


class Names:
    """Which names a script sets other than as local ones: how often, and in which functions by their numbers, 0 being outside all."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.setters: dict[str, set[int]] = {}
        self.function_count = 0
        self.command_count = 0
        self._blocks: list[Block] = []
        self._functions: list[tuple[int, set[str]]] = [(0, set())]

    def enter(self, block: Block) -> None:
        self._blocks.append(block)
        if block.function:
            self._functions.append((block.function, set()))

    def leave(self) -> None:
        if self._blocks.pop().function:
            self._functions.pop()

    def assign(self, name: str, local: bool = False) -> None:
        for block in self._blocks:
            block.assigned.add(name)
        function, local_names = self._functions[-1]
        if local and function:
            local_names.add(name)
        if name not in local_names:
            self.counts[name] = self.counts.get(name, 0) + 1
            self.setters.setdefault(name, set()).add(function)


def joined(parts: list[Text], location: Location) -> Text:
    """One text of several, standing at `location`. Its characters keep their places where each part's do."""
    if len(parts) == 1:
        return parts[0]
    value = "".join(parts)
    if any(part.pieces == () for part in parts):
        return Text(value, location, ())
    pieces: list[Piece] = []
    offset = 0
    for part in parts:
        own = part.pieces or (Piece(0, part.location.line, part.location.column),)
        pieces += (Piece(offset + piece.offset, piece.line, piece.column) for piece in own)
        offset += len(part)
    return Text(value, location, tuple(pieces))
