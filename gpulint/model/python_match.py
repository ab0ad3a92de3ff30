"""A `match` statement as the chain of `if` and `elif` that it is short for, as far as its patterns compare with values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

MATCHED = "\0matched"
"""The variable that holds what is matched, where that is none itself; no code has one of this name."""


def as_if(subject: ast.expr, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
    """The statements that these cases stand for, each test at the place of its pattern; the body of a first case that always matches."""
    chain: list[ast.stmt] = []
    for case in reversed(cases):
        test = _test(subject, case.pattern)
        if case.guard is not None:
            test = case.guard if test is None else ast.copy_location(ast.BoolOp(ast.And(), [test, case.guard]), case.guard)
        chain = case.body if test is None else [ast.copy_location(ast.If(test, case.body, chain), case.pattern)]
    return chain


def _test(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    """What a pattern asks of the subject; None for one that matches anything. What a pattern takes apart is not known."""
    test: ast.expr
    if isinstance(pattern, ast.MatchAs):
        return None if pattern.pattern is None else _test(subject, pattern.pattern)
    if isinstance(pattern, ast.MatchValue):
        test = ast.Compare(subject, [ast.Eq()], [pattern.value])
    elif isinstance(pattern, ast.MatchSingleton):
        test = ast.Compare(subject, [ast.Is()], [ast.copy_location(ast.Constant(pattern.value), pattern)])
    elif isinstance(pattern, ast.MatchOr):
        tests = [_test(subject, each) for each in pattern.patterns]
        known = [each for each in tests if each is not None]
        if len(known) < len(tests):
            return None
        test = ast.BoolOp(ast.Or(), known)
    else:
        test = ast.Name("", ast.Load())
    return ast.copy_location(test, pattern)
