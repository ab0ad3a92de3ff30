"""Variables in the words of a Dockerfile, expanded as BuildKit does: `$X`, `${X}`, `${X:-y}`, `${X-y}`, `${X:+y}`, `${X+y}`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from gpulint.deferred import regex
from gpulint.source import Text, Unknown, Value

Lookup = Callable[[str], "Value | None"]
"""The value of a variable: a Text, an Unknown, or None where it is surely unset."""

_NAME = regex(r"[^\W\d]\w*|\d+|[@*#?$!-]")

# Expansions that nest deeper or grow longer than any real one are not followed, so that a hostile file cannot double a value line by line.
_DEEPEST = 50
_LONGEST = 8_192


class _ExpansionError(Exception):
    """BuildKit refuses the word, or it passes a bound."""


def expand(word: Text, lookup: Lookup, escape: str = "\\") -> Value:
    """The word with its variables replaced and its quotes removed.

    A word without either keeps its exact places, as does one that is quoted as a whole; otherwise all of it stands where the word does.
    Where a variable cannot be known, the result is an Unknown whose `raw` is the word with what is known filled in. A variable that was
    set to something half known stands as that; one of which nothing is known, whose `raw` is "" or `${NAME}`, stands as written.
    """
    if not _special(escape).search(word):
        return word
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" and not _special(escape).search(word, 1, len(word) - 1):
        return word.cut(1, len(word) - 1)
    expansion = _Expansion(word, lookup, escape)
    try:
        value = expansion.read("", 0)
    except _ExpansionError:
        return Unknown(str(word), word.location)
    return Text(value, word.location, ()) if expansion.complete else Unknown(value, word.location)


@cache
def _special(escape: str) -> re.Pattern[str]:
    return re.compile(rf"""[$'"{re.escape(escape)}]""")


class _Expansion:
    """One word on its way: `at` is the next character, `complete` whether all variables so far were known, `room` what may yet come in."""

    def __init__(self, word: str, lookup: Lookup, escape: str) -> None:
        self.word = word
        self.lookup = lookup
        self.escape = escape
        self.at = 0
        self.complete = True
        self.room = _LONGEST

    def read(self, stop: str, depth: int) -> str:
        """What stands up to the character `stop`, or to the end where there is none, expanded."""
        if depth > _DEEPEST:
            raise _ExpansionError
        parts: list[str] = []
        while self.at < len(self.word):
            character = self.word[self.at]
            self.at += 1
            if character == stop:
                return "".join(parts)
            parts.append(self._read_one(character, depth))
        if stop:
            raise _ExpansionError
        return "".join(parts)

    def _read_one(self, character: str, depth: int) -> str:
        if character == "'":
            return self._single_quoted()
        if character == '"':
            return self._double_quoted(depth)
        if character == "$":
            return self._variable(depth)
        return self._next() if character == self.escape else character

    def _next(self) -> str:
        character = self.word[self.at : self.at + 1]
        self.at += 1
        return character

    def _single_quoted(self) -> str:
        start, end = self.at, self.word.find("'", self.at)
        if end < 0:
            raise _ExpansionError
        self.at = end + 1
        return self.word[start:end]

    def _double_quoted(self, depth: int) -> str:
        parts: list[str] = []
        while self.at < len(self.word):
            character = self._next()
            if character == '"':
                return "".join(parts)
            if character == "$":
                parts.append(self._variable(depth))
            elif character == self.escape and self.word[self.at : self.at + 1] in ('"', "$", self.escape, ""):
                parts.append(self._next())
            else:
                parts.append(character)
        raise _ExpansionError

    def _variable(self, depth: int) -> str:
        start = self.at - 1
        braced = self.word.startswith("{", self.at)
        match = _NAME.match(self.word, self.at + braced)
        if match is None:
            if braced:
                raise _ExpansionError
            return "$"
        self.at = match.end()
        value = self.lookup(match[0])
        complete = self.complete
        operator, operand = self._operation(depth) if braced else ("", "")
        if isinstance(value, Unknown):
            self.complete = False
            says_nothing = value.raw in ("", f"${{{match[0]}}}")
            return self._fitting(self.word[start : self.at] if operator or says_nothing else value.raw)
        result = _substitute(value, operator, operand)
        if result is not operand:
            self.complete = complete  # what an unused operand holds does not matter
        return self._fitting(result)

    def _fitting(self, text: str) -> str:
        self.room -= len(text)
        if self.room < 0:
            raise _ExpansionError
        return text

    def _operation(self, depth: int) -> tuple[str, str]:
        """The operator behind a name in braces, and its operand; both empty where the brace closes at once."""
        operator = self._next()
        if operator == "}":
            return "", ""
        if operator == ":":
            operator += self._next()
        if operator not in ("-", ":-", "+", ":+", "?", ":?"):
            raise _ExpansionError
        return operator, self.read("}", depth + 1)


def _substitute(value: Text | None, operator: str, operand: str) -> str:
    """What `${X<operator>operand}` stands for; with a colon an empty variable counts as unset."""
    is_set = value is not None and (not operator.startswith(":") or value != "")
    if operator.endswith("+"):
        return operand if is_set else ""
    if not is_set and operator.endswith("-"):
        return operand
    if not is_set and operator.endswith("?"):
        raise _ExpansionError
    return value or ""
