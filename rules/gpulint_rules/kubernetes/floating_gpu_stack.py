"""GPU419: the version of a driver, operator or toolkit is left to chance."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.command import CommandLine
from gpulint.model.container import Pod
from gpulint.model.gpu_stack import StackPart
from gpulint.project import Project
from gpulint.project.host_setup import installs_unpinned
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Location, Text, known

DRIVER_LABEL = "cloud.google.com/gke-gpu-driver-version"
LATEST = "latest"
CHANCE = "the next node or installation may get another one"


def check(node: StackPart | Pod | CommandLine, _project: Project) -> Iterator[Problem]:
    """A problem for a chart or driver without a version, nodes with the latest driver, and packages of a host without one."""
    if isinstance(node, StackPart):
        yield from _of_part(node)
    elif isinstance(node, Pod):
        yield from _of_pod(node)
    else:
        yield from _of_command(node)


def _of_part(part: StackPart) -> Iterator[Problem]:
    if part.open_chart is not None:
        message = f"{part.open_chart} is installed without a version: {CHANCE}, with another driver and toolkit"
        yield _problem(part.open_chart.location, message, "name the version of the chart: --version, or version")
    if part.open_driver is not None:
        yield _problem(part.open_driver, f"the operator installs a driver, and which is not written: {CHANCE}", "set driver.version")
    for place in part.latest_drivers:
        yield _problem(place, f"the nodes get the latest driver: {CHANCE}", "write DEFAULT, or install one yourself")


def _of_pod(pod: Pod) -> Iterator[Problem]:
    for label in pod.labels:
        if label.key == DRIVER_LABEL and any(known(value) == LATEST for value in label.values):
            message = f"the pod asks for nodes with the latest driver: {CHANCE}"
            yield _problem(label.key.location, message, "ask for a driver by its version, or leave it to the node pool")


def _of_command(line: CommandLine) -> Iterator[Problem]:
    for word in line.command.words:
        if isinstance(word, Text) and f"gpu-driver-version={LATEST}" in word:
            help_line = "write gpu-driver-version=default, or install one yourself"
            yield _problem(word.location, f"the nodes get the latest driver: {CHANCE}", help_line)
    if line.context in ("shell", "make"):
        for installed in installs_unpinned(line.command):
            message = f"{installed.shown} is installed on the host without a version: {CHANCE}"
            yield _problem(installed.location, message, "name the version or the branch, such as nvidia-driver-570")


def _problem(place: Location, message: str, help_line: str) -> Problem:
    return Problem(place, message, Severity.NOTE, help=help_line)


RULE = Rule("GPU419", "floating-gpu-stack", (StackPart, Pod, CommandLine), (Severity.NOTE,), Impact.UNREPRODUCIBLE, check)
