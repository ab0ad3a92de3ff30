"""GPU418: a GPU Job may run for ever, or repeats what has failed on a GPU as often as Kubernetes does by default."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure, surely_has_gpu
from gpulint.model.container import JobLimits, Pod
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

HELP = "set activeDeadlineSeconds to what the job may take at most, and backoffLimit to what a failure is worth, such as 1"


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem where a Job with a GPU has no deadline, or leaves the number of its repetitions at the default."""
    containers = project.containers_in(pod)
    if pod.job is None or any(map(is_infrastructure, containers)) or not any(surely_has_gpu(each, project) for each in containers):
        return
    faults = list(_faults(pod.job))
    if faults:
        yield Problem(pod.job.location, f"the GPU Job {', and '.join(faults)}", Severity.NOTE, help=HELP)


def _faults(job: JobLimits) -> Iterator[str]:
    if job.deadline is None:
        yield "has no activeDeadlineSeconds, so that one that hangs keeps its GPU until somebody looks"
    if job.backoff_limit is None and not job.has_failure_policy:
        yield "has no backoffLimit, so that a failure is repeated six times"


RULE = Rule("GPU418", "job-without-deadline", Pod, (Severity.NOTE,), Impact.WASTEFUL, check)
