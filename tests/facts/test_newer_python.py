"""What the table of Python says of syntax that an older interpreter refuses."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from small_repository import gpulint, write

from gpulint.facts.python import may_be_newer

REFUSED = "invalid syntax"
NEWER = {
    (3, 11): ["except* ValueError:"],
    (3, 12): [
        "type Sizes = list[int]",
        "    type Pair[T] = tuple[T, T]",
        "def first[T](items: list[T]) -> T:",
        "async def fetch[**P](call):",
        "class Box[T]:",
    ],
    (3, 14): ["name = t'{user}'"],
}


@pytest.mark.parametrize(("since", "line"), [(since, line) for since, lines in NEWER.items() for line in lines])
def test_a_line_may_be_newer_until_the_version_that_brought_it(since: tuple[int, int], line: str) -> None:
    assert may_be_newer(REFUSED, line, (3, since[1] - 1))
    assert not may_be_newer(REFUSED, line, since)


def test_an_f_string_may_be_newer_where_it_is_refused_as_one() -> None:
    message, line = "f-string: expecting '}'", 'kind = f"{".abs" if absolute else ""}.nan"'
    assert may_be_newer(message, line, (3, 11))
    assert not may_be_newer(message, line, (3, 12))
    assert not may_be_newer(REFUSED, line, (3, 11))


@pytest.mark.parametrize(
    "line", ['print "text"', "except ValueError, error:", "type = 3 3", "x = [1, 2", "typed Sizes = 3", "class Box(T:", ""]
)
def test_what_no_python_reads_is_not_newer(line: str) -> None:
    assert not may_be_newer(REFUSED, line, (3, 10))


def test_a_file_that_no_python_reads_gets_one(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": 'import torch\n\ndevice = "cuda" if torch.cuda.is_available() else\n'})
    with pytest.raises(SyntaxError):
        ast.parse((tmp_path / "a.py").read_text())
    assert gpulint(tmp_path, "a.py").exit_code == 1
