"""Which device a piece of Python code chooses, by what it holds: `"cuda"`, `.cuda()`, `use_gpu = False`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gpulint.deferred import NamedTuple
from gpulint.facts.python import is_device_name, is_gpu_module, is_gpu_name, is_report, literal
from gpulint.model.python_names import Names, path_of

_SKIPPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Compare)
_QUESTIONS = ("torch.cuda.", "os.environ.get", "os.getenv")


class Chosen(NamedTuple):
    """The first expression that chooses a GPU, and the first that chooses the CPU."""

    gpu: ast.expr | None
    cpu: ast.expr | None


def chosen(nodes: Iterable[ast.AST], names: Names, label: str = "") -> Chosen:
    """Which devices these statements or expressions choose. `label` is the name of the variable or argument that takes an expression.

    What only prints, compares or asks, and what stands in an inner function, chooses nothing.
    """
    found: dict[str, ast.expr] = {}
    pending: list[tuple[ast.AST, str]] = [(node, label) for node in reversed(list(nodes))]
    while pending and names.may_look():
        node, label = pending.pop()
        means = _choice(node, label, names)
        if means and isinstance(node, ast.expr):
            found.setdefault(means, node)
        elif not isinstance(node, _SKIPPED):
            pending.extend(reversed(_parts(node, label, names)))
    return Chosen(found.get("gpu"), found.get("cpu"))


def target_name(statement: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) -> str:
    """The variable that an assignment gives a value, with its attributes or the key in quotes; "" for several or another form."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        return target.slice.value
    return path_of(target)


def _choice(node: ast.AST, label: str, names: Names) -> str:
    if isinstance(node, ast.Constant):
        return _constant_choice(node.value, label)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "cpu" if is_device_name(label) or is_gpu_name(label) else ""
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        return literal(str(node.values[0].value).rstrip(":"))
    moves = isinstance(node, ast.Call) and names.qualified(node.func).endswith(".cuda")
    return "gpu" if moves or (isinstance(node, ast.Name) and is_gpu_module(names.qualified(node))) else ""


def _constant_choice(value: object, label: str) -> str:
    if isinstance(value, str):
        return "cpu" if label == "CUDA_VISIBLE_DEVICES" and value in ("", "-1") else literal(value)
    if is_gpu_name(label):
        return "gpu" if value else "cpu"
    return "gpu" if is_device_name(label) and type(value) is int else ""


def _parts(node: ast.AST, label: str, names: Names) -> list[tuple[ast.AST, str]]:
    """What to look at inside a node, in reading order, each with the name of what takes it."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        return [(node.value, target_name(node))] if node.value else []
    if isinstance(node, ast.keyword):
        return [(node.value, node.arg or "")]
    if isinstance(node, ast.Call):
        name = names.qualified(node.func)
        if is_report(name) or name.startswith(_QUESTIONS):
            return []
        return [(node.func, ""), *((part, "") for part in (*node.args, *node.keywords))]
    if isinstance(node, ast.Dict):
        return [(value, label) for value in node.values]
    if isinstance(node, ast.Subscript):
        return [(node.value, "")]
    keep = label if isinstance(node, (ast.IfExp, ast.BoolOp, ast.List, ast.Tuple)) else ""
    return [(child, keep) for child in ast.iter_child_nodes(node)]
