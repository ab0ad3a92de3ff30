"""The words of a command line, taken apart into options and operands by a table that says which options take a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpulint.deferred import NamedTuple
from gpulint.source import Location, Text, Unknown, Value


class Option(NamedTuple):
    """One option: its name with its dashes, its value if it takes one, and the region of both."""

    name: str
    value: Value | None
    location: Location


class Arguments(NamedTuple):
    """Options and operands, each in the order of the command line. A word that may be either is an operand, and an Unknown."""

    operands: tuple[Value, ...]
    options: tuple[Option, ...]


def read_arguments(words: Sequence[Value], takes_value: Mapping[str, object]) -> Arguments:
    """Take the words apart: `--name value`, `--name=value`, `-n value`, `-nvalue`, clusters of short options, and `--` before operands.

    `takes_value` has a key for each option that takes a value, with its dashes.
    """
    reader = _Reader(words, takes_value)
    while reader.at < len(words):
        reader.read()
    return Arguments(tuple(reader.operands), tuple(reader.options))


class _Reader:
    def __init__(self, words: Sequence[Value], takes_value: Mapping[str, object]) -> None:
        self.words = words
        self.takes_value = takes_value
        self.at = 0
        self.operands: list[Value] = []
        self.options: list[Option] = []

    def read(self) -> None:
        word = self.words[self.at]
        self.at += 1
        raw = word.raw if isinstance(word, Unknown) else str(word)
        if raw == "--":
            self.operands += self.words[self.at :]
            self.at = len(self.words)
        elif raw.startswith("--"):
            self._read_long(word, raw)
        elif isinstance(word, Text) and raw.startswith("-") and raw != "-":
            self._read_short(word)
        else:
            self.operands.append(word)

    def _read_long(self, word: Value, raw: str) -> None:
        name, equals, _ = raw.partition("=")
        if equals:
            self.options.append(Option(name, _rest(word, raw, len(name) + 1), word.location))
        elif isinstance(word, Unknown):
            self.operands.append(word)
        else:
            self._add(name, word)

    def _read_short(self, word: Text) -> None:
        if word in self.takes_value:
            self._add(str(word), word)
            return
        for index in range(1, len(word)):
            name = "-" + word[index]
            if name in self.takes_value and index + 1 < len(word):
                start = index + 1 + word.startswith("=", index + 1)
                self.options.append(Option(name, word.cut(start, len(word)), word.location))
                return
            self._add(name, word)

    def _add(self, name: str, word: Text) -> None:
        """An option whose value, if it takes one, is the next word."""
        value = None
        if name in self.takes_value and self.at < len(self.words):
            value = self.words[self.at]
            self.at += 1
        self.options.append(Option(name, value, word.location if value is None else word.location.to(value.location)))


def _rest(word: Value, raw: str, start: int) -> Value:
    return word.cut(start, len(word)) if isinstance(word, Text) else Unknown(raw[start:], word.location)
