"""Which files are parsed is decided by anchors, bytes that every rule needs to speak of a file: that must change no finding."""

from __future__ import annotations

from pathlib import Path

import gpulint_rules
import pytest
from rule_examples import edge_cases, report

import gpulint.project
from gpulint.pages import read_page
from gpulint.project.relevance import Relevance
from gpulint.project.tree import Tree


def trees() -> list[object]:
    """The files of every example and edge case."""
    pages = [(entry.id, page) for entry in gpulint_rules.CATALOGUE if (page := read_page(entry.page))]
    shown = [(f"{rule} {each.title}", each.files) for rule, page in pages for kind in ("Bad", "Good") for each in page.examples(kind)]
    cases = [(f"{case.path.stem}: {case.title}", case.files) for case in edge_cases(Path(__file__).parent / "rules")]
    return [pytest.param(files, id=name) for name, files in (*shown, *cases)]


def read_everything(tree: Tree, _everything: bool) -> Relevance:
    return Relevance(tree, everything=True)


@pytest.mark.parametrize("files", trees())
def test_reading_every_file_finds_nothing_more(files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where notes are wanted every rule is asked; else a rule of stages or modules only where what it reads holds one of its own anchors.
    A Python file that no rule has to read is then not parsed, so that its syntax is left alone."""
    options = (("--min-severity", "note"), ("--extend-ignore", "GPU001"))
    found = [report(files, tmp_path, monkeypatch, *each) for each in options]

    monkeypatch.setattr(gpulint.project, "Relevance", read_everything)

    assert [report(files, tmp_path, monkeypatch, *each) for each in options] == found
