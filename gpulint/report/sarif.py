"""SARIF 2.1.0, through the classes of sarif-om, so that what GitHub and other readers of SARIF ask for is there.

The standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
What GitHub reads of it: https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning

This module is imported only when SARIF is asked for: sarif-om alone takes longer to import than a small run.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import attr
import sarif_om

from gpulint.deferred import regex
from gpulint.pages import HOMEPAGE, page_address, page_text, read_page
from gpulint.report.run import Run
from gpulint.rule import Entry, Finding, Impact, Problem, Related, Severity
from gpulint.source import Location, Source

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "SRCROOT"
CRASH = "GPU003"
NOTIFIED = ("GPU001", "GPU002", CRASH)
"""Rules that say what was not checked: a finding of theirs is a notification of the tool too."""

GITHUB_SEVERITY = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}
SECURITY_SEVERITY = {Severity.ERROR: "8.0", Severity.WARNING: "6.0", Severity.NOTE: "3.0"}
"""On GitHub's scale, which is that of CVSS: high from 7, medium from 4, low below."""

FINGERPRINT = "gpulintFinding/v1"
LONGEST_LINE = 500
"""Of a longer line only so many characters before and behind the place identify a finding: it may hold thousands of them."""

ALWAYS = ("level",)
"""Written at its default too: a level that is absent means the default of the rule, not `warning`."""

_LINK = regex(r"\[(?=[^\]]*\]\()")
_BRACKET = regex(r"[\[\]]")
ESCAPED = r"\\\g<0>"


def render(run: Run) -> str:
    """The log of a run; the findings that an ignore holds back are among its results, marked as suppressed."""
    return json.dumps(_plain(sarif_om.SarifLog(version="2.1.0", schema_uri=SCHEMA, runs=[_run(run)]))) + "\n"


def _run(run: Run) -> sarif_om.Run:
    rules = sorted(run.rules.values())
    return sarif_om.Run(
        tool=sarif_om.Tool(driver=_driver(run, rules)),
        automation_details=sarif_om.RunAutomationDetails(id="gpulint/"),
        column_kind="utf16CodeUnits",
        original_uri_base_ids={BASE: sarif_om.ArtifactLocation(uri=Path(run.checkout).as_uri().rstrip("/") + "/")},
        invocations=[_invocation(run, rules)],
        results=list(_results(run, rules)),
    )


def _driver(run: Run, rules: Sequence[Entry]) -> sarif_om.ToolComponent:
    return sarif_om.ToolComponent(
        name="gpulint",
        version=run.version,
        information_uri=HOMEPAGE,
        rules=[_descriptor(rule) for rule in rules],
        notifications=[_descriptor(rule) for rule in rules if rule.id in NOTIFIED],
    )


def _descriptor(rule: Entry) -> sarif_om.ReportingDescriptor:
    """A rule with the texts of its page; one without a page has its name in their place."""
    page = read_page(rule.page)
    name = rule.name.replace("-", " ")
    summary, description = (page.summary or name, page.description or name) if page else (name, name)
    message = sarif_om.MultiformatMessageString
    return sarif_om.ReportingDescriptor(
        id=rule.id,
        name=rule.name,
        short_description=message(text=summary),
        full_description=message(text=description),
        help=message(text=page_text(page), markdown=page.markdown) if page else message(text=name),
        help_uri=page_address(rule.page) or None,
        default_configuration=sarif_om.ReportingConfiguration(level=max(rule.severities).label),
        properties=_github_properties(rule),
    )


def _github_properties(rule: Entry) -> dict[str, object]:
    severity, insecure = max(rule.severities), rule.impact is Impact.INSECURE
    properties: dict[str, object] = {
        "tags": ["gpu", rule.impact.value, *(["security"] if insecure else [])],
        "precision": "high",
        "problem.severity": GITHUB_SEVERITY[severity],
    }
    if insecure:
        properties["security-severity"] = SECURITY_SEVERITY[severity]
    return properties


def _invocation(run: Run, rules: Sequence[Entry]) -> sarif_om.Invocation:
    declared = [rule.id for rule in rules if rule.id in NOTIFIED]
    notifications = [_notification(finding, run, declared) for finding in run.findings if finding.rule in NOTIFIED]
    notifications += [sarif_om.Notification(message=_message(notice), level="note") for notice in run.notices]
    crashed = any(finding.rule == CRASH for finding in run.findings)
    return sarif_om.Invocation(execution_successful=not crashed, tool_execution_notifications=notifications or None)


def _notification(finding: Finding, run: Run, declared: Sequence[str]) -> sarif_om.Notification:
    descriptor = None
    if finding.rule in declared:
        descriptor = sarif_om.ReportingDescriptorReference(id=finding.rule, index=declared.index(finding.rule))
    return sarif_om.Notification(
        message=_message(finding.problem.message),
        level=finding.problem.severity.label,
        descriptor=descriptor,
        locations=[sarif_om.Location(physical_location=_place(finding.problem.location, run))],
    )


