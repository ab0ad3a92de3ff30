"""GPU409: one container asks for GPU resources that no node gives together, or for more than one share of a card."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from gpulint.facts.resources import gpu_resource, is_gpu_vendor
from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.model.quantity import parse_quantity
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem for two vendors or for a whole card beside a slice, at the later of the two; and for each share above one."""
    asked = [each for each in container.requests if each.kind is RequestKind.LIMIT and each.is_asked and is_gpu_vendor(each.vendor)]
    for first, second in combinations(asked, 2):
        mix = _mixed(first, second)
        if mix:
            yield _problem_of_two(first, second, mix)
            break
    yield from (_problem_of_shares(request, request.count) for request in asked if _is_several_shares(request))


def _mixed(first: GpuRequest, second: GpuRequest) -> str:
    """What is asked for together that no node has together, or nobody means; "" where the two go well."""
    one, other = (gpu_resource(str(each.resource)) for each in (first, second))
    if one is None or other is None or not (one.whole and other.whole):
        return ""
    if one.vendor != other.vendor:
        return "the GPUs of two vendors"
    return "a whole GPU and a MIG slice" if one.mig != other.mig else ""


def _problem_of_two(first: GpuRequest, second: GpuRequest, mix: str) -> Problem:
    related = (Related(first.location, f"{first.resource} is asked for here"),)
    message = f"one container asks for {mix}, {first.resource} and {second.resource}: it waits for a node that has both, and uses one"
    severity = Severity.ERROR if first.vendor != second.vendor else Severity.WARNING
    return Problem(second.location, message, severity, help="keep the one that the program uses", related=related)


def _is_several_shares(request: GpuRequest) -> bool:
    resource = gpu_resource(str(request.resource))
    number = parse_quantity(request.count) if isinstance(request.count, Text) else None
    return resource is not None and resource.shared and resource.whole and number is not None and number > 1


def _problem_of_shares(request: GpuRequest, count: object) -> Problem:
    message = f"{count} shares of {request.resource} bring no more of a card than one, and the plugin may refuse more than one"
    return Problem(request.location, message, Severity.WARNING, help=f"ask for one share, or for whole cards: {request.resource}: 1")


RULE = Rule("GPU409", "mixed-gpu-resources", Container, (Severity.ERROR, Severity.WARNING), Impact.NEVER_SCHEDULED, check)
