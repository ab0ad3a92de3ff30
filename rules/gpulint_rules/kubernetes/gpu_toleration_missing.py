"""GPU404: a GPU pod does not tolerate the taint of the GPU nodes."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_pod, is_infrastructure, surely_has_gpu, vendors_of
from gpulint.facts.resources import ANY_VENDOR, gpu_taint, is_gpu_vendor
from gpulint.model.container import Pod
from gpulint.model.taint import Taint, names_taint, parse_taint, tolerates
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Location


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem where the declared taint is not tolerated; without a declaration where nothing is tolerated at all."""
    machines = project.machines_of(project.containers_in(pod)[0])
    if machines.adds_tolerations or "toleration" in pod.open or not is_gpu_pod(pod, project):
        return
    if machines.gpu_taint is not None:
        yield from _of_declared(pod, parse_taint(machines.gpu_taint), project)
    elif not pod.tolerations and _asks_for_gpu(pod, project):
        severity, policy = (Severity.WARNING, " (policy)") if project.strict else (Severity.NOTE, "")
        message = f"the pod tolerates no taint: where GPU nodes have one and the cluster adds no tolerations, it is never scheduled{policy}"
        help_line = "tolerate the taint of your GPU nodes, such as nvidia.com/gpu with operator: Exists; or declare gpu_taint"
        yield Problem(_place(pod), message, severity, help=help_line)


def _of_declared(pod: Pod, taint: Taint, project: Project) -> Iterator[Problem]:
    """The problem of a pod whose tolerations do not even name the taint, unless the taint is on another vendor's nodes."""
    vendors = vendors_of(pod, project)
    vendor = gpu_taint(taint.key, taint.value)
    is_others = bool(vendors) and is_gpu_vendor(vendor) and vendor not in ("", ANY_VENDOR, *vendors)
    if is_others or tolerates(pod.tolerations, taint) or any(names_taint(each, taint) for each in pod.tolerations):
        return
    message = f"the pod does not tolerate {taint}, the taint of the GPU nodes: it is never scheduled"
    help_line = f"add a toleration with key: {taint.key}, operator: Exists, effect: {taint.effect}"
    yield Problem(_place(pod), message, Severity.WARNING, help=help_line)


def _place(pod: Pod) -> Location:
    """The list of tolerations, or the pod where it has none."""
    return pod.location if pod.tolerations_location is None else pod.tolerations_location


def _asks_for_gpu(pod: Pod, project: Project) -> bool:
    """Whether the pod asks for a GPU itself, and is no infrastructure."""
    containers = project.containers_in(pod)
    return any(surely_has_gpu(each, project) for each in containers) and not any(map(is_infrastructure, containers))


RULE = Rule("GPU404", "gpu-toleration-missing", Pod, (Severity.WARNING, Severity.NOTE), Impact.NEVER_SCHEDULED, check)
