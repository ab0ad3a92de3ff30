"""What the tests of Python modules share: code in, and out of it the text that stands at each place that was noted."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

from gpulint.model.module import Assertion, Fallback, Module, Raising, Scope
from gpulint.model.python_reader import read_module
from gpulint.parse.python import parse
from gpulint.source import Location, Source

Noted = Fallback | Assertion | Raising


def source_of(code: str, path: str = "job.py") -> Source:
    return Source(path, dedent(code).encode())


def module_of(code: str, path: str = "job.py") -> Module:
    """The module of this code, which must be well-formed."""
    source = source_of(code, path)
    tree = parse(source).tree
    assert tree is not None, parse(source).problems
    return read_module(source, tree)


def scopes_of(code: str) -> list[Scope]:
    return list(module_of(code).scopes.values())


def text_at(code: str, place: Location) -> str:
    """What stands in a region of the code; of several lines the first."""
    line = source_of(code).line(place.line)
    return line[place.column - 1 : place.end_column - 1 if place.end_line == place.line else None]


def texts(code: str, noted: Iterable[Noted]) -> list[str]:
    return [text_at(code, each.location) for each in noted]


def fallbacks(code: str) -> list[str]:
    """The text of each fallback in the code, scope by scope."""
    return [text for scope in scopes_of(code) for text in texts(code, scope.fallbacks)]


def assertions(code: str) -> list[str]:
    return [text for scope in scopes_of(code) for text in texts(code, scope.assertions)]


def raising(code: str) -> list[str]:
    return [text for scope in scopes_of(code) for text in texts(code, scope.raising)]
