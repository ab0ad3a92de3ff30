"""Nodes x rules -> findings: runs each rule over the nodes it looks at, applies the ignores, and keeps what the user asked to see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint import registry, workers
from gpulint.config import Config, glob_pattern
from gpulint.deferred import NamedTuple
from gpulint.project import Project, path_of
from gpulint.rule import Entry, Finding, Problem, Related, Severity
from gpulint.source import Location, Source, UnknownValue
from gpulint.workers import Part

if TYPE_CHECKING:
    from gpulint.model.machines import Machines
    from gpulint.suppress import Ignore

IGNORE_ANCHOR = b"gpulint"
"""What every file with an ignore holds."""

LONGEST_SENTENCE = 1000
"""How much of a message, a help or a remark is kept: a value that it quotes may be as long as its file, and stand in each of a thousand."""

MANY_FILES = 400
"""Of so many files, each with something to look at, a second process takes its half in clearly less time than it costs."""

SYNTAX_ERROR, UNREADABLE_FILE, RULE_CRASHED, UNUSED_IGNORE = "GPU001", "GPU002", "GPU003", "GPU004"


class Outcome(NamedTuple):
    """What a run found: findings in order, those held back among them; and whether a rule crashed."""

    findings: tuple[Finding, ...]
    crashed: bool

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that nothing holds back."""
        return tuple(finding for finding in self.findings if finding.suppressed_by is None)


class Selection(NamedTuple):
    """Which places are reported: the paths given on the command line, relative to the root; `files` are those that name a file."""

    folders: tuple[str, ...] = ("",)
    files: frozenset[str] = frozenset()

    @property
    def whole(self) -> bool:
        """Whether the whole root is selected."""
        return "" in self.folders

    def reports(self, finding: Finding) -> bool:
        """Whether a finding is reported: its place is selected, or a related place lies in a file that was named itself."""
        problem = finding.problem
        return self.has(problem.location.path) or any(related.location.path in self.files for related in problem.related)

    def has(self, path: str) -> bool:
        """Whether a file is among what is selected."""
        return self.whole or path in self.files or any(path.startswith(folder + "/") for folder in self.folders)


def active_rules(config: Config) -> tuple[Entry, ...]:
    """The rules that the settings turn on."""
    on = registry.matching((*config.select, *config.extend_select)) - registry.matching((*config.ignore, *config.extend_ignore))
    return tuple(entry for entry in registry.catalogue() if entry.id in on)


def check(project: Project, config: Config, selection: Selection, use_ignores: bool = True) -> Outcome:
    """Everything that the active rules find in a project, as the user's settings want it."""
    entries = active_rules(config)
    seen = _seen(project, entries)
    with_ignores = list(project.sources_with(IGNORE_ANCHOR))
    # Last, since the rules parse files as they need them, and the line above reads all others.
    raw = [finding for _, finding in seen.findings] + list(_engine_findings(project, entries, seen))
    if project.tree.documents:
        raw = list(_in_documents(raw, project.tree.documents))
    crashed = any(finding.rule == RULE_CRASHED for finding in raw)
    findings = [finding for finding in _unique(raw) if finding.rule == RULE_CRASHED or selection.reports(finding)]
    if use_ignores:
        findings = _ignored(project, with_ignores, findings, entries, selection)
    findings = [shown for finding in findings if (shown := _as_configured(finding, config))]
    return Outcome(tuple(sorted(findings, key=lambda finding: finding.sort_key)), crashed)


Turn = tuple[int, int, int]
"""When a finding is found: the number of its rule, of the kind of the node that the rule looks at, and of the node."""


class _Seen(NamedTuple):
    """What the rules found in a part of the files, and what could not be parsed or read on the way."""

    findings: list[tuple[Turn, Finding]]
    syntax_problems: list[Problem]
    unreadable: dict[str, str]


def _seen(project: Project, entries: Sequence[Entry]) -> _Seen:
    """What there is to see in a project. In a large one a second process looks at half of the files, which changes nothing of it."""
    if not (workers.can_split() and _has_many_files(project, entries)):
        return _seen_in(project, entries, workers.whole)
    halves = workers.in_two(lambda part: _seen_in(project, entries, part))
    findings = sorted((found for half in halves for found in half.findings), key=itemgetter(0))
    problems = [problem for half in halves for problem in half.syntax_problems]
    return _Seen(findings, problems, {path: reason for half in halves for path, reason in half.unreadable.items()})


