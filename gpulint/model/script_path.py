"""Paths in a script: the folder in which each of its commands runs, by the `cd` before it, and what is built from the script's own folder.

A script may be started from anywhere, so a path counts from where it is started, from the folder that holds it, or from the root.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import join, normpath

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.parse.shell import SimpleCommand, parse
from gpulint.source import Text, Unknown, Value, as_written


class Base(enum.Enum):
    """What a path counts from: where the script is started, the folder that holds it, or the root of the repository."""

    START = "start"
    SCRIPT = "script"
    ROOT = "root"


class ScriptPath(NamedTuple):
    """A path that a script names, counted from `base`; "." is the base itself."""

    base: Base
    path: str = "."

    def to(self, path: str) -> ScriptPath:
        """What `path` names from here."""
        return ScriptPath(self.base, normpath(join(self.path, path)))

    def from_root(self, start: str, script: str) -> str:
        """The path from the root, given the folder from which the script is started and the one that holds it."""
        folder = {Base.START: start, Base.SCRIPT: script, Base.ROOT: ""}[self.base]
        return normpath(join(folder, self.path))


START, ROOT = ScriptPath(Base.START), ScriptPath(Base.ROOT)


class Place(NamedTuple):
    """Where a command runs: its folder, None where that is not known, and the variables that hold folders there."""

    folder: ScriptPath | None
    variables: Mapping[str, ScriptPath]

    def path(self, value: Value | None, depth: int = 0) -> ScriptPath | None:
        """What a word names as a path: None where that is not known, or lies on another machine."""
        if value is None or depth > _DEEPEST:
            return None
        if isinstance(value, Unknown):
            return self._of_expression(value, depth)
        is_elsewhere = "://" in value or value.startswith(("~", "git@"))
        return None if is_elsewhere or self.folder is None else self.folder.to(value)

    def _of_expression(self, word: Unknown, depth: int) -> ScriptPath | None:
        """An expansion with a plain path behind it: `$HERE/..`, `$(dirname "$0")/docker`, `$(cd "$HERE/.." && pwd)`."""
        match = _EXPRESSION.fullmatch(word.raw) if len(word.raw) <= _LONGEST else None
        if match is None:
            return None
        name = match["name"] or match["braced"]
        if name:
            begin = self.folder if name == "PWD" else self.variables.get(name)
        elif match["own"]:
            begin = ScriptPath(Base.SCRIPT)
        else:
            begin = self._printed_by(Text(match["script"] or match["old"], word.location, ()), depth)
        return begin.to(match["rest"].lstrip("/")) if begin is not None else None

    def _printed_by(self, script: Text, depth: int) -> ScriptPath | None:
        """The path that a substituted script prints."""
        commands = [command for command in parse(script).commands if not command.block]
        names = [as_written(word) for command in commands for word in command.words[:1]]
        operand = _operand(commands[0]) if commands else None
        if names in (["pwd"], ["PWD"], ["CURDIR"]):  # the last two are variables of make
            return self.folder
        if names == ["dirname"]:
            return ScriptPath(Base.SCRIPT) if operand is not None and _is_script_itself(operand, depth) else None
        if names == ["git"]:
            return ROOT if [as_written(word) for word in commands[0].words[1:]] == ["rev-parse", "--show-toplevel"] else None
        return self.path(operand, depth + 1) if names in (["cd", "pwd"], ["realpath"], ["readlink"]) else None


ANYWHERE = Place(START, {})
"""Where a command runs of which nothing more is known."""

_DEEPEST = 4  # substitutions inside one another
_LONGEST = 300  # characters of a word that names a path
_ITSELF = r"\$0|\$\{0\}|\$BASH_SOURCE|\$\{BASH_SOURCE(?:\[0\])?(?::-\$\{?0\}?)?\}"
_SCRIPT_ITSELF = regex(_ITSELF)
_EXPRESSION = regex(
    r"(?:\$(?P<name>[A-Za-z_]\w*)|\$\{(?P<braced>[A-Za-z_]\w*)\}|(?P<own>\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\})"
    r"|\$\((?P<script>.+)\)|`(?P<old>[^`]+)`)(?P<rest>(?:/[\w.@+-]*)*)",
    re.DOTALL,
)


def _operand(command: SimpleCommand) -> Value | None:
    """The first word behind the command's name that is no option."""
    return next((word for word in command.words[1:] if not as_written(word).startswith("-")), None)


