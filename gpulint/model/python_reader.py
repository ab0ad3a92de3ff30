"""Reads a Python file's tree into a Module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from gpulint.model.module import MAIN, TOP, Module, ModuleClass, Scope
from gpulint.model.python_names import Function, Names, Outline
from gpulint.model.python_notes import FileContext
from gpulint.model.python_statements import read_scope
from gpulint.parse.python import location
from gpulint.source import Location, Source

DEEPEST_CALL = 12
"""How many functions deep a value is followed through the returns of the same file."""


def read_module(source: Source, tree: ast.Module) -> Module:
    """What a file does with a GPU. `tree` is the file's own (gpulint.parse.python). Never raises."""
    scopes = _Scopes(source, tree)
    outline = scopes.file.outline
    return Module(
        path=source.path,
        location=Location(source.path, 1, 1, 1, 1),
        scopes=scopes,
        classes={name: _read_class(outline, name, node) for name, node in outline.classes.items()},
        decorators={name: _decorators(outline, each.node) for name, each in outline.functions.items() if each.node.decorator_list},
        variables=scopes.file.globals,
        aliases=outline.aliases,
        stars=tuple(outline.stars),
        starts=_starts(scopes),
    )


class _Scopes(Mapping[str, Scope]):
    """The scopes of a file by name. The top level and the main guard are read at once, a function when it is first asked for."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.file = FileContext(source, tree, self.scope)
        self._read: dict[str, Scope] = {}
        self._open: list[str] = []
        guards = [statement for statement in tree.body if isinstance(statement, ast.If) and _is_main_guard(statement)]
        body = [statement for statement in tree.body if statement not in guards]
        self._read[TOP] = read_scope(self.file, TOP, Location(source.path, 1, 1, 1, 1), body)
        inside = [statement for guard in guards for statement in guard.body]
        if guards:
            self._read[MAIN] = read_scope(self.file, MAIN, location(source, guards[-1].test), inside)
        self.last = (inside or body)[-1] if inside or body else None

    def scope(self, name: str) -> Scope | None:
        """The scope of that name; None where there is none, or where it is being read just now.

        A class's constructor is read before its other methods, since it makes the attributes that they use.
        """
        definition = self.file.outline.functions.get(name)
        if name in self._read or definition is None:
            return self._read.get(name)
        if name in self._open or len(self._open) >= DEEPEST_CALL:
            return None
        constructor = f"{definition.owner}.__init__"
        if definition.owner and name != constructor:
            self.scope(constructor)
        self._open.append(name)
        place = _name_location(self.file.source, definition.node)
        self._read[name] = read_scope(self.file, name, place, definition.node.body, definition)
        self._open.pop()
        return self._read[name]

    def __getitem__(self, name: str) -> Scope:
        scope = self.scope(name)
        if scope is None:
            raise KeyError(name)
        return scope

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in (TOP, MAIN) if name in self._read)
        yield from self.file.outline.functions

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _starts(scopes: _Scopes) -> tuple[str, ...]:
    """What the last statement calls, of the main guard or of the file where it has none, and what is called main there.

    Of a compound statement only what the file itself defines counts: the rest may be any detail of an inline program.
    """
    calls = scopes[MAIN if MAIN in scopes else TOP].calls
    last = scopes.last
    simple = isinstance(last, (ast.Expr, ast.Assign, ast.Raise))
    names = [call.name for call in calls if last is not None and call.location.line >= last.lineno and (simple or call.name[0] == ":")]
    return (*names, *(call.name for call in calls if re.split(r"[.:]", call.name)[-1] == "main"))


def _read_class(outline: Outline, name: str, node: ast.ClassDef) -> ModuleClass:
    names = Names(outline, lambda _: "")
    methods = frozenset(definition.node.name for definition in outline.functions.values() if definition.owner == name)
    return ModuleClass(name, tuple(names.qualified(base) for base in node.bases), _decorators(outline, node), methods)


def _decorators(outline: Outline, node: Function | ast.ClassDef) -> tuple[str, ...]:
    names = Names(outline, lambda _: "")
    return tuple(names.qualified(decorator) for decorator in node.decorator_list)


def _name_location(source: Source, node: Function) -> Location:
    """The function's name, which stands behind `def` or `async def` and blanks; `def` where it is written otherwise or on the next line."""
    whole = location(source, node)
    column = source.line(whole.line).find(node.name, whole.column + 3) + 1 or whole.column
    return Location(whole.path, whole.line, column, whole.line, column + len(node.name))


def _is_main_guard(statement: ast.If) -> bool:
    """Whether a statement is `if __name__ == "__main__":`, either way round."""
    test = statement.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    operands = (test.left, *test.comparators)
    return any(isinstance(operand, ast.Name) and operand.id == "__name__" for operand in operands)
