"""The command line: verbs and options, what is printed where, and the exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small_repository import concise, gpulint, spoken, write

from gpulint import registry
from gpulint.rule import Entry, Problem, Rule

WARNED = "services:\n  a:\n    image: acme/render:latest-gpu\n    gpus: all\n"
"""GPU101, a warning, at 3:12."""

WRONG = "services:\n  a:\n    image: nvidia/cuda:12.4.0-cudnn-devel-ubuntu22.04\n    gpus: all\n"
"""GPU102, an error, at 3:24."""

PROGRAM = """
    import torch

    def main():
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = torch.nn.Linear(8, 8).to(device)
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(10):
            model(torch.rand(8).to(device)).sum().backward()
            optimizer.step()

    main()
    """
"""GPU601: a note, a warning where the file is named or a GPU container runs it."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A work tree with a warning in a/ and an error in b/."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, {"a/compose.yaml": WARNED, "b/compose.yaml": WRONG})
    return tmp_path


# --- Verbs and paths ------------------------------------------------------------------------------------------------------------


def test_without_a_verb_it_checks(repository: Path) -> None:
    plain, check = gpulint(repository), gpulint(repository, "check")
    assert (plain.stdout, plain.stderr, plain.exit_code) == (check.stdout, check.stderr, check.exit_code)
    assert plain.exit_code == 1
    assert plain.stdout.startswith("a/compose.yaml:3:12: warning GPU101 [unpinned-gpu-image]\n")
    assert gpulint(repository, "-q", "a").stdout == gpulint(repository, "check", "-q", "a").stdout != ""


def test_a_verb_that_is_also_a_path_says_how_to_check_that(repository: Path) -> None:
    write(repository, {"graph/compose.yaml": WARNED, "rule": "no folder\n"})
    shown = gpulint(repository, "graph")
    assert "a  (compose, a/compose.yaml:2:3)" in shown.stdout
    assert shown.stderr == "gpulint: running the verb graph; to check what lies there, write gpulint ./graph\n"
    assert spoken(repository, "./graph") == ["graph/compose.yaml:3:12 warning GPU101"]
    assert gpulint(repository, "rule").stderr == "gpulint: running the verb rule; to check what lies there, write gpulint ./rule\n"
    assert gpulint(repository, "rule").stdout.startswith("GPU001  syntax-error ")


def test_version_and_help() -> None:
    version = gpulint(Path.cwd(), "--version")
    assert version.exit_code == 0
    assert version.stdout.startswith("gpulint ")
    assert "(facts of 20" in version.stdout
    assert gpulint(Path.cwd(), "-h").stdout == gpulint(Path.cwd(), "--help").stdout
    assert "--min-severity" in gpulint(Path.cwd(), "check", "-h").stdout


STATED = ("driver=580", "gpus=T4", "gpu_runtime_class=nvidia", "gpus_total=8", "gpus_per_node=4", "gpu_taint=nvidia.com/gpu:NoSchedule")
"""Facts of the machines, all that a rule waits for among them."""


