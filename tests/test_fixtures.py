"""Whole small repositories, each with the exact output that gpulint prints for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpulint.cli import cli

FIXTURES = Path(__file__).parent / "fixtures"
PROJECTS = sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir())


@pytest.mark.parametrize("name", PROJECTS)
def test_output(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The findings of a fixture, one a line with its notes, and the last line, are those of its expected.txt."""
    expected = FIXTURES / name / "expected.txt"
    shutil.copytree(FIXTURES / name, tmp_path / name, ignore=shutil.ignore_patterns("expected.txt"))
    monkeypatch.chdir(tmp_path / name)
    run = CliRunner().invoke(cli, [".", "--format", "concise", "--min-severity", "note"], catch_exceptions=False)
    printed = f"{run.stdout}{run.stderr}exit {run.exit_code}\n"
    if request.config.getoption("update_snapshots"):
        expected.write_text(printed)
    assert printed == expected.read_text()
