"""GPU210: a launcher starts more processes, or a server more shards, than there are GPUs for them."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import CI_CONTEXTS, has_gpu, says_cpu
from gpulint.facts.commands import cpu_argument, launched, sharing_server
from gpulint.facts.workloads import spreads_over_pods
from gpulint.model.command import CommandLine
from gpulint.model.container import Container
from gpulint.model.grant import asks_for_all, granted
from gpulint.project import Project
from gpulint.project.entrypoint import Words
from gpulint.project.processes import Setting, commands_of, processes_of, stated_processes
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import as_written


def check(node: Container | CommandLine, project: Project) -> Iterator[Problem]:
    """A problem at each number that is above the GPUs of the container, or of the machines where a script starts the processes itself."""
    if isinstance(node, CommandLine):
        yield from _in_script(node, project)
    elif has_gpu(node) and not says_cpu(node) and not (node.pod is not None and spreads_over_pods(node.pod.kind)):
        yield from _in_container(node, project)


def _in_container(container: Container, project: Project) -> Iterator[Problem]:
    every, per_machine = asks_for_all(container), project.machines_of(container).gpus_per_node
    count, whose = granted(container), "the container is given"
    if count is None and every is not None:
        count, whose = per_machine, "each machine has"
    commands = (command for command in commands_of(container, project) if not _may_share_a_gpu(command))
    settings = [stated_processes(container), *map(processes_of, commands)]
    request = next(each for each in container.requests if each.is_meant)
    for setting in settings:
        if setting is not None and count is not None and setting.number > count:
            yield _problem(setting, f"{whose} {_gpus(count)}", (Related(request.location, "the GPUs are asked for here"),))


def _in_script(line: CommandLine, project: Project) -> Iterator[Problem]:
    words = [as_written(word) for word in line.command.words]
    launch = launched(words)
    is_launcher = (launch is not None and launch.parallel and not _may_share_a_gpu(line.command.words)) or sharing_server(words)
    count = project.machines.gpus_per_node
    setting = processes_of(line.command.words) if is_launcher and count is not None else None
    if setting is None or count is None or setting.number <= count or line.context in CI_CONTEXTS or cpu_argument(words) is not None:
        return
    yield _problem(setting, f"each machine has {_gpus(count)}", ())


def _may_share_a_gpu(command: Words) -> bool:
    """Whether it is a launcher of any program, such as mpirun, whose processes may be more than the GPUs on purpose."""
    launch = launched([as_written(word) for word in command])
    return launch is not None and launch.form == "command"


def _problem(setting: Setting, has: str, related: tuple[Related, ...]) -> Problem:
    message = f"{setting.shown} needs {setting.number} GPUs, and {has}: the processes beyond fail with an invalid device"
    return Problem(setting.location, message, Severity.ERROR, help="use the number of GPUs in both places", related=related)


def _gpus(count: int) -> str:
    return f"{count} GPU" if count == 1 else f"{count} GPUs"


RULE = Rule("GPU210", "parallelism-exceeds-gpus", (Container, CommandLine), (Severity.ERROR,), Impact.FAILS_TO_START, check)
