"""Makefiles: their recipes as shell scripts, with the make variables that the file itself decides replaced.

A variable that is set in a conditional, before an `include`, for one target or by a function is not known, nor is one that only an
empty `?=` names. What is not known stays as it is written and is unknown to the shell's reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.justfile import is_justfile, read_justfile
from gpulint.parse.recipe import Recipe, logical_lines, one_script
from gpulint.parse.shell import LONGEST_SCRIPT, Script
from gpulint.parse.shell import parse as parse_script
from gpulint.parse.shell_syntax import joined
from gpulint.source import Location, Piece, Source, Text

EXPANSION_LIMIT = 100_000
"""So many characters may variables bring into the recipes of a file; behind them none is replaced."""

DEPTH_LIMIT = 16
"""Variables whose values hold variables: what lies deeper is left as it is written."""

_SETTING = r"[ \t]*(?:(?:export|override|private)[ \t]+)*(?P<name>[^\s:#=+?!$()]+)[ \t]*(?P<operator>\?=|:{0,3}=|\+=|!=)"
_ASSIGNMENT = regex(_SETTING)
_RULE = regex(r"([^:=#]*)::?(?![:=])")
_DEFINE = regex(r"[ \t]*(?:(?:export|override)[ \t]+)*define[ \t]+([^\s:#=+?!]+)")
_DIRECTIVE = regex(r"[ \t]*(ifeq|ifneq|ifdef|ifndef|else|endif|-include|include|sinclude|endef)(?=[\s(]|\Z)")
_REFERENCE_OF_A_LINE = regex(r"\$\([^()\n]*\)|\$\{[^{}\n]*\}")
_CONTINUATION = regex(r"\\\r?\n")
_COMMENT = regex(r"(?<!\\)#.*", re.DOTALL)
_REFERENCE = regex(r"\$(?:(?P<dollar>\$)|(?P<bracket>[({])|\S)")
_BRACKETS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]")}
_VARIABLE = regex(r"\$[({]([\w.-]+)[)}]")
_PREFIX = regex(r"[\s@+-]*")


def parse(source: Source) -> tuple[Recipe, ...]:
    """The recipes of a Makefile or, by its name, of a justfile, in file order; none of one longer than any script. Never raises."""
    return tuple(recipe for recipe in parse_rules(source) if recipe.script.commands or recipe.script.error)


def parse_rules(source: Source) -> tuple[Recipe, ...]:
    """The same with the rules that only say what a target needs."""
    if len(source.text) > LONGEST_SCRIPT:
        return ()
    return read_justfile(source) if is_justfile(source.path) else tuple(_Reader(source).recipes())


class _Variable(NamedTuple):
    """A variable's value as it is written, None where it is not known, and how many settings came before it."""

    value: str | None
    number: int


class _Rule(NamedTuple):
    """The targets of a rule, its recipe's lines by their offsets, and what the targets need."""

    targets: Text
    lines: list[tuple[int, int]]
    needs: tuple[str, ...]


class _Part(NamedTuple):
    """A run of a recipe's line as the shell gets it; not known where make puts something else there."""

    text: Text
    known: bool = True


