"""Helm and other Go templates, read without rendering: what is literal keeps its place, and what an action writes is Unknown.

An `{{ action }}` within a value becomes a placeholder of the same length, a line of actions alone an empty line; the rest is read as
YAML. Both branches of an `if` stay. A mapping or sequence to which an action may add, or of which it may drop a part, is marked open.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import replace

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.template_actions import Action, Blocks, find_actions, render
from gpulint.parse.yaml import Document, YamlSyntax, parse
from gpulint.parse.yaml_problems import looks_templated
from gpulint.source import Location, Source, Unknown

__all__ = ["is_template", "looks_templated", "parse_either", "parse_template", "unrendered"]

_INDENT = regex(r"\bn?indent\s+(\d{1,3})\b")
_BLOCK_OF_TEXT = regex(r"(?:^|[ \t])[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$")


def parse_template(source: Source) -> YamlSyntax:
    """Read a template of YAML without rendering it. Never raises.

    A document with actions in it has `template` set. A scalar with one is Unknown, its `raw` the template's own text; an entry with one
    in its key is left out, and its mapping open. What is no YAML even so is in `problems`.
    """
    actions = find_actions(source)
    if not actions:
        return parse(source)
    blocks = Blocks(actions)
    lines = render(source.text, actions, blocks)
    syntax = parse(Source(source.path, "\n".join(lines).encode()))
    reader = _Reader(source, actions, blocks, lines)
    begins = [document.location.line for document in syntax.documents[1:]]
    before = (0, *(line - 1 for line in begins))
    after = (*begins, len(lines) + 1)
    documents = map(reader.document, syntax.documents, before, after)
    return replace(syntax, documents=tuple(documents))


def parse_either(source: Source, wanted: Callable[[str], bool] | None = None) -> YamlSyntax:
    """Read a file that may be plain YAML or a template: as a template only where it cannot be read as YAML. Never raises.

    `wanted` is asked about the documents of plain YAML, as by `gpulint.parse.yaml.parse`.
    """
    syntax = parse(source, wanted)
    return parse_template(source) if syntax.problems and is_template(source.text) else syntax


def is_template(text: str) -> bool:
    """Whether a text has `{{ actions }}` where YAML reads no text: on a line of their own, or as a value without quotes.

    Within quotes, plain text and blocks of text they are for the tool that reads the values: Argo's `{{inputs.x}}`, the labels of an
    alert, GitHub's `${{ x }}`. Such files are plain YAML.
    """
    if "{{" not in text:
        return False
    block_of_text = None
    for line in text.splitlines():
        content = line.lstrip(" ")
        indentation = len(line) - len(content)
        if block_of_text is not None and content and indentation <= block_of_text:
            block_of_text = None
        if block_of_text is None:
            if _acts_as_structure(line):
                return True
            if _BLOCK_OF_TEXT.search(line):
                block_of_text = indentation
    return False


def _acts_as_structure(line: str) -> bool:
    """Whether the first action of a line stands where a value or the line itself begins."""
    before, found, _ = line.replace('\\"', "").partition("{{")
    if not found or "#" in before or before.count('"') % 2 or before.count("'") % 2:
        return False
    text = before.strip(" \t")
    if text.endswith(","):
        return "[" in text or "{" in text
    is_apart = before.endswith((" ", "\t")) and (text.endswith((":", " -")) or text == "-")
    return is_apart or not text or text.endswith(("[", "{"))


def unrendered(node: Node) -> Node:
    """The node with each scalar that holds `{{...}}` Unknown, for plain YAML whose values a tool renders later, such as Argo's."""
    if isinstance(node, Mapping):
        entries = tuple(entry._replace(value=unrendered(entry.value)) for entry in node.entries if not _has_placeholder(entry.key))
        return Mapping(entries, node.location, node.tag, node.open or len(entries) < len(node.entries))
    if isinstance(node, Sequence):
        return Sequence(tuple(unrendered(item) for item in node.items), node.location, node.tag, node.open)
    return Unknown(str(node), node.location) if isinstance(node, Scalar) and _has_placeholder(node) else node


def _has_placeholder(text: str) -> bool:
    start = text.find("{{")
    return start >= 0 and text.find("}}", start) >= 0


class _Loose(NamedTuple):
    """An action on a line of its own, or one that begins the value which goes on below; and the column, from 0, in which what it writes
    begins. `line` is behind that of the key or dash which the value belongs to."""

    action: Action
    indentation: int
    line: float


class _Scope(NamedTuple):
    """The lines between which a node may stand, both exclusive, and the indentation of what holds it."""

    before: int
    after: int
    indentation: int


_NO_SCOPE = _Scope(0, 0, 0)


