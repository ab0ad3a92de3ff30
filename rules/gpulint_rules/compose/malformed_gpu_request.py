"""GPU301: a service asks for a GPU in a form that Compose or Docker Engine refuses."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, RequestFault
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

ANY_REQUEST = "a device has capabilities: [gpu], and count or device_ids, of which the ids are strings; `gpus: all` asks for every GPU"


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem for each fault of a service's requests that stand in the right place."""
    if container.service is not None:
        for request in container.requests:
            yield from (_problem(fault) for fault in request.faults if not fault.misplaced)


def _problem(fault: RequestFault) -> Problem:
    message = f"the GPU request is malformed: {fault.reason}, so that nothing is started"
    return Problem(fault.location, message, Severity.ERROR, help=f"write {fault.remedy}" if fault.remedy else ANY_REQUEST)


RULE = Rule("GPU301", "malformed-gpu-request", Container, (Severity.ERROR,), Impact.FAILS_TO_START, check)
