"""The machines of a cluster: its nodes folded into what they share, and a pool for each kind of those that differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gpulint.deferred import NamedTuple
from gpulint.facts.nodes import pool_names, selects_pool
from gpulint.model.cluster_node import ClusterNode, facts_of
from gpulint.model.machines import Machines, Pool


class Fleet(NamedTuple):
    """What is known of the nodes with a GPU: the facts with their pools, the nodes of each pool by its name, and those of no pool, since
    no label of theirs would select it."""

    machines: Machines
    members: dict[str, tuple[ClusterNode, ...]]
    unselected: tuple[ClusterNode, ...]


class _Group(NamedTuple):
    """Nodes of one kind and one node pool, with the labels that all of them have."""

    facts: Machines
    nodes: tuple[ClusterNode, ...]

    def having(self, key: str, value: str) -> int:
        """How many of the nodes have a label."""
        return sum(node.labels.get(key) == value for node in self.nodes)

    @property
    def name(self) -> str:
        """What to call it: as the cluster does, else by its cards."""
        named = pool_names(self.nodes[0].labels)
        return _slug(named[0] if named else (self.facts.gpus or ("gpu",))[0])


def _slug(word: str) -> str:
    """A word that is a bare key of TOML."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower().removeprefix("nvidia-").removeprefix("tesla-")).strip("-") or "gpu"


def fold(nodes: Sequence[ClusterNode]) -> Fleet:
    """The nodes with a GPU as facts of the machines.

    What all of them say alike is said once. Where they differ, each kind is a pool with what it has of its own; nodes that a cluster
    keeps in several node pools are several kinds, since pods pick them by that.
    """
    with_gpu = sorted((node for node in nodes if node.has_gpu), key=lambda node: node.name)
    groups = _groups(with_gpu)
    kinds = [group.facts for group in groups]
    shared = Machines(**{field: values[0] for field in Machines._fields if (values := _values(kinds, field)) and _alike(values)})
    general = shared._replace(gpus_total=_total(shared, with_gpu))
    if all(facts == kinds[0] for facts in kinds):
        return Fleet(general, {}, ())
    pools: list[Pool] = []
    members: dict[str, tuple[ClusterNode, ...]] = {}
    unselected: list[ClusterNode] = []
    for group in sorted(groups, key=lambda group: group.name):
        labels = _distinctive(group, groups)
        if labels:
            name = _free(group.name, members)
            members[name] = group.nodes
            own = group.facts._replace(gpus_total=_total(group.facts, group.nodes))
            pools.append(Pool(name, labels, _without(own, shared)))
        else:
            unselected += group.nodes
    return Fleet(general._replace(pools=tuple(pools)), members, tuple(unselected))


def _total(facts: Machines, nodes: Iterable[ClusterNode]) -> int | None:
    """The GPUs that pods can ask the nodes for; None where that changes as nodes come and go."""
    return None if facts.autoscaled else sum(node.units for node in nodes) or None


def _groups(nodes: Iterable[ClusterNode]) -> list[_Group]:
    kinds: dict[tuple[Machines, tuple[str, ...]], list[ClusterNode]] = {}
    for node in nodes:
        kinds.setdefault((facts_of(node), pool_names(node.labels)), []).append(node)
    return [_Group(facts, tuple(members)) for (facts, _), members in kinds.items()]


def _values(kinds: list[Machines], field: str) -> list[Any]:
    return [getattr(facts, field) for facts in kinds]


def _alike(values: list[Any]) -> bool:
    return values[0] is not None and all(value == values[0] for value in values)


def _distinctive(group: _Group, groups: list[_Group]) -> dict[str, str]:
    """The labels by which pods pick these nodes: all of them have it, and not the nodes of all other groups too. One that another group
    has in part would pick more than a pool can tell."""
    chosen = {}
    for key, value in sorted(group.nodes[0].labels.items()):
        if value and selects_pool(key):
            having = [each.having(key, value) for each in groups]
            whole = [count == len(each.nodes) for count, each in zip(having, groups, strict=True)]
            in_part = any(count and not all_of_it for count, all_of_it in zip(having, whole, strict=True))
            if not in_part and not all(whole):
                chosen[key] = value
    return chosen


def _without(facts: Machines, shared: Machines) -> Machines:
    """The facts that are not among those that all share."""
    return Machines(**{field: value for field, value in facts._asdict().items() if value != getattr(shared, field)})


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, numbered where another pool has it."""
    names = (name, *(f"{name}-{number}" for number in range(2, 10_000)))
    return next(each for each in names if each not in set(taken))
