"""What holds a finding back: ignore comments, annotations and per-file ignores.

A comment is found by its text alone, and the block it governs by indentation, so that it works in every format the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gpulint.discover import Kind
from gpulint.registry import selects
from gpulint.rule import Finding
from gpulint.source import Location, Source

_COMMENT = re.compile(r"#\s*gpulint:\s*(?P<verb>ignore-file|ignore)\b\s*(?P<rules>\[[^\]]*\])?(?P<reason>.*)$")
_ANNOTATION = re.compile(r"""["']?(?P<key>gpulint/ignore|x-gpulint)["']?\s*:\s*(?P<quote>["']?)(?P<text>[^"'\n]*)(?P=quote)""")
_RULE_WORDS = re.compile(r"\s*((?:GPU\d+|ALL|[a-z]+(?:-[a-z0-9]+)+)(?:\s*,\s*(?:GPU\d+|ALL|[a-z]+(?:-[a-z0-9]+)+))*)\s*(.*)")


@dataclass(frozen=True)
class Ignore:
    """One ignore of the user's: which rules, on which lines of the file (both included), and why. `trouble` says why it cannot work."""

    location: Location
    rules: tuple[str, ...]
    reason: str
    first: int
    last: int
    trouble: str = ""

    def holds(self, finding: Finding) -> bool:
        """Whether it holds that finding back, by the place where the finding stands."""
        place = finding.problem.location
        return (
            place.path == self.location.path
            and self.first <= place.line <= self.last
            and any(selects(rule, finding.rule, finding.name) for rule in self.rules)
        )


def read_ignores(source: Source, kind: Kind | None) -> list[Ignore]:
    """The ignores that a file holds."""
    lines = [source.line(number) for number in range(1, source.line_count + 1)]
    found = []
    for number, line in enumerate(lines, start=1):
        if "gpulint" not in line:
            continue
        comment = _COMMENT.search(line)
        if comment:
            found.append(_from_comment(source.path, lines, number, comment, kind))
        elif annotation := _ANNOTATION.search(line):
            found.append(_from_annotation(source.path, lines, number, annotation))
    return found


def _from_comment(path: str, lines: list[str], number: int, comment: re.Match[str], kind: Kind | None) -> Ignore:
    location = Location(path, number, comment.start() + 1, number, len(lines[number - 1].rstrip()) + 1)
    rules = tuple(rule.strip() for rule in (comment["rules"] or "")[1:-1].split(",") if rule.strip())
    alone = not lines[number - 1][: comment.start()].strip()
    trouble = ""
    first, last = number, number
    if not rules:
        trouble = "names no rule: write ignore[GPU201] with the rule it is meant for, and a reason behind it"
    elif comment["verb"] == "ignore-file":
        first, last = 1, len(lines)
    elif kind is Kind.DOCKERFILE and not alone:
        trouble = "stands behind an instruction, where a Dockerfile has no comments: put it alone on the line above"
    elif alone:
        first, last = _governed(lines, _next_line(lines, number), kind)
    else:
        first, last = _governed(lines, number, kind)
    return Ignore(location, rules, comment["reason"].strip(), first, last, trouble)


def _next_line(lines: list[str], number: int) -> int:
    """The next line that is neither blank nor a comment."""
    for following in range(number + 1, len(lines) + 1):
        if lines[following - 1].strip() and not lines[following - 1].lstrip().startswith("#"):
            return following
    return number


def _governed(lines: list[str], number: int, kind: Kind | None) -> tuple[int, int]:
    """The lines of the statement or block that begins on a line."""
    if kind is Kind.DOCKERFILE:
        return number, _end_of_stage(lines, number) if re.match(r"\s*FROM\s", lines[number - 1], re.IGNORECASE) else _end_of_command(
            lines, number
        )
    return number, max(_end_of_command(lines, number), _end_of_block(lines, number))


def _end_of_stage(lines: list[str], number: int) -> int:
    following = (at for at in range(number + 1, len(lines) + 1) if re.match(r"\s*FROM\s", lines[at - 1], re.IGNORECASE))
    return next(following, len(lines) + 1) - 1


def _end_of_command(lines: list[str], number: int) -> int:
    """The last line of a command that backslashes continue."""
    while number < len(lines) and lines[number - 1].rstrip().endswith("\\"):
        number += 1
    return number


def _end_of_block(lines: list[str], number: int) -> int:
    """The last line that is indented deeper than this one; items of a list may stand at the column of the key above them."""
    indent = _indent(lines[number - 1])
    opens_list = lines[number - 1].rstrip().endswith(":") and not lines[number - 1].lstrip().startswith("-")
    last = number
    for following in range(number + 1, len(lines) + 1):
        line = lines[following - 1]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        same = opens_list and _indent(line) == indent and line.lstrip().startswith("- ")
        if _indent(line) <= indent and not same:
            break
        last = following
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _from_annotation(path: str, lines: list[str], number: int, match: re.Match[str]) -> Ignore:
    location = Location(path, number, match.start() + 1, number, match.end() + 1)
    words = _RULE_WORDS.match(match["text"])
    if not words:
        return Ignore(location, (), "", number, number, 'names no rule: write "GPU201 reason" with the rule it is meant for')
    rules = tuple(rule.strip() for rule in words[1].split(","))
    first, last = _document(lines, number) if match["key"] == "gpulint/ignore" else _parent_block(lines, number)
    return Ignore(location, rules, words[2].strip(), first, last)


def _document(lines: list[str], number: int) -> tuple[int, int]:
    """The YAML document around a line."""
    before = (at for at in range(number, 0, -1) if lines[at - 1].startswith("---"))
    behind = (at for at in range(number + 1, len(lines) + 1) if lines[at - 1].startswith("---"))
    return next(before, 1), next(behind, len(lines) + 1) - 1


def _parent_block(lines: list[str], number: int) -> tuple[int, int]:
    """The block of the key or item that a line stands in; the whole file at the outermost level."""
    indent = _indent(lines[number - 1])
    for parent in range(number - 1, 0, -1):
        line = lines[parent - 1]
        if line.strip() and not line.lstrip().startswith("#") and _indent(line) < indent:
            return parent, _end_of_block(lines, parent)
    return 1, len(lines)


def apply(findings: Iterable[Finding], ignores: Iterable[Ignore]) -> tuple[list[Finding], set[Ignore]]:
    """The findings, those that an ignore holds back marked with it, and the ignores that were of use."""
    by_path: dict[str, list[Ignore]] = {}
    for ignore in ignores:
        by_path.setdefault(ignore.location.path, []).append(ignore)
    marked, used = [], set()
    for finding in findings:
        ignore_ = next((each for each in by_path.get(finding.problem.location.path, ()) if each.holds(finding)), None)
        if ignore_:
            used.add(ignore_)
            finding = Finding(finding.rule, finding.name, finding.problem, ignore_.location, ignore_.reason)
        marked.append(finding)
    return marked, used
