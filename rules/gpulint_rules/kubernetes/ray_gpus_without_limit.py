"""GPU413: Ray is told of GPUs that its container does not have, or has GPUs that Ray is not told of."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.resources import is_gpu_vendor, ray_counts
from gpulint.facts.workloads import is_ray
from gpulint.model.container import Container, GpuRequest, Pod, RequestKind
from gpulint.model.quantity import parse_quantity
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import known


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem for each entry that tells Ray of a GPU without a limit, or twice; and for limits of a name that KubeRay does not count."""
    ray = next((container for container in project.containers_in(pod) if not container.is_init), None)
    if ray is None or not is_ray(pod.kind):
        return
    told = [request for request in ray.requests if request.kind is RequestKind.PRODUCT]
    refused = [fault for request in told for fault in request.faults]
    if refused:
        message = f"{refused[0].reason}: KubeRay refuses the cluster"
        yield Problem(refused[0].location, message, Severity.ERROR, help="say it in one of the two")
    elif told:
        yield from (_problem(request) for request in told if _lacks_gpu(request, ray))
    else:
        yield from _uncounted(ray)


def _lacks_gpu(request: GpuRequest, ray: Container) -> bool:
    """Whether Ray is told of a GPU that nothing gives to its container."""
    if "gpu" in ray.open or any(other.is_asked for other in ray.requests if other.kind is not RequestKind.PRODUCT):
        return False
    number = parse_quantity(known(request.count) or "")
    return number is not None and number > 0


def _problem(request: GpuRequest) -> Problem:
    told = f"{request.resource}: {known(request.count)} tells Ray of GPUs"
    message = f"{told}, and the container has no GPU limit: Ray gives it GPU tasks, which find no GPU"
    help_line = "set nvidia.com/gpu in the limits of the container; KubeRay then tells Ray by itself"
    return Problem(request.location, message, Severity.ERROR, help=help_line)


def _uncounted(ray: Container) -> Iterator[Problem]:
    """The first GPU limit, where KubeRay counts none of them."""
    limits = [each for each in ray.requests if each.kind is RequestKind.LIMIT and each.is_asked and is_gpu_vendor(each.vendor)]
    if limits and not any(ray_counts(str(each.resource)) for each in limits):
        name = limits[0].resource
        message = f"KubeRay does not count {name} as a GPU: Ray is started without num-gpus, and its autoscaler sees a group without GPUs"
        yield Problem(limits[0].location, message, Severity.WARNING, help='add num-gpus to rayStartParams, such as num-gpus: "1"')


RULE = Rule("GPU413", "ray-gpus-without-limit", Pod, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
