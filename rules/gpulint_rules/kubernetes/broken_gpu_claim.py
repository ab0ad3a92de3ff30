"""GPU410: a claim of a GPU is used and not declared, declared and not used, or written in the form of another API version."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Pod, RequestFault, RequestKind
from gpulint.model.device_claim import NESTED, DeviceClaim, DeviceRequest
from gpulint.project import Project
from gpulint.project.device_claims import is_for_gpu, is_gpu_class
from gpulint.rule import Impact, Problem, Rule, Severity


def check(node: Pod | DeviceClaim, project: Project) -> Iterator[Problem]:
    """A problem for each claim of a pod that does not fit, or each request of a claim in another form than its version's.

    Drivers of networks take a claim of the pod as a whole, so that no container needs to use it.
    """
    if isinstance(node, DeviceClaim):
        yield from (_misformed(node, request) for request in node.requests if _is_misformed(node, request))
        return
    containers = project.containers_in(node)
    is_open = any("gpu" in container.open for container in containers)
    for request in (request for container in containers for request in container.requests if request.kind is RequestKind.CLAIM):
        for fault in request.faults:
            if not fault.likely:
                yield _undeclared(node, fault)
            elif not is_open and is_for_gpu(node, request, project):
                yield _unused(fault)


def _undeclared(pod: Pod, fault: RequestFault) -> Problem:
    declared = ", ".join(claim.name for claim in pod.claims)
    help_line = f"use a name under resourceClaims: {declared}" if declared else "declare it under resourceClaims of the pod"
    return Problem(fault.location, f"{fault.reason}: the API server refuses the pod", Severity.ERROR, help=help_line)


def _unused(fault: RequestFault) -> Problem:
    message = f"{fault.reason}: a device is reserved for the pod, and none of its containers gets it"
    return Problem(fault.location, message, Severity.WARNING, help="name it under resources.claims of the container that computes")


def _is_misformed(claim: DeviceClaim, request: DeviceRequest) -> bool:
    forms = (claim.expected, request.form)
    return all(forms) and claim.expected != request.form and any(map(is_gpu_class, request.classes))


def _misformed(claim: DeviceClaim, request: DeviceRequest) -> Problem:
    message = (
        f"`{request.key}` stands in a request of resource.k8s.io/{claim.version}, which has no such field there: the API server refuses it"
    )
    help_line = "put it below `exactly`" if claim.expected == NESTED else "put what is below it into the request itself"
    return Problem(request.key.location, message, Severity.ERROR, help=help_line)


RULE = Rule("GPU410", "broken-gpu-claim", (Pod, DeviceClaim), (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
