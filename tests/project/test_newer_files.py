"""Files whose syntax is newer than the interpreter: how many of a run are read, and what is said of the others."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from small_repository import gpulint, write

from gpulint.parse.python import PythonSyntax
from gpulint.project import newer_python
from gpulint.source import Source

NEWER = """
import torch

type Sizes = list[int]

def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).sum().backward()

main()
"""
IS_OLD = sys.version_info < (3, 12)


def test_a_file_in_newer_syntax_is_judged(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": NEWER})
    (line,) = gpulint(tmp_path, "--format", "concise", "a.py").stdout.splitlines()
    assert line.startswith("a.py:5:5: warning: GPU601 ")


def test_beyond_the_bound_they_get_a_note_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_python, "MOST_FILES", 1)
    write(tmp_path, {"a.py": NEWER, "b.py": NEWER})
    output = gpulint(tmp_path, "--min-severity", "note", "--format", "concise").stdout
    assert [line.split(":")[0] for line in output.splitlines() if "GPU601" in line] == (["a.py"] if IS_OLD else ["a.py", "b.py"])
    assert [line.split(":")[0] for line in output.splitlines() if "newer Python" in line] == (["b.py"] if IS_OLD else [])


def test_no_second_reader_is_asked_for_what_no_python_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def parse_newer(source: Source) -> PythonSyntax:
        asked.append(source.path)
        return PythonSyntax(ast.parse(""))

    monkeypatch.setattr("gpulint.parse.newer_python.parse_newer", parse_newer)
    reader = newer_python.PythonReader()
    for path, code in {"old.py": 'print "epoch"\n', "open.py": "x = (1\n", "new.py": "type X = int\n"}.items():
        reader.read(Source(path, code.encode()))
    assert asked == (["new.py"] if IS_OLD else [])
