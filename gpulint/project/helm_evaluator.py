"""Evaluates Go templates as Helm does, as far as the files tell: what is not known stays.

A condition that is not known leaves its block standing, with both branches; a value leaves a hole.

Each template is bounded in steps, depth and size. Beyond a bound nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.go_template import (
    ActionNode,
    BlockNode,
    CallNode,
    Dot,
    Function,
    JumpNode,
    Literal,
    Nested,
    Node,
    Operand,
    Pipeline,
    Template,
    TemplateError,
    TextNode,
    Variable,
    parse_go_template,
)
from gpulint.project.helm_functions import FUNCTIONS, RenderFailed, known, merged
from gpulint.project.helm_placement import parse_traced
from gpulint.project.helm_text import Part, PartKind, Traced, Undecided, hole, literal, of_text
from gpulint.project.helm_values import (
    MAX_VALUES,
    Decided,
    Leaf,
    List,
    Map,
    Undefined,
    Value,
    as_text,
    from_node,
    place_of_key,
    put,
    size,
    truth,
)
from gpulint.source import Location, Source, Unknown, UnknownValue

MAX_STEPS = 200_000
"""What the charts of a tree may take in all: a step for each node that is evaluated, each value that a function looks at, and each line of
text. A large real chart takes some 5,000 for one set of values."""

MAX_CALLS = 40
"""Templates that call each other."""

_LINE = 50
_WALKS = frozenset(("deepCopy", "toYaml", "toJson", "merge", "mergeOverwrite", "has", "uniq", "without", "fromYaml", "omit", "pick"))
"""Functions that look at all that is in their values; the others look at the outermost."""


class Budget:
    """The steps that are left. Beyond them nothing is rendered."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def take(self, steps: int) -> None:
        """Take steps. Raises RenderFailed where none are left."""
        self.left -= steps
        if self.left < 0:
            raise RenderFailed


class Unit:
    """A text with its tree: a file, or a string that `tpl` evaluates."""

    def __init__(self, source: Source, origin: Traced | None = None) -> None:
        self.source = source
        self.template: Template = parse_go_template(source)
        self._origin = origin
        self._written: dict[tuple[int, int], tuple[Part, ...]] = {}

    def written(self, start: int, end: int) -> tuple[Part, ...]:
        """The text between two offsets, line by line in its places. Loops ask for it again and again."""
        if (start, end) not in self._written:
            parts = self._lines(start, end) if self._origin is None else self._origin.cut(start, end).parts
            self._written[start, end] = tuple(parts)
        return self._written[start, end]

    def _lines(self, start: int, end: int) -> Iterator[Part]:
        text = self.source.text
        while start < end:
            line_end = text.find("\n", start, end) + 1 or end
            yield Part(text[start:line_end], self.source.location(start, line_end), exact=True)
            start = line_end

    def location(self, start: int, end: int) -> Location:
        """The place of the text between two offsets."""
        if self._origin is None:
            return self.source.location(start, end)
        return self._origin.cut(start, end).location or self._origin.location or Location(self.source.path, 1, 1, 1, 1)


class Definition(NamedTuple):
    """A named template, and the unit that it stands in."""

    nodes: tuple[Node, ...]
    unit: Unit