def waiting(stated: int = 0) -> str:
    """What the last line says of the rules that wait for facts of the machines, where some that wait for one fact are given it."""
    count = sum(bool(entry.machines) for entry in registry.catalogue()) - stated
    return f"{count} rule{'s wait' if count > 1 else ' waits'} for [machines]"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--selct", "GPU2"), "No such option '--selct'. (Did you mean one of:"),
        (("graph", "--formt"), "No such option '--formt'"),
        (("--select", "GPU999"), "gpulint: --select: no rule 'GPU999'"),
        (("--select", "gpu-not-requestd"), "gpulint: --select: no rule 'gpu-not-requestd' (did you mean 'gpu-not-requested'?)"),
        (("--ignore", "GPU1,gpu201"), "gpulint: --ignore: no rule 'gpu201' (did you mean 'GPU201'?)"),
        (("--extend-select", "GPU29"), "gpulint: --extend-select: no rule 'GPU29' (did you mean 'GPU209'?)"),
        (("--extend-ignore", "all"), "gpulint: --extend-ignore: no rule 'all'"),
        (("--format", "sarf"), "gpulint: --format sarf: no format 'sarf' (did you mean 'sarif'?); there are text, concise, github, sarif"),
        (("--format", "text", "--format", "sarif"), "gpulint: --format: only one format can go to standard output; write the others to"),
        (("--format", "sarif=/nowhere/at/all"), "gpulint: /nowhere/at/all: cannot be written: No such file or directory"),
        (("--min-severity", "grave"), "Invalid value for '--min-severity': 'grave' is not one of 'note', 'warning', 'error'."),
        (("--fail-on", "grave"), "Invalid value for '--fail-on': 'grave' is not one of 'error', 'warning', 'note', 'never'."),
        (("--color", "blue"), "Invalid value for '--color'"),
        (("--machine", "driver"), "gpulint: --machine driver: must be key=value"),
        (("--machine", "drivr=535"), "gpulint: --machine: unknown key 'drivr' (did you mean 'driver'?)"),
        (("--machine", "driver=new"), 'gpulint: --machine: driver = "new": must be a driver version such as "535" or "535.161.07"'),
        (("--config", "nowhere.toml"), "Invalid value for '--config': File 'nowhere.toml' does not exist."),
        (("--stdin-filename", "a.yaml"), "gpulint: --stdin-filename a.yaml: standard input is not read; add - to the paths"),
        (("nowhere",), "gpulint: nowhere: no such file or folder"),
        (("chekc",), "gpulint: chekc: no such file or folder (did you mean 'check'?)"),
        (("--machine", "speed=1"), "gpulint: --machine: unknown key 'speed'; there are driver, gpus, gpus_per_node,"),
        (("rule", "GPU9"), "gpulint: no rule 'GPU9'\n"),
        (("rule", "GPU2O"), "gpulint: no rule 'GPU2O' (did you mean 'GPU20'?)"),
        (("rule", "privileged"), "gpulint: no rule 'privileged' (did you mean 'privileged-gpu-container'?)"),
        (("graph", "nowhere"), "gpulint: nowhere: no such file or folder"),
        (("rule", "GPU29"), "gpulint: no rule 'GPU29' (did you mean 'GPU209'?)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_use_is_one_line_and_exit_code_2(repository: Path, arguments: tuple[str, ...], words: str) -> None:
    run = gpulint(repository, *arguments)
    assert words in run.stderr
    assert (run.stdout if "/nowhere" not in words else "", run.exit_code) == ("", 2)
    assert "Traceback" not in run.stderr


def test_a_wrong_option_is_seen_before_anything_is_read(repository: Path) -> None:
    (repository / "a" / "compose.yaml").chmod(0)
    assert gpulint(repository, "--format", "sarif", "--format", "txt").stderr.startswith("gpulint: --format txt: no format 'txt'")


def test_a_current_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    command = [sys.executable, "-c", "import os, sys; os.rmdir(os.getcwd()); from gpulint.__main__ import main; main()"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (run.stderr, run.returncode) == ("gpulint: the current folder is not there any more\n", 2)


# --- Rules and severities -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ((), ["GPU101", "GPU102"]),
        (("--select", "GPU1"), ["GPU101", "GPU102"]),
        (("--select", "GPU101"), ["GPU101"]),
        (("--select", "unpinned-gpu-image,GPU2"), ["GPU101"]),
        (("--select", "GPU2", "--select", "GPU102"), ["GPU102"]),
        (("--select", "GPU2", "--extend-select", "GPU102"), ["GPU102"]),
        (("--select", "ALL", "--ignore", "GPU1"), []),
        (("--ignore", "nonexistent-cuda-tag"), ["GPU101"]),
        (("--ignore", "GPU101", "--extend-ignore", "GPU102"), []),
        (("--select", "GPU101", "--ignore", "GPU101"), []),
    ],
)
def test_which_rules_are_on(repository: Path, arguments: tuple[str, ...], rules: list[str]) -> None:
    assert [line.split()[-1] for line in spoken(repository, *arguments)] == rules


def test_the_command_line_stands_over_the_configuration(repository: Path) -> None:
    (repository / "gpulint.toml").write_text('select = ["GPU101"]\nextend-ignore = ["GPU2"]\n')
    assert spoken(repository) == ["a/compose.yaml:3:12 warning GPU101"]
    assert spoken(repository, "--select", "GPU102") == ["b/compose.yaml:3:24 error GPU102"]
    assert len(spoken(repository, "--extend-select", "GPU102")) == 2
    assert len(spoken(repository, "--isolated")) == 2
    assert spoken(repository, "--extend-ignore", "GPU101") == []


@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        ('select = ["GPU9"]', "select: no rule 'GPU9'"),
        ('ignore = ["unpinned"]', "ignore: no rule 'unpinned'"),
        ('[severity]\nunpinned-image = "note"', "severity: no rule 'unpinned-image' (did you mean 'unpinned-gpu-image'?)"),
        ('[per-file-ignores]\n"a/**" = ["GPU10I"]', "per-file-ignores: no rule 'GPU10I' (did you mean 'GPU10"),
    ],
)
def test_a_rule_that_the_configuration_names_must_exist(repository: Path, key: str, complaint: str) -> None:
    (repository / "gpulint.toml").write_text(key)
    run = gpulint(repository)
    assert (run.stdout, run.exit_code) == ("", 2)
    assert run.stderr.startswith(f"gpulint: {repository}/gpulint.toml: {complaint}")


