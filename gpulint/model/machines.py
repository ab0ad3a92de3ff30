"""Machines: what the user says of the machines that run the containers."""

from __future__ import annotations

from collections.abc import Mapping

from gpulint.deferred import NamedTuple


class Machines(NamedTuple):
    """The user's facts, each None where nothing is said: driver ("535.161.07"), GPU models, GPUs on a node and in all, whether nodes
    come and go, the container runtime that is the default, the RuntimeClass and the taint of GPU nodes ("key=value:Effect"), whether the
    cluster adds tolerations by itself, the docker compose version, the platform ("linux/arm64"), and how MIG is set up.

    `pools` are those of the machines for which more is said.
    """

    driver: str | None = None
    gpus: tuple[str, ...] | None = None
    gpus_per_node: int | None = None
    gpus_total: int | None = None
    autoscaled: bool | None = None
    default_runtime: str | None = None
    gpu_runtime_class: str | None = None
    gpu_taint: str | None = None
    adds_tolerations: bool | None = None
    compose_cli: str | None = None
    platform: str | None = None
    mig_strategy: str | None = None
    mig_profiles: tuple[str, ...] | None = None
    pools: tuple[Pool, ...] = ()

    @property
    def all(self) -> tuple[Machines, ...]:
        """These facts and those of each pool."""
        return (self, *(pool.machines for pool in self.pools))

    def states(self, fact: str) -> bool:
        """Whether the user states a fact, of all machines or of some pool."""
        return any(getattr(each, fact) is not None for each in self.all)

    def within(self, general: Machines) -> Machines:
        """These facts of a pool with the general ones where the pool says nothing."""
        own = {field: value for field, value in self._asdict().items() if value is not None}
        return general._replace(**own)


class Pool(NamedTuple):
    """Machines of one kind: the name that the user gives them, the node labels that select them, and their facts."""

    name: str
    labels: Mapping[str, str]
    machines: Machines
