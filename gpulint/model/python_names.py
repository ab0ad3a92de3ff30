"""Names in Python code: what a module imports and defines, and which qualified name an expression has.

A qualified name is written so:

- `torch.cuda.is_available` for what is imported, whatever it is called here; `..common.device.pick` for a relative import;
- `:Trainer.fit` for what the module itself defines;
- `*model.cuda` for a method of an object whose class is not known, `*.cuda` where the object has no name either;
- `print` for a builtin, a parameter, or what `from x import *` brought in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gpulint.deferred import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef

LONGEST_CHAIN = 40
MOST_LOOKS = 300_000
"""How many nodes of one file are looked at for the device they choose: those of an `elif` once for each arm above it."""


class Definition(NamedTuple):
    """A function, with the name that it has in its module (`main`, `Trainer.fit`, `main.inner`) and its class's name, "" for none."""

    name: str
    owner: str
    node: Function


class Outline:
    """What a module imports and defines, at any depth; of two things with one name the last one counts.

    `aliases` maps each name that an import binds to its qualified name; `stars` are the modules whose every name is imported.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.aliases: dict[str, str] = {}
        self.stars: list[str] = []
        self.functions: dict[str, Definition] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.looks_left = MOST_LOOKS
        self._read(tree)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for bound, name in imported_names(statement):
            if bound == "*":
                self.stars.append(name)
            else:
                self.aliases[bound] = name

    def defines(self, name: str) -> bool:
        """Whether the module has a function or class of this name."""
        return name in self.functions or name in self.classes

    def _read(self, tree: ast.Module) -> None:
        pending: list[tuple[ast.stmt, str, str]] = [(statement, "", "") for statement in reversed(tree.body)]
        while pending:
            statement, prefix, owner = pending.pop()
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._import(statement)
            elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = prefix + statement.name
                self.functions[name] = Definition(name, owner, statement)
                prefix, owner = f"{name}.", ""
            elif isinstance(statement, ast.ClassDef):
                name = prefix + statement.name
                self.classes[name] = statement
                prefix, owner = f"{name}.", name
            if isinstance(statement, _COMPOUND):
                pending.extend((child, prefix, owner) for child in reversed(list(_nested(statement))))


_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
_COMPOUND = tuple(kind for kind in ast.stmt.__subclasses__() if not set(_BODIES).isdisjoint(kind._fields))


def _nested(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements that stand directly in a compound one, in its bodies, handlers and cases."""
    for field in _BODIES:
        for child in getattr(statement, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from child.body


def imported_names(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """What an import statement binds, each name with its qualified name: `*` with that of the module."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield bound, alias.name if alias.asname else bound
        return
    module = "." * statement.level + (statement.module or "")
    joint = "" if module.endswith(".") else "."
    for alias in statement.names:
        whole = f"{module}{joint}{alias.name}"
        yield (alias.asname or alias.name, whole) if alias.name != "*" else ("*", module)


def parameter_defaults(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return pairs + [(argument, default) for argument, default in named if default is not None]


class Names:
    """The qualified names of the expressions of one scope.

    `made_by` gives the qualified name of the call that made a variable's value ("" if unknown), so that `trainer.fit` is found as
    `lightning.Trainer.fit`. `owner` is the class whose method the scope is.
    """

    def __init__(self, outline: Outline, made_by: Callable[[str], str], owner: str = "", prefix: str = "") -> None:
        self._outline = outline
        self._made_by = made_by
        self._owner = owner
        self._prefix = prefix

    def may_look(self) -> bool:
        """Count one more look at a node of the file, and tell whether it is not one too many."""
        self._outline.looks_left -= 1
        return self._outline.looks_left >= 0

    def qualified(self, node: ast.expr) -> str:
        """The qualified name of a name, an attribute or what a call gives; "" for any other expression."""
        if isinstance(node, ast.Name):
            return self._of_name(node.id, [])
        parts: list[str] = []
        for _ in range(LONGEST_CHAIN):
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name) and node.func.id == "super":
                    return _join(self._base(), parts)
                node = node.func
            elif isinstance(node, ast.Await):
                node = node.value
            else:
                break
        if isinstance(node, ast.Name):
            return self._of_name(node.id, parts)
        return f"*.{parts[0]}" if parts else ""

    def _of_name(self, name: str, parts: list[str]) -> str:
        if name in self._outline.aliases:
            return _join(self._outline.aliases[name], parts)
        for length in range(len(parts), -1, -1):
            path = ".".join([name, *reversed(parts[len(parts) - length :])])
            maker = self._made_by(path) if length < len(parts) else ""
            if maker:
                return _join(maker, parts[: len(parts) - length])
        root = self._root(name)
        if root or not parts:
            return _join(root or name, parts)
        return f"*{parts[1] if len(parts) > 1 else name}.{parts[0]}"

    def _root(self, name: str) -> str:
        if name in ("self", "cls") and self._owner:
            return f":{self._owner}"
        if self._prefix and self._outline.defines(self._prefix + name):
            return f":{self._prefix}{name}"
        return f":{name}" if self._outline.defines(name) else ""

    def _base(self) -> str:
        """The class that `super()` stands for: the first base."""
        node = self._outline.classes.get(self._owner)
        return self.qualified(node.bases[0]) if node and node.bases else "*"


def path_of(node: ast.expr) -> str:
    """A name with its attributes as written (`args.device`), "" for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < LONGEST_CHAIN:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _join(name: str, parts: list[str]) -> str:
    return ".".join([name, *reversed(parts)]) if parts else name
