"""GPU606: a program that a GPU container runs hides the GPU from itself."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_for_tests, is_gpu_container, says_cpu
from gpulint.facts.commands import hides_gpu
from gpulint.model.module import EnvironmentWrite
from gpulint.project import Project
from gpulint.project.links import EntryPoint
from gpulint.project.programs import Program
from gpulint.project.relevance import is_aside
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(entry: EntryPoint, project: Project) -> Iterator[Problem]:
    """A problem where a program that trains or serves hides every GPU at its top level."""
    program = entry.program
    if program is None or is_aside(entry.path) or not (program.trains or program.serves):
        return
    users = [each for each, _ in entry.containers if is_gpu_container(each, project) and not (says_cpu(each) or is_for_tests(each))]
    hiding = _hiding(program)
    if users and hiding is not None:
        message = f"{hiding.name} is set to {str(hiding.value.value)!r} here, which hides every GPU, and a GPU container runs this"
        related = (Related(container.location, "a GPU container runs it here") for container in users[:3])
        help_line = "drop the assignment; where the CPU is meant, start the container without a GPU"
        yield Problem(hiding.location, message, Severity.WARNING, help=help_line, related=tuple(related))


def _hiding(program: Program) -> EnvironmentWrite | None:
    """The assignment that hides the GPUs, where it is the last one of its variable and hangs on nothing."""
    last = {write.name: write for write in program.environment}
    hides = (each for each in last.values() if isinstance(each.value.value, str) and hides_gpu(each.name, each.value.value))
    return next((each for each in hides if not each.value.subject), None)


RULE = Rule("GPU606", "gpu-hidden-in-code", EntryPoint, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
