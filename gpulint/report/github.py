"""For GitHub Actions: workflow commands, which become annotations, and the Markdown of a step summary.

How the runner reads a command: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from gpulint.deferred import regex
from gpulint.report.run import Run
from gpulint.report.terminal import printable
from gpulint.rule import Finding, Severity
from gpulint.source import Location

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
SUMMARY_LIMIT = 1024 * 1024
"""The bytes that GitHub takes of one step's summary; it shows nothing of a longer one."""

_MARKDOWN = regex(r"([\\`*_{}\[\]<>|~&#@])")


def render(run: Run) -> str:
    """A workflow command for each finding that nothing holds back, the gravest first: GitHub shows ten of a kind for one step."""
    return "".join(f"{_command(finding, run.folder)}\n" for finding in _gravest_first(run))


def _gravest_first(run: Run) -> list[Finding]:
    return sorted(run.findings, key=lambda finding: -finding.problem.severity)


def _command(finding: Finding, folder: str) -> str:
    problem = finding.problem
    properties = {"title": f"{finding.rule} {finding.name}", "file": f"{folder}{problem.location.path}", **_region(problem.location)}
    written = ",".join(f"{key}={_property(printable(value))}" for key, value in properties.items())
    return f"::{COMMANDS[problem.severity]} {written}::{_data(_message(finding, folder))}"


def _message(finding: Finding, folder: str) -> str:
    """What is wrong, the evidence and the help, a line each. The place is said once more, since the log shows nothing but this text."""
    problem = finding.problem
    lines = [f"{folder}{problem.location}: {problem.message}"]
    lines += [f"note: {folder}{related.location}: {related.message}" for related in problem.related]
    if problem.help:
        lines.append(f"help: {problem.help}")
    return "\n".join(map(printable, lines))


def _region(place: Location) -> dict[str, str]:
    """Columns only for a region of one line: the runner drops the others."""
    lines = {"line": str(place.line), "endLine": str(place.end_line)}
    if place.line != place.end_line:
        return lines
    return {**lines, "col": str(place.column), "endColumn": str(place.end_column)}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(run: Run) -> str:
    """The Markdown of a step summary: every finding in a table, the gravest first, as far as GitHub takes it."""
    rows = [
        "| severity | place | rule | finding |\n",
        "| --- | --- | --- | --- |\n",
        *(_row(finding, run.folder) for finding in _gravest_first(run)),
    ]
    head = f"## gpulint\n\n{_cell(run.summary)}\n"
    if not run.findings:
        return head
    room = SUMMARY_LIMIT - len(head.encode()) - len(_cut(len(rows)).encode())
    shown = _fitting(rows, room)
    return head + "\n" + "".join(rows[:shown]) + (_cut(len(rows) - shown) if shown < len(rows) else "")


def _row(finding: Finding, folder: str) -> str:
    problem = finding.problem
    cells = (problem.severity.label, f"{folder}{problem.location}", f"{finding.rule} {finding.name}", problem.message)
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _fitting(rows: list[str], room: int) -> int:
    """How many of the rows take no more than `room` bytes."""
    for number, row in enumerate(rows):
        room -= len(row.encode())
        if room < 0:
            return number
    return len(rows)


def _cut(count: int) -> str:
    return f"\n{count} more findings are in the log.\n"


def _cell(text: str) -> str:
    """The text as it is, in a cell of a table: no Markdown, no HTML, no mention."""
    return _MARKDOWN.sub(r"\\\1", printable(text))
