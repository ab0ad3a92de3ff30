"""GPU406: a Deployment's rolling update needs a free GPU before it gives one back."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu, is_infrastructure, surely_has_gpu
from gpulint.model.container import Container, Pod, Rollout
from gpulint.model.grant import granted
from gpulint.model.pod_owner import must_surge, replicas_of
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

HELP = "set strategy.type: Recreate, or rollingUpdate with maxSurge: 0 and maxUnavailable: 1"


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem where no pod may be taken away before a new one runs, and no GPU is left for that, as far as is known."""
    containers = project.containers_in(pod)
    machines = project.machines_of(containers[0])
    if pod.rollout is None or machines.autoscaled or any(map(is_infrastructure, containers)):
        return
    if not any(surely_has_gpu(each, project) for each in containers) or not must_surge(pod.rollout):
        return
    first = "the rolling update starts a new pod before it ends an old one"
    outcome = "the new pod waits for a GPU that the old one holds"
    if machines.gpus_total is None:
        message = f"{first}: where no GPU is free, {outcome}"
        yield Problem(pod.rollout.location, message, Severity.NOTE, help=f"{HELP}; or declare gpus_total or autoscaled")
        return
    needed = _gpus_with_one_more(pod.rollout, containers)
    if needed > machines.gpus_total:
        message = f"{first}, which takes {needed} GPUs where there are {machines.gpus_total}: {outcome}"
        yield Problem(pod.rollout.location, message, Severity.WARNING, help=HELP)


def _gpus_with_one_more(rollout: Rollout, containers: tuple[Container, ...]) -> int:
    """How many GPUs the pods of the Deployment and one more take; none where that cannot be told."""
    counts = [granted(container) for container in containers if has_gpu(container)]
    return 0 if None in counts else (replicas_of(rollout) + 1) * sum(filter(None, counts))


RULE = Rule("GPU406", "rollout-deadlock", Pod, (Severity.WARNING, Severity.NOTE), Impact.NEVER_SCHEDULED, check)
