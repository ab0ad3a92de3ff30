"""How many GPUs a container is given, by what it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.resources import gpu_resource, is_gpu_vendor
from gpulint.model.container import Container, Dialect, GpuRequest, RequestKind, RequestState
from gpulint.model.quantity import parse_quantity
from gpulint.source import Text

_COUNTED = frozenset({RequestKind.LIMIT, RequestKind.GPUS, RequestKind.RESERVATION, RequestKind.CDI})


def granted(container: Container) -> int | None:
    """How many cards the container is given; None where it is given all, or where that cannot be told.

    It cannot for shares and slices of a card, several requests that a tool merges, a selection that is not known, or a privileged
    container, which sees every card.
    """
    if container.privileged is not None or any(request.state is RequestState.BROKEN for request in container.requests):
        return None
    counts = [_cards(request) for request in deciding(container)]
    known = [count for count in counts if count is not None]
    if not counts or len(known) < len(counts) or (len(counts) > 1 and not container.is_in_pod):
        return None
    return sum(known)


def asks_for_all(container: Container) -> GpuRequest | None:
    """The request by which the container is given every GPU of the machine."""
    return next((each for each in deciding(container) if _is_for_all(each)), None)


def _is_for_all(request: GpuRequest) -> bool:
    """Whether it says all, or as a device of Compose neither a count nor ids."""
    if request.count is None:
        return not request.ids and request.kind in (RequestKind.RESERVATION, RequestKind.GPUS)
    return isinstance(request.count, Text) and request.count.lower() == "all"


def deciding(container: Container) -> Iterator[GpuRequest]:
    """The requests that say how many GPUs. A variable of the runtime does where the runtime is all that is asked for; beside another
    request it is not known which of the two holds, so that both count."""
    asked = [each for each in container.requests if each.is_sound and is_gpu_vendor(each.vendor)]
    if any(each.kind in _COUNTED or each.kind is RequestKind.RUNTIME for each in asked):
        yield from (each for each in asked if each.kind in _COUNTED or each.kind is RequestKind.VISIBLE_DEVICES)
    if container.dialect is Dialect.TASK:
        yield from (each for each in asked if each.kind is RequestKind.PRODUCT)


def _cards(request: GpuRequest) -> int | None:
    if request.ids:
        return len(request.ids) if all(isinstance(each, Text) and each != "all" for each in request.ids) else None
    if not isinstance(request.count, Text) or (request.kind is RequestKind.LIMIT and not _counts_cards(request)):
        return None
    number = parse_quantity(request.count)
    return int(number) if number is not None and number.denominator == 1 else None


def _counts_cards(request: GpuRequest) -> bool:
    resource = gpu_resource(request.resource) if request.resource is not None else None
    return resource is not None and resource.whole and not resource.shared and not resource.mig