def _is_script_itself(word: Value, depth: int) -> bool:
    """Whether a word is the path of the script that runs: `$0`, `${BASH_SOURCE[0]}`, `$(realpath "$0")`."""
    raw = as_written(word)
    if _SCRIPT_ITSELF.fullmatch(raw):
        return True
    match = _EXPRESSION.fullmatch(raw) if len(raw) <= _LONGEST and depth < _DEEPEST else None
    script = match["script"] or match["old"] if match and not match["rest"] else None
    commands = parse(Text(script, word.location, ())).commands if script else ()
    operand = _operand(commands[0]) if commands and commands[0].name in ("realpath", "readlink") else None
    return operand is not None and _is_script_itself(operand, depth + 1)


# --- Where the commands of a script run -----------------------------------------------------------------------------------------


_MOVES = frozenset({"cd", "pushd", "popd"})
_OWN_SHELL = frozenset({"subshell", "substitution", "script", "function"})
"""Blocks that keep to themselves where they go: those of a shell of their own, and functions, which are called from anywhere."""


def places(
    commands: Sequence[SimpleCommand], start: ScriptPath | None = START, anew: bool = False
) -> Iterator[tuple[SimpleCommand, Place]]:
    """Each command of a script with where it runs.

    `start` is where the first one does, None where that is not known. `anew` says that each line has a shell of its own, as in a recipe
    of make.
    """
    walk = _Walk(start, anew)
    moves = [index for index, command in enumerate(commands) if command.name in _MOVES and not _kinds(command) & _OWN_SHELL]
    for index, command in enumerate(commands):
        yield command, walk.follow(command, settled=not moves or index > moves[-1])


def _kinds(command: SimpleCommand) -> set[str]:
    return {block.partition(" ")[0] for block in command.block}


@dataclass()
class _Frame:
    """A compound command, the folder that the commands in it run in, and the one that they came from."""

    block: tuple[str, ...]
    folder: ScriptPath | None
    previous: ScriptPath | None = None


class _Walk:
    """Goes through the commands of a script in their order."""

    def __init__(self, start: ScriptPath | None, anew: bool) -> None:
        self._start = start
        self._anew = anew
        self._frames = [_Frame((), start)]
        self._variables: dict[str, ScriptPath] = {}

    def follow(self, command: SimpleCommand, settled: bool) -> Place:
        """Where the command runs; what it changes holds for those behind it. `settled` says that the script goes nowhere from here on, so
        that a function runs where it stands."""
        self._enter(command, settled)
        place = Place(self._frames[-1].folder, self._variables)
        self._assign(command, place)
        if command.name in _MOVES:
            self._move(command, place)
        return place

    def _enter(self, command: SimpleCommand, settled: bool) -> None:
        """Leave the blocks that end before the command and enter those that begin with it."""
        block, begins = command.block, command.operator == ""
        while len(self._frames) > 1 and self._has_ended(self._frames[-1].block, block, begins):
            self._leave()
        if self._anew and begins and not block:
            self._frames = [_Frame((), self._start)]
        for depth in range(len(self._frames), len(block) + 1):
            is_certain = settled or not block[depth - 1].startswith("function")
            self._frames.append(_Frame(block[:depth], self._frames[-1].folder if is_certain else None))

    @staticmethod
    def _has_ended(inner: tuple[str, ...], block: tuple[str, ...], begins: bool) -> bool:
        """Whether a block ends before a command in `block`; a list that begins in a block of the same name is another one's."""
        return inner != block[: len(inner)] or (begins and len(inner) >= len(block))

    def _leave(self) -> None:
        """Go back to what stands round a block: to where a group went, and nowhere certain where another block may have gone on."""
        frame, outer = self._frames.pop(), self._frames[-1]
        kind = frame.block[-1].partition(" ")[0]
        if kind not in _OWN_SHELL and frame.folder != outer.folder:
            outer.folder = frame.folder if kind == "group" else None

    def _assign(self, command: SimpleCommand, place: Place) -> None:
        given = {str(name): place.path(value) if isinstance(value, Unknown) else None for name, value, _ in command.assignments}
        if given:
            kept = {name: path for name, path in self._variables.items() if name not in given}
            self._variables = {**kept, **{name: path for name, path in given.items() if path is not None}}

    def _move(self, command: SimpleCommand, place: Place) -> None:
        frame = self._frames[-1]
        goes_back = command.name == "popd" or [as_written(word) for word in command.words[1:]] == ["-"]
        frame.folder, frame.previous = frame.previous if goes_back else place.path(_operand(command)), place.folder
