"""Go templates as trees: text, actions and blocks, and the expressions within them. Nothing is evaluated here.

The grammar is that of Go's text/template, which Helm uses: pipelines of commands, variables, fields, `if`, `with`, `range`, `define`,
`block` and `template`, and dashes that trim the blanks around an action.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.template_actions import find_actions
from gpulint.source import Source

MAX_NESTING = 100
"""Blocks within blocks and parentheses within parentheses: a bound for whoever recurses over a tree."""

_MAX_ACTIONS = 20_000
"""Actions of one file; the largest templates of real charts have some 2,000."""

_LEXEME = regex(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\\n])*"|`[^`]*`)|(?P<char>'(?:\\.|[^'\\\n])')"""
    r"""|(?P<number>[+-]?(?:0[xXoObB])?[0-9][\w.]*)|(?P<variable>\$\w*)|(?P<field>\.[^\W\d]\w*)|(?P<dot>\.)"""
    r"""|(?P<word>[^\W\d]\w*)|(?P<mark>:=|[|()=,]))(?P<blank>\s*)"""
)
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
_ESCAPE = regex(r"\\(.)")
_CONSTANTS = {"true": True, "false": False}
_BLOCKS = frozenset(("if", "with", "range", "define", "block"))


class TemplateError(Exception):
    """A text that is no Go template, or one past a bound."""


# --- Expressions ----------------------------------------------------------------------------------------------------------------------


class Literal(NamedTuple):
    """A constant: a string, a number, a truth value, or None for `nil`."""

    data: str | int | float | bool | None


class Dot(NamedTuple):
    """The value that `.` stands for, and the fields that are read of it."""

    fields: tuple[str, ...]


class Variable(NamedTuple):
    """A variable with its dollar sign (`$` alone is the root), and the fields that are read of it."""

    name: str
    fields: tuple[str, ...]


class Function(NamedTuple):
    """The name of a function."""

    name: str


class Nested(NamedTuple):
    """A pipeline in parentheses, and the fields that are read of its value."""

    pipeline: Pipeline
    fields: tuple[str, ...]


Operand = Union[Literal, Dot, Variable, Function, Nested]


class Pipeline(NamedTuple):
    """Commands of which each takes the value before it as its last argument.

    `variables` are those that it sets (of `range` up to two); `declares` says whether they are new. `start` and `end` are the offsets of
    the action that it stands in.
    """

    commands: tuple[tuple[Operand, ...], ...]
    variables: tuple[str, ...]
    declares: bool
    start: int
    end: int


# --- Nodes ----------------------------------------------------------------------------------------------------------------------------


class TextNode(NamedTuple):
    """Text that is written as it stands, by its offsets."""

    start: int
    end: int


class ActionNode(NamedTuple):
    """An action that writes the value of its pipeline, or sets a variable."""

    pipeline: Pipeline


class BlockNode(NamedTuple):
    """`if`, `with` or `range` with its two branches. `start` and `end` are the offsets from its first action to behind its `end`; the
    branches reach from `body_start` to `body_end` and from `else_start` to `else_end`, which are equal where there is no `else`."""

    keyword: str
    pipeline: Pipeline
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]
    start: int
    end: int
    body_start: int
    body_end: int
    else_start: int
    else_end: int


class CallNode(NamedTuple):
    """`template "name" pipeline`."""

    name: str
    pipeline: Pipeline | None
    start: int
    end: int


class JumpNode(NamedTuple):
    """`break` or `continue`."""

    keyword: str


Node = Union[TextNode, ActionNode, BlockNode, CallNode, JumpNode]


class Template(NamedTuple):
    """A file's own nodes, and those of the templates that it defines, by their names."""

    nodes: tuple[Node, ...]
    defined: dict[str, tuple[Node, ...]]


def parse_go_template(source: Source) -> Template:
    """The tree of a template. Raises TemplateError."""
    reader = _Reader(source)
    nodes, closing = reader.nodes(0)
    if closing is not None:
        raise TemplateError(f"{{{{ {closing.keyword} }}}} closes nothing")
    return Template(tuple(nodes), reader.defined)


class _Tag(NamedTuple):
    """An action before it is parsed: its offsets with the braces, and the text within these and within dashes."""

    start: int
    end: int
    keyword: str
    inner: str


