"""The edge cases in tests/rules: a bad one prints exactly what stands below it, a good one nothing from a warning on.

`pytest --update-snapshots` writes what is printed into the files.
"""

from __future__ import annotations

from pathlib import Path

import gpulint_rules
import pytest
from rule_examples import EdgeCase, edge_cases, report

FOLDER = Path(__file__).parent / "rules"
CASES = [pytest.param(case, id=f"{case.path.stem}: {case.title}") for case in edge_cases(FOLDER)]


@pytest.mark.parametrize("case", CASES)
def test_edge_case(case: EdgeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    least = "note" if case.is_bad else "warning"

    printed = report(case.files, tmp_path, monkeypatch, "--min-severity", least, *case.arguments)

    if case.is_bad and request.config.getoption("update_snapshots"):
        case.rewrite(printed)
        return
    assert printed == case.output
    assert bool(printed) == case.is_bad


def test_every_rule_has_edge_cases_under_its_name() -> None:
    names = {entry.name.replace("-", "_") for entry in gpulint_rules.CATALOGUE}

    assert {path.stem for path in FOLDER.glob("*.md")} == names
