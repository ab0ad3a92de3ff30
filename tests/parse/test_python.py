"""The Python reader: trees, problems with their places, and places in characters."""

from __future__ import annotations

import ast
import warnings

import pytest

from gpulint.parse.python import DEEPEST_CHAIN, location, parse
from gpulint.source import Location, Source


def source(text: str | bytes) -> Source:
    return Source("job.py", text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "x = 1\r\ny = 2\r\n",
        b"\xef\xbb\xbfx = 1\n",
        b"x = '\xe9'  # not UTF-8\n",
        "match command:\n    case 'fit':\n        pass\n",
        "async def run():\n    async with lock:\n        return [await step() for step in steps]\n",
        f"table = [{'1.5, -2, ' * 20_000}]\n",
        f"blob = '{'a+b/' * 20_000}'\n",
    ],
)
def test_reads_a_tree(text: str | bytes) -> None:
    syntax = parse(source(text))
    assert isinstance(syntax.tree, ast.Module)
    assert not syntax.problems


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = 1\nprint 'epoch'\n", 2, 1),
        ("def run(:\n    pass\n", 1, 9),
        ("a = 1\nb = 'open\n", 2, 5),
        ("x = 1\n\0y = 2\n", 2, 1),
        ("<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n", 1, 1),
        ("if ready:\n", 1, 10),
    ],
)
def test_says_where_it_could_not_read_on(text: str, line: int, column: int) -> None:
    syntax = parse(source(text))
    assert syntax.tree is None
    (problem,) = syntax.problems
    assert problem.message
    assert (problem.location.line, problem.location.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "total = 1" + " + 1" * (DEEPEST_CHAIN * 4),
        "total = (1\n" + "    + 1\n" * (DEEPEST_CHAIN * 4) + ")\n",
        "x = a" + ".b" * (DEEPEST_CHAIN * 4),
        "x = f" + "()" * (DEEPEST_CHAIN * 4),
        "x = a" + "[0]" * (DEEPEST_CHAIN * 4),
        "x = " + "-" * 100_000 + "1",
        "x = " + "not " * 100_000 + "1",
        "x = " + "(" * 10_000 + ")" * 10_000,
        "x = " + "lambda: " * 50_000 + "1",
        "if a:\n    pass\n" + "elif a:\n    pass\n" * 20_000,
        "".join(" " * depth + "if a:\n" for depth in range(200)),
    ],
    ids=["sum", "sum over lines", "attributes", "calls", "items", "signs", "nots", "brackets", "lambdas", "elifs", "blocks"],
)
def test_nesting_without_end_is_a_problem_and_no_crash(text: str) -> None:
    syntax = parse(source(text))
    assert syntax.tree is None
    assert len(syntax.problems) == 1


def test_one_long_line_of_a_megabyte_is_read() -> None:
    assert parse(source("names = [" + "'a', " * 200_000 + "]\n")).tree is not None


def test_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse(source("pattern = '\\d'\nassert (x, 'always true')\n")).tree is not None


def test_places_count_characters_not_bytes() -> None:
    read = source("größe = 'übergröße'; gerät = wähle('größe', 1)\n")
    tree = parse(read).tree
    assert tree is not None
    second = tree.body[1]
    assert isinstance(second, ast.Assign)
    place = location(read, second.value)
    assert place == Location("job.py", 1, 30, 1, 47)
    assert read.line(1)[place.column - 1 : place.end_column - 1] == "wähle('größe', 1)"


def test_a_place_runs_over_lines() -> None:
    read = source("run(\n    1,\n)\n")
    tree = parse(read).tree
    assert tree is not None
    assert location(read, tree.body[0]) == Location("job.py", 1, 1, 3, 2)


def test_more_code_than_anyone_writes_is_a_problem() -> None:
    (problem,) = parse(source("x\n" * 600_000)).problems
    assert problem.message == "more than 1 MiB of code"
