"""What holds a finding back where it stands: ignore comments, and annotations for files whose comments get lost.

A comment is found by its text alone. What it governs is the instruction or stage of a Dockerfile; elsewhere the lines that are indented
deeper, so that it works in every format the same way. An annotation is a key of YAML or JSON, and governs the object that has it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.discover import Kind
from gpulint.parse.blocks import Blocks
from gpulint.parse.nodes import Entry, Mapping, Node
from gpulint.parse.nodes import Sequence as Items
from gpulint.project.tree import Tree
from gpulint.registry import missing, selects
from gpulint.rule import Finding
from gpulint.source import Location, Source, Text, Unknown

if TYPE_CHECKING:
    from gpulint.parse.dockerfile import Instruction

ANNOTATION, COMPOSE_KEY = "gpulint/ignore", "x-gpulint"
LONGEST_REASON = 1000
"""How many characters of an ignore's reason are kept: it stands in the report for each finding that the ignore holds back."""

MOST_IGNORES, MOST_DECORATORS = 1000, 20
"""What is read of one file and one definition: more than anybody writes, so that no file takes longer than its length."""

_COMMENT = regex(
    r"#\s*gpulint:\s*(?P<verb>ignore-file|ignore|(?:disable|skip|noqa|nolint|off|allow|suppress|ignore)[\w-]*)(?![\w-])\s*"
    r"(?P<rules>\[[^\]]*\])?(?P<reason>.*)$"
)
_RULE = r"(?:[A-Z]+\d+|ALL|[a-z]+(?:-[a-z0-9]+)+)"
_RULES_AND_REASON = regex(rf"\s*({_RULE}(?:\s*,\s*{_RULE})*)\b[\s:]*(.*)", re.DOTALL)
_DIRECTIVE = regex(r"\s*#\s*(?:syntax|escape|check)\s*=", re.IGNORECASE)
_NO_RULE_IN_COMMENT = "names no rule: write ignore[GPU201] with the rule it is meant for, and a reason behind it"
_NO_RULE_IN_ANNOTATION = 'names no rule: write "GPU201 reason" with the rule it is meant for'
_NO_VERB = "says {}, which is no word for it: write ignore[GPU201] with the rule it is meant for, and a reason behind it"
_BEHIND_AN_INSTRUCTION = "stands behind an instruction, where a Dockerfile has no comments: put it alone on the line above"
_ABOVE_A_DIRECTIVE = "stands above a parser directive, which is then a plain comment: put it below"


@dataclass(frozen=True)
class Ignore:
    """One ignore of the user's: which rules, on which lines of the file (both included), and why.

    `trouble` says what is wrong with it; it holds back what it still can.
    """

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


def read_ignores(source: Source, tree: Tree) -> list[Ignore]:
    """The ignores that a file holds."""
    return list(islice(chain(_comments(source, tree), _annotations(source, tree)), MOST_IGNORES))


def _unknown_rules(rules: Iterable[str]) -> str:
    """What is wrong with the rules that an ignore names."""
    return next((f"cannot work: {complaint}" for complaint in map(missing, rules) if complaint), "")


# --- Comments -------------------------------------------------------------------------------------------------------------------


class _Lines(NamedTuple):
    """A file by its lines. `instructions` are those of a Dockerfile, None for another file; `directive` is the line of the last directive
    at its head, 0 for none."""

    path: str
    blocks: Blocks
    is_python: bool
    instructions: Sequence[Instruction] | None
    directive: int


def _comments(source: Source, tree: Tree) -> Iterator[Ignore]:
    lines = [source.line(number) for number in range(1, source.line_count + 1)]
    if not any(map(_COMMENT.search, lines)):
        return
    kind = tree.kind(source.path)
    syntax = tree.dockerfile(source.path) if kind is Kind.DOCKERFILE else None
    directive = _last_directive(lines) if syntax else 0
    file = _Lines(source.path, Blocks(lines), kind is Kind.PYTHON, syntax.instructions if syntax else None, directive)
    for number, line in enumerate(lines, start=1):
        comment = _COMMENT.search(line)
        if comment:
            yield _from_comment(file, number, comment)


def _last_directive(lines: Iterable[str]) -> int:
    """The line of the last directive among the comments at the head of a Dockerfile, whether it works there or not; 0 for none."""
    head = takewhile(lambda line: line.lstrip().startswith("#"), lines)
    return max((number for number, line in enumerate(head, start=1) if _DIRECTIVE.match(line)), default=0)


