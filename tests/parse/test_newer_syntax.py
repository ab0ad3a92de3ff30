"""Python syntax that is newer than the interpreter: read all the same, with every place as in the file; what no Python reads is not."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from gpulint.parse import newer_python, older_syntax
from gpulint.parse.newer_python import parse_newer
from gpulint.source import Source

MARK = 'check("größe", 1)'

NEWER = {
    "type statement": "type Sizes = list[int]\n",
    "type statement over lines": "type Pair[T] = (\n    tuple[T, T]  # ü\n)\n",
    "type parameters of a function": "def first[T: (int, str) = int](items: list[T]) -> T: ...\n",
    "type parameters over lines": "def first[\n    T,\n    *Ts,\n](items: list[T]) -> T: ...\n",
    "type parameters of a class": "class Box[**P](Base): ...\n",
    "f-string, its own quotes": 'x = f"{d["ü"]}"; ',
    "f-string, a backslash": "x = f\"{'\\n'.join(d)}\"; ",
    "f-string, nested": "x = f'{f'{f'{1}'}'}'; ",
    "f-string over lines": 'x = f"{\n    d["a"]  # first\n}"; ',
    "f-string among strings": 'x = "a" f"{d["b"]}" "c"; ',
    "template string": "x = t\"{d['a']}\"; ",
    "exception groups": "try: pass\nexcept* (A, B): pass\n",
    "a star in brackets": "x = d[*a]; ",
    "a star in an annotation": "def run(*args: *Ts): pass\n",
}


def source(code: str) -> Source:
    return Source("job.py", code.encode())


@pytest.mark.parametrize("code", NEWER.values(), ids=NEWER)
def test_every_place_stays(code: str) -> None:
    syntax = parse_newer(source(code + MARK + "\n"))
    assert syntax is not None
    assert syntax.tree is not None
    call = syntax.tree.body[-1]
    assert isinstance(call, ast.Expr)
    line = (code + MARK).split("\n")[call.lineno - 1].encode()
    assert line[call.col_offset : call.end_col_offset].decode() == MARK


@pytest.mark.parametrize("code", NEWER.values(), ids=NEWER)
def test_only_what_is_new_gives_way(code: str) -> None:
    older = older_syntax.older(code.encode()).decode()
    ast.parse(older)
    assert len(older.encode()) == len(code.encode())
    assert [len(line) for line in older.encode().splitlines()] == [len(line) for line in code.encode().splitlines()]


def test_an_f_string_keeps_what_stands_outside_its_braces() -> None:
    code = b'x = f"cuda:{rank}"\ny = f"cuda:{d["rank"]}"\n'
    is_new = sys.version_info < (3, 12)
    assert older_syntax.older(code) == (b'x = f"cuda:{rank}"\ny = f"cuda:{_        }"\n' if is_new else code)


@pytest.mark.parametrize(
    "code",
    ['print "epoch"\n', "def run(:\n    pass\n", "x = " + "(" * 5000 + ")" * 5000 + "\n", "type X[T] = " + "-" * 60_000 + "1\n"],
    ids=["Python 2", "broken", "brackets", "signs"],
)
def test_what_no_python_reads_is_not_read(code: str) -> None:
    assert parse_newer(source(code)) is None


def test_more_than_takes_a_moment_is_not_read() -> None:
    assert parse_newer(source("type X = int\n" + "x = 1\n" * newer_python.LARGEST)) is None


@pytest.mark.parametrize("error", [subprocess.TimeoutExpired("python", 1), OSError("no such program")], ids=["too long", "no program"])
def test_a_reader_that_fails_costs_only_that_file(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", fail)
    assert parse_newer(source("type X = int\n")) is None


def test_without_libcst_it_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert parse_newer(source("type X = int\n")) is None


def test_the_program_writes_older_code_as_it_is() -> None:
    run = subprocess.run([sys.executable, "-I", older_syntax.__file__, "."], input=b"x = 1\n", capture_output=True, check=True)
    assert run.stdout == b"x = 1\n"
