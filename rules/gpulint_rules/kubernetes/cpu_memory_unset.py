"""GPU417: a GPU container asks for neither processor time nor memory."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure, surely_has_gpu
from gpulint.model.container import Compute, Container, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

NOTHING = Compute()


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where a main container of a pod has a GPU limit or claim, and nothing is said of cpu and memory."""
    if container.pod is None or "gpu" in container.pod.open or not container.is_main or is_infrastructure(container):
        return
    if container.compute != NOTHING:
        return
    handed_out = any(request.kind in (RequestKind.LIMIT, RequestKind.CLAIM) and request.is_asked for request in container.requests)
    if handed_out and surely_has_gpu(container, project):
        message = (
            "the container asks for a GPU and for neither cpu nor memory: it may get too little of both, and is evicted among the first"
        )
        help_line = "set resources.requests for cpu and memory, at least what its data loaders and the model need"
        yield Problem(container.location, message, Severity.NOTE, help=help_line)


RULE = Rule("GPU417", "cpu-memory-unset", Container, (Severity.NOTE,), Impact.WASTEFUL, check)
