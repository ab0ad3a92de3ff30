"""Nodes of a cluster, as `kubectl get nodes` prints them: what they say of the machines in labels, taints and offered resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.nodes import card_model, cluster_adds_tolerations, comes_and_goes, passing_taint, stated
from gpulint.facts.resources import gpu_resource, gpu_taint, is_gpu_vendor, mig_profile
from gpulint.model.machines import Machines
from gpulint.model.quantity import parse_natural
from gpulint.model.taint import Taint

_KEY = regex(r"(?:[a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VALUE = regex(r"(?:[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_DRIVER = regex(r"\d{3}(?:\.\d{1,9}){0,2}")
_KEEPS_OUT = ("NoSchedule", "NoExecute")
_UNNAMED = "unnamed"


class ClusterNode(NamedTuple):
    """A node: its name, labels, the taints that keep workloads from it, and how many of each accelerator's resource it offers."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    offered: Mapping[str, int]

    @property
    def has_gpu(self) -> bool:
        """Whether it offers a GPU, or its labels name one."""
        return any(self.offered.values()) or bool(stated("model", self.labels))

    @property
    def units(self) -> int:
        """The GPUs that pods can ask it for: whole cards, or shares of cards where they are shared."""
        return sum(count for name, count in self.offered.items() if not mig_profile(name))


def read_nodes(data: Any) -> Iterator[ClusterNode]:
    """The nodes of what kubectl printed: an object or a list of them, whatever else it holds."""
    waiting = [data]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if each.get("kind") == "Node":
                yield _node(each)
            waiting += reversed(_list(each.get("items")))


def _node(data: dict[str, Any]) -> ClusterNode:
    labels = _mapping(data, "metadata", "labels")
    taints = map(_taint, _list(_dict(data.get("spec")).get("taints")))
    return ClusterNode(
        _word(_dict(data.get("metadata")).get("name")) or _UNNAMED,
        {key: value for key, value in labels.items() if _KEY.fullmatch(key)},
        tuple(taint for taint in taints if _KEY.fullmatch(taint.key) and taint.effect in _KEEPS_OUT and not passing_taint(taint.key)),
        dict(_offered(_mapping(data, "status", "allocatable"))),
    )


def _taint(data: Any) -> Taint:
    return Taint(str(_dict(data).get("key")), *(_word(_dict(data).get(field)) for field in ("value", "effect")))


def _mapping(data: dict[str, Any], *path: str) -> dict[str, str]:
    """The words at a path of keys."""
    for key in path:
        data = _dict(data.get(key))
    return {key: _word(value) for key, value in data.items()}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(value: Any) -> str:
    """A label's value, a name or a count; "" for what can be none of them."""
    text = str(value) if isinstance(value, (str, int)) else ""
    return text if _VALUE.fullmatch(text) else ""


def _offered(allocatable: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    for name, amount in allocatable.items():
        resource, count = gpu_resource(name), parse_natural(amount)
        if resource and resource.whole and is_gpu_vendor(resource.vendor) and count is not None:
            yield name, count


def facts_of(node: ClusterNode) -> Machines:
    """What a node says of its machine, for those facts that it says."""
    model, slices = card_model(_first("model", node))
    strategy = _first("mig-strategy", node)
    profiles = {profile for name in node.offered if (profile := mig_profile(name))} | ({slices} if slices else set())
    return Machines(
        driver=_driver(node),
        gpus=(model,) if model else None,
        gpus_per_node=None if profiles else _cards(node),
        gpu_taint=_guard(node),
        adds_tolerations=True if cluster_adds_tolerations(node.labels) else None,
        autoscaled=True if comes_and_goes(node.labels) else None,
        platform=_platform(node),
        mig_strategy=strategy if strategy in ("none", "single", "mixed") else None,
        mig_profiles=tuple(sorted(profiles)) or None,
    )


def _first(fact: str, node: ClusterNode) -> str:
    return next(iter(stated(fact, node.labels)), "")


def _driver(node: ClusterNode) -> str | None:
    full = _first("driver", node) or ".".join(filter(None, stated("driver-part", node.labels)))
    return full if _DRIVER.fullmatch(full) else None


def _cards(node: ClusterNode) -> int | None:
    """How many cards the node has: what it offers may be more where they are shared."""
    count = parse_natural(_first("count", node))
    return (node.units if count is None else count) or None


def _guard(node: ClusterNode) -> str | None:
    """The taint that guards its GPUs: one that names them, else one that stands alone."""
    named = [taint for taint in node.taints if gpu_taint(taint.key, taint.value)]
    chosen = named or (list(node.taints) if len(node.taints) == 1 else [])
    return str(chosen[0]) if chosen else None


def _platform(node: ClusterNode) -> str | None:
    system, architecture = _first("system", node) or "linux", _first("architecture", node)
    return f"linux/{architecture}" if system == "linux" and re.fullmatch(r"\w+", architecture) else None
