"""What the tests of whole runs share: a small repository in a temporary folder, and gpulint's command line over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from click.testing import CliRunner, Result

from gpulint.cli import cli
from gpulint.discover import list_files
from gpulint.model.machines import Machines
from gpulint.project import Project
from gpulint.project.tree import Tree

_NOT_FROM_OUTSIDE = ("NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "GPULINT_TRACEBACK")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, path to text, below a folder. What all lines of a text are indented by is taken off."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(dedent(text).removeprefix("\n"))


def project(folder: Path, files: Mapping[str, str], machines: Machines | None = None, everything: bool = False) -> Project:
    """The project of a folder with those files, notes wanted."""
    write(folder, files)
    return Project(Tree(folder, list_files(folder, None)), machines or Machines(), wants_notes=True, everything=everything)


def gpulint(folder: Path, *arguments: str, given: str | None = None, **environment: str) -> Result:
    """Run the command line in a folder; `given` is standard input."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        env: dict[str, str | None] = {**dict.fromkeys(_NOT_FROM_OUTSIDE), **environment}
        return CliRunner().invoke(cli, arguments, input=given, env=env)
    finally:
        os.chdir(before)


def concise(folder: Path, *arguments: str, given: str | None = None) -> list[str]:
    """The lines of the concise report."""
    return gpulint(folder, "check", "--format", "concise", "-q", *arguments, given=given).stdout.splitlines()


def spoken(folder: Path, *arguments: str, given: str | None = None) -> list[str]:
    """What the concise report says, without the messages: `pod.yaml:3:5 warning GPU201`."""
    return [_short(line) for line in concise(folder, *arguments, given=given)]


def _short(line: str) -> str:
    place, severity, rest = line.split(": ", 2)
    return f"{place} {severity} {rest.split()[0]}"
