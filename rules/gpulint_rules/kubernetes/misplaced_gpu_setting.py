"""GPU407: a GPU resource, or what places a pod on a GPU node, stands where Kubernetes has no such field."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Pod, RequestFault, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

OUTCOME = "kubectl refuses the manifest, and tools that do not validate it drop the field"


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """One problem for each setting of the pod or of its containers that stands in the wrong place."""
    for container in project.containers_in(pod):
        for request in container.requests:
            yield from (_problem(request.kind, fault) for fault in request.faults if fault.misplaced)


def _problem(kind: RequestKind, fault: RequestFault) -> Problem:
    is_resource = kind is RequestKind.LIMIT
    lost = "no container gets the GPU" if is_resource else "it has no effect"
    help_line = (
        "move it to resources.limits of the container that computes" if is_resource else "move it to the pod's spec, beside containers"
    )
    return Problem(fault.location, f"{fault.reason}: {OUTCOME}, so that {lost}", Severity.ERROR, help=help_line)


RULE = Rule("GPU407", "misplaced-gpu-setting", Pod, (Severity.ERROR,), Impact.CPU_FALLBACK, check)
