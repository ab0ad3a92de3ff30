"""What the words of a shell script become: quotes removed, and replaced what the script itself decides of its variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Union

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.shell_syntax import Names, Part, PartKind, Word, joined
from gpulint.source import Location, Text, Unknown, Value


class UnknownWord(Unknown):
    """A word with an expansion that the script does not decide.

    `raw` is the word without its quotes, known expansions replaced. `prefix` and `suffix` are the characters known to stand before the
    first unknown and behind the last, both empty where there are none. `many` says that it may be any number of words, none too.
    """

    __slots__ = ("many", "prefix", "suffix")
    many: bool
    prefix: Text
    suffix: Text

    def __init__(self, raw: str, location: Location, prefix: Text, suffix: Text, many: bool = False) -> None:
        super().__init__(raw, location)
        self.prefix = prefix
        self.suffix = suffix
        self.many = many

    def rest(self, start: int) -> UnknownWord:
        """The word from an offset in its prefix on."""
        return UnknownWord(self.raw[start:], self.location, self.prefix.cut(start, len(self.prefix)), self.suffix, self.many)


ExpandedWord = Union[Text, UnknownWord]

UNDECIDED = Unknown("", Location("", 0, 0, 0, 0))
"""The value of a variable that the script sets, but not to one thing only."""


EXPANSION_LIMIT = 1_000_000
"""So many characters may variables bring into a script; behind them none is replaced. Values that double one another end there."""


class _Variable(NamedTuple):
    """A variable's value, with the function that set it (0 outside all) and how often names were forgotten before."""

    value: Value
    function: int
    epoch: float


class Scope:
    """The variables as they stand at one point of the script.

    Changes are kept in a journal, so that leaving a branch costs what was changed in it. `epoch` counts how often the script may have
    set any name: what it set before is then undecided.
    """

    def __init__(self, names: Names, outside: Mapping[str, Value]) -> None:
        self.function = 0
        self._names = names
        self._outside = {name: value for name, value in outside.items() if isinstance(value, Text)}
        self._variables = {name: _Variable(value, 0, float("inf")) for name, value in self._outside.items()}
        self._journal: list[tuple[str, _Variable | None]] = []
        self.epoch = 0
        self._brought = 0

    def get(self, name: str) -> Value | None:
        """The value of a variable; None where nothing has set it so far."""
        setters = self._names.setters.get(name, set())
        if any(setter not in (0, self.function) for setter in setters):
            return UNDECIDED
        variable = self._variables.get(name)
        if variable is None:
            return UNDECIDED if self.function and 0 in setters else None
        changes = self._names.counts.get(name, 0) + (name in self._outside)
        if variable.epoch < self.epoch or (variable.function != self.function and changes > 1):
            return UNDECIDED
        return variable.value

    def affords(self, value: Text) -> bool:
        """Whether the value may be put into a word: all of them together may not grow past the limit."""
        self._brought += len(value)
        return self._brought <= EXPANSION_LIMIT

    def put(self, name: str, value: Value) -> None:
        self._journal.append((name, self._variables.get(name)))
        self._variables[name] = _Variable(value, self.function, self.epoch)

    def forget(self) -> None:
        """Take every variable that the script has set as undecided."""
        self.epoch += 1

    def mark(self) -> int:
        return len(self._journal)

    def changed_since(self, mark: int) -> set[str]:
        return {name for name, _ in self._journal[mark:]}

    def undo(self, mark: int) -> None:
        """Take back the changes since the mark."""
        while len(self._journal) > mark:
            name, before = self._journal.pop()
            if before is None:
                del self._variables[name]
            else:
                self._variables[name] = before

    def undecide(self, names: Iterable[str]) -> None:
        for name in names:
            self.put(name, UNDECIDED)


class Chunk(NamedTuple):
    """A run of a word after expansion: from elsewhere where a variable brought it. What is not known stands as it is written.

    `many` where it may be any number of words.
    """

    text: Text
    known: bool = True
    many: bool = False
    elsewhere: bool = False


class _Words:
    """Puts together the words that one word of the script becomes."""

    def __init__(self, token: Location) -> None:
        self.finished: list[ExpandedWord] = []
        self._token = token
        self._chunks: list[Chunk] = []

    def add(self, chunk: Chunk, quoted: bool) -> None:
        """Add a run; what is known and stands without quotes is split at its blanks."""
        if quoted or not chunk.known:
            self._chunks.append(chunk)
            return
        at = 0
        for match in _NOT_BLANK.finditer(chunk.text):
            if match.start() > at:
                self.finish()
            self._chunks.append(chunk._replace(text=chunk.text.cut(*match.span())))
            at = match.end()
        if at < len(chunk.text):
            self.finish()

    def finish(self) -> None:
        """End the word that was begun, if one was."""
        if self._chunks:
            self.finished.append(assembled(self._chunks, self._token))
        self._chunks = []


