"""GPU501: the value of `--gpus` is refused, or is taken otherwise than it is meant."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from gpulint.model.container import Container, Dialect, GpuRequest, RequestFault, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

ANY_VALUE = "give it all, a number of GPUs, or devices in one quoted list"


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem for each request by the flag that is broken, of a command, a CI job or a dev container."""
    if container.command is None and not container.is_dev_container:
        return
    for request in container.requests:
        if request.kind is RequestKind.GPUS:
            yield from (_problem(container, request, fault) for fault in request.faults if not _is_of_dev_container(container, fault))


def _is_of_dev_container(container: Container, fault: RequestFault) -> bool:
    """Whether it is how devcontainer.json is written that is wrong, which another rule speaks of."""
    return fault.misplaced and container.is_dev_container


def _problem(container: Container, request: GpuRequest, fault: RequestFault) -> Problem:
    message = f"--gpus is malformed: {fault.reason}{_outcome(request)}"
    return Problem(fault.location, message, Severity.ERROR, help=_help(container, fault))


def _outcome(request: GpuRequest) -> str:
    """What follows: numbers alone are taken for a count, and an empty name for a device; all else is refused."""
    if request.count is not None and not request.ids:
        return ""
    return "" if request.ids and not all(request.ids) else ", so that nothing is started"


def _help(container: Container, fault: RequestFault) -> str:
    """What to write, quoted so that it reaches the tool: for a shell, or for a list that no shell reads."""
    if not fault.remedy:
        return ANY_VALUE
    if container.dialect is Dialect.LIBRARY:
        return f"pass gpus={fault.remedy!r}"
    if container.is_dev_container or (container.command is not None and container.command.context == "python"):
        return f'write "--gpus", {json.dumps(fault.remedy)}'
    if container.dialect is Dialect.RUN:
        return f"write --gpus {shlex.quote(fault.remedy)}"
    value = json.dumps(fault.remedy) if '"' in fault.remedy else fault.remedy
    return f"write --gpus {value}"


RULE = Rule("GPU501", "malformed-gpus-flag", Container, (Severity.ERROR,), Impact.FAILS_TO_START, check)