class _Reader:
    """Makes the nodes of a template from those that were read from its rendered lines."""

    def __init__(self, source: Source, actions: list[Action], blocks: Blocks, lines: list[str]) -> None:
        self._source = source
        self._blocks = blocks
        self._lines = lines
        self._actions = [action for action in actions if not action.literal]
        self._places = [(action.line, action.column) for action in self._actions]
        self._loose = [_Loose(action, self._indentation(action), line) for action in actions if (line := self._loose_line(action))]
        self._loose_lines = [loose.line for loose in self._loose]
        self._claimed: set[Action] = set()
        self._done: dict[int, Node] = {}

    def document(self, document: Document, before: int, after: int) -> Document:
        """A document as the template has it; `before` and `after` are the lines around it."""
        is_written_to = any(loose.action.writes for loose in self._between(before, after))
        if document.root is None or not (is_written_to or self._within(document.location)):
            return document
        return replace(document, root=self._node(document.root, _Scope(before, after, -1)), template=True)

    def _node(self, node: Node, scope: _Scope) -> Node:
        if isinstance(node, Scalar):
            return self._scalar(node, scope)
        if isinstance(node, Unknown):
            return node
        if id(node) not in self._done:
            self._done[id(node)] = self._mapping(node, scope) if isinstance(node, Mapping) else self._sequence(node, scope)
        return self._done[id(node)]

    # Collections

    def _mapping(self, node: Mapping, scope: _Scope) -> Mapping:
        lines = [entry.key.location.line for entry in node.entries if not entry.merged]
        merged = len(node.entries) - len(lines)
        scopes = (*_scopes_within(node, lines, scope), *(_NO_SCOPE for _ in range(merged)))
        entries = [entry._replace(value=self._node(entry.value, inner)) for entry, inner in zip(node.entries, scopes, strict=True)]
        kept = tuple(entry for entry in entries if not self._within(entry.key.location))
        return Mapping(kept, node.location, node.tag, self._is_open(node, lines, scope) or len(kept) < len(entries))

    def _sequence(self, node: Sequence, scope: _Scope) -> Sequence:
        lines = [self._begin(item.location.line) for item in node.items]
        scopes = _scopes_within(node, lines, scope)
        items = tuple(self._node(item, inner) for item, inner in zip(node.items, scopes, strict=True))
        return Sequence(items, node.location, node.tag, self._is_open(node, lines, scope))

    def _is_open(self, node: Mapping | Sequence, lines: list[int], scope: _Scope) -> bool:
        """Whether an action may add to a collection, or some of what begins at `lines` stands under a condition."""
        if self._claim(scope, node.location.column - 1) or any(self._is_conditional(line, node, scope) for line in lines):
            return True
        line, column = node.location.line, node.location.column
        is_flow = self._lines[line - 1].startswith(("{", "["), column - 1)
        return is_flow and any(action in self._blocks.in_one_line for action in self._within(node.location))

    def _is_conditional(self, line: int, node: Mapping | Sequence, scope: _Scope) -> bool:
        """Whether what begins at a line of a collection stands in a block within it. A block around a whole document does not count."""
        block = self._blocks.around(line)
        if block is None or block.line <= scope.before:
            return False
        is_root = scope.indentation < 0
        return not (is_root and block.line <= node.location.line and block.end_line >= node.location.end_line)

    def _begin(self, line: int) -> int:
        """The line on which an item begins that is read from this line on: that of its dash, where only actions stood behind it."""
        above = next((number for number in range(line - 1, 0, -1) if self._lines[number - 1].strip()), 0)
        return above if above and not self._lines[above - 1].strip(" -") else line

    # Actions on lines of their own

    def _loose_line(self, action: Action) -> float:
        """The line on which an action stands alone, or half a line more for one behind the key or dash of the value that it begins; 0 for
        any other."""
        line = self._lines[action.line - 1]
        if not line:
            return action.line
        return action.line + 0.5 if action.writes and not line[action.column - 1 :].strip() else 0

    def _indentation(self, action: Action) -> int:
        indents = _INDENT.findall(self._source.text, action.start, action.end)
        return int(indents[-1]) if indents else action.column - 1

    def _between(self, before: int, after: int) -> list[_Loose]:
        return self._loose[bisect_right(self._loose_lines, before) : bisect_left(self._loose_lines, after)]

    def _claim(self, scope: _Scope, indentation: int, silent: bool = False) -> list[Action]:
        """The actions that write into a node of that indentation, and not into one within it: no node around it is asked again.

        Where they write at the indentation of what holds the node, they may as well belong there.
        """
        found = [
            loose
            for loose in self._between(scope.before, scope.after)
            if loose.indentation >= indentation and (silent or loose.action.writes) and loose.action not in self._claimed
        ]
        self._claimed.update(loose.action for loose in found if loose.indentation > scope.indentation)
        return [loose.action for loose in found]

    # Scalars

    def _scalar(self, node: Scalar, scope: _Scope) -> Scalar | Unknown:
        actions = self._within(node.location)
        if actions:
            last = self._source.location(actions[-1].start, actions[-1].end)
            return self._unknown(node.location.to(max(last, node.location, key=_end)))
        if not node and node.plain:
            actions = self._claim(scope._replace(indentation=-1), scope.indentation)
            return self._unknown(self._source.location(actions[0].start, actions[0].end)) if actions else node
        if node.pieces is not None:
            indentation = node.pieces[0].column - 1 if node.pieces else scope.indentation + 1
            return self._unknown(node.location) if self._claim(scope, indentation, silent=True) else node
        return node

    def _within(self, location: Location) -> list[Action]:
        """The actions that begin in a region."""
        start = bisect_left(self._places, (location.line, location.column))
        return self._actions[start : bisect_left(self._places, _end(location), start)]

    def _unknown(self, location: Location) -> Unknown:
        lines = [self._source.line(number) for number in range(location.line, location.end_line + 1)]
        lines[-1] = lines[-1][: location.end_column - 1]
        lines[0] = lines[0][location.column - 1 :]
        return Unknown("\n".join(lines), location)


def _scopes_within(node: Mapping | Sequence, lines: list[int], scope: _Scope) -> list[_Scope]:
    """The scopes of a collection's own values, which begin at these lines: each reaches to the next."""
    return [_Scope(line, after, node.location.column - 1) for line, after in zip(lines, (*lines[1:], scope.after), strict=bool(lines))]


def _end(location: Location) -> tuple[int, int]:
    return location.end_line, location.end_column
