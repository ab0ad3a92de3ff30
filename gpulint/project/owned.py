"""Objects as a cluster that is asked for all it runs has them: many that a controller made of another one, pods of Jobs, ReplicaSets of
Deployments, and pods that have run to their end.

What is wrong with an object that was made is written in its owner, and a controller makes many alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpulint.model.manifest import text
from gpulint.model.pod_owner import pod_role
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Mapping

_Name = tuple[str, str, str]
"""Kind, namespace and name of an object."""

_TEMPLATE_HASH = "pod-template-hash"


_OVER = ("Succeeded", "Failed")
"""The phases of a pod that runs no more."""


def without_owned(objects: Iterable[Mapping]) -> Iterator[Mapping]:
    """The objects without those whose owner is among them, and of those that an absent owner made alike the first; and without the pods
    that have ended."""
    found = [each for each in objects if str(text(each, "status", "phase") or "") not in _OVER]
    if not any("ownerReferences" in each.mapping("metadata") for each in found):
        yield from found
        return
    there = {_name_of(each) for each in found}
    seen: set[tuple[object, ...]] = set()
    for each in found:
        owners = tuple(_owners(each))
        alike = (owners, *_made_of(each))
        if not owners or (there.isdisjoint(owners) and alike not in seen):
            seen.add(alike)
            yield each


def _name_of(owner: Mapping) -> _Name:
    metadata = owner.mapping("metadata")
    return kind_of(owner), str(text(metadata, "namespace") or ""), str(text(metadata, "name") or "")


def _owners(owned: Mapping) -> Iterator[_Name]:
    """Who made an object, and for a ReplicaSet the Deployment whose it is by the hash that both names and labels have."""
    _, namespace, _ = _name_of(owned)
    metadata = owned.mapping("metadata")
    for reference in metadata.sequence("ownerReferences").mappings():
        kind, name = str(text(reference, "kind") or ""), str(text(reference, "name") or "")
        yield kind, namespace, name
        hash_of_template = text(metadata, "labels", _TEMPLATE_HASH)
        if kind == "ReplicaSet" and hash_of_template and name.endswith(f"-{hash_of_template}"):
            yield "Deployment", namespace, name.removesuffix(f"-{hash_of_template}")


def _made_of(owned: Mapping) -> Iterator[tuple[str, str]]:
    """The role and containers of a pod, by name and image: one owner may make pods of several kinds, as a launcher and its workers."""
    yield kind_of(owned), pod_role(owned)
    for container in owned.sequence("spec", "containers").mappings():
        yield str(text(container, "name") or ""), str(text(container, "image") or "")
