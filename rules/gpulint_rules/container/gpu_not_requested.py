"""GPU201: a container wants a GPU by all that is written, and nothing asks for one."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import Evidence, Origin, wanted
from gpulint.model.container import Container, Dialect
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity

OUTCOMES = "it runs on CPU, or with every GPU of the host where nvidia is the default runtime"
WAYS = {
    Dialect.KUBERNETES: ("the pod has no GPU limit", "set resources.limits, such as nvidia.com/gpu: 1, on this container"),
    Dialect.COMPOSE: ("the service reserves no GPU", "add a reservation of devices with driver: nvidia, count: 1, capabilities: [gpu]"),
    Dialect.RUN: ("the command has no --gpus", "add --gpus all, or the number of GPUs it needs, before the image"),
    Dialect.QUADLET: ("the Quadlet adds no GPU", "add AddDevice=nvidia.com/gpu=all"),
    Dialect.LIBRARY: ("the call asks for no GPU", "pass device_requests=[docker.types.DeviceRequest(count=-1, capabilities=[['gpu']])]"),
    Dialect.TASK: ("the task asks for no GPU", 'add resourceRequirements with {"type": "GPU", "value": "1"}'),
}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where the evidence suffices; the message names the strongest piece of each origin and both outcomes."""
    severity, pieces = wanted(container, project)
    if severity is None:
        return
    lacking, help_line = WAYS[container.dialect]
    leading = _leading(pieces)
    message = f"{lacking} although {_listed([piece.says for piece in leading])}: {OUTCOMES}"
    related = tuple(Related(piece.location, piece.says) for piece in pieces)
    yield Problem(container.location, message, severity, help=help_line, related=related)


def _leading(pieces: tuple[Evidence, ...]) -> list[Evidence]:
    """The strongest piece of each origin; the pieces come strongest first."""
    first: dict[Origin, Evidence] = {}
    for piece in pieces:
        first.setdefault(piece.origin, piece)
    return list(first.values())


def _listed(clauses: list[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}"


RULE = Rule("GPU201", "gpu-not-requested", Container, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
