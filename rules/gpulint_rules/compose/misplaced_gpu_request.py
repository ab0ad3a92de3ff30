"""GPU302: a service's GPU request stands in a place where Compose allows none."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, GpuRequest, RequestFault
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

PLACES = {
    "deploy": "indent it, so that it belongs to its service",
    "gpus": "put it on the service itself: `gpus: all`, or a list of devices",
    "gpu": "put `gpus: all`, or a list of devices, on the service itself",
    "runtime": "put it on the service itself, or reserve a device in its place",
}
RESERVATION = "reserve devices under deploy.resources.reservations.devices, each with capabilities: [gpu]"


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem for each request of a service that stands in the wrong place."""
    if container.service is not None:
        for request in container.requests:
            yield from (_problem(request, fault) for fault in request.faults if fault.misplaced)


def _problem(request: GpuRequest, fault: RequestFault) -> Problem:
    message = f"the GPU request is in the wrong place: {fault.reason}, so that Compose refuses the file"
    return Problem(fault.location, message, Severity.ERROR, help=PLACES.get(str(request.resource), RESERVATION))


RULE = Rule("GPU302", "misplaced-gpu-request", Container, (Severity.ERROR,), Impact.FAILS_TO_START, check)
