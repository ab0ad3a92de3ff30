"""GPU416: a chart's GPU value reaches no workload, or not the one that computes."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import Strength, evidence
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.project.charts import Chart, GpuValue
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(node: Chart | Container, project: Project) -> Iterator[Problem]:
    """A problem for each GPU value that no template reads, and for a GPU container without resources whose sibling reads one."""
    if isinstance(node, Container):
        yield from _of_container(node, project)
    elif node.is_readable:
        yield from (_unread(found) for found in node.values if not any(node.readers(found)))


def _unread(found: GpuValue) -> Problem:
    message = f"no template reads {_shown(found)}: the chart renders no {found.key}, whatever its values say"
    return Problem(found.key.location, message, Severity.ERROR, help="print it in the resources of the container that computes")


def _of_container(container: Container, project: Project) -> Iterator[Problem]:
    found = project.left_out_value(container) if container.is_main else None
    piece = max(evidence(container, project), key=lambda each: each.strength, default=None) if found is not None else None
    if found is not None and piece is not None and piece.strength >= Strength.STRONG:
        message = f"{piece.says}, and its template renders no resources, while another reads {_shown(found)}: it gets no GPU"
        related = (Related(found.key.location, "the value is here"), Related(piece.location, piece.says))
        yield Problem(container.location, message, Severity.ERROR, help=f"print {_shown(found)} in its resources", related=related)


def _shown(found: GpuValue) -> str:
    """The value that a template has to print."""
    return ".".join(found.path[:-2]) or found.path[0]


RULE = Rule("GPU416", "gpu-value-not-rendered", (Chart, Container), (Severity.ERROR,), Impact.CPU_FALLBACK, check)
