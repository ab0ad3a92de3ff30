"""GPU608: the assertion of the GPU is an assert statement, and the container's Python leaves those out."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.python import strips_assertions
from gpulint.model.container import Container
from gpulint.model.module import AssertionKind
from gpulint.project import Project
from gpulint.project.environment import variable
from gpulint.project.links import EntryPoint
from gpulint.project.start_assertions import asserts_gpu_beside
from gpulint.project.starts import Start
from gpulint.project.without_assertions import WithoutAssertions
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location, Text

VARIABLE = "PYTHONOPTIMIZE"
HELP = "write an if that raises in place of the assert: it stays"


def check(entry: EntryPoint, project: Project) -> Iterator[Problem]:
    """A problem at the first assert statement, where a container runs the program without it and nothing else stops it there."""
    statements = [each for each in (entry.program.assertions if entry.program else ()) if each.kind is AssertionKind.ASSERT]
    if not statements:
        return
    for container, start in entry.containers:
        place = _stripped_by(container, start, project)
        if place is not None and not _is_stopped(container, start, project):
            message = f"this assert statement is all that stops {entry.path} without a GPU, and the container's Python leaves it out"
            related = (Related(place, "asserts are left out by this"),)
            yield Problem(statements[0].location, message, Severity.WARNING, help=HELP, related=related)
            return


def _is_stopped(container: Container, start: Start, project: Project) -> bool:
    """Whether anything but assert statements stops the program without a GPU."""
    program = start.program.read(WithoutAssertions(project.tree)) if start.program is not None else None
    by_itself = program is None or program.asserts_gpu or program.raises_without_cuda
    return by_itself or bool(start.assertions) or asserts_gpu_beside(container, project)


def _stripped_by(container: Container, start: Start, project: Project) -> Location | None:
    """What makes Python leave assert statements out: its option, or the variable."""
    if start.program is not None and start.program.optimized:
        return start.program.location
    own = (each for each in reversed(start.program.environment if start.program is not None else ()) if each.name == VARIABLE)
    found = next(own, None) or variable(container, project, VARIABLE)
    value = found.value if found is not None else None
    return found.name.location if found is not None and isinstance(value, Text) and strips_assertions(value) else None


RULE = Rule("GPU608", "stripped-assertion", EntryPoint, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
