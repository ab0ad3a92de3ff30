"""LimitRanges: by them a namespace gives a GPU to each container that asks for none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpulint.facts.resources import gpu_resource
from gpulint.model.manifest import text
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Mapping

_GIVES = frozenset({"gpu"})
_LIMITS = ("default", "max")
"""What a container without a limit gets, the first of them that names the resource: the API server takes a maximum for the default."""


class LimitRanges:
    """The namespaces in which a container that asks for no GPU gets one."""

    def __init__(self, objects: Iterable[Mapping]) -> None:
        giving = (owner for owner in objects if kind_of(owner) == "LimitRange" and any(map(_gives_gpu, _of_containers(owner))))
        self._namespaces = {_namespace(owner) for owner in giving}

    def opens(self, owner: Mapping) -> frozenset[str]:
        """What the namespace of an object may supply to its containers; an object or LimitRange without one may be in any."""
        namespace = _namespace(owner)
        in_reach = self._namespaces if namespace is None else self._namespaces & {namespace, None}
        return _GIVES if in_reach else frozenset()


def _namespace(owner: Mapping) -> str | None:
    namespace = text(owner, "metadata", "namespace")
    return None if namespace is None else str(namespace)


def _of_containers(owner: Mapping) -> Iterator[Mapping]:
    return (item for item in owner.sequence("spec", "limits").mappings() if str(text(item, "type")) == "Container")


def _gives_gpu(item: Mapping) -> bool:
    """Whether a limit of a LimitRange gives a container without one a GPU."""
    given: dict[str, str] = {}
    for field in _LIMITS:
        for key, value, _ in item.mapping(field):
            given.setdefault(str(key), str(value))
    return any(gpu_resource(name) is not None and count != "0" for name, count in given.items())
