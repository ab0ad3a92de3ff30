"""GPU303: services that run together are given the same card."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.model.container import Container, GpuRequest
from gpulint.project import Project
from gpulint.project.shared_cards import ALL, Given, appended, given_cards, replicas, sharing
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location

NO_ACCOUNT = "Compose keeps no account of GPUs"
A_CARD_EACH = 'name a card for each service, such as device_ids: ["0"] and device_ids: ["1"]'


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where another service, another replica or another layer of the service itself is given the same card."""
    if container.service is None or is_infrastructure(container) or project.machines_of(container).gpus_per_node == 1:
        return
    for given in given_cards(container, project):
        yield from _of_replicas(container, given)
        yield from _of_services(container, given, project)
    for request, before in appended(container):
        yield _of_layers(request, before)


def _of_services(container: Container, given: Given, project: Project) -> Iterator[Problem]:
    other = sharing(container, given, project)
    if other is not None:
        message = f"{_named(other.cards)} given to the service {other.service} too: {NO_ACCOUNT}, and both start on the same"
        related = (Related(other.request.location, f"the request of {other.service}"),)
        yield Problem(given.request.location, message, Severity.NOTE, A_CARD_EACH, related)


def _of_replicas(container: Container, given: Given) -> Iterator[Problem]:
    several = replicas(container)
    if several is not None:
        written, number = several
        message = f"{_named(given.cards)} given to each of {number} replicas: {NO_ACCOUNT}, and all start on the same"
        related = (Related(written.location, "the number of replicas"),)
        yield Problem(_selection(given.request), message, Severity.NOTE, "write a service for each card, with its device_ids", related)


def _of_layers(request: GpuRequest, before: GpuRequest) -> Problem:
    message = "this request is added to the one of another file, since Compose appends lists: the container is sent both"
    related = (Related(before.location, "the request that it is added to"),)
    return Problem(request.location, message, Severity.NOTE, "write !override before the list to put it in the place of the other", related)


def _named(cards: frozenset[str]) -> str:
    """The cards with the verb that goes with them."""
    if ALL in cards:
        return "every GPU of the machine is"
    *others, last = sorted(cards)
    return f"the GPUs {', '.join(others)} and {last} are" if others else f"the GPU {last} is"


def _selection(request: GpuRequest) -> Location:
    """Where the request says which cards."""
    written = (*request.ids, *((request.count,) if request.count is not None else ()))
    return written[0].location if written else request.location


RULE = Rule("GPU303", "shared-gpu", Container, (Severity.NOTE,), Impact.WRONG_GPU, check)
