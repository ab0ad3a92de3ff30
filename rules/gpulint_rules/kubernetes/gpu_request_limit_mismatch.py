"""GPU401: a GPU's request and limit differ, or only the request is there."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.model.quantity import parse_quantity, whole_number_fault
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import known


def check(container: Container, project: Project) -> Iterator[Problem]:
    """One problem for each GPU resource whose two quantities the API server would refuse together."""
    for request in container.requests:
        if request.kind is RequestKind.LIMIT and not request.faults:
            yield from _of_resource(request, project.strict)


def _of_resource(request: GpuRequest, strict: bool) -> Iterator[Problem]:
    asked, limit, name = known(request.request), known(request.limit), request.resource
    if any(quantity is not None and whole_number_fault(quantity) for quantity in (asked, limit)):
        return
    if asked is not None and limit is None:
        message = f"{name} is requested ({asked}) without a limit: the API server refuses the pod, since GPUs cannot be overcommitted"
        yield Problem(asked.location, message, Severity.ERROR, help=f"write limits: {{{name}: {asked}}}; the request may then be left out")
    elif asked is not None and limit is not None and parse_quantity(asked) != parse_quantity(limit):
        message = f"{name} is requested {asked} times and limited to {limit}: the API server refuses the pod, since the two must be equal"
        yield Problem(asked.location, message, Severity.ERROR, help=f"write {limit} for both, or leave the request out")
    elif strict and asked is None and limit is not None:
        message = f"{name} has a limit of {limit} and no request of its own, which is then taken as equal (policy)"
        yield Problem(limit.location, message, Severity.WARNING, help=f"write requests: {{{name}: {limit}}} as well")


RULE = Rule("GPU401", "gpu-request-limit-mismatch", Container, (Severity.ERROR, Severity.WARNING), Impact.FAILS_TO_START, check)
