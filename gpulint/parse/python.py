"""Python files as trees of `ast`, with places in characters."""

from __future__ import annotations

import ast
import re
import warnings

from gpulint.deferred import NamedTuple, regex
from gpulint.source import Location, Source

DEEPEST_CHAIN = 5000
"""How many operators in a row are read: `ast` of Python 3.10 recurses once for each and ends the process where its stack is spent."""

LARGEST = 1024 * 1024
"""How many bytes are read: a tree takes up to 200 times as much memory, and no one writes as much by hand."""

_TOO_DEEP = "nested too deeply to be read"
_OPERATOR = rb"[-+*/%@|&^.(\[]"
_OPERATOR_LINE = regex(rb"\n[ \t]*" + _OPERATOR)
_LITERAL = regex(rb"'[^'\n]*'|\"[^\"\n]*\"|\d[\d.eE_]*")


class SyntaxProblem(NamedTuple):
    """Why a file could not be read, and where."""

    message: str
    location: Location


class PythonSyntax(NamedTuple):
    """A file's tree; None where it could not be read, and `problems` says why."""

    tree: ast.Module | None
    problems: tuple[SyntaxProblem, ...] = ()


def parse(source: Source) -> PythonSyntax:
    """Read a Python file. Never raises: Python 2, NUL bytes and nesting without end each give a problem with its place."""
    if len(source.data) > LARGEST:
        return _unread(f"more than {LARGEST // 1024 // 1024} MiB of code", Location(source.path, 1, 1, 1, 1))
    nul = source.text.find("\0")
    if nul >= 0:
        return _unread("a NUL byte in the text", source.location(nul, nul + 1))
    if _chains_too_deep(source.data):
        return _unread(_TOO_DEEP, Location(source.path, 1, 1, 1, 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PythonSyntax(ast.parse(source.text))
    except SyntaxError as error:
        return _unread(error.msg or "invalid syntax", _error_location(source, error))
    except (ValueError, RecursionError, MemoryError, SystemError):
        return _unread(_TOO_DEEP, Location(source.path, 1, 1, 1, 1))


def location(source: Source, node: ast.expr | ast.stmt | ast.excepthandler | ast.alias | ast.arg | ast.keyword) -> Location:
    """The region of a node that came from this source. `ast` counts columns in UTF-8 bytes; a Location counts characters."""
    line, column = node.lineno, node.col_offset
    end_line, end_column = node.end_lineno or line, node.end_col_offset or column
    if not source.data.isascii():
        column, end_column = _characters(source, line, column), _characters(source, end_line, end_column)
    return Location(source.path, line, column + 1, end_line, end_column + 1)


def _characters(source: Source, line: int, column: int) -> int:
    return len(source.line(line).encode("utf-8", errors="replace")[:column].decode("utf-8", errors="ignore"))


def _unread(message: str, place: Location) -> PythonSyntax:
    return PythonSyntax(None, (SyntaxProblem(message, place),))


def _chains_too_deep(data: bytes) -> bool:
    """Whether an expression may join more than DEEPEST_CHAIN operands: on one line, or with an operator at the start of each line."""
    if len(data) < 2 * DEEPEST_CHAIN:
        return False
    lines = data.split(b"\n")
    if len(lines) > DEEPEST_CHAIN and len(_OPERATOR_LINE.findall(data)) > DEEPEST_CHAIN:
        return True
    return any(_has_deep_chain(line) for line in lines if len(line) > 2 * DEEPEST_CHAIN)


def _has_deep_chain(line: bytes) -> bool:
    stretches = _LITERAL.sub(b"0", line).split(b",")
    return any(len(re.findall(_OPERATOR, stretch)) > DEEPEST_CHAIN for stretch in stretches)


def _error_location(source: Source, error: SyntaxError) -> Location:
    """The place an error names, held within the file: for some errors Python names a line beyond the last, or column 0."""
    line = min(max(error.lineno or 1, 1), source.line_count)
    column = min(max(error.offset or 1, 1), len(source.line(line)) + 1)
    return Location(source.path, line, column, line, column + 1)
