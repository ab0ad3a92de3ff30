"""What of a container a template that is not rendered to the end may yet supply, told from the nodes that it left open or Unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpulint.model.container import ASPECTS
from gpulint.model.workload import Site, find_sites
from gpulint.parse.nodes import Mapping, Node, Sequence
from gpulint.source import Location, Unknown

_LISTS = ("containers", "initContainers")
_OF_CONTAINER = {"env": "env", "envFrom": "env", "volumeMounts": "shm", "command": "command", "args": "command"}
_OF_POD = {"volumes": "shm", "hostIPC": "shm", "resourceClaims": "gpu", "tolerations": "toleration", "runtimeClassName": "runtime-class"}
_PLACEMENT = frozenset(("toleration", "runtime-class"))
_AMOUNTS = frozenset(("limits", "requests"))
"""The fields of a container and of its pod that supply an aspect; which of these say where a pod may run; and the mappings of resources."""


def is_undecided(node: Node | None) -> bool:
    """Whether a value is not known, or may hold more than is known."""
    return isinstance(node, Unknown) or (isinstance(node, (Mapping, Sequence)) and node.open)


def undecided_aspects(owner: Mapping, left_empty: Callable[[Node], bool]) -> dict[Location, frozenset[str]]:
    """Of each container of an object, by its place, the aspects that may yet be supplied. `left_empty` tells of a value whether it is left
    empty for somebody to fill it."""
    found: dict[Location, frozenset[str]] = {}
    for site in find_sites(owner):
        for node in _containers(site):
            aspects = ASPECTS if _may_hold_any_field(site, node) else frozenset(_aspects(site, node, left_empty))
            found[node.location] = found.get(node.location, frozenset()) | aspects
    return found


def _containers(site: Site) -> Iterator[Mapping]:
    if site.form == "pod":
        for key in _LISTS:
            yield from site.node.sequence(key).mappings()
    else:
        yield site.node


def _may_hold_any_field(site: Site, node: Mapping) -> bool:
    """Whether a container or what is around it may hold any field more, or may not be there at all."""
    return node.open or site.holder.open or any(is_undecided(site.holder.get(key)) for key in _LISTS)


def _aspects(site: Site, node: Mapping, left_empty: Callable[[Node], bool]) -> Iterator[str]:
    for holder, aspects in ((node, {site.resources: "gpu", **_OF_CONTAINER}), (site.holder, _OF_POD)):
        for field, aspect in aspects.items():
            found = holder.get(field)
            if found is not None and (_may_hold_more(found) or (aspect not in _PLACEMENT and left_empty(found))):
                yield aspect


def _may_hold_more(field: Node) -> bool:
    """Whether a field is not known in a way that matters: as a whole, in a mapping of it, or in what an item of it is for."""
    if isinstance(field, Mapping):
        return field.open or any(is_undecided(entry.value) for entry in field if isinstance(entry.value, Mapping) or entry.key in _AMOUNTS)
    return is_undecided(field) or any(map(_has_undecided_identity, field if isinstance(field, Sequence) else ()))


def _has_undecided_identity(item: Node) -> bool:
    """Whether an item of a list is not known, or which variable or volume it is for."""
    if isinstance(item, Mapping):
        return item.open or any(isinstance(item.get(key), Unknown) for key in ("name", "mountPath"))
    return False
