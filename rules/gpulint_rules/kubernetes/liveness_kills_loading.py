"""GPU411: a liveness probe ends a model server before it has loaded its model."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu, is_infrastructure
from gpulint.model.container import Container, Probe
from gpulint.model.quantity import parse_natural
from gpulint.project import Project
from gpulint.project.processes import serves_model
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Value, known

ENOUGH_SECONDS = 120
PERIOD, FAILURES = 10, 3
"""Kubernetes' defaults: seconds between two questions, and failures in a row until the container is ended."""


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where the probe gives a model server on a GPU less time than loading takes, and no probe guards the start."""
    liveness = container.liveness
    if liveness is None or container.startup is not None or not has_gpu(container) or is_infrastructure(container):
        return
    seconds = _budget(liveness)
    if seconds < ENOUGH_SECONDS and serves_model(container, project):
        message = (
            f"the liveness probe ends this model server {seconds} s after its start: loading a model takes longer, so it starts for ever"
        )
        help_line = "add a startupProbe, such as periodSeconds: 10 and failureThreshold: 60; liveness is asked only once it has succeeded"
        yield Problem(liveness.location, message, Severity.WARNING, help=help_line)


def _budget(probe: Probe) -> int:
    """The seconds from the start of the container until the probe ends it."""
    return _number(probe.initial_delay, 0) + _number(probe.period, PERIOD) * _number(probe.failure_threshold, FAILURES)


def _number(written: Value | None, default: int) -> int:
    number = parse_natural(known(written) or "")
    return default if number is None else number


RULE = Rule("GPU411", "liveness-kills-loading", Container, (Severity.WARNING,), Impact.FAILS_TO_START, check)
