"""GPU402: a GPU quantity that is not a whole number."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, RequestKind
from gpulint.model.quantity import whole_number_fault
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import known


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """One problem for each quantity of a GPU resource that the API server would refuse."""
    for request in container.requests:
        if request.kind is not RequestKind.LIMIT:
            continue
        for quantity in (known(request.limit), known(request.request)):
            fault = whole_number_fault(quantity) if quantity is not None else ""
            if quantity is not None and fault:
                message = (
                    f"{request.resource}: {quantity} {fault}: the API server refuses the pod, since a GPU is given whole or not at all"
                )
                yield Problem(
                    quantity.location, message, Severity.ERROR, help="write a whole number; to share a card use MIG or time-slicing"
                )


RULE = Rule("GPU402", "fractional-gpu", Container, (Severity.ERROR,), Impact.FAILS_TO_START, check)
