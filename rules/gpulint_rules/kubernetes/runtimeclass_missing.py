"""GPU408: a GPU pod names no RuntimeClass, on machines whose GPUs are reached by one."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_container, vendors_of
from gpulint.facts.requests import runtime_vendor
from gpulint.model.container import Pod, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem where the machines have a class for GPUs and the pod names none at all."""
    containers = project.containers_in(pod)
    machines = project.machines_of(containers[0])
    wanted = machines.gpu_runtime_class
    if wanted is None or machines.default_runtime == "nvidia" or pod.runtime_class is not None or "runtime-class" in pod.open:
        return
    by_claim = any(request.kind is RequestKind.CLAIM for container in containers for request in container.requests)
    if by_claim or not _fits(wanted, vendors_of(pod, project)):
        return
    if any(is_gpu_container(container, project) for container in containers):
        message = f"the pod names no runtime class, and the GPUs of these machines are reached by the class {wanted}: it finds no GPU"
        yield Problem(pod.location, message, Severity.WARNING, help=f"set runtimeClassName: {wanted} in the pod's spec")


def _fits(name: str, vendors: frozenset[str]) -> bool:
    """Whether the class may be for the GPUs that the pod asks for."""
    vendor = runtime_vendor(name)
    return vendor is None or not vendors or vendor in vendors


RULE = Rule("GPU408", "runtimeclass-missing", Pod, (Severity.WARNING,), Impact.CPU_FALLBACK, check, machines=("gpu_runtime_class",))
