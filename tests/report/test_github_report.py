"""Workflow commands as GitHub's own library writes them, and the step summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpulint.report import render
from gpulint.report.github import SUMMARY_LIMIT, step_summary
from gpulint.report.run import Run
from gpulint.rule import Finding, Problem, Severity
from gpulint.source import Location


def one_finding(place: Location, message: str) -> Run:
    finding = Finding("GPU999", "some-rule", Problem(place, message, Severity.WARNING))
    return Run((finding,), (), {}, lambda _path: None, Path("/project"), "1.2.3")


def test_commands(run: Run, snapshot: Callable[[str, str], None]) -> None:
    snapshot("github.txt", render("github", run))


def test_step_summary(run: Run, snapshot: Callable[[str, str], None]) -> None:
    snapshot("step_summary.md", step_summary(run))


def test_gravest_first(run: Run) -> None:
    kinds = [line.split()[0] for line in render("github", run).splitlines()]
    assert kinds == ["::error", "::warning", "::warning", "::warning", "::notice"]


def test_escapes_of_properties_and_message() -> None:
    command = render("github", one_finding(Location("a,b:c/Docker%file", 3, 1, 3, 2), "100%, see: this"))
    properties, message = command.removeprefix("::warning ").split("::")
    assert properties == "title=GPU999 some-rule,file=a%2Cb%3Ac/Docker%25file,line=3,endLine=3,col=1,endColumn=2"
    assert message == "a,b:c/Docker%25file:3:1: 100%25, see: this\n"


def test_a_message_cannot_start_a_command_of_its_own() -> None:
    command = render("github", one_finding(Location("a\n::error::b", 1, 1, 1, 2), "x\r\n::add-mask::y\x1b[31m"))
    assert command.count("\n") == 1
    assert command.rstrip("\n").isprintable()


def test_columns_only_within_one_line() -> None:
    assert ",line=3,endLine=4::" in render("github", one_finding(Location("a", 3, 5, 4, 2), "x"))


def test_paths_count_from_the_checkout(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(run.root.parent))
    folder = run.root.name
    assert f",file={folder}/Dockerfile," in render("github", run)
    assert f"note: {folder}/train/job.yaml:9:9: this selector" in render("github", run).replace("%0A", "\n")
    assert f"| {folder}/Dockerfile:2:1 |".replace("_", r"\_") in step_summary(run)


def test_root_outside_of_the_checkout(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(run.root / "train"))
    assert ",file=train/job.yaml," in render("github", run)


def test_summary_without_findings_is_one_sentence(empty_run: Run) -> None:
    assert step_summary(empty_run) == "## gpulint\n\nno findings: 1 Dockerfile, 2 manifests\n"


def test_cells_hold_no_markup() -> None:
    summary = step_summary(one_finding(Location("a", 1, 1, 1, 2), "x | <img src=//e> [y](z) `q` **b** @who &amp;\nnext"))
    row = summary.splitlines()[-1]
    assert re.findall(r"(?<!\\)[|<>\[\]`*@&]", row) == ["|"] * 5
    assert len(summary.splitlines()) == 7


def test_summary_stays_within_what_github_takes(run: Run) -> None:
    finding = one_finding(Location("a", 1, 1, 1, 2), "é" * 1000).findings[0]
    summary = step_summary(replace(run, findings=(finding,) * 2000))
    shown = summary.count("GPU999")
    assert len(summary.encode()) <= SUMMARY_LIMIT
    assert shown > 500
    assert summary.endswith(f"\n{2000 - shown} more findings are in the log.\n")