def assembled(chunks: list[Chunk], token: Location) -> ExpandedWord:
    """The word that runs of characters make together, standing at its token; one run at least."""
    unknown = [index for index, chunk in enumerate(chunks) if not chunk.known]
    if not unknown:
        return _join(chunks, token)
    raw = "".join(chunk.text for chunk in chunks)
    prefix, suffix = _join(chunks[: unknown[0]], token), _join(chunks[unknown[-1] + 1 :], token)
    return UnknownWord(raw, token, prefix, suffix, many=all(chunk.many for chunk in chunks))


def _join(chunks: list[Chunk], token: Location) -> Text:
    kept = [chunk for chunk in chunks if chunk.text] or chunks[:1]
    if not kept:
        return Text("", token, ())
    if len(kept) == 1:
        return kept[0].text
    return joined([Text(chunk.text, token, ()) if chunk.elsewhere else chunk.text for chunk in kept], token)


_NOT_BLANK = regex(r"[^ \t\r\n]+")
_BRACES = regex(r"\{([^{} \t\r\n]*)\}")


def expand_word(word: Word, text: Text, scope: Scope, quoted: bool = False) -> list[ExpandedWord]:
    """The words that a word becomes; one at most where it is taken as quoted."""
    if len(word.parts) == 1 and word.parts[0].kind is PartKind.LITERAL and text.find("{", word.start, word.end) < 0:
        return [text.cut(word.parts[0].start, word.parts[0].end)]
    expansion = _Expansion(text, scope, text.cut(word.start, word.end).location)
    expansion.expand(word.parts, quoted)
    expansion.words.finish()
    return expansion.words.finished


def expand_value(word: Word, text: Text, scope: Scope) -> ExpandedWord:
    """What a word becomes where it is not split: behind the `=` of an assignment, and behind a redirection."""
    words = expand_word(word, text, scope, quoted=True)
    return words[0] if words else text.cut(word.end, word.end)


class _Expansion:
    """The expansion of one word of a text."""

    def __init__(self, text: Text, scope: Scope, token: Location) -> None:
        self.words = _Words(token)
        self._text = text
        self._scope = scope

    def expand(self, parts: tuple[Part, ...], quoted: bool) -> None:
        for part in parts:
            if part.kind is PartKind.PARAMETER:
                self._parameter(part, quoted or part.quoted)
            else:
                self.words.add(self._chunk(part, quoted or part.quoted), quoted or part.quoted)

    def _chunk(self, part: Part, quoted: bool) -> Chunk:
        here = self._text.cut(part.start, part.end)
        if part.kind is PartKind.LITERAL:
            braces = not quoted and any("," in match[1] or ".." in match[1] for match in _BRACES.finditer(here))
            return Chunk(here, not braces, braces)
        if part.kind is PartKind.DECODED:
            return Chunk(Text(part.value, here.location, ()))
        return Chunk(here, False, part.kind is PartKind.LIST)

    def _parameter(self, part: Part, quoted: bool) -> None:
        value = self._scope.get(part.value)
        operator = part.operator[-1:]
        is_set = isinstance(value, Text) and (value != "" or not part.operator.startswith(":"))
        if (operator == "+" and is_set) or (operator in ("-", "=") and not is_set and _has_default(part, value)):
            self.expand(part.word, quoted)
            if operator == "=":
                self._scope.put(part.value, expand_value(Word(part.word, part.start, part.end), self._text, self._scope))
        elif isinstance(value, Text) and self._scope.affords(value):
            self.words.add(Chunk(Text("", value.location) if operator == "+" else value, elsewhere=True), quoted)
        else:
            self.words.add(Chunk(self._text.cut(part.start, part.end), False, not quoted), quoted)


def _has_default(part: Part, value: Value | None) -> bool:
    """Whether the word behind an operator stands for a variable without value.

    An empty one for a variable from outside does not: it says no more than that the variable may be missing.
    """
    if isinstance(value, Unknown):
        return False
    return value is not None or any(inner.kind is not PartKind.LITERAL or inner.start < inner.end for inner in part.word)
