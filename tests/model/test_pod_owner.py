"""Deployments and Jobs as owners of pods: when a rolling update must start a new pod first, and what ends a Job."""

from __future__ import annotations

import pytest

from gpulint.model.container import Pod
from gpulint.model.kubernetes import read_containers
from gpulint.model.pod_owner import must_surge, replicas_of
from gpulint.parse.yaml import parse
from gpulint.source import Source, UnknownValue


def pod(version: str, kind: str, spec: str) -> Pod:
    """The pod of an object whose spec holds these further fields, in braces."""
    text = f"{{apiVersion: {version}, kind: {kind}, spec: {{{spec}, template: {{spec: {{containers: [{{name: a, image: a}}]}}}}}}}}"
    (container,) = read_containers(parse(Source("app.yaml", text.encode())).documents[0].root)
    assert container.pod
    return container.pod


@pytest.mark.parametrize(
    ("spec", "surges"),
    [
        ("paused: false", True),
        ("replicas: 3", True),
        ("replicas: 4", False),
        ("replicas: 0", False),
        ("strategy: {type: Recreate}", False),
        ("strategy: {type: RollingUpdate}", True),
        ("strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", False),
        ("strategy: {rollingUpdate: {maxUnavailable: 1}}", False),
        ("strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 100%}}", True),
        ("replicas: 10, strategy: {rollingUpdate: {maxUnavailable: 9%}}", True),
        ("replicas: 10, strategy: {rollingUpdate: {maxUnavailable: 10%}}", False),
    ],
)
def test_whether_an_update_starts_a_new_pod_first(spec: str, surges: bool) -> None:
    rollout = pod("apps/v1", "Deployment", spec).rollout
    assert rollout and must_surge(rollout) is surges


def test_replicas_that_are_not_known() -> None:
    rollout = pod("apps/v1", "Deployment", "replicas: '${N}'").rollout
    assert rollout
    with pytest.raises(UnknownValue):
        replicas_of(rollout)


def test_other_kinds_have_no_rollout() -> None:
    assert pod("apps/v1", "StatefulSet", "replicas: 1").rollout is None


def test_what_ends_a_job() -> None:
    job = pod("batch/v1", "Job", "activeDeadlineSeconds: 60").job
    assert job and (job.deadline, job.backoff_limit, job.has_failure_policy) == ("60", None, False)
    assert pod("batch.volcano.sh/v1", "Sample", "x: 1").job is None
