"""The edge cases in tests/rules: a bad one prints exactly what stands below it, a good one nothing from a warning on.

`pytest --update-snapshots` writes what is printed into the files.
"""

from __future__ import annotations

from pathlib import Path

import gpulint_rules
import pytest
from rule_examples import EdgeCase, edge_cases, report

FOLDER = Path(__file__).parent / "rules"


def parameter(case: EdgeCase) -> object:
    marks = [pytest.mark.xfail(reason="not yet", strict=True)] if case.section == "Not yet" else []
    return pytest.param(case, id=f"{case.path.stem}: {case.title}", marks=marks)


@pytest.mark.parametrize("case", [parameter(case) for case in edge_cases(FOLDER)])
def test_edge_case(case: EdgeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    is_good = case.section == "Good"

    printed = report(case.files, tmp_path, monkeypatch, "--min-severity", "warning" if is_good else "note", *case.arguments)

    if case.section == "Bad" and request.config.getoption("update_snapshots"):
        case.rewrite(printed)
        return
    assert printed == case.output
    assert bool(printed) != is_good


def test_every_rule_has_edge_cases_under_its_name() -> None:
    names = {entry.name.replace("-", "_") for entry in gpulint_rules.CATALOGUE}

    assert {path.stem for path in FOLDER.glob("*.md")} == names
