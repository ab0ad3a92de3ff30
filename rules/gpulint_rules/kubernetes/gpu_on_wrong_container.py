"""GPU412: a pod asks for its GPU on another container than the one that computes."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import evidence_of_its_own
from gpulint.model.container import Container, GpuRequest, Pod, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import as_written


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem at each main container that wants a GPU by its own evidence, where only containers that do not compute are given one."""
    containers = project.containers_in(pod)
    holders = [(container, request) for container in containers if (request := _given(container)) is not None]
    if not holders or any(_computes(container, project) for container, _ in holders):
        return
    for container in containers:
        if container.is_main and not container.requests:
            yield from _problems(container, *holders[0], project)


def _given(container: Container) -> GpuRequest | None:
    """The request by which this container alone is handed a GPU."""
    kinds = (RequestKind.LIMIT, RequestKind.CLAIM)
    return next((request for request in container.requests if request.kind in kinds and request.is_asked), None)


def _computes(container: Container, project: Project) -> bool:
    """Whether the GPU is well placed here: on a container that runs on, and that wants one itself."""
    return not container.is_init and bool(evidence_of_its_own(container, project))


def _problems(container: Container, holder: Container, request: GpuRequest, project: Project) -> Iterator[Problem]:
    pieces = evidence_of_its_own(container, project)
    if pieces:
        name = as_written(holder.name) if holder.name is not None else "another"
        kind = "the init container" if holder.is_init else "the container"
        message = f"{pieces[0].says}, and the pod's GPU is given to {kind} {name} alone: devices go only to the container that asks"
        related = (Related(request.location, "the GPU is asked for here"), *(Related(piece.location, piece.says) for piece in pieces))
        yield Problem(container.location, message, Severity.WARNING, help="move the limit to this container", related=related)


RULE = Rule("GPU412", "gpu-on-wrong-container", Pod, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
