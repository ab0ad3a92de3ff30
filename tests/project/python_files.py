"""What the tests of programs share: a small tree of files in memory."""

from __future__ import annotations

from textwrap import dedent

from gpulint.model.module import Module
from gpulint.model.python_reader import read_module
from gpulint.parse.python import parse
from gpulint.source import Location, Source, Text


class PythonFiles:
    """Files by their paths; `parsed` lists the modules that were asked for, each once if all is well."""

    def __init__(self, files: dict[str, str]) -> None:
        self._sources = {path: Source(path, dedent(code).encode()) for path, code in files.items()}
        self._modules: dict[str, Module | None] = {}
        self.all_paths = frozenset(files)
        self.parsed: list[str] = []

    def __contains__(self, path: str) -> bool:
        return path in self._sources

    def source(self, path: str) -> Source | None:
        return self._sources.get(path)

    def module(self, path: str) -> Module | None:
        if path not in self._modules:
            source = self._sources.get(path)
            tree = parse(source).tree if source else None
            self.parsed.append(path)
            self._modules[path] = read_module(source, tree) if source and tree else None
        return self._modules[path]

    def text(self, place: Location) -> str:
        """What stands at a place, with its file."""
        line = self._sources[place.path].line(place.line)
        return f"{place.path}: {line[place.column - 1 : place.end_column - 1 if place.end_line == place.line else None]}"


def word(text: str) -> Text:
    """A word of a command line, from some place."""
    return Text(text, Location("compose.yaml", 1, 1, 1, len(text) + 1))
