"""The machines that a container may run on: those of the pool that its pod selects."""

from __future__ import annotations

from gpulint.facts.drivers import gpu
from gpulint.model.container import Container, Pod
from gpulint.model.machines import Machines, Pool
from gpulint.source import Text


def machines_of(container: Container, machines: Machines) -> Machines:
    """The facts that hold for a container: of the pool that its pod's node selector or required affinity picks, over the general ones.

    Where several pools fit, only what they agree on is known. Where none does, the general facts hold.
    """
    pools = [pool for pool in machines.pools if container.pod is not None and _is_selected(pool, container.pod)]
    found = [pool.machines.within(machines) for pool in pools]
    if not found:
        return machines
    agreed = {field: value for field, value in found[0]._asdict().items() if all(getattr(each, field) == value for each in found)}
    return Machines(**agreed)


def _is_selected(pool: Pool, pod: Pod) -> bool:
    """Whether the pod asks for some label of the pool, and for none that the pool has with another value."""
    asked = [label for label in pod.labels if label.key in pool.labels]
    return bool(asked) and all(not label.values or pool.labels[label.key] in map(_known, label.values) for label in asked)


def _known(value: object) -> str | None:
    return str(value) if isinstance(value, Text) else None


def unknown_gpus(machines: Machines) -> tuple[str, ...]:
    """The models among the user's GPUs, of all machines and of each pool, that the facts do not know."""
    models = dict.fromkeys(model for each in machines.all for model in each.gpus or ())
    return tuple(model for model in models if gpu(model) is None)
