"""GPU420: a container is limited to less processor time than its GPUs or its data loaders need."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.model.container import Container
from gpulint.model.grant import granted
from gpulint.model.quantity import parse_quantity
from gpulint.project import Project
from gpulint.project.processes import most_loader_workers
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import known


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where the limit is below one core for each GPU, or below the number of worker processes that the command asks for."""
    compute, gpus = container.compute, granted(container)
    limit = known(compute.cpu_limit) if compute is not None else None
    cores = parse_quantity(limit) if limit is not None else None
    if limit is None or cores is None or cores <= 0 or not gpus or is_infrastructure(container):
        return
    if cores < gpus:
        message = f"a limit of {limit} cpu for {gpus} {'GPU' if gpus == 1 else 'GPUs'}: the processor feeds a GPU too slowly, and it waits"
        yield Problem(limit.location, message, Severity.NOTE, help=f"limit it to {gpus} or more, or leave the limit out")
        return
    workers = most_loader_workers(container, project)
    if workers is not None and cores < workers.number:
        message = (
            f"a limit of {limit} cpu for {workers.number} worker processes that load data: they wait for each other, and the GPU for them"
        )
        related = (Related(workers.location, f"its command says {workers.shown}"),)
        yield Problem(limit.location, message, Severity.NOTE, help=f"limit it to {workers.number} or more, or start fewer", related=related)


RULE = Rule("GPU420", "cpu-starved-gpu", Container, (Severity.NOTE,), Impact.WASTEFUL, check)
