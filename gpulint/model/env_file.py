"""Env files: `NAME=value` lines, as Compose reads `.env` and `env_file`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gpulint.model.interpolation import Variables, interpolate
from gpulint.model.variable import EnvVar
from gpulint.source import Source, Text, Value

MOST_VARIABLES = 10_000
"""How many variables of one file are read: far more than any real one has."""

_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*
    (?:[=:][ \t]*(?:'(?P<single>[^'\n]*)'|"(?P<double>[^"\n]*)"|(?P<bare>(?:(?![ \t]\#)[^\r\n])*?)))?
    [ \t]*(?:[ \t]\#[^\n]*)?\r?$""",
    re.VERBOSE | re.MULTILINE,
)


def read_env_file(source: Source) -> tuple[EnvVar, ...]:
    """The variables in file order, references to earlier ones replaced; a name alone has no value. Other lines are passed over."""
    variables: dict[str, Text] = {}
    return tuple(islice(_read_lines(source, variables), MOST_VARIABLES))


def _read_lines(source: Source, variables: dict[str, Text]) -> Iterator[EnvVar]:
    for match in _LINE.finditer(source.text):
        value = _value(source, match, variables)
        if isinstance(value, Text):
            variables[match["name"]] = value
        yield EnvVar(source.cut(*match.span("name")), value)


def _value(source: Source, match: re.Match[str], variables: Variables) -> Value | None:
    for form in ("single", "double", "bare"):
        if match[form] is not None:
            text = source.cut(*match.span(form))
            return text if form == "single" else interpolate(text, variables).value()
    return None
