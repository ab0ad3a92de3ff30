"""What an expression is worth on a machine without a GPU.

`torch.cuda.is_available()` is False there, `torch.cuda.device_count()` is 0, `jax.default_backend()` is "cpu". From these answers, which
are data (gpulint.facts.python), and from constants, the value of a test or of a device variable follows, or it stays undecided.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.python import attribute, attribute_names, is_device_name, is_gpu_name, is_question, literal, presence
from gpulint.model.python_names import Names, path_of


class Undecided:
    """The value that cannot be known; it equals nothing but itself and is no type that a pattern asks for."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDECIDED"


UNDECIDED: Final = Undecided()


class Answer(NamedTuple):
    """What an expression is worth without a GPU.

    `subject` names what was asked where the value hangs on there being no GPU, such as "torch.cuda.is_available"; "" where it does not.
    `made_by` is the qualified name of the call that made the value.
    """

    value: object = UNDECIDED
    subject: str = ""
    made_by: str = ""

    @property
    def decided(self) -> bool:
        return self.value is not UNDECIDED

    def under(self, subject: str) -> Answer:
        """The same value, hanging on that subject unless it has its own."""
        return self._replace(subject=self.subject or subject)


UNKNOWN: Final = Answer()
ANY = "*"
"""What stands in a text for a part that is not known, as in `cuda:*`."""

DEEPEST = 30
LONGEST_SEQUENCE = 32
LONGEST_TEXT = 1000
LARGEST_NUMBER = 1 << 63
"""No device, answer or count is longer or larger; values that are put together from one another would grow without end."""

_PLACEHOLDER = regex(r"%\w|\{[^{}]*\}")

_DEVICE_ATTRIBUTES = frozenset({"type", "platform", "device_kind"})
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_FEWER: dict[type[ast.cmpop], bool] = {ast.Lt: True, ast.LtE: True, ast.NotEq: True, ast.Gt: False, ast.GtE: False, ast.Eq: False}
_MORE: dict[type[ast.cmpop], bool] = {ast.Gt: True, ast.GtE: True, ast.NotEq: True, ast.Lt: False, ast.LtE: False, ast.Eq: False}
_FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "len": len,
    "bool": bool,
    "str": str,
    "int": int,
    "list": list,
    "set": list,
    "sorted": list,
    "any": any,
    "all": all,
    "range": lambda end: list(range(end)) if end < LONGEST_SEQUENCE else UNDECIDED,
}
_METHODS: dict[str, Callable[..., object]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "split": str.split,
    "format": str.format,
}
_VIEWS: dict[str, Callable[[dict[object, object]], list[object]]] = {
    "keys": list,
    "values": lambda mapping: list(mapping.values()),
    "items": lambda mapping: [list(item) for item in mapping.items()],
}
_FALSE_NAMES = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING"})
_ENVIRONMENT = frozenset({"os.getenv", "os.environ.get"})


