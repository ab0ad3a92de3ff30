"""Which cards the services of a Compose project are given, and which of them come to several. Nothing shares cards out: a count of n is
the first n, for every service that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts.resources import is_gpu_vendor
from gpulint.model.container import RequestKind
from gpulint.model.grant import deciding
from gpulint.parse.quantity import parse_natural
from gpulint.project import Project
from gpulint.source import Text, Unknown

if TYPE_CHECKING:
    from gpulint.model.container import Container, GpuRequest

ALL = "all"
_ANY = "any"
_MOST_CARDS = 32
"""No machine has more; a larger count is nobody's, and each card costs an entry."""

Group = tuple[tuple[str, ...], frozenset[str]]
"""What runs together: the files of a project, and the profiles of a service."""


class Given(NamedTuple):
    """A request and the cards that it gives: their indices or names, or ALL."""

    request: GpuRequest
    cards: frozenset[str]


class _User(NamedTuple):
    container: Container
    given: Given


class Sharing(NamedTuple):
    """The service before one that is given some of the same cards, its request, and these cards."""

    service: Text
    request: GpuRequest
    cards: frozenset[str]


def given_cards(container: Container, project: Project) -> Iterator[Given]:
    """What each request of a service gives, where the files decide. A swarm hands its resources out itself."""
    for request in deciding(container):
        is_swarm = request.kind is RequestKind.RESERVATION and request.resource is not None
        is_decided = request.is_asked and not is_swarm and not is_chosen_outside(request, project)
        cards = _cards(request) if is_decided else None
        if cards:
            yield Given(request, cards)


def is_chosen_outside(request: GpuRequest, project: Project) -> bool:
    """Whether a variable decides on a request, also one with a default: who starts the project chooses."""
    source = project.tree.source(request.location.path)
    written = [each for each in (request.count, request.resource, request.driver, *request.ids) if each is not None]
    return any(isinstance(each, Unknown) or (source is not None and "$" in source.line(each.location.line)) for each in written)


def _cards(request: GpuRequest) -> frozenset[str] | None:
    if request.ids:
        known = [str(each) for each in request.ids if isinstance(each, Text)]
        return frozenset(known) if len(known) == len(request.ids) else None
    if isinstance(request.count, Unknown):
        return None
    if request.count is None or request.count.lower() in (ALL, "-1"):
        return frozenset({ALL})
    number = parse_natural(request.count)
    return frozenset(map(str, range(number))) if number is not None and number <= _MOST_CARDS else None


def sharing(container: Container, given: Given, project: Project) -> Sharing | None:
    """The first service, of those before this one in the files, that is given one of these cards too."""
    group = _group(container)
    users = _users(project).get(group, {}) if group else {}
    found = [users[card] for card in ((_ANY,) if ALL in given.cards else (*given.cards, ALL)) if card in users]
    before = [user for user in found if user.container.name != container.name and user.container.location < container.location]
    first = min(before, key=lambda user: user.container.location, default=None)
    if first is None or first.container.service is None:
        return None
    theirs = first.given.cards
    shared = theirs if ALL in given.cards else given.cards if ALL in theirs else given.cards & theirs
    return Sharing(first.container.service.name, first.given.request, shared)


@lru_cache(maxsize=2)
def _users(project: Project) -> dict[Group, dict[str, _User]]:
    """The first service on each card of each group."""
    found: dict[Group, dict[str, _User]] = {}
    for container in sorted(project.containers, key=lambda each: each.location):
        group = _group(container)
        if group is None:
            continue
        users = found.setdefault(group, {})
        for given in given_cards(container, project):
            for card in (*given.cards, _ANY):
                users.setdefault(card, _User(container, given))
    return found


def _group(container: Container) -> Group | None:
    """What the service runs together with; None for what is no service, or of profiles that are not known."""
    service = container.service
    if service is None or any(isinstance(each, Unknown) for each in service.profiles):
        return None
    return service.run, frozenset(str(each) for each in service.profiles)


def replicas(container: Container) -> tuple[Text, int] | None:
    """How many containers the service is started in, as it is written and as a number; None for one, or where that is not known."""
    written = container.service.replicas if container.service else None
    number = parse_natural(written) if isinstance(written, Text) else None
    return (written, number) if isinstance(written, Text) and number is not None and number > 1 else None


def appended(container: Container) -> Iterator[tuple[GpuRequest, GpuRequest]]:
    """Requests of one file that Compose adds to those of another: the one added, and the one before it."""
    for kind in (RequestKind.GPUS, RequestKind.RESERVATION):
        asked = [each for each in container.requests if each.kind is kind and each.is_sound and is_gpu_vendor(each.vendor)]
        for request in asked[1:]:
            if request.location.path != asked[0].location.path and request.vendor == asked[0].vendor:
                yield request, asked[0]
