"""Env files: `NAME=value` lines, as Compose reads `.env` and `env_file`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gpulint.deferred import regex
from gpulint.model.interpolation import Variables, interpolate
from gpulint.model.variable import EnvVar
from gpulint.source import Source, Text, Value

MOST_VARIABLES = 10_000
"""How many variables of one file are read: far more than any real one has."""

_LINE = regex(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?:[=:][ \t]*(?P<value>[^\r\n]*)|(?<=[ \t])\#[^\n]*)?\r?$""", re.MULTILINE
)
_QUOTED = regex(r"""(?:'(?P<single>[^'\n]*)'|"(?P<double>[^"\n]*)")[ \t]*(?:[ \t]\#[^\n]*)?\r?$""", re.MULTILINE)
_COMMENT = regex(r"[ \t]#")


def read_env_file(source: Source) -> tuple[EnvVar, ...]:
    """The variables in file order, references to earlier ones replaced; a name alone has no value. Other lines are passed over."""
    variables: dict[str, Text] = {}
    return tuple(islice(_read_lines(source, variables), MOST_VARIABLES))


def _read_lines(source: Source, variables: dict[str, Text]) -> Iterator[EnvVar]:
    for match in _LINE.finditer(source.text):
        value = None if match["value"] is None else _value(source, *match.span("value"), variables)
        if isinstance(value, Text):
            variables[match["name"]] = value
        yield EnvVar(source.cut(*match.span("name")), value)


def _value(source: Source, start: int, end: int, variables: Variables) -> Value:
    """What a variable is set to by the rest of its line; only in single quotes are references kept as they are."""
    quoted = _QUOTED.match(source.text, start)
    if quoted is None:
        comment = _COMMENT.search(source.text, start, end)
        bare = source.text[start : comment.start() if comment else end].rstrip(" \t")
        return interpolate(source.cut(start, start + len(bare)), variables).value()
    form = "double" if quoted["single"] is None else "single"
    text = source.cut(*quoted.span(form))
    return text if form == "single" else interpolate(text, variables).value()
