"""Variables in scalars, Compose's `${NAME}` and Kubernetes' `$(NAME)`: what the values and defaults at hand decide, in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gpulint.deferred import NamedTuple, regex
from gpulint.source import Location, Piece, Text, Unknown, Value

Variables = Mapping[str, Text]
"""The variables of a project directory's `.env`."""

DEPTH_LIMIT = 16
"""Defaults that hold variables whose defaults hold variables: nobody writes more, and each level costs a call."""

LONGEST = 100_000
"""Characters that a scalar with references may have."""

LONGEST_INSERTED = 4_096
"""Characters that its references may put into it: values that double one another, and one value in a thousand scalars, end there."""

_REFERENCE = regex(r"\$(?:(?P<dollar>\$)|(?P<name>[A-Za-z_]\w*)|(?P<brace>\{))")
_BRACED = regex(r"(?P<name>[A-Za-z_]\w*)(?P<operator>:?[-?+])?")
_ARGUMENT_REFERENCE = regex(r"\$\$|\$\((?P<name>[^()\s]+)\)")
_FIRST_UNKNOWN = 0xF0000


class Interpolated(NamedTuple):
    """A scalar after interpolation. Each part that is not known stands as one private-use character; `unknown` tells what it was."""

    text: Text
    unknown: dict[int, str]

    def value(self) -> Value:
        """The whole scalar."""
        return self._known(self.text)

    def cut(self, start: int, end: int) -> Value:
        """The characters of `text` from `start` up to `end`."""
        return self._known(self.text.cut(start, end))

    def words(self) -> tuple[Value, ...]:
        """The shell words of the scalar, as Compose splits a command that is written as one string."""
        from gpulint.parse.shell_split import split

        return tuple(self._known(word) for word in split(self.text))

    def fields(self, separator: re.Pattern[str]) -> tuple[Value, ...]:
        """The parts between the matches of a separator."""
        matches = tuple(separator.finditer(self.text))
        starts = (0, *(match.end() for match in matches))
        ends = (*(match.start() for match in matches), len(self.text))
        return tuple(map(self.cut, starts, ends))

    def _known(self, part: Value) -> Value:
        if isinstance(part, Text) and any(ord(character) in self.unknown for character in part):
            return Unknown(str(part).translate(self.unknown), part.location)
        return part


def interpolate(scalar: Value, variables: Variables) -> Interpolated:
    """Replace the references in a scalar. `$$` is a dollar; a reference without value and default is not known."""
    if isinstance(scalar, Unknown):
        return _not_known(scalar.raw, scalar.location)
    if "$" not in scalar:
        return Interpolated(scalar, {})
    unknown: dict[int, str] = {}
    parts = _fitting(_expand(scalar, variables, unknown, DEPTH_LIMIT), len(scalar))
    return Interpolated(_join(parts, scalar), unknown) if parts is not None else _not_known(str(scalar), scalar.location)


def _not_known(raw: str, location: Location) -> Interpolated:
    return Interpolated(Text(chr(_FIRST_UNKNOWN), location, ()), {_FIRST_UNKNOWN: raw})


def _fitting(parts: Iterable[Text], written: int) -> tuple[Text, ...] | None:
    """The parts that are not empty; None where they, or the scalar of so many characters, are longer than any real value."""
    kept: list[Text] = []
    room = written + LONGEST_INSERTED if written <= LONGEST else 0
    for part in filter(None, parts):
        kept.append(part)
        room -= len(part)
        if room < 0:
            return None
    return tuple(kept)


def expand_argument(argument: Text, env: Mapping[str, Value | None], complete: bool) -> Value:
    """Replace the `$(NAME)` of a Kubernetes argument. A name that a `complete` environment has not stays as it is written."""
    if "$" not in argument:
        return argument
    unknown: dict[int, str] = {}
    parts = _fitting(_expand_argument(argument, env, complete, unknown), len(argument))
    return Unknown(str(argument), argument.location) if parts is None else Interpolated(_join(parts, argument), unknown).value()


def _expand_argument(argument: Text, env: Mapping[str, Value | None], complete: bool, unknown: dict[int, str]) -> Iterator[Text]:
    at = 0
    for match in _ARGUMENT_REFERENCE.finditer(argument):
        yield argument.cut(at, match.start())
        at = match.end()
        reference = argument.cut(match.start(), at)
        if match["name"] is None:
            yield argument.cut(at - 1, at)
        elif match["name"] not in env and complete:
            yield reference
        else:
            yield _value_or_mark(reference, env.get(match["name"]), unknown)
    yield argument.cut(at, len(argument))


def _value_or_mark(reference: Text, value: Value | None, unknown: dict[int, str]) -> Text:
    """What stands for a reference: the value in the reference's place, or one character for what is not known."""
    if isinstance(value, Text):
        return Text(value, reference.location, ())
    mark = _FIRST_UNKNOWN + len(unknown)
    unknown[mark] = str(reference)
    return Text(chr(mark), reference.location, ())


def _expand(text: Text, variables: Variables, unknown: dict[int, str], depth: int) -> Iterator[Text]:
    """The parts that a text consists of after replacement, each with its own place."""
    at = 0
    while match := _REFERENCE.search(text, at):
        if match.start() > at:
            yield text.cut(at, match.start())
        if match["dollar"]:
            at = match.end()
            yield text.cut(at - 1, at)
            continue
        at = _closing(text, match.end()) if match["brace"] else match.end()
        yield from _replace(text.cut(match.start(), at), variables, unknown, depth)
    if at < len(text):
        yield text.cut(at, len(text))


def _closing(text: str, start: int) -> int:
    """The offset behind the brace that closes the one before `start`; the text's end where none does."""
    open_braces = 1
    for at in range(start, len(text)):
        open_braces += (text[at] == "{") - (text[at] == "}")
        if not open_braces:
            return at + 1
    return len(text)


def _replace(reference: Text, variables: Variables, unknown: dict[int, str], depth: int) -> Iterator[Text]:
    """The parts that stand for one reference: its value, its default, or one character for what is not known."""
    start = 2 if reference[1:2] == "{" else 1
    match = _BRACED.match(reference, start)
    operator = (match["operator"] or "") if match and start == 2 else ""
    rest = reference.cut(match.end(), len(reference) - 1) if match and operator and reference.endswith("}") else None
    chosen = _choose(operator, variables.get(match["name"]) if match else None, rest)
    if chosen is not None and chosen is rest and depth:
        yield from _expand(chosen, variables, unknown, depth - 1)
    else:
        yield _value_or_mark(reference, None if chosen is rest else chosen, unknown)


def _choose(operator: str, value: Text | None, rest: Text | None) -> Text | None:
    """The variable's value or what stands behind the operator, whichever Compose takes; None where that is not known."""
    is_set = value is not None and (value != "" or not operator.startswith(":"))
    if operator.endswith("-"):
        return value if is_set else rest
    if operator.endswith("+"):
        return rest if is_set else None
    return value


def _join(parts: Sequence[Text], whole: Text) -> Text:
    """The parts as one text whose characters keep their places, where each part's do."""
    if len(parts) == 1:
        return parts[0]
    value = "".join(parts)
    if whole.pieces == () or any(part.pieces == () and len(part) > 1 for part in parts):
        return Text(value, whole.location, ())
    pieces: list[Piece] = []
    offset = 0
    for part in parts:
        own = part.pieces or (Piece(0, part.location.line, part.location.column),)
        pieces += (Piece(offset + piece.offset, piece.line, piece.column) for piece in own)
        offset += len(part)
    return Text(value, whole.location, tuple(pieces))
