"""Units of systemd, Quadlet's among them: sections of `Key=value` lines, where a key may be given several times."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.shell import UnknownWord, split
from gpulint.parse.shell_syntax import joined
from gpulint.source import Source, Text, Value

LONGEST = 256 * 1024
"""How many characters of a unit are read: nobody writes one as long by hand."""

_SECTION = regex(r"\s*\[([^\[\]]+)\]\s*\Z")
_SETTING = regex(r"\s*([A-Za-z][\w-]*)\s*=\s*")
_EXPANSION = regex(r"\$\{?[A-Za-z_]|(?<!%)(?:%%)*%[A-Za-z]")


class Setting(NamedTuple):
    """One line of a section: its key, and its value with the lines that continue it."""

    section: str
    key: Text
    value: Text


def parse_unit(source: Source) -> tuple[Setting, ...]:
    """The settings of a unit in their order; what systemd would skip is skipped. Never raises."""
    return tuple(_settings(source)) if len(source.text) <= LONGEST else ()


def _settings(source: Source) -> Iterator[Setting]:
    section = ""
    for line in _logical_lines(source):
        header, setting = _SECTION.match(line), _SETTING.match(line)
        if header:
            section = header[1]
        elif setting:
            yield Setting(section, line.cut(*setting.span(1)), line.cut(setting.end(), len(line.rstrip())))


def _logical_lines(source: Source) -> Iterator[Text]:
    """The lines without comments, each joined with those that a backslash at its end continues; that counts as a blank."""
    parts: list[Text] = []
    offset = 0
    for raw in source.text.split("\n"):
        start, offset = offset, offset + len(raw) + 1
        line = raw.rstrip("\r")
        if line.lstrip().startswith(("#", ";")):
            continue
        continues = line.endswith("\\")
        parts.append(source.cut(start, start + len(line) - continues))
        if not continues:
            yield _line(parts)
            parts = []
    if parts:
        yield _line(parts)


def _line(parts: list[Text]) -> Text:
    if len(parts) == 1:
        return parts[0]
    spaced = [piece for part in parts for piece in (part, Text(" ", part.location))][:-1]
    return joined(spaced, parts[0].location.to(parts[-1].location))


def unit_words(value: Text) -> tuple[Value, ...]:
    """The words of a value, with quotes as in a shell; one with a variable or a specifier (`%h`) is not known."""
    return tuple(unit_value(word) if isinstance(word, Text) else word for word in split(value))


def unit_value(value: Text) -> Value:
    """A value, which is not known where a variable or a specifier stands in it."""
    match = _EXPANSION.search(value)
    if match is None:
        return value
    return UnknownWord(str(value), value.location, value.cut(0, match.start()), value.cut(len(value), len(value)))