def test_severities_and_ignores_of_files_are_configured_by_rule(repository: Path) -> None:
    (repository / "gpulint.toml").write_text('[severity]\nGPU1 = "error"\nGPU102 = "note"\n[per-file-ignores]\n"c/**" = ["ALL"]\n')
    write(repository, {"c/compose.yaml": WRONG})
    assert spoken(repository) == ["a/compose.yaml:3:12 error GPU101"]
    both = ["a/compose.yaml:3:12 error GPU101", "b/compose.yaml:3:24 note GPU102"]
    assert spoken(repository, "--min-severity", "note", "--select", "GPU1") == both


@pytest.mark.parametrize(
    ("arguments", "severities", "code"),
    [
        ((), ["error", "warning"], 1),
        (("--min-severity", "note"), ["error", "note", "warning"], 1),
        (("--min-severity", "error"), ["error"], 1),
        (("--fail-on", "note"), ["error", "note", "warning"], 1),
        (("--fail-on", "error"), ["error", "warning"], 1),
        (("--fail-on", "never"), ["error", "warning"], 0),
        (("--fail-on", "never", "--min-severity", "error"), ["error"], 0),
        (("--min-severity", "error", "--fail-on", "warning"), ["error", "warning"], 1),
        (("--ignore", "GPU102"), ["warning"], 1),
        (("--ignore", "GPU102", "--fail-on", "error"), ["warning"], 0),
        (("--ignore", "GPU102", "--min-severity", "error"), [], 0),
        (("--ignore", "GPU1"), [], 0),
        (("--ignore", "GPU1", "--min-severity", "note"), ["note"], 0),
        (("--ignore", "GPU1", "--fail-on", "note"), ["note"], 1),
    ],
)
def test_what_is_shown_and_what_fails(repository: Path, arguments: tuple[str, ...], severities: list[str], code: int) -> None:
    write(repository, {"train.py": PROGRAM})
    run = gpulint(repository, "--format", "concise", *arguments)
    assert sorted({line.split(": ")[1] for line in run.stdout.splitlines()}) == severities
    assert run.exit_code == code


def test_min_severity_in_the_configuration_hides_without_failing(repository: Path) -> None:
    (repository / "gpulint.toml").write_text('min-severity = "error"\nignore = ["GPU102"]\n')
    assert (gpulint(repository).stdout, gpulint(repository).exit_code) == ("", 0)
    (repository / "gpulint.toml").write_text('min-severity = "error"\nfail-on = "warning"\nignore = ["GPU102"]\n')
    assert gpulint(repository).exit_code == 1
    assert gpulint(repository, "--min-severity", "error").exit_code == 0


