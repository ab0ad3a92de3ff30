"""GPU504: devcontainer.json asks for a GPU in a form that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, GpuRequest, RequestFault, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem for each request that stands where the editor or docker takes it for something else."""
    if not container.is_dev_container:
        return
    for request in container.requests:
        yield from (_problem(request, fault) for fault in request.faults if fault.misplaced)


def _problem(request: GpuRequest, fault: RequestFault) -> Problem:
    help_line = 'write "runArgs": ["--gpus", "all"], each word an element of its own'
    if request.kind is RequestKind.PRODUCT:
        help_line = 'write "hostRequirements": {"gpu": true}, or "optional" where the container must start without a GPU too'
    return Problem(fault.location, f"the dev container gets no GPU: {fault.reason}", Severity.ERROR, help=help_line)


RULE = Rule("GPU504", "malformed-devcontainer-gpu", Container, (Severity.ERROR,), Impact.FAILS_TO_START, check)
