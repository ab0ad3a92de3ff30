"""Dockerfiles as BuildKit's parser reads them: instructions with their flags, JSON form, heredocs and exact places."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import islice

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.parse.dockerfile_checks import refusals
from gpulint.parse.dockerfile_words import (
    SPACE,
    HeredocWord,
    Pair,
    end_of_word,
    flag_end,
    heredoc_words,
    is_array_of_other_values,
    json_strings,
    legacy_pair,
    pairs,
    plain_words,
    quoted_words,
    skip_blanks,
    stripped,
    unquoted,
)
from gpulint.source import Location, Piece, Source, Text

_JSON_KEYWORDS = frozenset({"ADD", "CMD", "COPY", "ENTRYPOINT", "HEALTHCHECK", "RUN", "SHELL", "VOLUME"})
_HEREDOC_KEYWORDS = frozenset({"ADD", "COPY", "RUN"})
_PAIR_KEYWORDS = frozenset({"ENV", "LABEL"})
_LIST_KEYWORDS = frozenset({"ADD", "COPY", "EXPOSE", "FROM", "VOLUME"})

_DIRECTIVE = regex(r"([a-zA-Z][a-zA-Z0-9]*)[\t\f\r ]*=(.+)")
_DIRECTIVES = ("syntax", "escape", "check")
_BUILDKIT_FRONTEND = regex(r"(?:.*/)?dockerfile(?:-upstream)?(?:[:@].*)?")
_LONGEST_FILE = 2 * 1024 * 1024
_LONGEST_LINE = 65_535  # bytes that BuildKit's scanner holds
_MOST_INSTRUCTIONS = 5_000  # an image has 127 layers at most, and nobody writes a file of forty images
_MOST_PROBLEMS = 50  # a file with more is something else than a Dockerfile


class Flag(NamedTuple):
    """`--name=value` before an instruction's arguments: the name without its dashes. A flag without `=` has no value."""

    name: Text
    value: Text | None


class Heredoc(NamedTuple):
    """`<<NAME` and the lines down to NAME, without the leading tabs that `<<-` drops and without carriage returns.

    `expand` is false where the name was quoted.
    """

    name: str
    body: Text
    expand: bool


@dataclass(frozen=True, eq=False)
class Instruction:
    """One instruction.

    `keyword` is as written; `name` in capitals. `arguments` is what follows keyword and flags, with continuation lines joined as
    BuildKit joins them. `json` holds the strings of the JSON form, where it is one; for HEALTHCHECK those behind CMD. `trigger` is
    the instruction that ONBUILD keeps; it has the heredocs too. `escape` is the file's escape character. The location runs to the
    end of the last line that belongs to the instruction, heredocs included.
    """

    keyword: Text
    arguments: Text
    location: Location
    flags: tuple[Flag, ...] = ()
    json: tuple[Text, ...] | None = None
    heredocs: tuple[Heredoc, ...] = ()
    trigger: Instruction | None = None
    escape: str = "\\"

    @cached_property
    def name(self) -> str:
        return self.keyword.upper()

    def flag(self, name: str) -> Flag | None:
        """The flag of that name; the last one, where it is repeated."""
        return next((flag for flag in reversed(self.flags) if flag.name == name), None)

    @cached_property
    def words(self) -> tuple[Text, ...]:
        """The arguments as BuildKit cuts them, quotes kept; a shell command, path or user is one word."""
        if self.name == "HEALTHCHECK":
            return self._kind_and_command()
        if self.json is not None:
            return self.json
        if self.name in _LIST_KEYWORDS:
            return plain_words(self.arguments)
        if self.name == "ARG" or self.name in _PAIR_KEYWORDS:
            return quoted_words(self.arguments, self.escape)
        return (self.arguments,) if self.arguments else ()

    def _kind_and_command(self) -> tuple[Text, ...]:
        kind, command = _split_word(self.arguments)
        return (kind, *(self.json if self.json is not None else (command,) if command else ())) if kind else ()

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The names and values of ARG, ENV and LABEL; none for other instructions."""
        if self.name != "ARG" and self.name not in _PAIR_KEYWORDS:
            return ()
        if self.name != "ARG" and self.words and "=" not in self.words[0]:
            return (legacy_pair(self.arguments),)
        return pairs(self.words)


class SyntaxProblem(NamedTuple):
    """Why BuildKit would refuse the file, and where."""

    message: str
    location: Location


class DockerfileSyntax(NamedTuple):
    """A Dockerfile's instructions in order, its parser directives (syntax, escape, check), and what is wrong with it, if anything is."""

    instructions: tuple[Instruction, ...]
    directives: dict[str, Text]
    problems: tuple[SyntaxProblem, ...] = ()