def _has_many_files(project: Project, entries: Sequence[Entry]) -> bool:
    """Whether the nodes of the active rules stand in many files."""
    paths = {path_of(node) for node in (*project.stages, *project.containers)}
    modules = (project.relevance.modules(entry.id) for entry in entries if "Module" in entry.node)
    return len(paths.union(*modules)) >= MANY_FILES


def _seen_in(project: Project, entries: Sequence[Entry], part: Part) -> _Seen:
    findings = list(_rule_findings(project, entries, part))
    return _Seen(findings, list(project.syntax_problems()), dict(project.tree.unreadable))


def _rule_findings(project: Project, entries: Sequence[Entry], part: Part) -> Iterator[tuple[Turn, Finding]]:
    for rule, entry in enumerate(entries):
        if not entry.module or waits(entry, project.machines) or (entry.severities == (Severity.NOTE,) and not project.wants_notes):
            continue
        for place, kind in enumerate(entry.node.split(" | ")):
            if kind != "Stage" or project.builds_may_concern(entry.id):
                for number, node in project.nodes(kind, entry.id, part):
                    yield from (((rule, place, number), finding) for finding in _guarded(entry, node, project))


def _guarded(entry: Entry, node: object, project: Project) -> Iterator[Finding]:
    """The findings of one rule on one node: what it needs and cannot know silences it, a crash is a finding of its own."""
    try:
        problems = list(registry.load(entry).check(node, project))
    except UnknownValue:
        return
    except Exception as error:  # a fault of one rule must not cost the user the findings of the others
        yield _crash(entry, node, error)
        return
    overlay = getattr(node, "overlay", None)
    for problem in problems:
        yield Finding(entry.id, entry.name, _shortened(problem), overlay=overlay)


def _engine_findings(project: Project, entries: Sequence[Entry], seen: _Seen) -> Iterator[Finding]:
    """The findings that are the engine's own: files that cannot be read or parsed."""
    by_id = {entry.id: entry for entry in entries}
    if SYNTAX_ERROR in by_id:
        for problem in (*seen.syntax_problems, *project.syntax_problems()):
            yield Finding(SYNTAX_ERROR, by_id[SYNTAX_ERROR].name, _shortened(problem))
    if UNREADABLE_FILE in by_id:
        for path, reason in sorted({**seen.unreadable, **project.tree.unreadable}.items()):
            place = Location(path, 1, 1, 1, 1)
            yield Finding(
                UNREADABLE_FILE,
                by_id[UNREADABLE_FILE].name,
                Problem(place, f"this file {reason}, so nothing in it was checked", Severity.WARNING),
            )


def _in_documents(findings: Iterable[Finding], documents: Mapping[str, str]) -> Iterator[Finding]:
    """The findings in blocks of code at their places in the documents. A block is often a part of a file, so that nothing is said of one
    that cannot be parsed."""
    for finding in findings:
        problem = finding.problem
        if problem.location.path not in documents or finding.rule not in (SYNTAX_ERROR, UNREADABLE_FILE):
            related = tuple(each._replace(location=_in_document(each.location, documents)) for each in problem.related)
            yield finding._replace(problem=problem._replace(location=_in_document(problem.location, documents), related=related))


def _in_document(location: Location, documents: Mapping[str, str]) -> Location:
    return location._replace(path=documents.get(location.path, location.path))


def _shortened(problem: Problem) -> Problem:
    """The problem with sentences that a person can read."""
    related = tuple(each._replace(message=_cut(each.message)) for each in problem.related)
    return problem._replace(message=_cut(problem.message), help=_cut(problem.help), related=related)


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= LONGEST_SENTENCE else f"{sentence[:LONGEST_SENTENCE]}..."


def _crash(entry: Entry, node: object, error: Exception) -> Finding:
    path = path_of(node)
    message = f"rule {entry.id} ({entry.name}) failed on this file: {type(error).__name__}: {error}; the other rules went on"
    return Finding(RULE_CRASHED, "rule-crashed", Problem(Location(path, 1, 1, 1, 1), message, Severity.ERROR))


