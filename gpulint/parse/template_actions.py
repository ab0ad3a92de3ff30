"""The `{{ actions }}` of a Go template, the blocks that they open and close, and the template's text with placeholders for them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from gpulint.deferred import NamedTuple, regex
from gpulint.source import Source

_COMMENT = regex(r"\{\{(?:-\s)?/\*")
_TOKEN = regex(r"""\}\}|"(?:\\.|[^"\\\n]){0,200}"|"|`[^`]*`?|'(?:\\.|[^'\\\n])'""")
_WORD = regex(r"\{\{-?\s*([a-zA-Z]\w*|/\*|\$\w*(?:\s*,\s*\$\w+)?\s*:?=)?")
_LITERAL = regex(r"""\{\{-?\s*(?:"([\w./-]+)"|`([\w./-]+)`|(\d+))\s*-?\}\}""")
_BEFORE_VALUE = regex(r"[ \t]*(?:-[ \t]+)*(?:-[ \t]+|[^\s:#'\"{}\[\]]+:[ \t]+)")
_AFTER_VALUE = regex(r"[ \t]*(?:[ \t]#[^\n]*)?\r?(?:\n|\Z)")
_MAX_KEY = 200
_NOT_LINE_BREAK = regex(r"[^\n]")

_OPENING = frozenset(("if", "with", "range", "define", "block"))
_CONTROL = _OPENING | {"else", "end", "break", "continue"}

_WRITES, _SILENT, _CONTINUED = "\x01\x02\x03"
"""What each character of an action becomes until its whole line is looked at: of one that writes, of one that writes nothing, and of
either from its second line on."""
_MARK = regex("[\x01-\x03]")
_LEADING_SILENT = regex("^[ \t]*\x02+(?=[ \t]*[^\x01-\x03 \t\r])")
_BEGUN_VALUE = regex("(?P<before>[ ]*(?:- +)*)(?P<owner>-|[^\\s#'\"\\[\\]{}:,-][^\\s:#]*:)[ ]+\x01[\x01-\x03 \t\r]*")
"""A dash or a key behind which only actions stand, of which the first writes; `before` ends where the dash or key begins."""
_ENTRY = regex(r" *(?:- |-$|[^\s#][^#]*?:(?: |$))")
_PLACEHOLDERS = {1: "x", 2: " ", 3: " "}


class Action(NamedTuple):
    """One `{{ action }}`: its offsets, its line and column, its keyword if it has one, and the text it writes if that is known.

    `keyword` is a control word, `/*` for a comment, `=` for an assignment, and else empty: then it writes something.
    """

    start: int
    end: int
    line: int
    column: int
    keyword: str
    literal: str

    @property
    def writes(self) -> bool:
        return not self.keyword


class Block(NamedTuple):
    """The lines from an action that opens a block to its `end`."""

    line: int
    end_line: int


def find_actions(source: Source) -> list[Action]:
    """The actions of a template in order, up to one that is not closed."""
    text, actions = source.text, []
    start = text.find("{{")
    while start >= 0:
        end = _end(text, start)
        if end < 0:
            break
        actions.append(Action(start, end, *source.position(start), _keyword(text, start), _literal(text, start, end)))
        start = text.find("{{", end)
    return actions


def _end(text: str, start: int) -> int:
    """The offset behind the `}}` that closes an action, which in strings and comments closes nothing; -1 where there is none."""
    comment = _COMMENT.match(text, start)
    if comment:
        closed = text.find("*/", comment.end())
        start = closed if closed >= 0 else len(text)
    for token in _TOKEN.finditer(text, start + 2):
        if token[0] == "}}":
            return token.end()
        if token[0] == '"':
            break  # A string that is not closed is no Go: then the action ends at the nearest braces.
    end = text.find("}}", start)
    return end + 2 if end >= 0 else -1


def _keyword(text: str, start: int) -> str:
    match = _WORD.match(text, start)
    word = (match[1] or "") if match else ""
    return "=" if word.endswith("=") else word if word in _CONTROL or word == "/*" else ""


def _literal(text: str, start: int, end: int) -> str:
    """What an action writes that is a plain literal and the whole of a value: `{{ "x" }}`, `{{ 1 }}`."""
    match = _LITERAL.fullmatch(text, start, end)
    if match is None or not _AFTER_VALUE.match(text, end):
        return ""
    line = text.rfind("\n", max(start - _MAX_KEY, 0), start) + 1
    return (match[1] or match[2] or match[3]) if _BEFORE_VALUE.fullmatch(text, max(line, start - _MAX_KEY, 0), start) else ""


class Blocks:
    """The blocks of a template. `in_one_line` are the control actions of those that begin and end on the same line."""

    def __init__(self, actions: Iterable[Action]) -> None:
        self._blocks: list[list[Action]] = []
        self._lines: list[int] = []
        self._innermost: list[int] = []
        stack = [-1]
        for action in actions:
            if action.keyword in _OPENING:
                stack.append(len(self._blocks))
                self._blocks.append([action])
            elif action.keyword in ("else", "end") and len(stack) > 1:
                self._blocks[stack[-1]].append(action)
                if action.keyword == "end":
                    stack.pop()
            self._lines.append(action.line)
            self._innermost.append(stack[-1])
        closed = (block for block in self._blocks if block[-1].keyword == "end")
        self.in_one_line = {action for block in closed if block[0].line == block[-1].line for action in block}

    def around(self, line: int) -> Block | None:
        """The innermost block that a line stands in."""
        index = bisect_right(self._lines, line) - 1
        if index < 0 or self._innermost[index] < 0:
            return None
        block = self._blocks[self._innermost[index]]
        return Block(block[0].line, block[-1].line)


def render(text: str, actions: Iterable[Action], blocks: Blocks) -> list[str]:
    """The lines of a template as lines of YAML.

    A line of actions alone becomes empty. In others, what writes something becomes a placeholder of the same length; the literal that
    an action writes stays; and what writes nothing becomes blank, but a placeholder before text, whose indentation must not grow. What
    stands alone as a value becomes blank where the lines below go on with the value: it writes their first part.
    """
    parts: list[str] = []
    position = 0
    for action in actions:
        first, line_break, rest = text[action.start : action.end].partition("\n")
        mark = _WRITES if action.writes or action in blocks.in_one_line else _SILENT
        placeholder = _blanked_but(action.literal, first) if action.literal else mark * len(first)
        parts += (text[position : action.start], placeholder, line_break, _NOT_LINE_BREAK.sub(_CONTINUED, rest))
        position = action.end
    marked = "".join((*parts, text[position:])).split("\n")
    lines = [_rendered_line(line) for line in marked]
    _blank_begun_values(marked, lines)
    return lines


def _blank_begun_values(marked: list[str], lines: list[str]) -> None:
    """Take the placeholder of a value away where a key or an item of it stands below."""
    below = ""
    for number in range(len(lines) - 1, -1, -1):
        if below and _WRITES in marked[number]:
            begun = _BEGUN_VALUE.fullmatch(marked[number])
            if begun and len(below) - len(below.lstrip(" ")) > begun.end("before") and _ENTRY.match(below):
                lines[number] = marked[number][: begun.end("owner")]
        below = lines[number] if lines[number].strip() else below


def _blanked_but(literal: str, text: str) -> str:
    before, _, after = text.partition(literal)
    return " " * len(before) + literal + " " * len(after)


def _rendered_line(line: str) -> str:
    if not _MARK.search(line):
        return line
    if not _MARK.sub("", line).strip():
        return ""
    return _LEADING_SILENT.sub(lambda match: match[0].replace(_SILENT, _WRITES), line).translate(_PLACEHOLDERS)