class _Jump(Exception):
    """`break` or `continue`."""

    def __init__(self, keyword: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword


class _JumpUndecided(Exception):
    """A `break` or `continue` under a condition that is not known."""


class _Frame:
    """What an evaluation of nodes sees: their unit, the dot and the variables, and the list that it writes to."""

    def __init__(self, unit: Unit, dot: Value, variables: dict[str, list[Value]], out: list[Part]) -> None:
        self.unit = unit
        self.dot = dot
        self.variables = variables
        self.out = out

    def inner(self, dot: Value) -> _Frame:
        """A scope within this one: variables that it declares end with it, others are shared."""
        return _Frame(self.unit, dot, dict(self.variables), self.out)


class Evaluator:
    """Evaluates the templates of one chart with one set of values."""

    def __init__(self, definitions: dict[str, Definition], budget: Budget) -> None:
        self._definitions = dict(definitions)
        self._budget = budget
        self._calls = 0
        self._undecided = 0
        merge, overwrite = partial(self._merge, overrides=False), partial(self._merge, overrides=True)
        self._own: dict[str, Callable[..., Value]] = {
            "include": self._include,
            "tpl": self._tpl,
            "set": self._set_key,
            "unset": self._unset_key,
            **dict.fromkeys(("merge", "mustMerge"), merge),
            **dict.fromkeys(("mergeOverwrite", "mustMergeOverwrite"), overwrite),
            **dict.fromkeys(("fromYaml", "fromYamlArray", "fromJson", "fromJsonArray"), self._parsed),
        }

    def render(self, unit: Unit, root: Map) -> Traced:
        """What a file writes. Raises RenderFailed where the chart refuses, Undecided past a bound."""
        return self._run(unit.template.nodes, unit, root)

    def _run(self, nodes: tuple[Node, ...], unit: Unit, dot: Value) -> Traced:
        frame = _Frame(unit, dot, {"$": [dot]}, [])
        try:
            self._nodes(nodes, frame)
        except (_Jump, _JumpUndecided):
            raise Undecided from None
        return Traced(frame.out)

    # --- Nodes

    def _nodes(self, nodes: tuple[Node, ...], frame: _Frame) -> None:
        for node in nodes:
            self._budget.take(1)
            self._node(node, frame)

    def _node(self, node: Node, frame: _Frame) -> None:
        if isinstance(node, TextNode):
            self._budget.take((node.end - node.start) // _LINE)
            frame.out += frame.unit.written(node.start, node.end)
        elif isinstance(node, ActionNode):
            self._action(node.pipeline, frame)
        elif isinstance(node, BlockNode):
            self._block(node, frame)
        elif isinstance(node, CallNode):
            self._write(self._called(node, frame), frame, node.start, node.end)
        else:
            self._jump(node)

    def _jump(self, node: JumpNode) -> None:
        if self._undecided:
            raise _JumpUndecided
        raise _Jump(node.keyword)

    def _called(self, node: CallNode, frame: _Frame) -> Value:
        dot = None if node.pipeline is None else self._value(node.pipeline, frame)
        return self._include(frame.unit.location(node.start, node.end), literal(node.name), dot)

    def _action(self, pipeline: Pipeline, frame: _Frame) -> None:
        value = self._value(pipeline, frame)
        if pipeline.variables:
            self._set(pipeline, value, frame)
        else:
            self._write(value, frame, pipeline.start, pipeline.end)

    def _write(self, value: Value, frame: _Frame, start: int, end: int) -> None:
        try:
            parts = as_text(value).parts
        except Undecided:
            parts = hole(_raw(frame.unit, start, end), frame.unit.location(start, end)).parts
        place = frame.unit.location(start, end)
        frame.out += (part if part.written_by or part.location is None else part._replace(written_by=place) for part in parts)

    def _set(self, pipeline: Pipeline, value: Value, frame: _Frame) -> None:
        name = pipeline.variables[0]
        if pipeline.declares:
            frame.variables[name] = [value]
        elif name in frame.variables:
            frame.variables[name][0] = value
        else:
            raise RenderFailed

    # --- Blocks

    def _block(self, node: BlockNode, frame: _Frame) -> None:
        if node.keyword == "range":
            self._range(node, frame)
            return
        inner = frame.inner(frame.dot)
        value = self._value(node.pipeline, inner)
        if node.pipeline.variables:
            self._set(node.pipeline, value, inner)
        dot = value if node.keyword == "with" else frame.dot
        try:
            chosen = truth(value)
        except Undecided:
            self._both(node, inner, dot)
            return
        if chosen:
            self._leave_out(node.else_start, node.else_end, None, frame)
            inner.dot = dot
            self._nodes(node.body, inner)
        else:
            self._leave_out(node.body_start, node.body_end, value, frame)
            self._nodes(node.otherwise, inner)

    def _leave_out(self, start: int, end: int, condition: Value, frame: _Frame) -> None:
        """Note the branch that is not taken, at the place of the value that would take it."""
        if start < end:
            text = frame.unit.source.text[start:end]
            place = condition.location if condition is not None else None
            frame.out.append(Part(text, place, kind=PartKind.LEFT_OUT))

    def _both(self, node: BlockNode, frame: _Frame, dot: Value) -> None:
        """Write a block whose condition is not known, with both of its branches. What a branch sets is not known behind it."""
        names = _assigned((*node.body, *node.otherwise))
        before = {name: frame.variables[name][0] for name in names if name in frame.variables}
        start = len(frame.out)
        self._mark("if", node.start, node.body_start, frame)
        self._branch(node.body, frame, dot)
        for name, value in before.items():
            frame.variables[name][0] = value
        if node.otherwise:
            self._mark("else", node.body_end, _behind_else(node), frame)
            self._branch(node.otherwise, frame, frame.dot)
        self._forget(frozenset(before), frame, node)
        self._mark("end", max(node.else_end, node.body_end), node.end, frame)
        if not any(part.text.strip() for part in frame.out[start:] if part.kind is not PartKind.BLOCK):
            del frame.out[start:]

    def _branch(self, nodes: tuple[Node, ...], frame: _Frame, dot: Value) -> None:
        self._undecided += 1
        try:
            self._nodes(nodes, frame.inner(dot))
        except RenderFailed:
            frame.out += hole("fail", None).parts
        finally:
            self._undecided -= 1

    def _mark(self, keyword: str, start: int, end: int, frame: _Frame) -> None:
        """Write an action of a block again, on a line of its own where it stands on one."""
        text = frame.unit.source.text
        first, last = start, end
        while first and text[first - 1] in " \t":
            first -= 1
        while last < len(text) and text[last] in " \t":
            last += 1
        alone = (first == 0 or text[first - 1] == "\n") and (last == len(text) or text[last] in "\r\n")
        action = "{{ if values }}" if keyword == "if" else f"{{{{ {keyword} }}}}"
        frame.out.append(Part(f"\n{action}\n" if alone else action, frame.unit.location(start, end), kind=PartKind.BLOCK))

    def _range(self, node: BlockNode, frame: _Frame) -> None:
        value = self._value(node.pipeline, frame)
        pairs = _pairs(value)
        if pairs is None:
            self._unknown_range(node, frame)
        elif not pairs:
            self._leave_out(node.body_start, node.body_end, value, frame)
            self._nodes(node.otherwise, frame.inner(frame.dot))
        else:
            length, names = len(frame.out), _assigned(node.body)
            try:
                self._loop(node, pairs, frame)
            except _JumpUndecided:
                del frame.out[length:]
                self._forget(names, frame, node)
                frame.out += hole("range", frame.unit.location(node.start, node.body_start)).parts

    def _loop(self, node: BlockNode, pairs: list[tuple[Value, Value]], frame: _Frame) -> None:
        for key, value in pairs:
            inner = frame.inner(value)
            _declare(node.pipeline, key, value, inner)
            try:
                self._nodes(node.body, inner)
            except _Jump as jump:
                if jump.keyword == "break":
                    return

    def _unknown_range(self, node: BlockNode, frame: _Frame) -> None:
        """Write the body of a loop over what is not known once, for any number of times."""
        names = _assigned((*node.body, *node.otherwise))
        self._forget(names, frame, node)
        item = Unknown("range", frame.unit.location(node.start, node.body_start))
        inner = frame.inner(frame.dot)
        _declare(node.pipeline, item, item, inner)
        try:
            self._both(node, inner, item)
        except _JumpUndecided:
            frame.out += hole("range", item.location).parts
        self._forget(names, frame, node)

    def _forget(self, names: frozenset[str], frame: _Frame, node: BlockNode) -> None:
        for name in names & frame.variables.keys():
            frame.variables[name][0] = Unknown(name, frame.unit.location(node.start, node.body_start))

    # --- Values

    def _value(self, pipeline: Pipeline, frame: _Frame) -> Value:
        """The value of a pipeline, Unknown where it cannot be told."""
        self._budget.take(1)
        try:
            value: Value = None
            for number, command in enumerate(pipeline.commands):
                value = self._command(command, frame, pipeline, [value] if number else [])
            return value
        except (Undecided, UnknownValue):
            start, end = pipeline.start, pipeline.end
            return Unknown(_raw(frame.unit, start, end), frame.unit.location(start, end))

    def _command(self, command: tuple[Operand, ...], frame: _Frame, pipeline: Pipeline, last: list[Value]) -> Value:
        head, *operands = command
        if isinstance(head, Function):
            return self._function(head.name, operands, frame, pipeline, last)
        value = self._operand(head, frame, pipeline)
        if operands or last:
            _as_unknown(value)
        return value

    def _operand(self, operand: Operand, frame: _Frame, pipeline: Pipeline) -> Value:
        if isinstance(operand, Literal):
            return _constant(operand.data, pipeline, frame.unit)
        if isinstance(operand, Dot):
            return _fields(frame.dot, operand.fields)
        if isinstance(operand, Variable):
            if operand.name not in frame.variables:
                raise RenderFailed
            return _fields(frame.variables[operand.name][0], operand.fields)
        if isinstance(operand, Nested):
            return _fields(self._value(operand.pipeline, frame), operand.fields)
        return self._function(operand.name, [], frame, pipeline, [])

    def _function(self, name: str, operands: list[Operand], frame: _Frame, pipeline: Pipeline, last: list[Value]) -> Value:
        if name in ("and", "or"):
            return self._chosen(name, operands, frame, pipeline, last)
        values = [*(self._operand(operand, frame, pipeline) for operand in operands), *last]
        sizes = [size(value, name.removeprefix("must") in _WALKS) for value in values]
        self._budget.take(sum(sizes))
        if max(sizes, default=0) > MAX_VALUES:
            raise Undecided
        own, function = self._own.get(name), FUNCTIONS.get(name)
        try:
            if own is not None:
                return own(frame.unit.location(pipeline.start, pipeline.end), *values)
            if function is not None:
                return function(*values)
        except (TypeError, ValueError, OverflowError):
            raise Undecided from None  # Go refuses such arguments, or takes them in a way of its own.
        raise Undecided

    def _chosen(self, name: str, operands: list[Operand], frame: _Frame, pipeline: Pipeline, last: list[Value]) -> Value:
        """The operand that decides an `and` or `or`: the first that is false or true. What has no default gives way in an `or`."""
        deciding, is_known = name == "or", True
        value: Value = None
        for operand in (*operands, None):
            if operand is None and not last:
                continue
            value = last[0] if operand is None else self._operand(operand, frame, pipeline)
            if deciding and isinstance(value, Undefined):
                continue
            try:
                if truth(value) is deciding:
                    return value if is_known else Decided(name, frame.unit.location(pipeline.start, pipeline.end), deciding)
            except Undecided:
                is_known = False
        if not is_known or isinstance(value, Undefined):
            raise Undecided
        return value

    # --- Functions of Helm that evaluate or change something

    def _include(self, place: Location, called: Value, dot: Value) -> Value:
        name = known(called)
        definition = self._definitions.get(name)
        if definition is None or self._calls >= MAX_CALLS:
            return Unknown(f'include "{name}"', place)
        self._calls += 1
        try:
            text = self._run(definition.nodes, definition.unit, dot)
        finally:
            self._calls -= 1
        if text.has_blocks and "\n" not in text.stripped().literal:
            return Unknown(f'include "{name}"', place)
        return text

    def _tpl(self, place: Location, text: Value, dot: Value) -> Value:
        content = known(text)
        if "{{" not in content or not isinstance(text, Traced):
            return text
        try:
            unit = Unit(Source(place.path, content.encode("utf-8", "replace")), _within_text(text))
        except TemplateError:
            raise RenderFailed from None
        if self._calls >= MAX_CALLS:
            raise Undecided
        self._calls += 1
        self._definitions.update((name, Definition(nodes, unit)) for name, nodes in unit.template.defined.items())
        try:
            return self._run(unit.template.nodes, unit, dot)
        finally:
            self._calls -= 1

    def _set_key(self, place: Location, mapping: Value, key: Value, value: Value) -> Value:
        if not isinstance(mapping, Map):
            raise Undecided
        put(mapping, known(key), Unknown(known(key), place) if self._undecided else value)
        return mapping

    def _unset_key(self, place: Location, mapping: Value, key: Value) -> Value:
        if not isinstance(mapping, Map):
            raise Undecided
        if self._undecided:
            put(mapping, known(key), Unknown(known(key), place))
        else:
            mapping.pop(known(key), None)
        return mapping

    def _merge(self, place: Location, target: Value, *sources: Value, overrides: bool) -> Value:
        """The target with the sources merged into it, which changes the target itself."""
        if not isinstance(target, Map):
            raise Undecided
        try:
            result = target
            for source in sources:
                if not isinstance(source, Map):
                    raise Undecided
                result = merged(result, source, overrides)
        except Undecided:
            _spoil(target, place)
            raise
        if self._undecided:
            _spoil(target, place)
            return target
        for key, value in result.items():
            put(target, key, value, result.names.get(key))
        target.open = result.open
        return target

    def _parsed(self, _place: Location, text: Value) -> Value:
        if not isinstance(text, Traced):
            raise Undecided
        documents = parse_traced(text, "values").documents
        if len(documents) != 1 or documents[0].root is None:
            raise Undecided
        return from_node(documents[0].root)


def _spoil(mapping: Map, place: Location) -> None:
    """Take all values of a mapping for unknown."""
    for key in mapping:
        mapping[key] = Unknown(key, place)
    mapping.open = True


_BEFORE_EXPRESSION = regex(r"(?:else\s+)?(?:if|with|range)\b|\$\w*(?:\s*,\s*\$\w+)?\s*:?=(?!=)")


def _raw(unit: Unit, start: int, end: int) -> str:
    """The expression of an action, for a message."""
    inner = unit.source.text[start:end].strip("{}").strip("- \t\r\n")
    while match := _BEFORE_EXPRESSION.match(inner):
        inner = inner[match.end() :].lstrip()
    return inner


def _as_unknown(_value: Value) -> None:
    """What has arguments and is no function: a method, which is not evaluated."""
    raise Undecided


def _constant(data: str | int | float | bool | None, pipeline: Pipeline, unit: Unit) -> Value:
    if isinstance(data, str):
        return literal(data, unit.location(pipeline.start, pipeline.end))
    return None if data is None else Leaf(data)


def _fields(value: Value, names: tuple[str, ...]) -> Value:
    """A field of a field: nil has none, which ends the rendering."""
    for name in names:
        if isinstance(value, Unknown):
            return (Undefined if isinstance(value, Undefined) else Unknown)(f"{value.raw}.{name}", value.location)
        if not isinstance(value, Map):
            raise RenderFailed
        value = value.read(name)
    return value


def _pairs(value: Value) -> list[tuple[Value, Value]] | None:
    """The keys and values that a loop goes over; None where they are not known."""
    if value is None:
        return []
    if isinstance(value, Map):
        return None if value.open else [(_key(value, key), value[key]) for key in sorted(value)]
    if isinstance(value, List):
        return None if value.open else [(Leaf(number), item) for number, item in enumerate(value)]
    return None


def _key(mapping: Map, key: str) -> Traced:
    name = mapping.names.get(key)
    return of_text(name) if name is not None and name == key else literal(key, place_of_key(mapping, key))


def _declare(pipeline: Pipeline, key: Value, value: Value, frame: _Frame) -> None:
    """Set the variables of a loop: the value, or key and value."""
    values = (value,) if len(pipeline.variables) == 1 else (key, value)
    for name, each in zip(pipeline.variables, values, strict=False):
        frame.variables[name] = [each]


def _behind_else(node: BlockNode) -> int:
    """The offset behind the `else` of a block: behind the whole `else if` where it is one."""
    first = node.otherwise[0]
    return first.body_start if isinstance(first, BlockNode) and node.else_start == node.body_end else node.else_start


def _assigned(nodes: tuple[Node, ...]) -> frozenset[str]:
    """The variables that nodes give a new value."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, BlockNode):
            waiting += (*node.body, *node.otherwise)
        if isinstance(node, (ActionNode, BlockNode)) and not node.pipeline.declares:
            found.update(node.pipeline.variables)
    return frozenset(found)


def _within_text(text: Traced) -> Traced:
    return Traced(part for part in text.parts if part.kind is PartKind.TEXT)