class _Reader:
    """Makes the nodes of one file from its texts and actions in order."""

    def __init__(self, source: Source) -> None:
        self.defined: dict[str, tuple[Node, ...]] = {}
        self._items = _texts_and_tags(source)
        self._length = len(source.text)

    def nodes(self, depth: int) -> tuple[list[Node], _Tag | None]:
        """The nodes up to the action that closes them or begins the other branch: that one, or None at the end of the file."""
        if depth > MAX_NESTING:
            raise TemplateError("blocks nest too deep")
        found: list[Node] = []
        for item in self._items:
            if isinstance(item, TextNode):
                found.append(item)
            elif item.keyword in ("else", "end"):
                return found, item
            elif item.keyword in ("define", "block"):
                found += self._definition(item, depth)
            elif item.keyword in _BLOCKS:
                found.append(self._block(item, depth))
            elif item.keyword == "template":
                found.append(_call(item))
            elif item.keyword in ("break", "continue"):
                found.append(JumpNode(item.keyword))
            elif item.keyword != "/*":
                found.append(ActionNode(_pipeline(item, item.inner)))
        return found, None

    def _block(self, tag: _Tag, depth: int) -> BlockNode:
        body, closing = self._closed(depth)
        otherwise: list[Node] = []
        body_end = else_start = else_end = closing.start
        if closing.keyword == "else":
            chained = closing.inner.removeprefix("else").strip()
            else_start = closing.end
            if chained:
                keyword = chained.split(None, 1)[0]
                if keyword not in ("if", "with"):
                    raise TemplateError(f"{{{{ else {keyword} }}}} is no Go template")
                inner = self._block(closing._replace(keyword=keyword, inner=chained), depth + 1)
                otherwise, closing = [inner], closing._replace(start=inner.body_end, end=inner.end)
                else_start, else_end = inner.start, inner.end
            else:
                otherwise, closing = self._closed(depth)
                else_end = closing.start
        pipeline = _pipeline(tag, tag.inner.removeprefix(tag.keyword))
        return BlockNode(
            tag.keyword,
            pipeline,
            tuple(body),
            tuple(otherwise),
            tag.start,
            closing.end,
            tag.end,
            body_end,
            else_start,
            else_end,
        )

    def _closed(self, depth: int) -> tuple[list[Node], _Tag]:
        found, closing = self.nodes(depth + 1)
        if closing is None:
            raise TemplateError("a block is not closed")
        return found, closing

    def _definition(self, tag: _Tag, depth: int) -> list[Node]:
        """What a definition leaves at its place: nothing, or for a `block` the call of itself."""
        words = _Words(tag.inner.removeprefix(tag.keyword))
        name = words.string()
        body, closing = self._closed(depth)
        if closing.keyword != "end":
            raise TemplateError("a definition has no else")
        self.defined[name] = tuple(body)
        return [CallNode(name, words.pipeline(tag, 0), tag.start, tag.end)] if tag.keyword == "block" else []


def _texts_and_tags(source: Source) -> Iterator[TextNode | _Tag]:
    """The texts and actions of a file in their order, the texts without what dashes trim."""
    text, position, trims = source.text, 0, False
    actions = find_actions(source)
    if len(actions) > _MAX_ACTIONS:
        raise TemplateError("too many actions")
    for action in actions:
        inner = text[action.start + 2 : action.end - 2]
        trims_before = inner[:1] == "-" and inner[1:2].isspace()
        trims_behind = inner[-1:] == "-" and inner[-2:-1].isspace()
        yield from _text_node(text, position, action.start, trims, trims_before)
        keyword = "/*" if action.keyword == "/*" else _first_word(inner[trims_before : len(inner) - trims_behind])
        yield _Tag(action.start, action.end, keyword, inner[trims_before : len(inner) - trims_behind].strip())
        position, trims = action.end, trims_behind
    if "{{" in text[position:]:
        raise TemplateError("an action is not closed")
    yield from _text_node(text, position, len(text), trims, False)


def _text_node(text: str, start: int, end: int, trims_left: bool, trims_right: bool) -> Iterator[TextNode]:
    part = text[start:end]
    if trims_left:
        start += len(part) - len(part.lstrip())
    if trims_right:
        end -= len(part) - len(part.rstrip())
    if start < end:
        yield TextNode(start, end)


def _first_word(inner: str) -> str:
    """The keyword that an action begins with; "" for any other word."""
    word = inner.split(None, 1)[0] if inner.strip() else ""
    return word if word in _BLOCKS or word in ("else", "end", "template", "break", "continue") else ""


def _call(tag: _Tag) -> CallNode:
    words = _Words(tag.inner.removeprefix("template"))
    name = words.string()
    return CallNode(name, None if words.at_end else words.pipeline(tag, 0), tag.start, tag.end)


def _pipeline(tag: _Tag, text: str) -> Pipeline:
    words = _Words(text)
    pipeline = words.pipeline(tag, 0)
    if not words.at_end:
        raise TemplateError("something stands behind an expression")
    return pipeline


