"""What an expression in Python code is as the word of a command: text and numbers that the module itself decides, and unknown parts."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from gpulint.model.python_names import path_of
from gpulint.parse.python import location
from gpulint.parse.shell import UnknownWord
from gpulint.source import Location, Source, Text, Value

HOLE = "${...}"
"""What stands in a text for a part that is not known."""

_DEEPEST = 20
_DEFAULT_OF = ("getenv", "get")
"""What asks for a variable of the environment, with a default as its second argument."""


class Literals:
    """The expressions of one module: a name that is bound once, and not changed in place, stands for what it is bound to."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self._source = source
        self._bound = dict(_bound_once(tree))
        self._changed = frozenset(_changed(tree))

    def location(self, node: ast.expr | ast.keyword) -> Location:
        return location(self._source, node)

    def resolved(self, node: ast.expr) -> ast.expr:
        """The expression that a name stands for, else the expression itself."""
        for _ in range(_DEEPEST):
            bound = self._bound.get(node.id) if isinstance(node, ast.Name) else None
            if bound is None or (isinstance(node, ast.Name) and node.id in self._changed and not isinstance(bound, ast.Constant)):
                break
            node = bound
        return node

    def made_by(self, name: str) -> str:
        """What is called to make the object under a name, as written; the name itself where no call is known to."""
        bound = self._bound.get(name)
        return path_of(bound.func) if isinstance(bound, ast.Call) else name

    def value(self, node: ast.expr) -> Value | None:
        """The text of an expression, a number as its digits; None for None."""
        node = self.resolved(node)
        place = self.location(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.value(node.operand)
            return Text(f"-{operand}", place, ()) if isinstance(operand, Text) else operand
        if isinstance(node, ast.JoinedStr):
            return self._joined(node)
        if not isinstance(node, ast.Constant):
            return unknown(HOLE, place)
        return None if node.value is None else Text(str(node.value), place, ())

    def value_or_default(self, node: ast.expr) -> Value | None:
        """The same, and for a variable of the environment its default: what runs where nobody sets it."""
        node = self.resolved(node)
        if isinstance(node, ast.Call) and len(node.args) == 2 and _last_name(node.func) in _DEFAULT_OF:
            return self.value(node.args[1])
        return self.value(node)

    def items(self, node: ast.expr) -> list[ast.expr] | None:
        """The items of a list or tuple; None where they are not known one by one."""
        node = self.resolved(node)
        if not isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(each, ast.Starred) for each in node.elts):
            return None
        return node.elts

    def _joined(self, node: ast.JoinedStr) -> Value:
        """An f-string, with what is put into it as far as that is known."""
        parts = [each.value if isinstance(each, ast.FormattedValue) and each.format_spec is None else each for each in node.values]
        values = [self.value(part) if isinstance(part, (ast.Constant, ast.Name)) else None for part in parts]
        texts = [str(value) if isinstance(value, Text) else HOLE for value in values]
        place = self.location(node)
        if all(isinstance(value, Text) for value in values):
            return Text("".join(texts), place, ())
        return unknown("".join(texts), place)


def unknown(raw: str, place: Location, many: bool = False) -> UnknownWord:
    """A word of which each HOLE in `raw` stands for the parts that are not known."""
    known = raw.partition(HOLE)[0]
    return UnknownWord(raw, place, Text(known, place, ()), Text("", place, ()), many=many)


def _bound_once(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that one assignment in the whole module binds and nothing else, with what it gives them."""
    bindings = Counter(_bindings(tree))
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else getattr(node, "target", None)
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(target, ast.Name) and value is not None and bindings[target.id] == 1:
            yield target.id, value


def _bindings(tree: ast.Module) -> Iterator[str]:
    """Every name that something binds, as often as it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)


def _changed(tree: ast.Module) -> Iterator[str]:
    """The names whose value may be changed in place: by a method, an item or an attribute."""
    for node in ast.walk(tree):
        changes = isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load))
        if changes and isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name):
            yield node.value.id


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
