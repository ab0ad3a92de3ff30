"""GPU414: a container asks for a GPU by a name that the cluster's MIG strategy does not offer."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.facts.resources import gpu_resource, mig_profile
from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location

SINGLE, MIXED = "single", "mixed"


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem for each request that the declared strategy, or the one that all settings here agree on, does not offer."""
    limits = (each for each in container.requests if each.kind is RequestKind.LIMIT and each.is_asked and each.vendor == "nvidia")
    asked = [each for each in limits if str(each.resource) not in project.extended_resources]
    if not asked or is_infrastructure(container):
        return
    machines = project.machines_of(container)
    strategy, place = (machines.mig_strategy, None) if machines.mig_strategy is not None else _strategy_of_settings(project)
    if strategy is None:
        return
    related = (Related(place, f"the MIG strategy is set to {strategy} here"),) if place is not None else ()
    for request in asked:
        yield from _problems(request, strategy, machines.mig_profiles or (), related)


def _strategy_of_settings(project: Project) -> tuple[str | None, Location | None]:
    """The strategy of the repository's own settings, where all that set one agree."""
    found = [setting.value for part in project.stack_parts for setting in part.settings if setting.known.role == "mig"]
    agreed = {str(value) for value in found}
    return (str(found[0]), found[0].location) if len(agreed) == 1 else (None, None)


def _problems(request: GpuRequest, strategy: str, profiles: tuple[str, ...], related: tuple[Related, ...]) -> Iterator[Problem]:
    resource = gpu_resource(str(request.resource))
    profile = mig_profile(str(request.resource))
    if resource is None or resource.shared or not resource.whole:
        return
    if profile and strategy != MIXED:
        offered = "a slice is called nvidia.com/gpu" if strategy == SINGLE else "no slices are offered"
        message = f"{request.resource} is asked for, and with the MIG strategy {strategy} {offered}: the pod is never scheduled"
        help_line = "ask for nvidia.com/gpu, or set the strategy to mixed"
        yield Problem(request.location, message, Severity.WARNING, help=help_line, related=related)
    elif profile and profiles and profile not in profiles:
        message = f"{request.resource} is asked for, and the machines have slices of {', '.join(profiles)}: the pod is never scheduled"
        yield Problem(request.location, message, Severity.WARNING, help=f"ask for nvidia.com/mig-{profiles[0]}")
    elif not profile and strategy == MIXED:
        message = f"{request.resource} is asked for, and with the MIG strategy mixed a card that is divided is not offered by this name"
        help_line = "ask for a slice such as nvidia.com/mig-1g.10gb, unless there are cards that are not divided"
        yield Problem(request.location, message, Severity.NOTE, help=help_line, related=related)


RULE = Rule("GPU414", "mig-resource-mismatch", Container, (Severity.WARNING, Severity.NOTE), Impact.NEVER_SCHEDULED, check)
