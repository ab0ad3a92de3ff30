"""The GitHub Action: the linters of actions judge its file, and its steps run here as GitHub's runner would run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpulint import __version__

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DOCUMENTATION = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def tool(name: str, *arguments: str | Path) -> None:
    """Run a program that is installed beside this Python; it must have nothing to say against the files."""
    program = Path(sys.executable).parent / name
    judged = subprocess.run([program, *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_jactionlint() -> None:
    tool("jactionlint", "action.yml", *WORKFLOWS)


def test_zizmor() -> None:
    tool("zizmor", "--offline", "--quiet", "--persona", "pedantic", "action.yml", *WORKFLOWS)


@pytest.mark.parametrize(("schema", "files"), [("vendor.github-actions", ["action.yml"]), ("vendor.github-workflows", WORKFLOWS)])
def test_schema(schema: str, files: list[str | Path]) -> None:
    tool("check-jsonschema", "--builtin-schema", schema, *files)


def test_documented_workflows(tmp_path: Path) -> None:
    workflows = [text for text in re.findall(r"```yaml\n(.*?)```", DOCUMENTATION, re.DOTALL) if "jobs:" in text]
    assert len(workflows) == 2
    for number, text in enumerate(workflows):
        file = tmp_path / f"{number}.yml"
        file.write_text(text, encoding="utf-8")
        tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", file)
        steps = yaml.safe_load(text)["jobs"]["gpulint"]["steps"]
        (own,) = (step for step in steps if step["uses"].startswith("gpulint/gpulint@"))
        assert own.get("with", {}).keys() <= ACTION["inputs"].keys()


def test_documented_inputs_and_versions() -> None:
    assert re.findall(r"^\| `([\w-]+)` \|", DOCUMENTATION, re.MULTILINE) == list(ACTION["inputs"])
    assert set(re.findall(r"gpulint@v([\w.]+)|rev: v([\w.]+)", DOCUMENTATION)) == {(__version__, ""), ("", __version__)}


@dataclass
class Runner:
    """GitHub's runner, as far as this action needs it: run steps in bash, expressions that name an input or an output of a step."""

    workspace: Path
    temp: Path
    context: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def __post_init__(self) -> None:
        self.summary = self.temp / "summary.md"
        self.summary.touch()
        self.context.update({f"inputs.{name}": str(of.get("default", "")) for name, of in ACTION["inputs"].items()})

    def expand(self, text: str) -> str:
        """The text with its expressions evaluated. Raises KeyError for one that names nothing."""
        return EXPRESSION.sub(lambda match: self.context[match[1]], text)

    def run(self, step: Mapping[str, Any]) -> int:
        """Run one step, take its outputs over, and give its exit code."""
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        script, outputs = self.temp / "step.sh", self.temp / "outputs"
        script.write_text(step["run"], encoding="utf-8")
        outputs.write_text("", encoding="utf-8")
        outcome = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace / self.expand(step.get("working-directory", ".")),
            env=self.environment(outputs) | {name: self.expand(value) for name, value in step.get("env", {}).items()},
            check=False,
            capture_output=True,
            text=True,
        )
        self.log += outcome.stdout + outcome.stderr
        for line in outputs.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            self.context[f"steps.{step['id']}.outputs.{name}"] = value
        return outcome.returncode

    def environment(self, outputs: Path) -> dict[str, str]:
        return os.environ | {
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
        }

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the action."""
        return {name: self.expand(of["value"]) for name, of in ACTION["outputs"].items()}

    def annotations(self) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(("::error ", "::warning ", "::notice "))]


INSTALL, CHECK = ACTION["runs"]["steps"]
FAULT = "FROM nvidia/cuda\n"
IGNORED = "# gpulint: ignore[GPU101] the newest is wanted here\nFROM nvidia/cuda\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the first step hands over; the workspace holds files that must not be run in place of the modules they are named for."""
    workspace = tmp_path_factory.mktemp("hostile")
    for name in ("venv", "ensurepip", "pip", "hatchling", "click", "gpulint"):
        (workspace / f"{name}.py").write_text(f"raise SystemExit('{name}.py of the repository was run')\n", encoding="utf-8")
    runner = Runner(workspace, tmp_path_factory.mktemp("temp"))
    assert runner.run(INSTALL) == 0, runner.log
    yield {name: value for name, value in runner.context.items() if name.startswith("steps.")}


