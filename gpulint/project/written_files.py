"""The files that the commands of a build write inside an image: by echo, printf, cat and tee, whose text is known, or by other programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, takewhile

from gpulint.deferred import regex
from gpulint.facts.commands import changed_files, program_index, program_name
from gpulint.parse.shell import SimpleCommand
from gpulint.parse.shell_syntax import joined
from gpulint.project.image_files import absolute
from gpulint.source import Text, Value, as_written

Lines = tuple[Text, ...]

_NEW_LINE = regex(r"\\n")
_VERBATIM = regex(r"(?:[^%\\]|\\n)*")


def lines_of(text: Text) -> Lines:
    """The lines of a text, each where it stands."""
    ends = [-1, *(match.start() for match in re.finditer(r"\n|\Z", text))]
    return tuple(text.cut(start + 1, end) for start, end in pairwise(ends) if start + 1 < end)


class WrittenFiles:
    """What the commands of a stage have made of files so far, those of the stage it builds on before them."""

    def __init__(self, before: WrittenFiles | None = None) -> None:
        self._lines: dict[str, Lines | None] = dict(before._lines) if before is not None else {}
        self._adding: set[str] = set(before._adding) if before is not None else set()
        self._piped: Lines | None = None

    def __contains__(self, path: str) -> bool:
        return path in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def lines(self, path: str) -> Lines | None:
        """The lines that were written into a file; None where they are not known."""
        return self._lines.get(path)

    def only_adds(self, path: str) -> bool:
        """Whether what was written stands behind what may have been in the file before."""
        return path in self._adding

    def forget(self, path: str) -> None:
        """What a COPY puts in the place of a file is no longer what was written there."""
        self._lines.pop(path, None)
        self._adding.discard(path)

    def run(self, command: SimpleCommand, folder: Value | None, is_certain: bool = True) -> None:
        """Take in what a command that runs in that folder writes. What may be left out leaves nothing known behind."""
        printed = _printed(command)
        if command.operator == "|" and command.name == "tee":
            printed = self._piped
        for target, adds in _targets(command):
            path = absolute(folder, target) if isinstance(target, Text) else None
            if path is not None:
                self._write(path, printed if is_certain else None, adds)
        self._piped = printed

    def _write(self, path: str, printed: Lines | None, adds: bool) -> None:
        there = self._lines.get(path, ()) if adds else ()
        if not adds:
            self._adding.discard(path)
        elif path not in self._lines:
            self._adding.add(path)
        self._lines[path] = None if printed is None or there is None else (*there, *printed)


def _targets(command: SimpleCommand) -> Iterator[tuple[Value, bool]]:
    """The files that a command writes, each with whether it adds to what is there."""
    yield from ((redirect.target, redirect.operator == ">>") for redirect in command.redirects if redirect.operator in _WRITING)
    plain = command.written
    at = program_index(plain)
    options = [word for word in plain[at + 1 :] if word.startswith("-")]
    operands = [word for word in command.words[at + 1 :] if not as_written(word).startswith("-")]
    which = changed_files(program_name(plain[at]), options) if at < len(plain) else ""
    adds = which == "printed" and not {"-a", "--append"}.isdisjoint(options)
    yield from ((word, adds) for word in (operands[-1:] if which == "last" else operands if which else ()))


_WRITING = frozenset({">", ">>", ">|", "&>", "&>>"})


def _printed(command: SimpleCommand) -> Lines | None:
    """The lines that a command prints, None where they are not known."""
    reader = _PRINTERS.get(str(command.name))
    return reader(command) if reader is not None else None


def _of_echo(command: SimpleCommand) -> Lines | None:
    options = list(takewhile(_ECHO_OPTION.fullmatch, map(as_written, command.words[1:])))
    words = [word for word in command.words[1 + len(options) :] if isinstance(word, Text)]
    if len(words) < len(command.words) - 1 - len(options):
        return None
    if not words:
        return ()
    spaced = [part for word in words for part in (Text(" ", word.location, ()), word)][1:]
    line = joined(spaced, words[0].location.to(words[-1].location))
    if any("e" in option for option in options):
        return tuple(_split(line))
    return None if "\\" in line else (line,)  # shells differ in what they make of it


_ECHO_OPTION = regex(r"-[neE]+")


def _of_printf(command: SimpleCommand) -> Lines | None:
    """The lines of a format that stands for itself, or of `%s\\n` for each word."""
    known = [word for word in command.words[1:] if isinstance(word, Text)]
    if len(known) < len(command.words) - 1 or not known:
        return None
    if known[0] in _A_LINE_EACH:
        return tuple(known[1:])
    return tuple(_split(known[0])) if len(known) == 1 and _VERBATIM.fullmatch(known[0]) else None


_A_LINE_EACH = ("%s\\n", "%s\n")


def _of_cat(command: SimpleCommand) -> Lines | None:
    """The lines of a heredoc that cat is given, and nothing else."""
    bodies = [redirect.target for redirect in command.redirects if redirect.operator.startswith("<<")]
    body = bodies[-1] if bodies and len(command.words) == 1 else None
    return lines_of(body) if isinstance(body, Text) else None


def _split(text: Text) -> Iterator[Text]:
    """The lines of a text with `\\n` for their ends."""
    starts = [0]
    for match in _NEW_LINE.finditer(text):
        yield text.cut(starts[-1], match.start())
        starts.append(match.end())
    if starts[-1] < len(text):
        yield text.cut(starts[-1], len(text))


_PRINTERS: Mapping[str, Callable[[SimpleCommand], Lines | None]] = {"cat": _of_cat, "echo": _of_echo, "printf": _of_printf}
