"""The Python files of a tree as `python -O` runs them: without assert statements."""

from __future__ import annotations

import ast

from gpulint.model.module import Module
from gpulint.model.python_reader import read_module
from gpulint.parse.python import parse
from gpulint.project.programs import Modules
from gpulint.source import Source


class WithoutAssertions:
    """The files of other modules, each read anew without its assert statements."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._read: dict[str, Module | None] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._modules

    def source(self, path: str) -> Source | None:
        """A file's text as it is."""
        return self._modules.source(path)

    def module(self, path: str) -> Module | None:
        """What a file does with a GPU where its assert statements do nothing; None where it cannot be parsed."""
        if path not in self._read:
            source = self.source(path)
            tree = parse(source).tree if source is not None else None
            self._read[path] = read_module(source, _Stripped().visit(tree)) if source is not None and tree is not None else None
        return self._read[path]


class _Stripped(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        """A statement that does nothing, in the assertion's place."""
        return ast.copy_location(ast.Pass(), node)
