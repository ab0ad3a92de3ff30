"""What a setup.py asks of the machine that it builds on: whether there is a GPU, and which."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Literal

from gpulint.deferred import NamedTuple
from gpulint.facts.environment import build_choices, sets_cuda_build
from gpulint.facts.python import behaviour, is_exit, presence
from gpulint.model.python_names import Names, Outline
from gpulint.parse.python import location
from gpulint.source import Location, Source

Outcome = Literal["without CUDA", "other architectures", "fails"]
"""What follows where no GPU is there: the CUDA code is left out, other architectures are taken, or the build ends."""


class SetupProbe(NamedTuple):
    """A question of a setup.py that a build without a GPU answers with no: its name, such as `torch.cuda.is_available`."""

    name: str
    location: Location
    outcome: Outcome


def setup_probes(source: Source, tree: ast.Module) -> Iterator[SetupProbe]:
    """The questions that decide what is built; none where the file takes an answer from the environment too."""
    reader = _Reader(source, tree)
    if len(source.text) <= _LONGEST and not reader.has_override():
        yield from sorted(reader.read(), key=lambda probe: probe.location)


_UNCERTAIN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Try)
"""What may never run, or go on where a call raises."""

_LONGEST = 64 * 1024
"""So many characters of a setup.py are read: nobody writes one as long by hand."""

_ENVIRONMENT = frozenset({"os.getenv", "os.environ.get", "os.environ"})


class _Reader:
    def __init__(self, source: Source, tree: ast.Module) -> None:
        self._source = source
        self._tree = tree
        self._names = Names(Outline(tree), lambda _: "")
        self._answers: dict[str, ast.Call] = {}

    def has_override(self) -> bool:
        """Whether the file reads a variable that says how CUDA is built."""
        return any(sets_cuda_build(name) for node in ast.walk(self._tree) for name in self._variables_read(node))

    def _variables_read(self, node: ast.AST) -> Iterator[str]:
        named: ast.AST | None = None
        if isinstance(node, ast.Call) and self._is_environment(node.func):
            named = next(iter(node.args), None)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self._is_environment(node.value):
            named = node.slice
        elif isinstance(node, ast.Compare) and self._is_environment(node.comparators[0]):
            named = node.left
        if isinstance(named, ast.Constant) and isinstance(named.value, str):
            yield named.value

    def _is_environment(self, node: ast.expr) -> bool:
        return self._names.qualified(node) in _ENVIRONMENT

    def read(self) -> Iterator[SetupProbe]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assign) and (question := self._question(node.value)) is not None:
                self._answers.update({each.id: question for each in node.targets if isinstance(each, ast.Name)})
        guarded: set[int] = set()
        for node in ast.walk(self._tree):
            question = self._question(node.test) if isinstance(node, (ast.If, ast.IfExp, ast.Assert)) else None
            outcome = self._outcome(node) if question is not None else None
            if question is not None and outcome is not None:
                yield self._probe(question, outcome)
            if id(node) not in guarded and (question is not None or isinstance(node, _UNCERTAIN)):
                guarded.update(map(id, ast.walk(node)))
            elif isinstance(node, ast.Call) and id(node) not in guarded and self._raises(node):
                yield self._probe(node, "fails")

    def _question(self, node: ast.expr) -> ast.Call | None:
        """The call in an expression that asks for a GPU, also where a variable holds its answer."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                found = presence(self._names.qualified(each.func), {})
                if found is not None and found.tells and not found.without:
                    return each
            elif isinstance(each, ast.Name) and each.id in self._answers:
                return self._answers[each.id]
        return None

    def _raises(self, call: ast.Call) -> bool:
        found = behaviour(self._names.qualified(call.func), {})
        return found is not None and found.effect == "raise" and found.framework == "torch"

    def _outcome(self, node: ast.AST) -> Outcome | None:
        """What is built without a GPU; None where the answer decides nothing of that, such as what is printed."""
        if isinstance(node, ast.Assert):
            return "fails"
        assert isinstance(node, (ast.If, ast.IfExp))
        with_gpu, without = _branches(node)
        if any(self._ends(each) for each in without):
            return "fails"
        yes, no = (build_choices("\n".join(map(self._written, branch))) for branch in (with_gpu, without))
        if "cuda" in yes - no:
            return "without CUDA"
        return "other architectures" if "architectures" in yes else None

    def _ends(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return is_exit(self._names.qualified(node.value.func))
        return isinstance(node, ast.Raise)

    def _written(self, node: ast.expr | ast.stmt) -> str:
        return self._source.written(location(self._source, node))

    def _probe(self, call: ast.Call, outcome: Outcome) -> SetupProbe:
        return SetupProbe(self._names.qualified(call.func), location(self._source, call), outcome)


def _branches(node: ast.If | ast.IfExp) -> tuple[Sequence[ast.expr | ast.stmt], Sequence[ast.expr | ast.stmt]]:
    """What runs with a GPU, and what without; a `not` turns them round."""
    yes: Sequence[ast.expr | ast.stmt] = node.body if isinstance(node, ast.If) else [node.body]
    no: Sequence[ast.expr | ast.stmt] = node.orelse if isinstance(node, ast.If) else [node.orelse]
    return (no, yes) if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) else (yes, no)
