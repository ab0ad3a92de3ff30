"""Where the pods of a Kubernetes object stand: by its kind, or by shape where the kind is not listed."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.workloads import PodPath, not_workload, pod_paths
from gpulint.parse.nodes import Mapping, Node, Sequence
from gpulint.source import Text

_ANY_POD = PodPath((), "main", "pod")
_OF_THE_CLUSTER = ("metadata", "status")
"""Parts of an object that hold what the cluster notes of it: nothing in them is started."""


class Site(NamedTuple):
    """A place where an object keeps a pod, or one container of a pod.

    `owner` is the object, `listed` whether its kind is known. `node` is the pod spec (form "pod"), the container (form "container"), or
    what holds Spark's `gpu` (form "gpu"); `resources` is the key of a container's resources. `above` are the mappings around the node,
    the nearest first and the object itself last. `role` is that of the facts' PodPath. `complete` says that no other object brings more.
    """

    owner: Mapping
    kind: str
    listed: bool
    role: str
    form: str
    node: Mapping
    above: tuple[Mapping, ...]
    resources: str = "resources"
    complete: bool = False

    @property
    def holder(self) -> Mapping:
        """The mapping whose containers make one pod: the pod spec, Spark's driver or executor, or what the single container stands in."""
        if self.form != "container" or not self.above:
            return self.node
        in_set = any(item is self.node for item in self.above[0].sequence("containers"))
        return self.above[1] if in_set and len(self.above) > 1 else self.above[0]


def objects(root: Node | None) -> Iterator[Mapping]:
    """The Kubernetes objects of a document: itself, or the items of a List, of lists in it too."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            items = node.get("items")
            if isinstance(items, Sequence) and kind_of(node).endswith("List"):
                waiting += reversed(items.items)
            else:
                yield node


def kind_of(owner: Mapping) -> str:
    """The kind that an object names; "" where it names none."""
    kind = owner.scalar("kind")
    return str(kind) if isinstance(kind, Text) else ""


def find_sites(owner: Mapping, complete: bool = False) -> Iterator[Site]:
    """The places where an object keeps its pods; none for objects that start no container. `complete` as a Site's."""
    kind = kind_of(owner)
    if not_workload(kind):
        return
    api_version = owner.scalar("apiVersion")
    paths = pod_paths(str(api_version) if isinstance(api_version, Text) else None, kind)
    if paths is None:
        yield from _by_shape(owner, kind)
    else:
        for path in paths:
            yield from _at_path(owner, kind, path, complete)


def _at_path(owner: Mapping, kind: str, path: PodPath, complete: bool) -> Iterator[Site]:
    keys, form, key = path.path, path.form, "resources"
    if form in ("resources", "gpu"):
        keys, key = keys[:-1], keys[-1]
    for node, above in _with_surroundings(owner, keys):
        if isinstance(node, Mapping):
            resources = path.resources if path.resources and path.resources in node else key
            yield Site(owner, kind, True, path.role, "container" if form == "resources" else form, node, above, resources, complete)


def reached(owner: Mapping, keys: tuple[str, ...]) -> Iterator[Node]:
    """What stands at a path of keys, where "*" is each item of a list or each value of a mapping."""
    return (node for node, _ in _with_surroundings(owner, keys))


def _with_surroundings(owner: Mapping, keys: tuple[str, ...]) -> list[tuple[Node, tuple[Mapping, ...]]]:
    places: list[tuple[Node, tuple[Mapping, ...]]] = [(owner, ())]
    for key in keys:
        places = [step for node, above in places for step in _steps(node, above, key)]
    return places


def _steps(node: Node, above: tuple[Mapping, ...], key: str) -> Iterator[tuple[Node, tuple[Mapping, ...]]]:
    if isinstance(node, Sequence) and key == "*":
        yield from ((item, above) for item in node)
    elif isinstance(node, Mapping):
        around = (node, *above)
        yield from ((value, around) for name, value, _ in node if key in ("*", name))


def _by_shape(owner: Mapping, kind: str) -> Iterator[Site]:
    """Every mapping that has a list of mappings as its `containers`."""
    waiting: list[tuple[Node, tuple[Mapping, ...]]] = [(owner, ())]
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, Sequence):
            waiting += ((item, above) for item in reversed(node.items))
        elif isinstance(node, Mapping):
            if any(node.sequence("containers").mappings()):
                yield Site(owner, kind, False, _ANY_POD.role, _ANY_POD.form, node, above)
            else:
                around = (node, *above)
                waiting += ((value, around) for key, value, _ in reversed(tuple(node)) if above or key not in _OF_THE_CLUSTER)
