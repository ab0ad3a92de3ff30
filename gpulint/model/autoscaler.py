"""Autoscalers: what a HorizontalPodAutoscaler or a ScaledObject of KEDA scales, and by which measure."""

from __future__ import annotations

from gpulint.deferred import NamedTuple
from gpulint.model.manifest import value
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Mapping
from gpulint.source import Location, Text, Value

_CPU = "cpu"
_RESOURCE_METRICS = {"Resource": "resource", "ContainerResource": "containerResource"}


class Autoscaler(NamedTuple):
    """The workload that is scaled, by kind and name, and where it is said that the use of the processor decides; None where it does not."""

    kind: Value | None
    name: Value | None
    namespace: Value | None
    by_cpu: Location | None
    location: Location


def read_autoscaler(owner: Mapping) -> Autoscaler | None:
    """The autoscaler that an object is; None for an object of another kind."""
    readers = {"HorizontalPodAutoscaler": _of_pods, "ScaledObject": _of_keda}
    kind = kind_of(owner)
    if kind not in readers:
        return None
    target = owner.mapping("spec", "scaleTargetRef")
    scaled = value(target, "kind")
    default = Text("Deployment", target.location, ()) if kind == "ScaledObject" else None
    namespace = value(owner, "metadata", "namespace")
    return Autoscaler(default if scaled is None else scaled, value(target, "name"), namespace, readers[kind](owner), owner.location)


def _of_pods(owner: Mapping) -> Location | None:
    """The metric of the processor, in the form of autoscaling/v2 or v1."""
    for metric in owner.sequence("spec", "metrics").mappings():
        kind = value(metric, "type")
        key = _RESOURCE_METRICS.get(kind) if isinstance(kind, Text) else None
        measured = value(metric, key, "name") if key else None
        if isinstance(measured, Text) and measured == _CPU:
            return measured.location
    plain = owner.mapping("spec").entry("targetCPUUtilizationPercentage")
    return None if plain is None else plain.key.location


def _of_keda(owner: Mapping) -> Location | None:
    kinds = (value(trigger, "type") for trigger in owner.sequence("spec", "triggers").mappings())
    return next((kind.location for kind in kinds if isinstance(kind, Text) and kind == _CPU), None)
