"""GPU215: a long-running container is given every GPU of its machine."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_for_developers, is_for_tests, is_infrastructure
from gpulint.facts.commands import gpu_program
from gpulint.model.command import RunCommand
from gpulint.model.container import Container, Dialect
from gpulint.model.grant import asks_for_all
from gpulint.project import Project
from gpulint.project.processes import may_use_several, words_of_commands
from gpulint.rule import Impact, Problem, Rule, Severity


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A note; a warning where the machines have several GPUs and the container's program uses one."""
    request = asks_for_all(container)
    if request is None or not _keeps_running(container) or is_infrastructure(container) or is_for_tests(container):
        return
    commands = list(words_of_commands(container, project))
    if is_for_developers(container) or any(map(gpu_program, commands)):
        return
    count = project.machines_of(container).gpus_per_node
    several = may_use_several(container, project)
    if count == 1 or (several and not project.strict):
        return
    idle = count is not None and not several
    message = "every GPU of the machine is given to this container"
    if idle:
        message += f", and nothing in it uses more than one of the {count}: the others are taken for nothing, or used by chance"
    severity = Severity.WARNING if idle or project.strict else Severity.NOTE
    policy = " (policy)" * (severity is Severity.WARNING and not idle)
    yield Problem(request.location, f"{message}{policy}", severity, help="ask for the number that it uses, or name its devices")


def _keeps_running(container: Container) -> bool:
    """Whether it is a service, or a command that starts one: in the background, or anew when it ends."""
    if container.dialect in (Dialect.COMPOSE, Dialect.QUADLET):
        return True
    starts = container.dialect in (Dialect.RUN, Dialect.LIBRARY)
    options = container.command.options if isinstance(container.command, RunCommand) and starts else ()
    return any(option.name in ("detach", "restart") for option in options)


RULE = Rule("GPU215", "all-gpus-requested", Container, (Severity.WARNING, Severity.NOTE), Impact.WASTEFUL, check)