def _results(run: Run, rules: Sequence[Entry]) -> Iterator[sarif_om.Result]:
    indexes = {rule.id: index for index, rule in enumerate(rules)}
    occurrences: Counter[tuple[str, ...]] = Counter()
    for finding in sorted((*run.findings, *run.suppressed), key=lambda finding: finding.sort_key):
        problem = finding.problem
        identity = _identity(finding, run.source(problem.location.path))
        occurrences[identity] += 1
        yield sarif_om.Result(
            rule_id=finding.rule,
            rule_index=indexes.get(finding.rule, -1),
            level=problem.severity.label,
            message=_message(_sentences(problem)),
            locations=[sarif_om.Location(physical_location=_place(problem.location, run))],
            related_locations=[_related(number, related, run) for number, related in enumerate(problem.related, start=1)] or None,
            partial_fingerprints={FINGERPRINT: _fingerprint(*identity, str(occurrences[identity]))},
            suppressions=[_suppression(finding.suppressed_by, finding.reason, run)] if finding.suppressed_by else None,
        )


def _identity(finding: Finding, source: Source | None) -> tuple[str, ...]:
    """What stays the same of a finding when lines above it come and go: its rule, its file and the words of its line."""
    place = finding.problem.location
    line = source.line(place.line) if source else ""
    if len(line) > LONGEST_LINE:
        line = line[max(place.column - LONGEST_LINE, 0) : place.column + LONGEST_LINE]
    return finding.rule, place.path, " ".join(line.split())


def _fingerprint(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _message(text: str) -> sarif_om.Message:
    """A message; what is no Unicode (bytes of a file name) becomes a question mark, since it can stand in no JSON."""
    return sarif_om.Message(text=text.encode("utf-8", "replace").decode("utf-8"))


def _sentences(problem: Problem) -> str:
    """What is wrong, what to write instead, and the evidence as links to the related locations: without a link GitHub hides them."""
    sentences = [_LINK.sub(r"\\[", problem.message)]
    if problem.help:
        sentences.append("Help: " + _LINK.sub(r"\\[", problem.help))
    if problem.related:
        links = (f"[{_BRACKET.sub(ESCAPED, related.message)}]({number})" for number, related in enumerate(problem.related, start=1))
        sentences.append(f"See: {', '.join(links)}")
    return " ".join(sentence if sentence.endswith(".") else f"{sentence}." for sentence in sentences)


def _related(number: int, related: Related, run: Run) -> sarif_om.Location:
    return sarif_om.Location(id=number, message=_message(related.message), physical_location=_place(related.location, run))


def _suppression(ignore: Location, reason: str, run: Run) -> sarif_om.Suppression:
    """An ignore of the user's. No state: sarif-om writes that under a name that the standard does not have, and absent means accepted."""
    return sarif_om.Suppression(
        kind="inSource", justification=reason or None, location=sarif_om.Location(physical_location=_place(ignore, run))
    )


def _place(place: Location, run: Run) -> sarif_om.PhysicalLocation:
    path = (run.folder + place.path).encode("utf-8", "surrogateescape")
    return sarif_om.PhysicalLocation(
        artifact_location=sarif_om.ArtifactLocation(uri=quote_from_bytes(path), uri_base_id=BASE),
        region=_region(place, run.source(place.path)),
    )


def _region(place: Location, source: Source | None) -> sarif_om.Region:
    """The region within its file; its first line where the file cannot be read."""
    if source is None:
        return sarif_om.Region(start_line=1)
    start = _within(source, place.line, place.column)
    end = max(start, _within(source, place.end_line, place.end_column))
    return sarif_om.Region(start_line=start[0], start_column=start[1], end_line=end[0], end_column=end[1])


def _within(source: Source, line: int, column: int) -> tuple[int, int]:
    """The position, or the nearest that the file has, with its column in UTF-16 code units."""
    if line > source.line_count:
        line, column = source.line_count, len(source.line(source.line_count)) + 1
    return line, source.utf16_column(line, min(column, len(source.line(line)) + 1))


def _plain(value: Any) -> Any:
    """An object of sarif-om as JSON's types, under the names of the standard. What is not set or at its default stays out."""
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    written = ((key, getattr(value, name), default) for name, key, default in _fields(value.__class__))
    return {key: _plain(item) for key, item, default in written if item is not None and (item != default or key in ALWAYS)}


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, object], ...]:
    """The fields of a class of sarif-om: its attribute, the name in the standard, the default."""
    return tuple((field.name, field.metadata["schema_property_name"], field.default) for field in attr.fields(kind))
