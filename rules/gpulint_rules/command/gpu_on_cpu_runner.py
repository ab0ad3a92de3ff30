"""GPU503: a CI job asks for a GPU on a runner that has none."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.command import CommandLine, RunCommand
from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.project import Project
from gpulint.project.ci_needs import Need, commands_around, fails_job, hosted, needs
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text, Unknown

HELP = "run the job on a runner with a GPU, or leave out what needs one"


def check(node: Container | CommandLine, project: Project) -> Iterator[Problem]:
    """A problem where a job on a standard runner starts a container with a GPU, runs a tool that needs one, or tests that do."""
    if isinstance(node, CommandLine):
        yield from _of_line(node, project)
    elif isinstance(node.command, RunCommand):
        yield from _of_container(node, node.command, project)


def _of_line(line: CommandLine, project: Project) -> Iterator[Problem]:
    label = hosted(line.runner)
    if label is None:
        return
    for need in needs(line, project):
        if fails_job(line):
            yield _problem(line, label, need)


def _problem(line: CommandLine, label: Text, need: Need) -> Problem:
    severity = Severity.ERROR if need.certain else Severity.WARNING
    related = [Related(label.location, "the runner")]
    if need.place is not None:
        related.append(Related(need.place, "the test"))
    message = f"{need.says} needs a GPU, and {label} is a runner without one: the job fails"
    return Problem(line.location, message, severity, help=HELP, related=tuple(related))


def _of_container(container: Container, command: RunCommand, project: Project) -> Iterator[Problem]:
    label = hosted(command.runner)
    request = next(filter(_asks, container.requests), None)
    if label is None or request is None or not command.unconditional or not _is_reached(container, project):
        return
    message = f"the container asks for a GPU, and {label} is a runner without one: docker does not start it"
    yield Problem(request.location, message, Severity.ERROR, help=HELP, related=(Related(label.location, "the runner"),))


def _asks(request: GpuRequest) -> bool:
    """Whether a request fails where there is no GPU: a variable of the runtime alone does not."""
    return request.is_asked and request.kind is not RequestKind.VISIBLE_DEVICES and not isinstance(request.count, Unknown)


def _is_reached(container: Container, project: Project) -> bool:
    """Whether the job gets to the command that starts the container, and fails with it; its own container comes before all commands."""
    if container.is_ci_job:
        return True
    around = commands_around(container.location, project)
    return bool(around) and all(map(fails_job, around))


RULE = Rule("GPU503", "gpu-on-cpu-runner", (Container, CommandLine), (Severity.ERROR, Severity.WARNING), Impact.FAILS_TO_START, check)
