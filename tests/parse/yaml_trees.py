"""What the tests of the YAML and template readers share: trees as plain data, and what a file has at a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import YamlSyntax, parse
from gpulint.source import Location, Source, Unknown


def source(text: str | bytes, path: str = "file.yaml") -> Source:
    return Source(path, text.encode() if isinstance(text, str) else text)


def read(text: str | bytes, path: str = "file.yaml") -> YamlSyntax:
    """A file without problems."""
    syntax = parse(source(text, path))
    assert syntax.problems == ()
    return syntax


def root(text: str | bytes, path: str = "file.yaml") -> Any:
    """The root of the only document of a file without problems."""
    (document,) = read(text, path).documents
    return document.root


def plain(node: Node | None) -> Any:
    """A tree as dicts, lists and strings; an Unknown as a tuple with its text. Of duplicate keys the one that counts."""
    if isinstance(node, Mapping):
        return {str(entry.key): plain(entry.value) for entry in node}
    if isinstance(node, Sequence):
        return [plain(item) for item in node]
    if isinstance(node, Unknown):
        return (node.raw,)
    return None if node is None else str(node)


def at(file: Source, location: Location) -> str:
    """What the file has at a place."""
    lines = [file.line(number) for number in range(location.line, location.end_line + 1)]
    lines[-1] = lines[-1][: location.end_column - 1]
    lines[0] = lines[0][location.column - 1 :]
    return "\n".join(lines)


def nodes(node: Node | None) -> Iterator[Node]:
    """A node, its keys and all that is in it."""
    if node is None:
        return
    yield node
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield entry.key
            yield from nodes(entry.value)
    elif isinstance(node, Sequence):
        for item in node:
            yield from nodes(item)


def check_places(file: Source, tree: Node | None) -> None:
    """That each scalar's place has its text, piece by piece where it has pieces, and that each value lies in what holds it."""
    for node in nodes(tree):
        if isinstance(node, Scalar):
            _check_scalar(file, node)
        elif isinstance(node, Mapping):
            for entry in node.entries:
                if not entry.merged:
                    assert _begin(node.location) <= _begin(entry.key.location) <= _end(entry.key.location) <= _end(node.location)


def _check_scalar(file: Source, scalar: Scalar) -> None:
    assert file.path == scalar.location.path
    if scalar.pieces is None:
        assert at(file, scalar.location) == scalar
        return
    ends = (*(piece.offset for piece in scalar.pieces[1:]), len(scalar))
    for piece, end in zip(scalar.pieces, ends, strict=False):
        run = scalar[piece.offset : end].rstrip("\n ")
        assert file.line(piece.line)[piece.column - 1 :].startswith(run)
    if scalar.pieces:
        assert (scalar.pieces[0].offset, scalar.pieces[0].line, scalar.pieces[0].column) == (0, *_begin(scalar.location))


def _begin(location: Location) -> tuple[int, int]:
    return location.line, location.column


def _end(location: Location) -> tuple[int, int]:
    return location.end_line, location.end_column
