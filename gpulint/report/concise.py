"""One line a finding, for grep, editors and scripts: `path:line:column: severity: GPU201 message`."""

from __future__ import annotations

from gpulint.report.run import Run
from gpulint.report.terminal import printable
from gpulint.rule import Finding


def render(run: Run) -> str:
    """The findings that nothing holds back, a line each."""
    return "".join(f"{_line(finding)}\n" for finding in run.findings)


def _line(finding: Finding) -> str:
    problem = finding.problem
    return printable(f"{problem.location}: {problem.severity.label}: {finding.rule} {problem.message}")
