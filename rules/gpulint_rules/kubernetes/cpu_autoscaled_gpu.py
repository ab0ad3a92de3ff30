"""GPU421: a GPU workload is scaled by its use of the processor."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu
from gpulint.model.autoscaler import Autoscaler
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text, Value, known


def check(autoscaler: Autoscaler, project: Project) -> Iterator[Problem]:
    """A problem where the autoscaler asks for the processor's use, and what it scales has a GPU."""
    if autoscaler.by_cpu is None:
        return
    target = next((each for each in project.containers if _is_target(each, autoscaler) and has_gpu(each)), None)
    if target is not None:
        message = (
            f"the GPU workload {known(autoscaler.name)} is scaled by the use of the processor, which says little of a GPU: a fallback to"
            " the CPU uses all of it, and starts more pods, each with a GPU"
        )
        help_line = "scale by the length of the queue, by requests in flight, or by a metric of the GPU"
        related = (Related(target.requests[0].location, "its pods ask for a GPU here"),)
        yield Problem(autoscaler.by_cpu, message, Severity.NOTE, help=help_line, related=related)


def _is_target(container: Container, autoscaler: Autoscaler) -> bool:
    """Whether the container's owner is what is scaled, as far as kind, name and namespace tell."""
    pod = container.pod
    if pod is None or pod.kind != known(autoscaler.kind) or not _are_same(pod.name, known(autoscaler.name)):
        return False
    return pod.namespace is None or autoscaler.namespace is None or _are_same(pod.namespace, autoscaler.namespace)


def _are_same(one: Value | None, other: Value | None) -> bool:
    return isinstance(one, Text) and isinstance(other, Text) and one == other


RULE = Rule("GPU421", "cpu-autoscaled-gpu", Autoscaler, (Severity.NOTE,), Impact.WASTEFUL, check)
