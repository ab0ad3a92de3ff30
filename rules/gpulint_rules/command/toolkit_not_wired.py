"""GPU509: a script installs the NVIDIA container toolkit for Docker, and Docker is not told of it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.command import CommandLine
from gpulint.project import Project
from gpulint.project.host_setup import installed_toolkit, is_for_docker, is_wired, unrestarted
from gpulint.rule import Impact, Problem, Rule, Severity


def check(line: CommandLine, project: Project) -> Iterator[Problem]:
    """A problem where a command installs the toolkit and nothing configures Docker for it, or nothing starts Docker anew after that."""
    word = installed_toolkit(line.command)
    if word is None or not is_for_docker(line.script):
        return
    if not is_wired(project):
        message = (
            "the NVIDIA container toolkit is installed, and nothing configures Docker for it: --runtime nvidia stays unknown to Docker"
        )
        help_line = "run nvidia-ctk runtime configure --runtime=docker and systemctl restart docker after it"
        yield Problem(word.location, message, Severity.NOTE, help=help_line)
        return
    configuring = unrestarted(line.script)
    if configuring is not None:
        message = "Docker is configured for the NVIDIA container toolkit, and not restarted after it: it reads its settings when it starts"
        yield Problem(configuring.location, message, Severity.NOTE, help="run systemctl restart docker after it")


RULE = Rule("GPU509", "toolkit-not-wired", CommandLine, (Severity.NOTE,), Impact.FAILS_TO_START, check)