class Values:
    """The worth of the expressions of one scope.

    `lookup` gives what the scope knows under a path such as `args.device`; `bind` keeps what `:=` gives; `returned` gives what a function
    of the same module returns, by its qualified name.
    """

    def __init__(
        self,
        names: Names,
        lookup: Callable[[str], Answer | None],
        bind: Callable[[str, Answer], None],
        returned: Callable[[str], Answer | None],
    ) -> None:
        self._names = names
        self._lookup = lookup
        self._bind = bind
        self._returned = returned
        self._depth = 0
        self._assume = False

    def of(self, node: ast.expr) -> Answer:
        """What this expression is worth without a GPU. Never raises; what lies too deep is undecided."""
        reader = _READERS.get(type(node))
        if reader is None or self._depth >= DEEPEST:
            return UNKNOWN
        self._depth += 1
        try:
            return reader(self, node)
        finally:
            self._depth -= 1

    @contextmanager
    def assuming(self) -> Iterator[None]:
        """Take what nothing is known of by its name meanwhile: `device` is "cpu", and `use_cuda`, `n_gpu`, `has_gpu()` are false."""
        self._assume = True
        try:
            yield
        finally:
            self._assume = False

    def arguments(self, call: ast.Call) -> dict[str, Answer]:
        """The arguments of a call by position ("0") and by name; "**" and "*" where some are handed over unseen."""
        found: dict[str, Answer] = {}
        for index, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred):
                found["*"] = found["**"] = UNKNOWN
                break
            found[str(index)] = self.of(argument)
        for keyword in call.keywords:
            answer = self.of(keyword.value)
            if keyword.arg is None and isinstance(answer.value, dict):
                found.update((str(key), answer._replace(value=value)) for key, value in answer.value.items())
            else:
                found[keyword.arg or "**"] = answer
        return found

    # --- One reader for each kind of expression -------------------------------------------------------------------------------

    def _path(self, node: ast.expr) -> Answer:
        path = path_of(node)
        if path in _FALSE_NAMES:
            return Answer(False)
        found = self._lookup(path) if path else None
        if found is not None and (found.decided or not self._assume):
            return found
        return self._assumed(path) or found or UNKNOWN

    def _assumed(self, path: str) -> Answer | None:
        if not self._assume or not path:
            return None
        if is_device_name(path):
            return Answer("cpu", path)
        return Answer(False, path) if is_gpu_name(path) else None

    def _attribute(self, node: ast.Attribute) -> Answer:
        own = self._path(node)
        known = attribute(self._names.qualified(node)) if node.attr in attribute_names() else None
        if own.decided or known is not None:
            return own if known is None else Answer(known.without)
        base = self.of(node.value)
        if isinstance(base.value, dict) and node.attr in base.value:
            return base._replace(value=base.value[node.attr])
        if isinstance(base.value, str) and node.attr in _DEVICE_ATTRIBUTES:
            return base._replace(value=base.value.partition(":")[0])
        return self._assumed(node.attr) or own

    def _call(self, node: ast.Call) -> Answer:
        name = self._names.qualified(node.func)
        known = self._returned(name) if name.startswith(":") else None
        if isinstance(node.func, ast.Name) and known is None:
            known = self._lookup(f"{name}()")
        if known is not None and (known.decided or known.subject or known.made_by):
            return known
        asked = answer_of(name, self.arguments(node)) if is_question(name) else None
        return asked or self._pure_call(node, name) or self._assumed(name) or Answer(made_by=name)

    def _pure_call(self, node: ast.Call, name: str) -> Answer | None:
        """The result of a call that only looks at its arguments: `torch.device(x)`, `len(x)`, `x.lower()`, `os.getenv(name, x)`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return self._text_method(node, node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args:
            base = self.of(node.func.value)
            return base._replace(value=_VIEWS[node.func.attr](base.value)) if isinstance(base.value, dict) else None
        if name == "dict" and not node.args:
            given = self.arguments(node)
            return Answer({key: _element(answer.value) for key, answer in given.items()}, _subject(given.values()))
        if name == "isinstance" and len(node.args) == 2:
            return self._assumed(self._names.qualified(node.args[1]))
        if name not in _FUNCTIONS and name not in _ENVIRONMENT and name != "torch.device":
            return None
        arguments = self.arguments(node)
        first = arguments.get("0", UNKNOWN)
        if name == "torch.device":
            return first if isinstance(first.value, str) else arguments.get("type", first)
        if name in _ENVIRONMENT:
            default = arguments.get("1", arguments.get("default", UNKNOWN))
            return default if default.subject or (isinstance(default.value, str) and literal(default.value)) else None
        return _applied(_FUNCTIONS[name], first) if first.decided else None

    def _text_method(self, node: ast.Call, function: ast.Attribute) -> Answer | None:
        text = self.of(function.value)
        if not isinstance(text.value, str):
            return None
        arguments = [answer.value for answer in self.arguments(node).values()]
        if function.attr == "format":
            return _device_text(_PLACEHOLDER.sub(ANY, text.value), text.subject)
        return None if UNDECIDED in arguments else _applied(_METHODS[function.attr], text, *arguments)

    def _unary(self, node: ast.UnaryOp) -> Answer:
        operand = self.of(node.operand)
        if isinstance(node.op, ast.Not):
            return Answer(not operand.value if operand.decided else UNDECIDED, operand.subject)
        if isinstance(node.op, ast.USub) and isinstance(operand.value, (int, float)):
            return Answer(-operand.value, operand.subject)
        return UNKNOWN

    def _bool(self, node: ast.BoolOp) -> Answer:
        """The first operand that decides, wherever it stands; else undecided. It hangs on what an operand up to there hangs on."""
        decisive = isinstance(node.op, ast.Or)
        subject, undecided = "", False
        answer = UNKNOWN
        for value in node.values:
            answer = self.of(value)
            if answer.decided and bool(answer.value) is decisive:
                return answer.under(subject)
            subject = subject or answer.subject
            undecided = undecided or not answer.decided
        return Answer(UNDECIDED if undecided else answer.value, subject)

    def _compare(self, node: ast.Compare) -> Answer:
        if self._assume and any(isinstance(kind, (ast.Is, ast.IsNot)) for kind in node.ops):
            return UNKNOWN
        answers = [self.of(operand) for operand in (node.left, *node.comparators)]
        subject = next((answer.subject for answer in answers if answer.subject), "")
        results = [_compared(kind, left, right) for kind, left, right in zip(node.ops, answers, answers[1:], strict=False)]
        if False in results:
            return Answer(False, subject)
        return Answer(UNDECIDED if None in results else True, subject)

    def _choice(self, node: ast.IfExp) -> Answer:
        test = self.of(node.test)
        if test.decided:
            return self.of(node.body if test.value else node.orelse).under(test.subject)
        body, orelse = self.of(node.body), self.of(node.orelse)
        if body.decided and body.value == orelse.value:
            return body
        return Answer(UNDECIDED, test.subject or body.subject or orelse.subject)

    def _subscript(self, node: ast.Subscript) -> Answer:
        base, index = self.of(node.value), self.of(node.slice)
        holder: Any = base.value
        key: Any = index.value
        value: object = UNDECIDED
        if index.decided and isinstance(holder, (list, dict)):
            with suppress(LookupError, TypeError):
                value = holder[key]
        return Answer(value, base.subject or index.subject)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Answer:
        if len(node.elts) > LONGEST_SEQUENCE:
            return UNKNOWN
        answers = [self.of(element) for element in node.elts]
        return Answer([_element(answer.value) for answer in answers], next((answer.subject for answer in answers if answer.subject), ""))

    def _mapping(self, node: ast.Dict) -> Answer:
        if len(node.keys) > LONGEST_SEQUENCE:
            return UNKNOWN
        pairs = {key.value: self.of(value) for key, value in zip(node.keys, node.values, strict=True) if isinstance(key, ast.Constant)}
        known: dict[object, object] = {key: _element(answer.value) for key, answer in pairs.items()}
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            known["**"] = UNDECIDED
        return Answer(known, _subject(pairs.values()))

    def _joined(self, node: ast.JoinedStr) -> Answer:
        """An f-string, with `*` for each part that is not known."""
        parts = [self.of(value.value if isinstance(value, ast.FormattedValue) else value) for value in node.values]
        text = "".join(str(part.value) if part.decided else ANY for part in parts)
        return _device_text(text, next((part.subject for part in parts if part.subject), ""))

    def _binary(self, node: ast.BinOp) -> Answer:
        """`"cuda:" + str(rank)` and `"cuda:%d" % rank`, as far as they name a device."""
        left = self.of(node.left)
        if not isinstance(left.value, str) or not isinstance(node.op, (ast.Add, ast.Mod)):
            return UNKNOWN
        if isinstance(node.op, ast.Mod):
            return _device_text(_PLACEHOLDER.sub(ANY, left.value), left.subject)
        right = self.of(node.right)
        return _device_text(left.value + (right.value if isinstance(right.value, str) else ANY), left.subject)

    def _named(self, node: ast.NamedExpr) -> Answer:
        answer = self.of(node.value)
        self._bind(node.target.id, answer)
        return answer

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Answer:
        generator = node.generators[0]
        source = self.of(generator.iter)
        if len(node.generators) > 1 or not isinstance(source.value, list) or not isinstance(generator.target, ast.Name):
            return Answer(UNDECIDED, source.subject)
        kept: list[object] = []
        for item in source.value[:LONGEST_SEQUENCE]:
            self._bind(generator.target.id, Answer(item, source.subject))
            conditions = [self.of(condition) for condition in generator.ifs]
            if not all(condition.decided for condition in conditions):
                return Answer(UNDECIDED, source.subject)
            if all(condition.value for condition in conditions):
                kept.append(_element(self.of(node.elt).value))
        return Answer(kept, source.subject)


_READERS: dict[type[ast.expr], Callable[[Values, Any], Answer]] = {
    ast.Constant: lambda _, node: _constant(node.value),
    ast.Name: Values._path,
    ast.Attribute: Values._attribute,
    ast.Call: Values._call,
    ast.UnaryOp: Values._unary,
    ast.BoolOp: Values._bool,
    ast.Compare: Values._compare,
    ast.IfExp: Values._choice,
    ast.Subscript: Values._subscript,
    ast.List: Values._sequence,
    ast.Tuple: Values._sequence,
    ast.Set: Values._sequence,
    ast.Dict: Values._mapping,
    ast.JoinedStr: Values._joined,
    ast.BinOp: Values._binary,
    ast.NamedExpr: Values._named,
    ast.Await: lambda values, node: values.of(node.value),
    ast.ListComp: Values._comprehension,
    ast.SetComp: Values._comprehension,
    ast.GeneratorExp: Values._comprehension,
}


def answer_of(name: str, arguments: Mapping[str, Answer]) -> Answer | None:
    """What a call of this qualified name answers without a GPU; None where it asks for none."""
    asked = presence(name, {key: answer.value for key, answer in arguments.items()})
    return Answer(asked.without, name if asked.tells else "", name) if asked else None


def _constant(value: object) -> Answer:
    too_long = isinstance(value, (str, bytes)) and len(value) > LONGEST_TEXT
    too_large = isinstance(value, int) and abs(value) > LARGEST_NUMBER
    return UNKNOWN if too_long or too_large else Answer(value)


def _element(value: object) -> object:
    """A value inside a sequence or mapping; undecided where it holds too many itself, so that none doubles without end."""
    pending, count = [value], 0
    while pending and count <= LONGEST_TEXT:
        item = pending.pop()
        count += 1
        pending.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
    return UNDECIDED if pending else value


def _subject(answers: Iterable[Answer]) -> str:
    """What the first of the answers hangs on that hangs on anything."""
    return next((answer.subject for answer in answers if answer.subject), "")


def _device_text(text: str, subject: str) -> Answer:
    """A text put together from parts: one with a part that is not known counts only where it names a device all the same."""
    if len(text) > LONGEST_TEXT:
        return Answer(UNDECIDED, subject)
    return Answer(text if ANY not in text or literal(text) else UNDECIDED, subject)


def _applied(function: Callable[..., object], first: Answer, *rest: object) -> Answer:
    if function in (any, all) and isinstance(first.value, list) and UNDECIDED in first.value:
        decides = function is any
        decided = any(item is not UNDECIDED and bool(item) is decides for item in first.value)
        return Answer(decides if decided else UNDECIDED, first.subject)
    try:
        return Answer(function(first.value, *rest), first.subject)
    except (TypeError, ValueError, OverflowError):
        return Answer(UNDECIDED, first.subject)


def _compared(kind: ast.cmpop, left: Answer, right: Answer) -> bool | None:
    """The result of one comparison; None if undecided. No GPU is fewer than any number that is asked for."""
    if left.decided and right.decided:
        try:
            result = bool(_COMPARE[type(kind)](left.value, right.value))
        except TypeError:
            return None
        unseen = isinstance(kind, (ast.In, ast.NotIn)) and isinstance(right.value, list) and UNDECIDED in right.value
        return None if unseen and result is isinstance(kind, ast.NotIn) else result
    if _is_no_gpu(left):
        return _FEWER.get(type(kind))
    return _MORE.get(type(kind)) if _is_no_gpu(right) else None


def _is_no_gpu(answer: Answer) -> bool:
    return bool(answer.subject) and type(answer.value) is int and answer.value == 0