class _Lexeme(NamedTuple):
    """A word of an expression: its kind, its text, and whether blanks stand behind it."""

    kind: str
    text: str
    apart: bool


class _Words:
    """Reads the words of one action."""

    def __init__(self, text: str) -> None:
        self._lexemes = list(_lexemes(text))
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._lexemes)

    def _peek(self, offset: int = 0) -> _Lexeme:
        at = self._at + offset
        return self._lexemes[at] if at < len(self._lexemes) else _END

    def _next(self) -> _Lexeme:
        lexeme = self._peek()
        self._at += 1
        return lexeme

    def string(self) -> str:
        """The string that stands next."""
        lexeme = self._next()
        if lexeme.kind != "string":
            raise TemplateError("a name is no string")
        return _unquoted(lexeme.text)

    def pipeline(self, tag: _Tag, depth: int) -> Pipeline:
        """The pipeline up to a closing parenthesis or the end."""
        if depth > MAX_NESTING:
            raise TemplateError("parentheses nest too deep")
        variables, declares = self._declaration()
        commands = [self._command(tag, depth)]
        while self._peek().text == "|" and self._peek().kind == "mark":
            self._next()
            commands.append(self._command(tag, depth))
        return Pipeline(tuple(commands), variables, declares, tag.start, tag.end)

    def _declaration(self) -> tuple[tuple[str, ...], bool]:
        """The variables that a pipeline sets, and whether they are new."""
        for length in (1, 3):
            names = [self._peek(offset) for offset in range(0, length, 2)]
            mark = self._peek(length)
            separated = length == 1 or self._peek(1).text == ","
            if separated and mark.text in (":=", "=") and mark.kind == "mark" and all(name.kind == "variable" for name in names):
                self._at += length + 1
                return tuple(name.text for name in names), mark.text == ":="
        return (), False

    def _command(self, tag: _Tag, depth: int) -> tuple[Operand, ...]:
        operands: list[Operand] = []
        while not self.at_end and not (self._peek().kind == "mark" and self._peek().text in ("|", ")")):
            operands.append(self._operand(tag, depth))
        if not operands:
            raise TemplateError("an expression is empty")
        return tuple(operands)

    def _operand(self, tag: _Tag, depth: int) -> Operand:
        lexeme = self._next()
        if lexeme.kind == "mark" and lexeme.text == "(":
            inner = self.pipeline(tag, depth + 1)
            closing = self._next()
            if closing.text != ")":
                raise TemplateError("a parenthesis is not closed")
            return Nested(inner, self._fields(closing))
        if lexeme.kind == "field":
            return Dot((lexeme.text[1:], *self._fields(lexeme)))
        if lexeme.kind == "dot":
            return Dot(())
        if lexeme.kind == "variable":
            return Variable(lexeme.text, self._fields(lexeme))
        if lexeme.kind == "word":
            return _word(lexeme.text)
        if lexeme.kind == "string":
            return Literal(_unquoted(lexeme.text))
        if lexeme.kind == "number":
            return Literal(_number(lexeme.text))
        if lexeme.kind == "char":
            return Literal(ord(_unquoted(lexeme.text)))
        raise TemplateError(f"{lexeme.text!r} is no operand")

    def _fields(self, before: _Lexeme) -> tuple[str, ...]:
        """The fields that follow without a blank."""
        fields = []
        while not before.apart and self._peek().kind == "field":
            before = self._next()
            fields.append(before.text[1:])
        return tuple(fields)


_END = _Lexeme("", "", True)


def _lexemes(text: str) -> Iterator[_Lexeme]:
    position = 0
    while position < len(text):
        match = _LEXEME.match(text, position)
        if match is None:
            raise TemplateError("this is no expression")
        kind = match.lastgroup if match.lastgroup != "blank" else next(name for name, found in match.groupdict().items() if found)
        yield _Lexeme(str(kind), match[str(kind)], bool(match["blank"]))
        position = match.end()


def _word(text: str) -> Operand:
    if text in _CONSTANTS:
        return Literal(_CONSTANTS[text])
    return Literal(None) if text == "nil" else Function(text)


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise TemplateError(f"{text} is no number") from None


def _unquoted(text: str) -> str:
    """The characters of a string or character constant."""
    body = text[1:-1]
    if text[0] == "`" or "\\" not in body:
        return body
    return _ESCAPE.sub(lambda match: _escaped(match[1]), body)


def _escaped(character: str) -> str:
    if character not in _SIMPLE_ESCAPES:
        raise TemplateError(f"\\{character} is not read")
    return _SIMPLE_ESCAPES[character]