def _from_comment(file: _Lines, number: int, comment: re.Match[str]) -> Ignore:
    line = file.blocks.line(number)
    location = Location(file.path, number, comment.start() + 1, number, len(line.rstrip()) + 1)
    rules = tuple(rule.strip() for rule in (comment["rules"] or "")[1:-1].split(",") if rule.strip())
    is_alone = not line[: comment.start()].strip()
    if comment["verb"] not in ("ignore", "ignore-file"):
        return Ignore(location, (), "", number, number, _NO_VERB.format(comment["verb"]))
    if not rules:
        return Ignore(location, (), "", number, number, _NO_RULE_IN_COMMENT)
    if file.instructions is not None and not is_alone:
        return Ignore(location, (), "", number, number, _BEHIND_AN_INSTRUCTION)
    first, last = (1, len(file.blocks)) if comment["verb"] == "ignore-file" else _governed(file, number, is_alone)
    trouble = _unknown_rules(rules) or (_ABOVE_A_DIRECTIVE if number < file.directive else "")
    return Ignore(location, rules, _reason(comment["reason"]), first, last, trouble)


def _reason(text: str) -> str:
    return text.strip()[:LONGEST_REASON]


def _governed(file: _Lines, number: int, is_alone: bool) -> tuple[int, int]:
    """The first and last line that a comment governs: of what begins on its line, or on the next where it is alone on its own."""
    if file.instructions is not None:
        return number, _end_of_instruction(file.instructions, number, len(file.blocks))
    first = begun = file.blocks.next_line(number) if is_alone else number
    last = file.blocks.last_line(first)
    for _ in range(MOST_DECORATORS if file.is_python else 0):
        if not file.blocks.line(begun).lstrip().startswith("@"):
            break
        begun = file.blocks.next_line(last)
        last = file.blocks.last_line(begun)
    return first, last


def _end_of_instruction(instructions: Sequence[Instruction], number: int, last: int) -> int:
    """The last line of the instruction that a line stands in or above, and for a FROM that of its stage; `last` is that of the file."""
    at = bisect_left(instructions, number, key=lambda each: each.location.end_line)
    if at == len(instructions):
        return number
    if instructions[at].name != "FROM":
        return instructions[at].location.end_line
    return next((each.location.line - 1 for each in instructions[at + 1 :] if each.name == "FROM"), last)


# --- Annotations ----------------------------------------------------------------------------------------------------------------

_YAML = frozenset(set(Kind) - {Kind.DOCKERFILE, Kind.PYTHON, Kind.SHELL, Kind.MAKEFILE, Kind.REQUIREMENTS, Kind.PYPROJECT})


def _annotations(source: Source, tree: Tree) -> Iterator[Ignore]:
    """The annotations of a YAML or JSON file, each with the lines of the object that has it."""
    if not any(key.encode() in source.data for key in (ANNOTATION, COMPOSE_KEY)) or tree.kind(source.path) not in _YAML:
        return
    syntax = tree.yaml(source.path)
    for document in syntax.documents if syntax else ():
        for mapping, first in _mappings(document.root, document.location.line):
            for entry in filter(None, (mapping.entry(COMPOSE_KEY), mapping.mapping("metadata", "annotations").entry(ANNOTATION))):
                yield from _from_annotation(entry, first, mapping.location.end_line)


def _mappings(root: Node | None, line: int) -> Iterator[tuple[Mapping, int]]:
    """Every mapping of a document once, with the line on which it begins: that of its key, where it has one."""
    waiting: list[tuple[Node | None, int]] = [(root, line)]
    seen: set[int] = set()
    while waiting:
        node, line = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Mapping):
            yield node, line
            waiting += [(entry.value, entry.key.location.line) for entry in node]
        elif isinstance(node, Items):
            waiting += [(item, item.location.line) for item in node]


def _from_annotation(entry: Entry, first: int, last: int) -> Iterator[Ignore]:
    if isinstance(entry.value, Unknown):
        return
    location = entry.key.location.to(entry.value.location)
    words = _RULES_AND_REASON.fullmatch(entry.value) if isinstance(entry.value, Text) else None
    if words is None:
        yield Ignore(location, (), "", first, last, _NO_RULE_IN_ANNOTATION)
        return
    rules = tuple(rule.strip() for rule in words[1].split(","))
    yield Ignore(location, rules, _reason(words[2]), first, last, _unknown_rules(rules))


# --- Use ------------------------------------------------------------------------------------------------------------------------


def apply(findings: Iterable[Finding], ignores: Iterable[Ignore]) -> tuple[list[Finding], set[Location]]:
    """The findings, those that an ignore holds back marked with it; and the places of the ignores that were of use."""
    by_path: dict[str, list[Ignore]] = {}
    for ignore in ignores:
        by_path.setdefault(ignore.location.path, []).append(ignore)
    marked, used = [], set()
    for finding in findings:
        holding = next((each for each in by_path.get(finding.problem.location.path, ()) if each.holds(finding)), None)
        if holding:
            used.add(holding.location)
            finding = finding._replace(suppressed_by=holding.location, reason=holding.reason)
        marked.append(finding)
    return marked, used
