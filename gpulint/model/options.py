"""Options of a command line, as docker and its kin read them: long, short and bundled flags, with what is known of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpulint.deferred import NamedTuple
from gpulint.facts.docker_cli import Flag
from gpulint.parse.shell import UnknownWord
from gpulint.source import Location, Text, Unknown, Value


class Option(NamedTuple):
    """One option: the long name of its flag without dashes, and its value (None for a switch).

    A flag that is in no table has the name that it is written with, dashes included.
    `word` is the word that the flag stands in; `location` runs from there to the end of the value, quotes included. `attached` where
    the value stands in the same word.
    """

    name: str
    value: Value | None
    word: Value
    location: Location
    attached: bool


class UnknownFlagError(Exception):
    """A flag that is in no table: whether it takes the next word as its value, and so what follows it, cannot be told."""

    def __init__(self, option: Option) -> None:
        super().__init__(option.name)
        self.option = option


class OptionReader:
    """Reads the options among words, from `at` on. `tokens` are the places of the words."""

    def __init__(self, words: Sequence[Value], tokens: Sequence[Location], at: int, flags: Mapping[str, Flag]) -> None:
        self.options: list[Option] = []
        self.at = at
        self._words = words
        self._tokens = tokens
        self._flags = flags

    @property
    def word(self) -> Value | None:
        """The next word; None behind the last."""
        return self._words[self.at] if self.at < len(self._words) else None

    def read(self) -> None:
        """Read options up to the first word that is none. Raises UnknownFlagError."""
        while self.word is not None:
            text = _known_part(self.word)
            if text == "--" and isinstance(self.word, Text):
                self.at += 1
                return
            if len(text) < 2 or text[0] != "-":
                return
            if text.startswith("--"):
                self._long(text)
            else:
                self._short(text)

    def _long(self, text: Text) -> None:
        name, equals, _ = text.partition("=")
        flag = self._flags.get(name)
        if equals:
            self._take(flag.name if flag else name, rest_of(self._words[self.at], len(name) + 1), attached=True)
        elif flag is None or isinstance(self.word, Unknown):
            raise UnknownFlagError(Option(name, None, text, self._tokens[self.at], attached=False))
        elif flag.takes_value:
            self._take_next(flag.name)
        else:
            self._take(flag.name, None, attached=False)

    def _short(self, text: Text) -> None:
        """One dash and any number of switches; the last flag may take the rest of the word, or the next one, as its value."""
        word = self._words[self.at]
        for index in range(1, len(text)):
            flag = self._flags.get(f"-{text[index]}")
            if flag is None:
                raise UnknownFlagError(Option(str(text), None, text, self._tokens[self.at], attached=False))
            equals = text[index + 1 : index + 2] == "="
            ends = index + 1 == len(text)
            if equals or (flag.takes_value and not (ends and isinstance(word, Text))):
                self._take(flag.name, rest_of(word, index + 1 + equals), attached=True)
                return
            if flag.takes_value:
                self._take_next(flag.name)
                return
            self._add(flag.name, None, self._tokens[self.at], attached=False)
        self.at += 1

    def _take(self, name: str, value: Value | None, attached: bool) -> None:
        self._add(name, value, self._tokens[self.at], attached)
        self.at += 1

    def _take_next(self, name: str) -> None:
        """Take the next word as the value, whatever it is."""
        end = min(self.at + 1, len(self._words) - 1)
        value = self._words[end] if end > self.at else None
        self._add(name, value, self._tokens[self.at].to(self._tokens[end]), attached=False)
        self.at = end + 1

    def _add(self, name: str, value: Value | None, location: Location, attached: bool) -> None:
        self.options.append(Option(name, value, self._words[self.at], location, attached))


def _known_part(word: Value) -> Text:
    """A word, or what is known to stand before its first unknown part."""
    if isinstance(word, UnknownWord):
        return word.prefix
    return word if isinstance(word, Text) else Text("", word.location)


def rest_of(word: Value, start: int) -> Value:
    """A word from an offset on, which lies in what is known of it."""
    if isinstance(word, Text):
        return word.cut(start, len(word))
    return word.rest(start) if isinstance(word, UnknownWord) else word