def check(installed: dict[str, str], tmp_path: Path, files: Mapping[str, str], **inputs: str) -> tuple[int, Runner]:
    """The second step over a repository of these files: its exit code, and the runner with what it left behind."""
    workspace, temp = tmp_path / "work space", tmp_path / "temp"
    temp.mkdir()
    for path, text in files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text, encoding="utf-8")
    runner = Runner(workspace, temp)
    runner.context |= installed | {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
    return runner.run(CHECK), runner


@pytest.mark.install
def test_findings_become_annotations_summary_and_sarif(installed: dict[str, str], tmp_path: Path) -> None:
    files = {"images/gpu/Dockerfile": FAULT, "images/other/Dockerfile": IGNORED, "click.py": "raise SystemExit('hostile')\n"}
    code, runner = check(installed, tmp_path, files, sarif_file="gpulint.sarif")
    (annotation,) = runner.annotations()
    assert annotation.startswith("::error title=GPU101 unpinned-gpu-image,file=images/gpu/Dockerfile,line=1,endLine=1,col=6,")
    assert "| error | images/gpu/Dockerfile:1:6 | GPU101 unpinned-gpu-image |" in runner.summary.read_text(encoding="utf-8")
    sarif = runner.workspace / "gpulint.sarif"
    assert (code, runner.outputs) == (1, {"findings": "1", "sarif-file": str(sarif), "exit-code": "1"})
    (result,) = json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "GPU101"


@pytest.mark.install
def test_paths_in_annotations_count_from_the_checkout(installed: dict[str, str], tmp_path: Path) -> None:
    files = {"ml/Dockerfile": FAULT, "ml/gpulint.toml": ""}
    _, runner = check(installed, tmp_path, files, working_directory="ml")
    assert [re.search(r"file=([^,]*)", line)[1] for line in runner.annotations()] == ["ml/Dockerfile"]  # type: ignore[index]


@pytest.mark.install
def test_inputs_become_options(installed: dict[str, str], tmp_path: Path) -> None:
    files = {"a b/Dockerfile": FAULT, "c/Dockerfile": FAULT, "d/Dockerfile": FAULT, "my settings.toml": 'fail-on = "never"\n'}
    code, runner = check(installed, tmp_path, files, paths="a b\nc\n", config="my settings.toml", args="--extend-ignore GPU4 -q")
    assert (code, runner.outputs["findings"]) == (0, "2")
    assert "d/Dockerfile" not in runner.log


@pytest.mark.install
def test_fail_on_and_min_severity(installed: dict[str, str], tmp_path: Path) -> None:
    code, runner = check(installed, tmp_path, {"Dockerfile": FAULT}, fail_on="never", min_severity="error")
    assert (code, runner.outputs["findings"], runner.outputs["exit-code"]) == (0, "1", "0")


@pytest.mark.install
def test_nothing_found(installed: dict[str, str], tmp_path: Path) -> None:
    code, runner = check(installed, tmp_path, {"Dockerfile": "FROM scratch\n"})
    assert (code, runner.outputs) == (0, {"findings": "0", "sarif-file": "", "exit-code": "0"})
    assert runner.annotations() == []
    assert "no findings" in runner.summary.read_text(encoding="utf-8")


@pytest.mark.install
def test_wrong_use_fails_with_its_own_code(installed: dict[str, str], tmp_path: Path) -> None:
    code, runner = check(installed, tmp_path, {"Dockerfile": FAULT}, args="--no-such-option", sarif_file="x.sarif")
    assert (code, runner.outputs["findings"], runner.outputs["exit-code"]) == (2, "0", "2")
    assert "--no-such-option" in runner.log


@pytest.mark.install
def test_inputs_are_no_code(installed: dict[str, str], tmp_path: Path) -> None:
    evil = "$(touch evil) `touch evil` ; touch evil"
    code, runner = check(installed, tmp_path, {"Dockerfile": FAULT}, paths=evil, args=evil, config=evil)
    assert code == 2
    assert not (runner.workspace / "evil").exists()
