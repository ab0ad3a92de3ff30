"""GPU508: a task of Amazon ECS or a job of AWS Batch asks for a GPU in a form, or in a place, that gives none."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, Dialect, GpuRequest, RequestFault
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem for each requirement that is refused, and for each on a launch type without GPUs."""
    if container.dialect is Dialect.TASK:
        for request in container.requests:
            yield from (_problem(request, fault) for fault in request.faults)


def _problem(request: GpuRequest, fault: RequestFault) -> Problem:
    if fault.misplaced:
        related = (Related(fault.location, "the launch type"),)
        help_line = "run it on EC2 instances with a GPU: requiresCompatibilities or platformCapabilities [EC2]"
        return Problem(request.location, f"this GPU is never given: {fault.reason}", Severity.WARNING, help_line, related)
    help_line = f'write "value": "{fault.remedy}"' if fault.remedy else "write the number as a string"
    return Problem(fault.location, f"the definition is refused: {fault.reason}", Severity.ERROR, help_line)


RULE = Rule("GPU508", "malformed-ecs-gpu", Container, (Severity.ERROR, Severity.WARNING), Impact.FAILS_TO_START, check)
