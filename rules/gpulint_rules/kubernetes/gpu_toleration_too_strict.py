"""GPU405: a toleration of a GPU taint takes one value, and it is not the taint's."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.resources import gpu_taint
from gpulint.model.container import Pod, Toleration
from gpulint.model.taint import Taint, names_taint, parse_taint, taken_value, takes_any_value, tolerates
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text, Unknown

HELP = "write operator: Exists and no value, which takes every value of the key"


def check(pod: Pod, project: Project) -> Iterator[Problem]:
    """A problem for each toleration that misses the declared taint; or of a value that another file here does not have, or of none."""
    declared = project.machines_of(project.containers_in(pod)[0]).gpu_taint
    taint = parse_taint(declared) if declared is not None else None
    for toleration in pod.tolerations:
        if not _is_settled(toleration):
            continue
        if taint is not None and names_taint(toleration, taint):
            if not tolerates(pod.tolerations, taint):
                yield _problem_of_declared(toleration, taint)
        elif _is_for_gpu(toleration) and not _beside_another(toleration, pod):
            yield from _without_declaration(toleration, project)


def _problem_of_declared(toleration: Toleration, taint: Taint) -> Problem:
    taken = taken_value(toleration)
    shown = f"takes the value {taken} alone" if taken else "has no value, and so takes a taint without one alone"
    message = f"the toleration of {taint.key} {shown}, and the taint of the GPU nodes is {taint}: the pod is never scheduled"
    return Problem(toleration.location, message, Severity.WARNING, help=HELP)


def _is_settled(toleration: Toleration) -> bool:
    """Whether all of the toleration is known, and it takes one value alone."""
    return not any(isinstance(field, Unknown) for field in toleration[:4]) and not takes_any_value(toleration)


def _is_for_gpu(toleration: Toleration) -> bool:
    return isinstance(toleration.key, Text) and bool(gpu_taint(toleration.key))


def _beside_another(toleration: Toleration, pod: Pod) -> bool:
    """Whether the pod has a further toleration of the key, or one of every key."""
    others = (other for other in pod.tolerations if other is not toleration)
    return any(isinstance(other.key, Unknown) or not other.key or other.key == toleration.key for other in others)


def _without_declaration(toleration: Toleration, project: Project) -> Iterator[Problem]:
    if toleration.operator is None and toleration.value is None:
        message = f"the toleration of {toleration.key} has neither operator nor value: it takes a taint without a value alone"
        yield Problem(toleration.location, message, Severity.WARNING, help=HELP)
    elif toleration.value is not None:
        first = _first_of_another_value(toleration, project)
        if first is not None:
            takes = f"takes {toleration.value} alone, and one in another file {first.value} alone"
            message = f"the toleration of {toleration.key} {takes}: no taint fits both"
            related = (Related(first.location, f"this one takes {first.value}"),)
            yield Problem(toleration.location, message, Severity.WARNING, help=HELP, related=related)


def _first_of_another_value(toleration: Toleration, project: Project) -> Toleration | None:
    """The first toleration of the same key in the order of the files, where it is in a file before this one and takes another value."""
    all_of_key = (other for pod in project.pods for other in pod.tolerations if isinstance(other.key, Text) and other.key == toleration.key)
    settled = [other for other in all_of_key if _is_settled(other) and isinstance(other.value, Text)]
    first = min(settled, key=lambda other: other.location)
    differs = first.location.path != toleration.location.path and first.value != toleration.value
    return first if differs else None


RULE = Rule("GPU405", "gpu-toleration-too-strict", Pod, (Severity.WARNING,), Impact.NEVER_SCHEDULED, check)
