"""For a person: where, how grave and which rule; what is wrong; the lines with carets; the evidence as notes; what to write instead.

train/job.yaml:11:11: error GPU201 [gpu-not-requested]
  container "trainer" is started with --device cuda and asks for no GPU
  11 |         - name: trainer
     |           ^^^^^^^^^^^^^
  note: train/job.yaml:8:9: this selector picks GPU nodes
  help: add nvidia.com/gpu: 1 under resources.limits
"""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.report.excerpt import excerpt
from gpulint.report.run import Run
from gpulint.report.terminal import BLUE, BOLD, GREEN, RED, YELLOW, Paint, colored, plain, printable
from gpulint.rule import Finding, Severity
from gpulint.source import Location, Source

COLORS = {Severity.ERROR: RED, Severity.WARNING: YELLOW, Severity.NOTE: BLUE}


def render(run: Run) -> str:
    """The findings that nothing holds back, a paragraph each."""
    paint = colored if run.color else plain
    paragraphs = (_paragraph(finding, run.source(finding.problem.location.path), paint) for finding in run.findings)
    return "\n".join("".join(f"{line}\n" for line in paragraph) for paragraph in paragraphs)


def _paragraph(finding: Finding, source: Source | None, paint: Paint) -> Iterator[str]:
    """The lines on one finding. Whatever comes from a file is made printable before it is painted."""
    problem = finding.problem
    place, severity = paint(printable(str(problem.location)), BOLD), paint(problem.severity.label, BOLD, COLORS[problem.severity])
    yield f"{place}: {severity} {paint(finding.rule, BOLD)} [{finding.name}]"
    yield f"  {printable(problem.message)}"
    if source:
        yield from _excerpt(source, problem.location, paint, COLORS[problem.severity])
    for related in problem.related:
        yield f"  {paint('note', BOLD, BLUE)}: {printable(f'{related.location}: {related.message}')}"
    if problem.help:
        yield f"  {paint('help', BOLD, GREEN)}: {printable(problem.help)}"


def _excerpt(source: Source, place: Location, paint: Paint, color: int) -> Iterator[str]:
    rows = tuple(excerpt(source, place))
    digits = max((len(str(row.number)) for row in rows if row.number), default=0)
    for row in rows:
        gutter = f"{row.number or '':>{digits}} |"
        yield f"  {paint(gutter, BLUE)} {paint(row.marks, BOLD, color)}{row.text}".rstrip()