def _unique(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each rule and place: a line seen through several overlays or targets is reported once."""
    kept: dict[tuple[str, Location, str], Finding] = {}
    overlays: dict[tuple[str, Location, str], set[Location]] = {}
    for finding in findings:
        # Rules that fail on one file are told apart by what they say.
        key = (finding.rule, finding.problem.location, finding.problem.message if finding.rule == RULE_CRASHED else "")
        if key not in kept or finding.problem.severity > kept[key].problem.severity:
            kept[key] = finding
        if finding.overlay is not None:
            overlays.setdefault(key, set()).add(finding.overlay[0])
    return [_with_overlay(finding, len(overlays.get(key, ()))) for key, finding in kept.items()]


def _with_overlay(finding: Finding, overlays: int) -> Finding:
    """The finding with the overlay that it holds for, where it stands elsewhere and does not hold for all; `overlays` is for how many it
    does."""
    if finding.overlay is None or overlays >= finding.overlay[1]:
        return finding
    place, problem = finding.overlay[0], finding.problem
    if dirname(place.path) == dirname(problem.location.path):
        return finding
    remark = Related(place, "this kustomization builds it so, others build it otherwise")
    return finding._replace(problem=problem._replace(related=(*problem.related, remark)))


def _ignored(
    project: Project, sources: Sequence[Source], findings: list[Finding], entries: Sequence[Entry], selection: Selection
) -> list[Finding]:
    """The findings with those marked that an ignore in the sources holds back, and one more for each ignore that does nothing."""
    if not sources:
        return findings
    from gpulint import suppress

    ignores = [ignore for source in sources for ignore in suppress.read_ignores(source, project.tree)]
    if project.tree.documents:
        ignores = [replace(each, location=_in_document(each.location, project.tree.documents)) for each in ignores]
    marked, used = suppress.apply(findings, ignores)
    unused = next((entry for entry in entries if entry.id == UNUSED_IGNORE), None)
    if unused is None:
        return marked
    heard = {entry.id for entry in entries if _is_heard(entry, project)} if selection.whole else set()
    idle = (ignore for ignore in ignores if ignore.trouble or (ignore.location not in used and _could_match(ignore, heard)))
    reported = (Finding(unused.id, unused.name, _shortened(problem)) for problem in dict.fromkeys(map(_idle_problem, idle)))
    return marked + [finding for finding in reported if selection.reports(finding)]


def waits(entry: Entry, machines: Machines) -> bool:
    """Whether a rule says nothing because the user states no such fact of the machines."""
    return not all(map(machines.states, entry.machines))


def _is_heard(entry: Entry, project: Project) -> bool:
    """Whether all that a rule has to say is found in this run."""
    return not waits(entry, project.machines) and (project.wants_notes or Severity.NOTE not in entry.severities)


def _could_match(ignore: Ignore, heard: set[str]) -> bool:
    """Whether an ignore that matched nothing could have: all that its rules say was asked for."""
    named = registry.matching(ignore.rules)
    return bool(named) and named <= heard


def _idle_problem(ignore: Ignore) -> Problem:
    if ignore.trouble:
        return Problem(ignore.location, f"this ignore {ignore.trouble}", Severity.WARNING)
    message = f"this ignore of {', '.join(ignore.rules)} matches no finding"
    return Problem(ignore.location, message, Severity.WARNING, help="remove it")


def _as_configured(finding: Finding, config: Config) -> Finding | None:
    """The finding with the severity that the settings give its rule; None where they hide it."""
    problem = finding.problem
    for glob, rules in config.per_file_ignores.items():
        pattern = glob_pattern((glob,))
        if pattern and pattern.search(problem.location.path) and any(registry.selects(rule, finding.rule, finding.name) for rule in rules):
            return None
    for rule, severity in config.severity.items():
        if registry.selects(rule, finding.rule, finding.name):
            finding = finding._replace(problem=problem._replace(severity=severity))
    return finding if finding.problem.severity >= visible_from(config) else None


def visible_from(config: Config) -> Severity:
    """The least severity that is shown: --fail-on below --min-severity lowers that."""
    return min(config.min_severity, config.fail_on) if config.fail_on else config.min_severity
