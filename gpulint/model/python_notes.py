"""What is known and noted while a scope of a Python file is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gpulint.deferred import NamedTuple
from gpulint.facts.python import (
    is_device_index,
    is_device_name,
    is_gpu_name,
    is_gpu_switch,
    is_other_device,
    is_unrelated_switch,
    leaves_gpu_off,
    literal,
    starts_process,
)
from gpulint.model.module import (
    Assertion,
    AssertionKind,
    Call,
    Check,
    Demand,
    DeviceDefault,
    EnvironmentWrite,
    Fallback,
    FallbackKind,
    Gate,
    Imported,
    Launch,
    Raising,
    Scope,
    Sign,
)
from gpulint.model.python_choices import chosen
from gpulint.model.python_names import Definition, Names, Outline, path_of
from gpulint.model.python_values import UNDECIDED, Answer, Values
from gpulint.parse.python import location
from gpulint.source import Location, Source, Text


class FileContext:
    """What the scopes of a file share: its outline, its global variables, its objects' attributes, and its options' defaults."""

    def __init__(self, source: Source, tree: ast.Module, scope: Callable[[str], Scope | None]) -> None:
        self.source = source
        self.outline = Outline(tree)
        self.packages = frozenset(name.partition(".")[0] for name in self.outline.aliases.values())
        self.globals: dict[str, Answer] = {}
        self.attributes: dict[str, dict[str, Answer]] = {}
        self.options: dict[str, Answer] = {}
        self.scope = scope
        self._ascii = source.data.isascii()

    def locate(self, node: ast.expr | ast.stmt | ast.excepthandler) -> Location:
        """The region of a node of this file."""
        if not self._ascii:
            return location(self.source, node)
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return Location(self.source.path, node.lineno, node.col_offset + 1, end_line, end_column + 1)

    def returned(self, name: str) -> Answer | None:
        """What a call of this qualified name gives, where it is a function or class of this file."""
        if name[1:] in self.outline.classes:
            return Answer(made_by=name)
        scope = self.scope(name[1:])
        return scope.returned if scope else None


MOST_CONDITIONS = 100
"""Tests that a statement stands under, or whose `elif` it is; what stands under more is taken to stand under the first alone."""


class Condition(NamedTuple):
    """A test that cannot be known, and which arm of it the reader is in."""

    test: ast.expr
    arm: bool


Conditions = tuple[Condition, ...]


class Marks(NamedTuple):
    """How much was noted of each kind at some time."""

    raising: int
    assertions: int
    calls: int
    returns: int


class Notes:
    """One scope while it is read: what its variables are worth, where the reader stands, and what it has noted.

    `gate` is the gate of the statement that is read, `subject` what that statement hangs on, and `ended` whether it certainly ends the
    program without a GPU. `owner` is the class whose method the scope is, and `optional` are its parameters that may be left out.
    """

    def __init__(self, file: FileContext, name: str, place: Location, definition: Definition | None) -> None:
        self.file = file
        self.name = name
        self.place = place
        self.owner = definition.owner if definition else ""
        self._positions = _positions(definition) if definition else {}
        self.local: dict[str, Answer] = {} if definition else file.globals
        self.names = Names(file.outline, self.made_by, self.owner, f"{name}." if definition else "")
        self.values = Values(self.names, self.lookup, self.bind, file.returned)
        self.gate = Gate.RUNS
        self.subject = ""
        self.ended = False
        self.returns: list[Answer] = []
        self.optional: set[str] = set()
        self._conditions: list[Condition] = []
        self._imports: list[Imported] = []
        self._calls: list[Call] = []
        self._methods: dict[str, Gate] = {}
        self._fallbacks: list[tuple[Fallback, Conditions]] = []
        self._assertions: list[tuple[Assertion, Conditions]] = []
        self._raising: list[Raising] = []
        self._signs: list[Sign] = []
        self._environment: list[EnvironmentWrite] = []
        self._device_defaults: list[DeviceDefault] = []
        self._launches: list[Launch] = []
        self._cpu_modes: list[Location] = []
        self._demands: list[Demand] = []
        self._checks: list[Check] = []
        self._on_cpu: set[str] = set()

    def scope(self, *, returns: bool, ends: bool) -> Scope:
        """The scope, once all of it is read; `returns` says that it cannot come to its end without a return."""
        return Scope(
            name=self.name,
            location=self.place,
            imports=tuple(self._imports),
            calls=tuple(sorted(self._calls, key=lambda call: call.location)),
            methods=self._methods,
            fallbacks=tuple(sorted((fallback for fallback, _ in self._fallbacks), key=lambda fallback: fallback.location)),
            assertions=tuple(sorted(self._protecting(), key=lambda assertion: assertion.location)),
            raising=tuple(sorted(self._raising, key=lambda raising: raising.location)),
            signs=tuple(self._signs),
            environment=tuple(self._environment),
            on_cpu=frozenset(self._on_cpu),
            device_defaults=tuple(self._device_defaults),
            launches=tuple(self._launches),
            cpu_modes=tuple(self._cpu_modes),
            demands=tuple(self._demands),
            checks=tuple(self._checks),
            returned=joined(self.returns) if returns else Answer(subject=subject_of(self.returns)),
            ends=ends,
        )

    def _protecting(self) -> Iterator[Assertion]:
        """The assertions but for those that stand only under a request for a device, while the scope falls back without one."""
        for assertion, conditions in self._assertions:
            requests = {condition for condition in conditions if self._is_request(condition.test)}
            if not requests or not self._fallbacks or any(requests <= set(others) for _, others in self._fallbacks):
                yield assertion

    def _is_request(self, test: ast.expr) -> bool:
        """Whether a test asks if a device, or an optional argument, was given."""
        while isinstance(test, ast.UnaryOp):
            test = test.operand
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            test = test.left
        path = path_of(test)
        return path in self.optional or is_device_name(path) or is_gpu_name(path)

    def _is_unrelated(self, test: ast.expr) -> bool:
        """Whether a switch in a test, which is what cannot be known of it, is about something else than whether there is a GPU."""
        operands = test.values if isinstance(test, ast.BoolOp) else [test]
        return any(is_unrelated_switch(_switch_name(operand)) and not self.values.of(operand).decided for operand in operands)

    # --- Variables -----------------------------------------------------------------------------------------------------------

    def lookup(self, path: str) -> Answer | None:
        """What is known under a path such as `device` or `args.device`; None where nothing is."""
        own = self.local.get(path)
        if own is not None:
            return own
        root, _, last = path.rpartition(".")
        if root == "self" and self.owner:
            return self.file.attributes.get(self.owner, {}).get(path)
        found = self.file.globals.get(path)
        return found if found is not None or not root else self.file.options.get(last)

    def made_by(self, path: str) -> str:
        """The qualified name of the call that made a variable's value; "" if unknown."""
        answer = self.lookup(path)
        return answer.made_by if answer else ""

    def bind(self, path: str, answer: Answer) -> None:
        """Keep a variable's value. What only runs with a GPU changes nothing but that the value hangs on it, and what made the value of a
        variable that there is only then; what may run, joins."""
        before = self.lookup(path)
        if self.gate is Gate.NEVER:
            answer = (before or Answer(made_by=answer.made_by)).under(self.subject)
        elif self.gate is Gate.MAY and before is not None:
            answer = joined([before, answer.under(self.subject)])
        else:
            answer = answer.under(self.subject)
        self.local[path] = answer
        if path.startswith("self.") and self.owner:
            self.file.attributes.setdefault(self.owner, {})[path] = answer

    @contextmanager
    def fields_of(self, name: str) -> Iterator[None]:
        """What is bound meanwhile becomes attributes of the objects of that class."""
        outside, self.local = self.local, {}
        try:
            yield
        finally:
            fields = {f"self.{field}": answer for field, answer in self.local.items()}
            self.file.attributes.setdefault(name, {}).update(fields)
            self.local = outside

    # --- What the reader stands under ----------------------------------------------------------------------------------------

    @contextmanager
    def under(self) -> Iterator[None]:
        """The conditions and the subject that are added meanwhile hold no longer than that."""
        depth, subject = len(self._conditions), self.subject
        try:
            yield
        finally:
            del self._conditions[depth:]
            self.subject = subject

    def add_condition(self, test: ast.expr, arm: bool, answer: Answer) -> None:
        """From here on the reader is in that arm of a test."""
        self._conditions = [condition for condition in self._conditions if condition.test is not test]
        if not answer.decided and len(self._conditions) < MOST_CONDITIONS:
            self._conditions.append(Condition(test, arm))
        self.subject = self.subject or answer.subject

    # --- Notes ---------------------------------------------------------------------------------------------------------------

    def add_call(self, call: Call) -> None:
        self._calls.append(call)

    def add_import(self, imported: Imported) -> None:
        self._imports.append(imported)

    def add_method(self, name: str, gate: Gate) -> None:
        """Note a method call on an object of unknown class."""
        self._methods[name] = max(gate, self._methods.get(name, Gate.NEVER))

    def add_sign(self, means: str, place: Location) -> None:
        self._signs.append(Sign(means, place))

    @contextmanager
    def without_signs(self) -> Iterator[None]:
        """What is called meanwhile says nothing of what the scope is for."""
        before = len(self._signs)
        try:
            yield
        finally:
            del self._signs[before:]

    def add_on_cpu(self, framework: str, gate: Gate) -> None:
        """Note that a framework is told to use the CPU, where that hangs on nothing."""
        if gate is Gate.RUNS and not self.subject:
            self._on_cpu.add(framework)

    def add_raising(self, place: Location, name: str, then: str, gate: Gate) -> None:
        if gate is not Gate.NEVER:
            self._raising.append(Raising(place, name, then, gate))

    def add_fallback(self, fallback: Fallback) -> None:
        """Note a fallback; of a library's default only the first one of the scope."""
        defaults = (other.framework for other, _ in self._fallbacks if other.kind is FallbackKind.DEFAULT)
        if fallback.kind is not FallbackKind.DEFAULT or fallback.framework not in defaults:
            self._fallbacks.append((fallback, tuple(self._conditions)))

    def add_choice(
        self, node: ast.expr | ast.excepthandler, kind: FallbackKind = FallbackKind.CHOICE, switches: tuple[str, ...] = ()
    ) -> None:
        self.add_fallback(Fallback(self.file.locate(node), kind, switches=switches))

    def add_assertion(self, place: ast.expr | ast.stmt, kind: AssertionKind, subject: str, test: ast.expr, gate: Gate) -> None:
        """Note an assertion, unless a switch that it stands under asks for the GPU for another reason, such as a precision."""
        tests = (test, *(condition.test for condition in self._conditions))
        if not any(map(self._is_unrelated, tests)):
            self._assertions.append((Assertion(self.file.locate(place), kind, subject, gate), tuple(self._conditions)))

    def add_environment(self, write: EnvironmentWrite) -> None:
        self._environment.append(write)

    def add_device_default(self, kind: str, name: str, node: ast.expr, answer: Answer, others: tuple[str, ...] = ()) -> None:
        """Note a setting's default, where the setting is the device to compute on and its default the CPU."""
        plain = name.lstrip("-").replace("-", "_")
        below = type(answer.value) is int and answer.value < 0 and is_device_index(plain)
        named = isinstance(answer.value, str) and literal(answer.value) == "cpu" and (is_device_name(plain) or is_gpu_name(plain))
        off = leaves_gpu_off(plain, answer.value)
        if not answer.subject and (named or below or off) and not is_other_device(plain):
            place = self.file.locate(node)
            self._device_defaults.append(DeviceDefault(kind, name, Text(str(answer.value), place, ()), place, others, off))

    def add_cpu_mode(self, test: ast.expr, answer: Answer, body: Sequence[ast.AST], otherwise: Sequence[ast.AST]) -> None:
        """Note a test whose answer a switch for the GPU decides, where one arm moves to the GPU and the other does not."""
        if answer.decided or answer.subject or not is_gpu_switch(_switch_name(test)):
            return
        if (chosen(body, self.names).gpu is None) is not (chosen(otherwise, self.names).gpu is None):
            self._cpu_modes.append(self.file.locate(test))

    def add_demand(self, test: ast.expr, node: ast.expr | ast.stmt, kind: AssertionKind, *, without: bool, gate: Gate) -> None:
        """Note that the function refuses where a test goes that way, if it surely does so for a parameter that is false."""
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, without = test.operand, not without
        name = test.id if isinstance(test, ast.Name) else ""
        if name in self._positions and not without and gate is Gate.RUNS and not self._conditions:
            self._demands.append(Demand(name, self._positions[name], kind, self.file.locate(node)))

    def add_check(self, check: Check) -> None:
        self._checks.append(check)

    def add_launch(self, node: ast.expr, answer: Answer, gate: Gate) -> None:
        """Note that processes are started as often as there are GPUs, where that is not at all."""
        if gate is not Gate.NEVER and answer.subject and answer.value in (0, []):
            self._launches.append(Launch(self.file.locate(node), answer.subject, gate))

    def starts_processes(self, marks: Marks) -> bool:
        """Whether any call noted since then starts a process."""
        return any(starts_process(call.name) for call in self._calls[marks.calls :])

    # --- Taking notes back ---------------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        return Marks(len(self._raising), len(self._assertions), len(self._calls), len(self.returns))

    def causes(self, marks: Marks, gate: Gate) -> list[str]:
        """The names of what was noted since then to refuse, or to raise as surely as that gate."""
        refused = [assertion.subject for assertion, _ in self._assertions[marks.assertions :]]
        return refused + [raising.name for raising in self._raising[marks.raising :] if raising.gate is gate]

    def names_gpu(self, marks: Marks) -> bool:
        """Whether a function called since then has a name that speaks of a GPU, such as `require_gpu`."""
        return any(is_gpu_name(call.name) for call in self._calls[marks.calls :])

    def forgive(self, marks: Marks, *, calls: bool) -> bool:
        """Take back what was noted since then to raise or refuse, since a handler goes on; with `calls`, mark those made since then.

        Gives whether there was anything to take back.
        """
        taken = len(self._raising) > marks.raising or len(self._assertions) > marks.assertions
        del self._raising[marks.raising :], self._assertions[marks.assertions :]
        if taken and len(self.returns) > marks.returns + 1:
            del self.returns[marks.returns : -1]
        if calls:
            self._calls[marks.calls :] = [call._replace(caught=True) for call in self._calls[marks.calls :]]
        return taken