def parse(source: Source) -> DockerfileSyntax:
    """Read a Dockerfile. Never raises.

    What BuildKit would refuse is in `problems`, in the order of the file. Its instructions are given all the same, as far as they can
    be cut; a heredoc without an end leaves nothing behind it to read. A file for another frontend (`# syntax=`) has no problems,
    since that frontend alone knows its language.
    """
    if len(source.text) > _LONGEST_FILE:
        place = Location(source.path, 1, 1, 1, 1)
        return DockerfileSyntax((), {}, (SyntaxProblem(f"The file is longer than {_LONGEST_FILE // 1024 // 1024} MiB.", place),))
    return _Reader(source).read()


class _Reader:
    """Goes through the lines of one file. `at` is the index of the next line."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.text.split("\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.at = 0
        self.escape = "\\"
        self.directives: dict[str, Text] = {}
        self.instructions: list[Instruction] = []
        self.problems: list[SyntaxProblem] = []

    def read(self) -> DockerfileSyntax:
        self._read_directives()
        while self.at < len(self.lines):
            line = self.lines[self.at].lstrip(SPACE)
            if not line or line[0] == "#":
                self.at += 1
            elif len(self.instructions) == _MOST_INSTRUCTIONS:
                self._refuse(f"The file has more than {_MOST_INSTRUCTIONS:,} instructions.", self.at)
                break
            else:
                self._read_instruction()
        self._check()
        frontend = self.directives.get("syntax")
        if frontend is not None and not _BUILDKIT_FRONTEND.fullmatch(frontend.partition(" ")[0]):
            self.problems.clear()
        self.problems.sort(key=lambda problem: problem.location)
        return DockerfileSyntax(tuple(self.instructions), self.directives, tuple(self.problems))

    def _read_directives(self) -> None:
        for index, line in enumerate(self.lines):
            comment = line.rstrip("\r").lstrip(SPACE)
            match = _DIRECTIVE.match(comment[1:].lstrip(SPACE)) if comment.startswith("#") else None
            name = match[1].lower() if match else ""
            if match is None or name not in _DIRECTIVES:
                return
            if name in self.directives:
                self._refuse(f"The directive {name} is given twice.", index)
                return
            value = match[2].strip(SPACE) or match[2]
            start = line.index(value, line.index("=") + 1)
            self.directives[name] = Text(value, self._span(index, start, start + len(value)))
            if name == "escape":
                self._set_escape(value, index)

    def _set_escape(self, value: str, index: int) -> None:
        if value in ("\\", "`"):
            self.escape = value
        else:
            self._refuse("The directive escape must be \\ or `.", index)

    def _read_instruction(self) -> None:
        first = self.at
        line = self._join_lines()
        instruction = self._cut_instruction(line, self._region(first, line))
        carrier = instruction.trigger or instruction
        if "<<" in line and carrier.name in _HEREDOC_KEYWORDS and carrier.json is None:
            heredocs = self._read_heredocs(line)
            if heredocs is None:
                return
            location = self._region(first, line)
            trigger = instruction.trigger and replace(carrier, heredocs=heredocs, location=carrier.location.to(location))
            instruction = replace(instruction, heredocs=heredocs, location=location, trigger=trigger)
        self.instructions.append(instruction)

    def _join_lines(self) -> Text:
        """The line at hand with those that continue it: comments and empty lines between them are left out."""
        first = self.lines[self.at].rstrip("\r")
        start = len(first) - len(first.lstrip(SPACE))
        line, more = self._without_continuation(first[start:])
        self.at += 1
        location = self._span(self.at - 1, start, start + len(line))
        if not more:
            return Text(line, location)
        parts, pieces, length = [line], [Piece(0, self.at, start + 1)], len(line)
        while more and self.at < len(self.lines):
            line = self.lines[self.at].rstrip("\r")
            self.at += 1
            bare = line.lstrip(SPACE)
            if not bare or bare[0] == "#":
                continue
            line, more = self._without_continuation(line)
            parts.append(line)
            pieces.append(Piece(length, self.at, 1))
            length += len(line)
        end = self._span(pieces[-1].line - 1, 0, len(parts[-1]))
        return Text("".join(parts), location.to(end), tuple(pieces))

    def _without_continuation(self, line: str) -> tuple[str, bool]:
        """The line without the escape that continues it, and whether it had one. A doubled escape continues nothing."""
        bare = line.rstrip(" \t")
        if bare.endswith(self.escape) and not bare.endswith(2 * self.escape):
            return bare[:-1], True
        return line, False

    def _cut_instruction(self, line: Text, location: Location, kept: bool = False) -> Instruction:
        """Keyword, flags and arguments of a line; `kept` for one behind ONBUILD, which may not keep another."""
        line = stripped(line)
        end = end_of_word(line, 0)
        keyword = line.cut(0, end)
        flags, at = self._cut_flags(line, skip_blanks(line, end))
        arguments = stripped(line, at)
        name = keyword.upper()
        json = self._cut_json(name, arguments) if "[" in arguments and name in _JSON_KEYWORDS else None
        trigger = None
        if name == "ONBUILD" and arguments and not kept:
            trigger = self._cut_instruction(arguments, arguments.location.to(location), kept=True)
        return Instruction(keyword, arguments, location, flags, json, (), trigger, self.escape)

    def _cut_flags(self, line: Text, at: int) -> tuple[tuple[Flag, ...], int]:
        flags: list[Flag] = []
        while line.startswith("--", at):
            end = flag_end(line, at, self.escape)
            word = unquoted(line[at:end], self.escape)
            if word == "--":
                return tuple(flags), end
            flags.append(_flag(word, line.cut(at, end)))
            at = skip_blanks(line, end)
        return tuple(flags), at

    def _cut_json(self, name: str, arguments: Text) -> tuple[Text, ...] | None:
        array = _split_word(arguments)[1] if name == "HEALTHCHECK" else arguments
        strings = json_strings(array)
        if strings is None and is_array_of_other_values(array):
            self.problems.append(SyntaxProblem(f"The JSON form of {name} takes strings only.", array.location))
        return strings

    def _read_heredocs(self, line: Text) -> tuple[Heredoc, ...] | None:
        """The heredocs that the line opens, in order; None where one has no end."""
        heredocs: list[Heredoc] = []
        for word in heredoc_words(line):
            heredoc = self._read_heredoc(word)
            if heredoc is None:
                self.problems.append(SyntaxProblem(f"The heredoc {word.name} has no end.", line.location))
                self.at = len(self.lines)
                return None
            heredocs.append(heredoc)
        return tuple(heredocs)

    def _read_heredoc(self, word: HeredocWord) -> Heredoc | None:
        first = self.at
        parts: list[str] = []
        pieces: list[Piece] = []
        length = 0
        for index in range(first, len(self.lines)):
            line = self.lines[index].rstrip("\r")
            text = line.lstrip("\t") if word.chomp else line
            if text == word.name:
                self.at = index + 1
                location = Location(self.source.path, first + 1, 1, index + 1, 1)
                return Heredoc(word.name, Text("".join(parts), location, tuple(pieces) or None), word.expand)
            parts.append(text + "\n")
            pieces.append(Piece(length, index + 1, len(line) - len(text) + 1))
            length += len(text) + 1
        return None

    def _check(self) -> None:
        """What is wrong with instructions that could be cut, with the file as a whole, and with its lines."""
        found = (SyntaxProblem(*refusal) for refusal in refusals(self.instructions))
        self.problems += islice(found, _MOST_PROBLEMS)
        if not self.problems and not any(instruction.name == "FROM" for instruction in self.instructions):
            self._refuse("The file has no FROM." if self.instructions else "The file has no instructions.", 0)
        for index, line in enumerate(self.lines):
            if len(line) > _LONGEST_LINE // 4 and len(line.encode(errors="replace")) > _LONGEST_LINE:
                self._refuse(f"The line is longer than {_LONGEST_LINE} bytes, which is all that BuildKit reads.", index)

    def _refuse(self, message: str, index: int) -> None:
        self.problems.append(SyntaxProblem(message, self.source.line_location(index + 1)))

    def _span(self, index: int, start: int, end: int) -> Location:
        return Location(self.source.path, index + 1, start + 1, index + 1, end + 1)

    def _region(self, first: int, line: Text) -> Location:
        """From the start of an instruction on the line of index `first` to the end of the last line read."""
        last = self.lines[self.at - 1].rstrip("\r")
        return Location(self.source.path, first + 1, line.location.column, self.at, len(last) + 1)


def _flag(word: str, text: Text) -> Flag:
    """A flag from its unquoted word and from its text as written."""
    name, equals, value = word.partition("=")
    if word == text:
        return Flag(text.cut(2, len(name)), text.cut(len(name) + 1, len(text)) if equals else None)
    return Flag(Text(name[2:], text.location, ()), Text(value, text.location, ()) if equals else None)


def _split_word(text: Text) -> tuple[Text, Text]:
    """The first word, and what follows it."""
    end = end_of_word(text, 0)
    return text.cut(0, end), text.cut(skip_blanks(text, end), len(text))
