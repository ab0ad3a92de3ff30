"""What kustomizations make of the objects of the tree: what several build alike is given once, and what they build differently of one
object once for each, with the kustomization that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gpulint.deferred import NamedTuple
from gpulint.model.container import Container, Overlay, Pod
from gpulint.parse.nodes import Mapping, Node, Sequence
from gpulint.project.kustomization import Kustomization
from gpulint.project.transform import Resource
from gpulint.source import Location, Unknown

_DEEPEST = 60
"""How deep objects are compared: a bound for recursion."""


class Variant(NamedTuple):
    """What one or more kustomizations build of an object. `overlay` is the first of them, where others build something else of it."""

    resource: Resource
    overlay: Overlay | None


def variants(built: Iterable[tuple[Kustomization, tuple[Resource, ...]]]) -> tuple[Variant, ...]:
    """The different forms of each object that is built, those of one object beside each other."""
    places: dict[Location, list[tuple[Kustomization, Resource]]] = {}
    for kustomization, resources in built:
        for resource in resources:
            places.setdefault(resource.root.location, []).append((kustomization, resource))
    return tuple(variant for found in places.values() for variant in _different(found))


def _different(found: list[tuple[Kustomization, Resource]]) -> Iterator[Variant]:
    """The forms of one object, each with the first kustomization that builds it."""
    forms = found[:1]
    if len(found) > 1:
        by_content: dict[object, tuple[Kustomization, Resource]] = {}
        for kustomization, resource in found:
            by_content.setdefault((resource.open, _content(resource.root)), (kustomization, resource))
        forms = list(by_content.values())
    for kustomization, resource in forms:
        yield Variant(resource, Overlay(kustomization.location, len(forms)) if len(forms) > 1 else None)


def _content(node: Node, depth: int = 0) -> object:
    """What a node says, wherever it is written."""
    if isinstance(node, Unknown) or depth > _DEEPEST:
        return id(node)
    if isinstance(node, Mapping):
        return frozenset((str(key), _content(value, depth + 1)) for key, value, _ in node)
    return tuple(_content(item, depth + 1) for item in node) if isinstance(node, Sequence) else str(node)


def as_built(containers: Iterable[Container], variant: Variant) -> Iterator[Container]:
    """The containers of a variant's object, with what is open in it, and its overlay."""
    is_open, overlay = variant.resource.open, variant.overlay
    pods: dict[int, Pod] = {}
    for container in containers:
        pod = container.pod
        if pod is not None:
            pod = pods.setdefault(id(pod), replace(pod, open=pod.open | is_open, overlay=overlay))
        yield replace(container, pod=pod, open=container.open | is_open, overlay=overlay)
