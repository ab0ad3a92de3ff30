"""What one place of the files becomes in several effective containers: what any of them supplies is open in the others, but for overlays
of a kustomization, each of which is applied as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from gpulint.model.container import Container, Pod
from gpulint.source import Location

_MOST_SIBLINGS = 100
"""How many containers of a pod are put beside each of them: nobody writes a pod of more, and all of them grow with the square."""

_OF_THE_POD = frozenset({"toleration", "runtime-class"})


def supplied_aspects(container: Container) -> frozenset[str]:
    """The aspects that a container's files do say something of."""
    pod = container.pod
    says = {
        "gpu": bool(container.requests),
        "shm": container.shared_memory is not None or container.ipc is not None or (pod is not None and pod.host_ipc),
        "env": bool(container.env),
        "command": container.entrypoint is not None or container.arguments is not None,
        "image": container.image is not None or container.build is not None,
        "toleration": pod is not None and bool(pod.tolerations),
        "runtime-class": pod is not None and pod.runtime_class is not None,
    }
    return frozenset(aspect for aspect, said in says.items() if said)


def opened(containers: Iterable[Container], aspects: frozenset[str]) -> Iterable[Container]:
    """The containers with more aspects open in each, and in their pods."""
    if not aspects:
        return containers
    pods: dict[int, Pod] = {}
    return (_with_open(container, aspects, pods) for container in containers)


def _with_open(container: Container, aspects: frozenset[str], pods: dict[int, Pod]) -> Container:
    """The container with more aspects open. `pods` keeps one Pod for the containers of a pod."""
    pod = container.pod
    if pod is not None:
        pod = pods.setdefault(id(pod), replace(pod, open=pod.open | aspects))
    return replace(container, open=container.open | aspects, pod=pod)


def open_to_variants(containers: Iterable[Container]) -> tuple[Container, ...]:
    """The containers, with what another container of the same place supplies open in each that is no overlay's."""
    found = tuple(containers)
    places: dict[Location, list[frozenset[str]]] = {}
    for container in found:
        places.setdefault(container.location, []).append(supplied_aspects(container))
    pods: dict[int, Pod] = {}
    return tuple(_opened(container, places[container.location], pods) for container in found)


def _opened(container: Container, variants: list[frozenset[str]], pods: dict[int, Pod]) -> Container:
    """The container with the aspects open that its variants have and it has not. `pods` keeps one Pod for the containers of a pod."""
    missing = frozenset[str]().union(*variants) - supplied_aspects(container)
    pod = container.pod
    if not missing or len(variants) == 1 or container.overlay is not None:
        return container
    if pod is not None:
        pod = pods.setdefault(id(pod), replace(pod, open=pod.open | (missing & _OF_THE_POD)))
    return replace(container, open=container.open | missing, pod=pod)


def with_siblings(containers: Iterable[Container]) -> tuple[Container, ...]:
    """The containers, each with the others of its pod beside it."""
    found = tuple(containers)
    pods: dict[int, list[Container]] = {}
    for container in found:
        if container.pod is not None:
            pods.setdefault(id(container.pod), []).append(container)
    return tuple(_beside(container, pods.get(id(container.pod), [])) for container in found)


def _beside(container: Container, pod: list[Container]) -> Container:
    siblings = tuple(islice((other for other in pod if other is not container), _MOST_SIBLINGS))
    return replace(container, siblings=siblings) if siblings else container