def test_strict_asks_for_more(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": PROGRAM})
    assert spoken(tmp_path, "--min-severity", "note") == ["train.py:3:5 note GPU601"]
    assert spoken(tmp_path, "--min-severity", "note", "--strict") == ["train.py:3:5 warning GPU601"]


def test_machine_facts_come_from_the_command_line_over_the_configuration(tmp_path: Path) -> None:
    write(
        tmp_path, {"compose.yaml": "services:\n  a:\n    image: vllm/vllm-openai:v0.8.5\n", "gpulint.toml": '[machines]\ndriver = "535"\n'}
    )
    assert spoken(tmp_path) == ["compose.yaml:2:3 warning GPU201"]
    assert spoken(tmp_path, "--machine", "default_runtime=nvidia") == []
    (tmp_path / "gpulint.toml").write_text('[machines]\ndefault_runtime = "nvidia"\n')
    assert spoken(tmp_path) == []
    assert spoken(tmp_path, "--machine", "default_runtime=runc") == ["compose.yaml:2:3 warning GPU201"]


# --- Configuration and root -----------------------------------------------------------------------------------------------------


def test_verbose_says_which_configuration_and_root_hold(repository: Path) -> None:
    lines = gpulint(repository, "-v", "a").stderr.splitlines()
    assert lines[:2] == ["gpulint: configuration: none", f"gpulint: root: {repository}"]
    (repository / "a" / "pyproject.toml").write_text("[tool.gpulint]\n")
    lines = gpulint(repository, "-v", "a").stderr.splitlines()
    assert lines[:2] == [f"gpulint: configuration: {repository}/a/pyproject.toml", f"gpulint: root: {repository}/a"]


def test_verbose_says_which_rules_wait_for_which_facts(repository: Path) -> None:
    waits = "gpulint: GPU122 cuda-newer-than-driver waits for machines.driver"
    assert waits in gpulint(repository, "-v").stderr.splitlines()
    assert waits not in gpulint(repository, "-v", "--machine", "driver=580").stderr.splitlines()


def test_a_gpu_that_is_not_known_is_said(repository: Path) -> None:
    notice = "gpulint: machines.gpus: no GPU 'V10O' is known, so no rule judges by it; write it as nvidia-smi does, such as \"T4\""
    assert [line for line in gpulint(repository, "--machine", "gpus=T4,V10O").stderr.splitlines() if "gpus" in line] == [notice]


def test_a_run_without_rules_is_said(repository: Path) -> None:
    run = gpulint(repository, "--extend-ignore", "ALL")
    assert (run.exit_code, run.stderr.splitlines()[0]) == (0, "gpulint: no rule is selected, so nothing is checked")


def test_several_pages_are_printed_at_once(tmp_path: Path) -> None:
    pages = gpulint(tmp_path, "rule", "GPU201", "gpu101").stdout
    assert pages == gpulint(tmp_path, "rule", "GPU201").stdout + "\n" + gpulint(tmp_path, "rule", "GPU101").stdout


@pytest.mark.parametrize(("folder", "arguments"), [(".", ()), ("a", ()), (".", ("a",)), ("b", ("../a",)), ("b", ("../a/compose.yaml",))])
def test_places_count_from_the_root_wherever_it_is_run(repository: Path, folder: str, arguments: tuple[str, ...]) -> None:
    assert "a/compose.yaml:3:12 warning GPU101" in spoken(repository / folder, *arguments)


def test_without_a_work_tree_the_argument_is_the_root(tmp_path: Path) -> None:
    write(tmp_path, {"a/compose.yaml": WARNED, "b/c/compose.yaml": WARNED})
    assert spoken(tmp_path, "a") == ["compose.yaml:3:12 warning GPU101"]
    assert spoken(tmp_path, "b/c/compose.yaml", "a") == ["a/compose.yaml:3:12 warning GPU101", "b/c/compose.yaml:3:12 warning GPU101"]


def test_a_configuration_beside_the_paths_leaves_the_work_tree_as_root(repository: Path) -> None:
    write(repository, {"ci/gpulint.toml": 'ignore = ["GPU102"]\n'})
    assert spoken(repository, "--config", "ci/gpulint.toml", "a", "b") == ["a/compose.yaml:3:12 warning GPU101"]
    assert spoken(repository / "ci", "--config", "gpulint.toml", "../a") == ["a/compose.yaml:3:12 warning GPU101"]


def test_two_configurations_side_by_side_are_noticed(repository: Path) -> None:
    write(repository, {"gpulint.toml": 'ignore = ["GPU102"]\n', "pyproject.toml": "[tool.gpulint]\nignore = []\n"})
    run = gpulint(repository, "--format", "concise")
    assert len(run.stdout.splitlines()) == 1
    notice = f"{repository}/gpulint.toml is used; [tool.gpulint] of {repository}/pyproject.toml beside it is not"
    assert run.stderr.splitlines()[0] == f"gpulint: {notice}"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"gpulint.toml": "selct = []"}, "unknown key 'selct' (did you mean 'select'?)"),
        ({"gpulint.toml": 'extend = "base.toml"'}, "base.toml: no such file"),
        ({"gpulint.toml": 'extend = "."'}, "no such file"),
        ({"gpulint.toml": "a = " + "[" * 5000}, "no valid TOML"),
        ({"gpulint.toml": "\0"}, "no valid TOML"),
        ({"pyproject.toml": "tool = 3\n#[tool.gpulint]"}, "tool must be a table"),
        ({"pyproject.toml": "[tool]\ngpulint = 3\n#[tool.gpulint]"}, "gpulint must be a table"),
    ],
)
def test_a_bad_configuration_is_one_line_and_exit_code_2(tmp_path: Path, files: dict[str, str], words: str) -> None:
    write(tmp_path, files)
    run = gpulint(tmp_path)
    assert (run.stdout, run.exit_code) == ("", 2)
    assert words in run.stderr
    assert "defect" not in run.stderr


