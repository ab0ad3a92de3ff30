"""Words of a shell script: quotes, escapes, and the expansions in them, read up to where they end."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NoReturn

from gpulint.deferred import regex
from gpulint.parse.shell_syntax import DEPTH_LIMIT, HOLE, Names, Part, PartKind, ShellError, Word
from gpulint.source import Text

SPACE = r" \t\r\f\v\n"
"""Blanks and ends of lines, for a set of characters in a pattern. Of other white space the shell makes no separator."""

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
"""The name of a variable, for a pattern."""

PLAIN = regex(rf"[^{SPACE}'\"\\$`;&|<>(){HOLE}]+")
PLAIN_IN_TEST = regex(rf"(?:[^{SPACE}'\"\\$`){HOLE}]|\)(?!\]\]))+")
_PLAIN_IN_QUOTES = regex(rf"[^\"\\$`{HOLE}]+")
_PLAIN_IN_BRACES = regex(rf"[^}}\"'\\$`{HOLE}]+")
_ESCAPED_IN_QUOTES = '$`"\\'
_BLANKS = regex(r"(?:[ \t\r\f\v]|\\\r?\n)*(?:#[^\n]*)?")
_HOLES = regex(f"{HOLE}+")
_PARAMETER = regex(rf"\$({NAME}|[0-9@*#?$!-])")
_SPECIAL = frozenset("*#?$!-")
_BRACED = regex(rf"\$\{{({NAME}|[0-9]+|[@*#?$!-])(?:(:?[-=+?])|(?=\}}))")
_ANSI_CHARACTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_NAME = regex(NAME)
_HOLES_OR_NOT = regex(f"{HOLE}+|[^{HOLE}]+")
_ARRAY = regex(r"\$\{!?(?:@|\w+\[@\])")
_ANSI_QUOTED = regex(r"\$'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_ANSI_ESCAPE = regex(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL)
_PARENTHESIS = regex(r"[()]")
_SETS_NAME_BEFORE = regex(r"\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")
_KEYWORD_OR_CHARACTER = regex(r"[a-z]+|.", re.DOTALL)


class WordReader(ABC):
    """Reads words of a text from `at` on, up to `end`. `source` is the text with its holes marked."""

    def __init__(self, text: Text, source: str, names: Names, start: int, end: int, depth: int) -> None:
        self.text = text
        self.source = source
        self.names = names
        self.at = start
        self.end = end
        self._depth = depth

    @abstractmethod
    def _substitution(self, start: int) -> None:
        """Pass `$(...)`, `<(...)` or `>(...)` from `start` with the commands in it."""

    @abstractmethod
    def _backticks(self) -> None:
        """Pass the commands between two backticks."""

    def _progressing_word(self, plain: re.Pattern[str] = PLAIN) -> Word:
        """A word where one must stand."""
        word = self._word(plain)
        if word.end == word.start:
            self._unexpected()
        return word

    def _word(self, plain: re.Pattern[str] = PLAIN) -> Word:
        start = self.at
        parts: list[Part] = []
        while self.at < self.end:
            run = plain.match(self.source, self.at, self.end)
            if run:
                self._take_literal(parts, run.end(), quoted=False)
            elif not self._special(parts):
                break
        return Word(tuple(parts), start, self.at)

    def _special(self, parts: list[Part]) -> bool:
        """Read what a special character of a word begins; False where it ends the word."""
        character = self.source[self.at]
        if character == "\\":
            self._escape(parts)
        elif character == "'":
            self._single_quotes(parts)
        elif character == '"':
            self._double_quotes(parts)
        elif character in "$`" or character == HOLE:
            self._expansion(parts, quoted=False)
        elif character in "<>" and self.source.startswith("(", self.at + 1):
            start = self.at
            self._substitution(start)
            parts.append(Part(PartKind.UNKNOWN, start, self.at))
        elif character == "(" and self.at and self.source[self.at - 1] in "?*+@!" and parts:
            self._extended_pattern(parts)
        else:
            return False
        return True

    def _take_literal(self, parts: list[Part], end: int, quoted: bool) -> None:
        """Take the characters up to `end` as they stand, with those just before if these are of the same kind."""
        start, self.at = self.at, end
        if parts and parts[-1].kind is PartKind.LITERAL and parts[-1].end == start and parts[-1].quoted == quoted:
            parts[-1] = Part(PartKind.LITERAL, parts[-1].start, end, quoted)
        else:
            parts.append(Part(PartKind.LITERAL, start, end, quoted))

    def _escape(self, parts: list[Part]) -> None:
        """A backslash outside quotes: it joins lines or takes the next character as it stands."""
        self.at += 1
        if self.source.startswith("\n", self.at) or self.source.startswith("\r\n", self.at):
            self.at = self.source.index("\n", self.at) + 1
        elif self.at < self.end:
            self._take_literal(parts, self.at + 1, quoted=True)

    def _single_quotes(self, parts: list[Part]) -> None:
        start = self.at + 1
        end = self.source.find("'", start, self.end)
        if end < 0:
            self._stop("a single quote is not closed")
        if start == end:
            parts.append(Part(PartKind.LITERAL, start, end, True))
        for run in _HOLES_OR_NOT.finditer(self.source, start, end):
            kind = PartKind.UNKNOWN if run[0][0] == HOLE else PartKind.LITERAL
            parts.append(Part(kind, run.start(), run.end(), True))
        self.at = end + 1

    def _double_quotes(self, parts: list[Part]) -> None:
        start = self.at
        self.at += 1
        before = len(parts)
        while not self.source.startswith('"', self.at):
            if self.at >= self.end:
                self.at = start
                self._stop("a double quote is not closed")
            self._in_quotes(parts)
        if len(parts) == before:
            parts.append(Part(PartKind.LITERAL, self.at, self.at, True))
        self.at += 1

    def _in_quotes(self, parts: list[Part]) -> None:
        """The next run inside double quotes."""
        run = _PLAIN_IN_QUOTES.match(self.source, self.at, self.end)
        if run:
            self._take_literal(parts, run.end(), quoted=True)
        elif self.source[self.at] != "\\":
            self._expansion(parts, quoted=True)
        elif self.source[self.at + 1 : self.at + 2] in ("\n", "\r"):
            self._escape(parts)
        elif self.source[self.at + 1 : self.at + 2] in _ESCAPED_IN_QUOTES and self.at + 1 < self.end:
            self.at += 1
            self._take_literal(parts, self.at + 1, quoted=True)
        else:
            self._take_literal(parts, self.at + 1, quoted=True)

    def _ansi_quotes(self, parts: list[Part]) -> None:
        """`$'...'` with its escapes."""
        match = _ANSI_QUOTED.match(self.source, self.at, self.end)
        if not match:
            self._stop("a single quote is not closed")
        kind = PartKind.DECODED if "\\" in match[1] else PartKind.LITERAL
        if HOLE in match[1]:
            kind = PartKind.UNKNOWN
        parts.append(Part(kind, match.start(1), match.end(1), True, _ANSI_ESCAPE.sub(_decode, match[1])))
        self.at = match.end()

    def _extended_pattern(self, parts: list[Part]) -> None:
        """`@(a|b)` and its kin, which match names of files."""
        start = self.at
        self._deeper()
        self.at += 1
        while not self.source.startswith(")", self.at):
            if self.source[self.at : self.at + 1] in ("|", " "):
                self.at += 1
            else:
                self._progressing_word()
        self.at += 1
        self._depth -= 1
        parts.append(Part(PartKind.LIST, start, self.at))

    # --- expansions ---

    def _expansion(self, parts: list[Part], quoted: bool) -> None:
        """What a dollar, a backtick or a hole begins."""
        source, start = self.source, self.at
        holes = _HOLES.match(source, start, self.end)
        parameter = _PARAMETER.match(source, start, self.end)
        if holes:
            self.at = holes.end()
            parts.append(self._unknown(start, quoted))
        elif source[start] == "`":
            self._backticks()
            parts.append(self._unknown(start, quoted))
        elif parameter:
            self.at = parameter.end()
            parts.append(self._parameter(start, parameter[1], quoted))
        elif source.startswith("$((", start) and self._arithmetic(start + 3):
            parts.append(Part(PartKind.UNKNOWN, start, self.at, quoted))
        elif source.startswith("$(", start):
            self._substitution(start)
            parts.append(self._unknown(start, quoted))
        elif source.startswith("${", start):
            self._braces(parts, quoted)
        elif not quoted and source.startswith("$'", start):
            self._ansi_quotes(parts)
        elif not quoted and source.startswith('$"', start):
            self.at += 1
            self._double_quotes(parts)
        else:
            self._take_literal(parts, start + 1, quoted)

    def _unknown(self, start: int, quoted: bool) -> Part:
        return Part(PartKind.UNKNOWN if quoted else PartKind.LIST, start, self.at, quoted)

    def _parameter(self, start: int, name: str, quoted: bool, operator: str = "", word: tuple[Part, ...] = ()) -> Part:
        """A parameter up to here. Of the special ones only `$@` and an unquoted `$*` are lists; the others are one word each."""
        if name == "@" or (name == "*" and not quoted):
            return Part(PartKind.LIST, start, self.at, quoted)
        if name in _SPECIAL:
            return Part(PartKind.UNKNOWN, start, self.at, quoted)
        return Part(PartKind.PARAMETER, start, self.at, quoted, name, operator, word)

    def _braces(self, parts: list[Part], quoted: bool) -> None:
        """`${...}`: plain or with a default, and any other form as unknown."""
        start = self.at
        match = _BRACED.match(self.source, start, self.end)
        self.at = match.end() if match else start + 2
        word = self._braced_word(start, quoted)
        if match:
            operator = match[2] or ""
            if operator.endswith("="):
                self.names.assign(match[1])
            parts.append(self._parameter(start, match[1], quoted, operator, word))
        elif _ARRAY.match(self.source, start, self.end):
            parts.append(Part(PartKind.LIST, start, self.at, quoted))
        else:
            parts.append(self._unknown(start, quoted))

    def _braced_word(self, start: int, quoted: bool) -> tuple[Part, ...]:
        """The word up to the closing brace, which is passed."""
        self._deeper()
        parts: list[Part] = []
        while not self.source.startswith("}", self.at):
            if self.at >= self.end:
                self.at = start
                self._stop("a brace is not closed")
            run = _PLAIN_IN_BRACES.match(self.source, self.at, self.end)
            if run:
                self._take_literal(parts, run.end(), quoted)
            elif quoted and self.source[self.at] == "'":
                self._take_literal(parts, self.at + 1, quoted)
            else:
                self._special(parts)
        self.at += 1
        self._depth -= 1
        return tuple(parts)

    def _arithmetic(self, start: int) -> bool:
        """Pass `...))` from `start`, with the names that are set there; False where it is no arithmetic."""
        depth = 0
        for match in _PARENTHESIS.finditer(self.source, start, self.end):
            if match[0] == "(":
                depth += 1
            elif depth:
                depth -= 1
            elif not self.source.startswith("))", match.start()):
                return False
            else:
                self._assign_in_arithmetic(start, match.start())
                self.at = match.end() + 1
                return True
        return self._stop("a parenthesis is not closed")

    def _assign_in_arithmetic(self, start: int, end: int) -> None:
        for name in _NAME.finditer(self.source, start, end):
            if self.source[max(name.start() - 2, start) : name.start()] in ("++", "--") or _SETS_NAME_BEFORE.match(self.source, name.end()):
                self.names.assign(name[0])

    # --- small steps ---

    def _skip_blanks(self) -> None:
        """Pass blanks, continued lines and a comment."""
        match = _BLANKS.match(self.source, self.at, self.end)
        self.at = match.end() if match else self.at

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            self._stop(f"more than {DEPTH_LIMIT} levels inside one another")

    def _unexpected(self) -> NoReturn:
        found = _KEYWORD_OR_CHARACTER.match(self.source, self.at, self.end)
        if not found:
            self._stop("the script ends inside a command")
        self._stop(f"unexpected `{found[0]}`" if found[0] != "\n" else "unexpected end of line")

    def _stop(self, message: str) -> NoReturn:
        at = min(self.at, len(self.text))
        raise ShellError(message, self.text.cut(at, min(at + 1, len(self.text))).location)


def _decode(escape: re.Match[str]) -> str:
    hexadecimal = escape[1] or escape[2] or escape[3]
    if hexadecimal or escape[4]:
        number = int(hexadecimal, 16) if hexadecimal else int(escape[4], 8)
        return chr(number) if number < 0xD800 or 0xE000 <= number < 0x110000 else "\ufffd"
    if escape[5]:
        return chr(ord(escape[5]) & 0x1F)
    return _ANSI_CHARACTERS.get(escape[6], escape[6] if escape[6] in "\\'\"?" else escape[0])
