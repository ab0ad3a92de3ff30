"""The Python files of a tree as `python -O` runs them: without assert statements."""

from __future__ import annotations

import ast

from gpulint.model.module import Module
from gpulint.model.python_reader import read_module
from gpulint.project.tree import Tree
from gpulint.source import Source


class WithoutAssertions:
    """The files of a tree, each read anew without its assert statements."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._read: dict[str, Module | None] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._tree

    def source(self, path: str) -> Source | None:
        """A file's text as it is."""
        return self._tree.source(path)

    def module(self, path: str) -> Module | None:
        """What a file does with a GPU where its assert statements do nothing; None where it cannot be parsed."""
        if path not in self._read:
            source = self.source(path)
            tree = self._tree.parse_python(source).tree if source is not None else None
            if tree is not None:
                _strip(tree)
            self._read[path] = read_module(source, tree) if source is not None and tree is not None else None
        return self._read[path]


def _strip(tree: ast.Module) -> None:
    """Put a statement that does nothing in the place of each assertion."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [ast.copy_location(ast.Pass(), each) if isinstance(each, ast.Assert) else each for each in value]