class _Reader:
    """Reads a Makefile line by line: the variables of the whole file first, for make expands a recipe when it runs it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._variables: dict[str, _Variable] = {}
        self._rules: list[_Rule] = []
        self._in_rule = False
        self._in_definition = False
        self._conditionals = 0
        self._settings = 0
        self._forgotten = 0
        self._brought = 0
        for start, end in logical_lines(source.text):
            self._read(start, end)

    def recipes(self) -> Iterator[Recipe]:
        for rule in self._rules:
            yield Recipe(rule.targets, one_script(self._script(start, end) for start, end in rule.lines), rule.needs)

    # --- Lines ---

    def _read(self, start: int, end: int) -> None:
        line = self._source.text[start:end]
        directive = _DIRECTIVE.match(line)
        define = _DEFINE.match(line)
        if self._in_definition:
            self._in_definition = not (directive and directive[1] == "endef")
        elif self._in_rule and line.startswith("\t"):
            self._rules[-1].lines.append((start + 1, end))
        elif directive:
            self._direct(directive[1])
        elif define:
            self._in_definition = True
            self._put(define[1], None)
        elif line.strip() and not line.lstrip().startswith("#"):
            self._set_or_rule(line, start)

    def _direct(self, directive: str) -> None:
        if directive.startswith("if"):
            self._conditionals += 1
        elif directive == "endif":
            self._conditionals = max(self._conditionals - 1, 0)
        elif directive.endswith("include"):
            self._forgotten = self._settings

    def _set_or_rule(self, line: str, start: int) -> None:
        masked = _REFERENCE_OF_A_LINE.sub(lambda match: "x" * len(match[0]), line)
        setting = _ASSIGNMENT.match(masked)
        rule = _RULE.match(masked)
        self._in_rule = False
        if setting:
            self._assign(setting["name"], setting["operator"], _value(line[setting.end() :]))
        elif rule and rule[1].strip():
            self._begin_rule(rule, masked, start)

    def _begin_rule(self, rule: re.Match[str], masked: str, start: int) -> None:
        for_target = _ASSIGNMENT.match(masked, rule.end())
        if for_target:
            self._put(for_target["name"], None)
            return
        self._in_rule = True
        lines: list[tuple[int, int]] = []
        semicolon = masked.find(";", rule.end())
        if semicolon >= 0:
            lines.append((start + semicolon + 1, start + len(masked)))
        begin = len(rule[1]) - len(rule[1].lstrip())
        needs = _COMMENT.sub("", masked[rule.end() : semicolon if semicolon >= 0 else None]).replace("\\", " ").split()
        self._rules.append(_Rule(self._source.cut(start + begin, start + len(rule[1].rstrip(" \t&"))), lines, tuple(needs)))

    # --- Variables ---

    def _assign(self, name: str, operator: str, value: str) -> None:
        if operator == "!=":
            self._put(name, None)
        elif operator == "?=":
            if name not in self._variables:
                self._put(name, value or None)
        elif operator == "+=" and name in self._variables:
            before = self._known_value(name)
            self._put(name, None if before is None else f"{before} {value}")
        else:
            self._put(name, value)

    def _put(self, name: str, value: str | None) -> None:
        self._settings += 1
        self._variables[name] = _Variable(None if self._conditionals else value, self._settings)

    def _known_value(self, name: str) -> str | None:
        variable = self._variables.get(name)
        return variable.value if variable and variable.number > self._forgotten else None

    # --- Recipes ---

    def _script(self, start: int, end: int) -> Script:
        parts = list(self._parts(self._source.cut(start, end)))
        text = joined([part.text for part in parts], self._source.location(start, end)) if parts else self._source.cut(end, end)
        holes: list[tuple[int, int]] = []
        at = 0
        for part in parts:
            if not part.known:
                holes.append((at, at + len(part.text)))
            at += len(part.text)
        begin = _behind_prefix(text, holes)
        kept = [(low - begin, high - begin) for low, high in holes if low >= begin]
        return parse_script(text.cut(begin, len(text)), holes=kept)

    def _parts(self, text: Text) -> Iterator[_Part]:
        at = 0
        while match := _REFERENCE.search(text, at):
            if match.start() > at:
                yield _Part(text.cut(at, match.start()))
            at = _end_of_reference(text, match)
            reference = text.cut(match.start(), at)
            if match["dollar"]:
                yield _Part(text.cut(at - 1, at))
            else:
                yield from self._replaced(reference)
        if at < len(text):
            yield _Part(text.cut(at, len(text)))

    def _replaced(self, reference: Text) -> Iterator[_Part]:
        """What stands for a reference in a recipe: the value's runs, each at the reference's place, or the reference itself."""
        for run, known in self._runs(str(reference), DEPTH_LIMIT):
            if known:
                yield _Part(_standing_at(run, reference.location))
            else:
                yield _Part(reference if run == reference else _standing_at(run, reference.location), known=False)

    def _runs(self, reference: str, depth: int) -> Iterator[tuple[str, bool]]:
        """The runs of characters that a reference becomes, and whether each is known; the reference itself where none is."""
        variable = _VARIABLE.fullmatch(reference)
        value = self._known_value(variable[1]) if variable and depth else None
        if value is None or self._brought + len(value) > EXPANSION_LIMIT:
            yield reference, False
            return
        self._brought += len(value)
        runs = list(self._runs_of_value(value, depth))
        if runs and not any(known for _, known in runs):
            yield reference, False
        else:
            yield from runs

    def _runs_of_value(self, value: str, depth: int) -> Iterator[tuple[str, bool]]:
        at = 0
        while match := _REFERENCE.search(value, at):
            if match.start() > at:
                yield value[at : match.start()], True
            at = _end_of_reference(value, match)
            if match["dollar"]:
                yield "$", True
            else:
                yield from self._runs(value[match.start() : at], depth - 1)
        if at < len(value):
            yield value[at:], True


def _value(text: str) -> str:
    """A variable's value: continued lines joined by one blank, without a comment and the blanks around."""
    line = " ".join(part.strip() for part in _CONTINUATION.split(text))
    return _COMMENT.sub("", line).strip()


def _end_of_reference(text: str, match: re.Match[str]) -> int:
    """The offset behind a reference, at the text's end where its bracket is not closed."""
    if not match["bracket"]:
        return match.end()
    depth = 1
    for bracket in _BRACKETS[match["bracket"]].finditer(text, match.end()):
        depth += 1 if bracket[0] == match["bracket"] else -1
        if not depth:
            return bracket.end()
    return len(text)


def _standing_at(value: str, place: Location) -> Text:
    """A value in the place of the reference that it replaces: its last character at the reference's end, all others at its start."""
    last = len(value) - 1
    pieces = [Piece(offset, place.line, place.column) for offset in range(last)]
    return Text(value, place, (*pieces, Piece(last, place.end_line, place.end_column - 1)))


def _behind_prefix(text: str, holes: list[tuple[int, int]]) -> int:
    """The offset behind the characters by which a recipe's line tells make how to run it.

    A variable that stands right before a letter, as in `$(Q)docker run`, holds such characters.
    """
    prefix = _PREFIX.match(text)
    begin = prefix.end() if prefix else 0
    if holes and holes[0][0] == begin and text[holes[0][1] : holes[0][1] + 1].isalpha():
        return holes[0][1]
    return begin