# --- Which files ----------------------------------------------------------------------------------------------------------------


def test_excluded_files_are_left_out_unless_they_are_named(repository: Path) -> None:
    write(repository, {"vendor/x/compose.yaml": WARNED, "old/compose.yaml": WARNED})
    in_old, in_vendor = "old/compose.yaml:3:12 warning GPU101", "vendor/x/compose.yaml:3:12 warning GPU101"
    assert in_vendor not in spoken(repository)
    assert in_old not in spoken(repository, "--exclude", "old")
    assert spoken(repository, "--exclude", "old", "--exclude", "**/compose.yaml") == []
    assert spoken(repository, "vendor") == spoken(repository, "vendor/x") == spoken(repository, "vendor/x/compose.yaml") == [in_vendor]
    assert spoken(repository, "--exclude", "old", "old/compose.yaml") == [in_old]


def test_the_configured_exclude_takes_the_place_of_the_default(repository: Path) -> None:
    write(repository, {"vendor/compose.yaml": WARNED, "gpulint.toml": 'exclude = ["a", "b"]\n'})
    assert spoken(repository) == ["vendor/compose.yaml:3:12 warning GPU101"]
    write(repository, {"gpulint.toml": 'extend-exclude = ["a", "b"]\n'})
    assert spoken(repository) == []


def test_show_files_lists_what_would_be_read_and_checks_nothing(repository: Path) -> None:
    write(repository, {"vendor/Dockerfile": "", "Dockerfile": "FROM nvidia/cuda\n", "train.py": "", "notes.txt": "", "ev\x1bil.py": ""})
    run = gpulint(repository, "--show-files")
    assert run.stdout.splitlines() == [
        "Dockerfile: Dockerfile",
        "a/compose.yaml: Compose file",
        "b/compose.yaml: Compose file",
        "ev\\x1bil.py: Python file",
        "train.py: Python file",
    ]
    assert (run.stderr, run.exit_code) == ("", 0)


# --- Paths select what is reported, not what is read ----------------------------------------------------------------------------

