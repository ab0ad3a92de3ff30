"""GPU607: a program starts one process a GPU, and so none at all where there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import gpu_programs_with
from gpulint.model.module import MAIN, Gate, Module
from gpulint.project import Project
from gpulint.project.programs import Program
from gpulint.project.relevance import is_aside
from gpulint.rule import Impact, Problem, Related, Rule, Severity

HELP = "raise an error where the number of GPUs is 0"


def check(module: Module, project: Project) -> Iterator[Problem]:
    """A problem for each such place of a program that a GPU container runs, or that starts by itself, unless anything stops it before."""
    users = gpu_programs_with(module.path, project)
    related = tuple(Related(each.location, "a GPU container runs it here") for user in users for each, _ in user.containers[:2])
    programs = [user.program for user in users if user.program is not None] or list(_own_program(module, project))
    for program in programs:
        for launch in program.idle_launches:
            if launch.location.path == module.path and (users or launch.gate is Gate.RUNS):
                message = f"this starts as many processes as {launch.subject} counts: without a GPU none, and it ends without an error"
                yield Problem(launch.location, message, Severity.WARNING, help=HELP, related=related)


def _own_program(module: Module, project: Project) -> Iterator[Program]:
    is_started = MAIN in module.scopes or bool(module.starts)
    program = project.program(module.path) if is_started and not is_aside(module.path) else None
    if program is not None:
        yield program


RULE = Rule("GPU607", "zero-process-launch", Module, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
