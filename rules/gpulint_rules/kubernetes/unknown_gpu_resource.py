"""GPU403: a GPU is asked for by a name that no device plugin advertises."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, RequestFault, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity


def check(container: Container, project: Project) -> Iterator[Problem]:
    """One problem for each such name: an error where the name cannot be right, a warning where it is near to a known one."""
    for request in container.requests:
        if request.kind is RequestKind.LIMIT and str(request.resource) not in project.extended_resources:
            yield from (_problem(fault) for fault in request.faults if not fault.misplaced)


def _problem(fault: RequestFault) -> Problem:
    severity = Severity.WARNING if fault.likely else Severity.ERROR
    return Problem(fault.location, fault.reason, severity, help=f"write {fault.remedy}" if fault.remedy else "")


RULE = Rule("GPU403", "unknown-gpu-resource", Container, (Severity.ERROR, Severity.WARNING), Impact.NEVER_SCHEDULED, check)