JOB = """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: train
    spec:
      template:
        spec:
          containers:
            - name: train
              image: registry.example.com/train:1.0.0
              command: ["python", "train.py"]
    """


def test_a_path_takes_links_from_the_whole_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, {"k8s/job.yaml": JOB, "train.py": PROGRAM})
    (line,) = concise(tmp_path, "k8s")
    assert line.startswith(
        "k8s/job.yaml:9:11: warning: GPU201 the pod has no GPU limit although its program train.py trains and prefers CUDA"
    )


def test_a_finding_is_reported_where_a_related_place_lies_in_a_file_that_was_named(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, {"k8s/job.yaml": JOB, "src/train.py": PROGRAM, "other.py": PROGRAM})
    gpu201, gpu601 = "k8s/job.yaml:9:11 warning GPU201", "src/train.py:3:5 warning GPU601"
    assert [line for line in spoken(tmp_path) if "GPU201" in line] == [gpu201]
    assert [line.split()[-1] for line in spoken(tmp_path, "src/train.py")] == ["GPU201", "GPU601"]
    assert [line.split()[-1] for line in spoken(tmp_path, "src")] == ["GPU601"]
    assert spoken(tmp_path, "k8s/job.yaml")[0] == gpu201
    assert [line.split()[0].split(":")[0] for line in spoken(tmp_path, "other.py")] == ["other.py"]
    assert gpu601.split(":")[0] in spoken(tmp_path)[-1]


# --- Standard input -------------------------------------------------------------------------------------------------------------


def test_standard_input_alone_is_all_that_is_read(repository: Path) -> None:
    run = gpulint(repository, "-", "--format", "concise", given=WARNED)
    assert run.stdout.startswith("stdin.yaml:3:12: warning: GPU101 ")
    understood = "1 Compose file, 1 GPU container (0 linked to a Dockerfile, 0 to a program), " + waiting()
    assert run.stderr == f"1 warning: {understood}\n"


def test_standard_input_under_a_name_takes_the_place_of_that_file(repository: Path) -> None:
    assert spoken(repository, "-", "--stdin-filename", "a/compose.yaml", given=WRONG) == ["a/compose.yaml:3:24 error GPU102"]
    assert spoken(repository / "a", "-", "--stdin-filename", "new/Dockerfile", given='FROM nvidia/cuda\nCMD ["x"]\n') == [
        "a/new/Dockerfile:1:6 error GPU101"
    ]


def test_standard_input_under_a_name_is_linked_to_the_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, {"train.py": PROGRAM})
    assert spoken(tmp_path, "-", "--stdin-filename", "job.yaml", given=JOB)[0] == "job.yaml:10:15 warning GPU201"
    assert spoken(tmp_path, "-", given=JOB) == []


def test_standard_input_and_paths_are_both_read(repository: Path) -> None:
    assert [line.split(":")[0] for line in spoken(repository, "-", "a", given=WRONG)] == ["a/compose.yaml", "stdin.yaml"]


def test_standard_input_has_a_bound(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpulint.session.INPUT_LIMIT", 1024 * 1024)
    run = gpulint(repository, "-", given="a: b\n" * 300_000)
    assert (run.stderr, run.exit_code) == ("gpulint: standard input has more than 1 MiB\n", 2)


# --- Output ---------------------------------------------------------------------------------------------------------------------


def test_several_formats_at_once(repository: Path) -> None:
    run = gpulint(repository, "--format", "concise", "--format", "sarif=out.sarif", "--format", "text=out.txt")
    assert [line.split(": ")[1] for line in run.stdout.splitlines()] == ["warning", "error"]
    assert len(json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]) == 2
    assert (repository / "out.txt").read_text().count("help:") == 2


def test_a_report_in_a_file_leaves_standard_output_empty(repository: Path) -> None:
    assert gpulint(repository, "--format", "sarif=out.sarif").stdout == ""
    assert (repository / "out.sarif").exists()