def _positions(definition: Definition) -> dict[str, str]:
    """The parameters of a function, each with the position of its argument; "" for one that takes none by position."""
    arguments = definition.node.args
    by_position = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if definition.owner and by_position[:1] in (["self"], ["cls"]):
        by_position = by_position[1:]
    named = {argument.arg: "" for argument in arguments.kwonlyargs}
    return named | {name: str(index) for index, name in enumerate(by_position)}


def joined(answers: Sequence[Answer]) -> Answer:
    """What is known where one of several answers holds; None is the value where there are none."""
    if not answers:
        return Answer(None)
    values = [answer.value for answer in answers]
    same = all(type(value) is type(values[0]) and value == values[0] for value in values)
    made_by = next((answer.made_by for answer in reversed(answers) if answer.made_by), "")
    return Answer(values[0] if same else UNDECIDED, subject_of(answers), made_by)


def subject_of(answers: Sequence[Answer]) -> str:
    """What the first of the answers hangs on that hangs on anything; "" for none."""
    return next((answer.subject for answer in answers if answer.subject), "")


def _switch_name(test: ast.expr) -> str:
    """What a test asks for: `args.debug`, or the DEBUG of `os.getenv("DEBUG") == "1"` and `os.environ["DEBUG"]`."""
    if isinstance(test, ast.UnaryOp):
        test = test.operand
    if isinstance(test, ast.Compare):
        test = test.left
    key = test.args[0] if isinstance(test, ast.Call) and test.args else test.slice if isinstance(test, ast.Subscript) else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else path_of(test)