def test_statistics_take_the_place_of_the_printed_report_alone(repository: Path) -> None:
    write(repository, {"c/compose.yaml": WARNED})
    run = gpulint(repository, "--statistics", "--format", "sarif=out.sarif")
    assert run.stdout == "     2  GPU101  unpinned-gpu-image\n     1  GPU102  nonexistent-cuda-tag\n"
    assert run.exit_code == 1
    assert len(json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]) == 3


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ((), {"FORCE_COLOR": "", "NO_COLOR": ""}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--format", "concise"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color(repository: Path, arguments: tuple[str, ...], environment: dict[str, str], colored: bool) -> None:
    assert ("\x1b[" in gpulint(repository, *arguments, **environment).stdout) is colored


def test_a_file_gets_color_only_where_it_is_asked_for(repository: Path) -> None:
    gpulint(repository, "--format", "text=out.txt", FORCE_COLOR="1")
    assert "\x1b[" not in (repository / "out.txt").read_text()
    gpulint(repository, "--format", "text=out.txt", "--color", "always")
    assert "\x1b[" in (repository / "out.txt").read_text()


def test_the_last_line_says_what_was_understood(repository: Path) -> None:
    write(
        repository,
        {
            "Dockerfile": 'FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCOPY train.py /\nCMD ["python", "/train.py"]\n',
            "compose.yaml": "services:\n  t:\n    build: .\n    gpus: all\n",
            "train.py": PROGRAM,
            "chart/Chart.yaml": "name: c\n",
            "chart/templates/pod.yaml": "apiVersion: v1\nkind: Pod\n",
        },
    )
    understood = (
        "1 Dockerfile, 3 Compose files, 1 Python file, 1 template not rendered, "
        "3 GPU containers (1 linked to a Dockerfile, 1 to a program), " + waiting()
    )
    assert gpulint(repository).stderr.splitlines()[-1] == f"1 error, 2 warnings: {understood}"
    assert gpulint(repository, "-q").stderr == ""
    assert gpulint(repository, "--machine", "gpus=T4").stderr.endswith(f", {waiting(1)}\n")
    every = [option for fact in STATED for option in ("--machine", fact)]
    assert "[machines]" not in gpulint(repository, *every).stderr
    write(repository, {"compose.yaml": "", "a/compose.yaml": "", "b/compose.yaml": "", "Dockerfile": "FROM nginx\n"})
    assert gpulint(repository).stderr == "no findings: 1 Dockerfile, 3 Compose files, 1 Python file, 1 template not rendered\n"


def test_the_last_line_of_an_empty_folder(tmp_path: Path) -> None:
    run = gpulint(tmp_path)
    assert (run.stdout, run.stderr, run.exit_code) == ("", "no findings: no files of a known kind\n", 0)


def test_output_is_the_same_on_every_run(repository: Path) -> None:
    write(repository, {f"{name}/compose.yaml": WARNED for name in "zyxw"})
    assert len({gpulint(repository).output for _ in range(3)}) == 1
    places = [line.split()[0] for line in spoken(repository)]
    assert places == sorted(places)


def test_the_step_summary_has_all_findings(repository: Path) -> None:
    summary = repository / "summary.md"
    summary.write_text("what was there\n")
    run = gpulint(repository, "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert [line.partition(" ")[0] for line in run.stdout.splitlines()] == ["::error", "::warning"]
    text = summary.read_text()
    assert text.startswith("what was there\n## gpulint\n\n1 error, 1 warning: 2 Compose files, 2 GPU containers")
    assert text.count("\n| error |") == text.count("\n| warning |") == 1


def test_a_step_summary_that_cannot_be_written_costs_a_notice(repository: Path) -> None:
    run = gpulint(repository, "--format", "concise", GITHUB_STEP_SUMMARY="/nowhere/at/all")
    assert (len(run.stdout.splitlines()), run.exit_code) == (2, 1)
    assert run.stderr.splitlines()[0] == "gpulint: the step summary /nowhere/at/all cannot be written: No such file or directory"


# --- Rules and their pages ------------------------------------------------------------------------------------------------------


def test_the_list_of_rules_has_a_line_for_each() -> None:
    lines = gpulint(Path.cwd(), "rule").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(entry.id for entry in registry.catalogue())
    assert next(line for line in lines if "GPU201" in line).split() == ["GPU201", "gpu-not-requested", "error/warning"]


def test_a_page_is_found_by_id_and_by_name() -> None:
    by_id, by_name = gpulint(Path.cwd(), "rule", "GPU201"), gpulint(Path.cwd(), "rule", "gpu-not-requested")
    assert by_id.stdout == by_name.stdout
    assert "gpu-not-requested" in by_id.stdout
    assert by_id.exit_code == 0


def test_a_prefix_lists_its_rules_and_capitals_do_not_matter() -> None:
    listed = [line.split()[0] for line in gpulint(Path.cwd(), "rule", "gpu2").stdout.splitlines()]
    assert listed == sorted(entry.id for entry in registry.catalogue() if entry.id.startswith("GPU2"))
    assert gpulint(Path.cwd(), "rule", "gpu201").stdout == gpulint(Path.cwd(), "rule", "GPU201").stdout


# --- Crashes --------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Have the rules with these ids fail on every node."""

    def break_rules(*ids: str) -> None:
        load = registry.load.__wrapped__

        def loaded(entry: Entry) -> Rule[object]:
            return replace(load(entry), check=_fail) if entry.id in ids else load(entry)

        monkeypatch.setattr(registry, "load", loaded)

    yield break_rules


def _fail(_node: object, _project: object) -> list[Problem]:
    raise KeyError("what \x1b[31m nobody expected")


def test_a_rule_that_fails_is_a_finding_and_the_others_go_on(repository: Path, broken_rules: Callable[..., None]) -> None:
    broken_rules("GPU101")
    run = gpulint(repository, "--format", "concise")
    message = "rule GPU101 (unpinned-gpu-image) failed on this file: KeyError: 'what \\x1b[31m nobody expected'; the other rules went on"
    assert run.stdout.splitlines() == [
        f"a/compose.yaml:1:1: error: GPU003 {message}",
        f"b/compose.yaml:1:1: error: GPU003 {message}",
        *(line for line in run.stdout.splitlines() if "GPU102" in line),
    ]
    assert run.exit_code == 2
    assert len(run.stdout.splitlines()) == 3


def test_two_rules_that_fail_on_one_file_are_both_named(repository: Path, broken_rules: Callable[..., None]) -> None:
    broken_rules("GPU101", "GPU201")
    assert spoken(repository, "a") == [
        "a/compose.yaml:1:1 error GPU003",
        "a/compose.yaml:1:1 error GPU003",
        "b/compose.yaml:1:1 error GPU003",
        "b/compose.yaml:1:1 error GPU003",
    ]


@pytest.mark.parametrize("arguments", [("a/compose.yaml",), ("--ignore", "GPU003"), ("--fail-on", "never"), ("--min-severity", "error")])
def test_no_option_hides_a_crash(repository: Path, broken_rules: Callable[..., None], arguments: tuple[str, ...]) -> None:
    broken_rules("GPU102")
    run = gpulint(repository, "--format", "concise", *arguments)
    assert "GPU003 rule GPU102 (nonexistent-cuda-tag) failed" in run.stdout
    assert run.exit_code == 2


def test_a_rule_whose_module_cannot_be_imported_is_a_crash_too(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = tuple(entry._replace(module="gpulint_rules.nowhere") if entry.id == "GPU101" else entry for entry in registry.catalogue())
    monkeypatch.setattr(registry, "catalogue", lambda: entries)
    run = gpulint(repository, "--format", "concise")
    assert "ModuleNotFoundError: No module named 'gpulint_rules.nowhere'" in run.stdout
    assert run.exit_code == 2


def test_a_defect_of_the_engine_is_one_line(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpulint.project.relevance.anchors", lambda key: _fail(key, key))
    run = gpulint(repository)
    assert run.exit_code == 2
    assert run.stderr == (
        "gpulint: failed with KeyError: 'what \\x1b[31m nobody expected'; this is a defect of gpulint, please report it\n"
    )
    assert run.stdout == ""
