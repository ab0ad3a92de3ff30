"""Reads the statements of a Python scope as a machine without a GPU would run them.

A test such as `torch.cuda.is_available()` decides there which arm runs; where a test cannot be known, both may. So the reader finds where
an arm refuses to go on, where it chooses the CPU, and what raises by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from gpulint.deferred import NamedTuple
from gpulint.facts.python import catches_missing_gpu, import_raises, is_command, is_device_name, is_driver_tool, is_gpu_name, is_mutator
from gpulint.model.module import AssertionKind, FallbackKind, Gate, Imported, Scope
from gpulint.model.python_choices import chosen, target_name
from gpulint.model.python_expressions import REPORT, Expressions
from gpulint.model.python_match import MATCHED, as_if
from gpulint.model.python_names import Definition, Function, Names, imported_names, parameter_defaults, path_of
from gpulint.model.python_notes import FileContext, Marks, Notes
from gpulint.model.python_values import UNDECIDED, UNKNOWN, Answer, answer_of
from gpulint.source import Location

FALLS, RETURNS, REFUSES, LEAVES = 1, 2, 4, 8
"""How a statement can end without a GPU, as bits: it goes on to the next, returns, raises or exits, or leaves its loop."""

MOST_BEHIND = 200
"""How many statements behind an `if` or `try` are looked at for what it means."""

LITTLE = 3
"""How many statements a `try` may hold to be round little else than the GPU."""


def read_scope(file: FileContext, name: str, place: Location, body: Sequence[ast.stmt], definition: Definition | None = None) -> Scope:
    """The scope of these statements: a function's, or the file's own where there is no definition."""
    return _Statements(file, name, place, definition).read(body)


class _Arm(NamedTuple):
    """One `if` or `elif`: its test without a GPU and which way it goes (None if both), its own gate, and how its body ends.

    `assumable` says that an assumption of what the test is about, such as that the device is the CPU, has not ended in an arm above.
    """

    node: ast.If
    test: Answer
    lean: bool | None
    gate: Gate
    assumable: bool
    ending: int = FALLS

    def gate_of(self, body: bool) -> Gate:
        """The gate of the body, or of what stands in the `else`."""
        if not self.test.decided:
            return min(self.gate, Gate.MAY)
        return self.gate if bool(self.test.value) is body else Gate.NEVER


class _Statements:
    """The reader of one scope. Each kind of statement gives how it can end (FALLS, RETURNS, REFUSES, LEAVES) without a GPU."""

    def __init__(self, file: FileContext, name: str, place: Location, definition: Definition | None) -> None:
        self._notes = Notes(file, name, place, definition)
        self._values = self._notes.values
        self._names = self._notes.names
        self._expressions = Expressions(self._notes)
        self._definition = definition
        self._class = ""

    def read(self, body: Sequence[ast.stmt]) -> Scope:
        if self._definition is not None:
            self._bind_parameters(self._definition.node.args)
            self._expressions.note_decorators(self._definition.node.decorator_list)
        ending = self._block(body, Gate.RUNS)
        return self._notes.scope(returns=not ending & FALLS, ends=ending == REFUSES)

    def _bind_parameters(self, arguments: ast.arguments) -> None:
        """Parameters are unknown, but for those whose default hangs on a GPU."""
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if argument is not None and argument.arg != "self":
                self._notes.local[argument.arg] = UNKNOWN
        for argument, default in parameter_defaults(arguments):
            answer = self._values.of(default)
            if answer.subject:
                self._notes.local[argument.arg] = answer
            elif answer.decided and not answer.value:
                self._notes.optional.add(argument.arg)

    def _block(self, body: Sequence[ast.stmt], gate: Gate) -> int:
        """Read statements in order. What stands behind the last one that can be reached is read as never run."""
        ending, reached = 0, True
        with self._notes.under():
            for index, statement in enumerate(body):
                last = self._statement(statement, gate, body[index + 1 : index + 1 + MOST_BEHIND])
                if not reached:
                    continue
                ending |= last & ~FALLS
                if not last & FALLS:
                    reached, gate = False, Gate.NEVER
        return ending | (FALLS if reached else 0)

    def _statement(self, statement: ast.stmt, gate: Gate, rest: Sequence[ast.stmt]) -> int:
        """Read one statement; `rest` are those that follow it in its block."""
        self._notes.gate, self._notes.ended = gate, False
        reader = _READERS.get(type(statement))
        return reader(self, statement, gate, rest) if reader else FALLS

    def _end(self, ending: int) -> int:
        """How a simple statement ends, unless an expression in it has ended the program."""
        return REFUSES if self._notes.ended else ending

    # --- Simple statements ---------------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr, gate: Gate, _: Sequence[ast.stmt]) -> int:
        self._expressions.read(node.value, gate)
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute) and is_mutator(node.value.func.attr):
            self._change(node.value.func)
        elif isinstance(node.value, ast.Call):
            self._expressions.note_check(node.value, gate)
        return self._end(FALLS)

    def _change(self, method: ast.Attribute) -> None:
        """A method changes its list, set or mapping, which is not known from then on; but one of faults, that a missing GPU adds to, is."""
        path = path_of(method.value)
        before = self._values.of(method.value)
        if self._notes.subject and method.attr == "append" and isinstance(before.value, list):
            self._notes.bind(path, Answer([*before.value[:1], UNDECIDED], self._notes.subject))
        elif path:
            self._notes.bind(path, UNKNOWN)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, gate: Gate, _: Sequence[ast.stmt]) -> int:
        if node.value is None:
            return FALLS
        name = target_name(node)
        self._expressions.read(node.value, gate, name)
        answer = UNKNOWN if isinstance(node, ast.AugAssign) else self._values.of(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self._bind_target(target, node.value, answer)
        if self._class and (is_device_name(name) or is_gpu_name(name)):
            default = self._expressions.default_of_field(node.value)
            self._notes.add_device_default("field", name, default, self._values.of(default))
        if isinstance(node.value, ast.BoolOp) and answer.subject and "." in name and is_gpu_name(name) and gate is not Gate.NEVER:
            self._notes.add_choice(node.value)
        return self._end(FALLS)

    def _bind_target(self, target: ast.expr, value: ast.expr, answer: Answer) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
            for index, element in enumerate(target.elts):
                self._bind_target(element, parts[index] if parts else value, self._values.of(parts[index]) if parts else UNKNOWN)
        elif isinstance(target, ast.Subscript):
            if self._names.qualified(target.value) == "os.environ" and isinstance(target.slice, ast.Constant):
                self._expressions.write_environment(str(target.slice.value), answer, self._notes.file.locate(target))
            elif path := path_of(target.value):
                self._notes.bind(path, UNKNOWN)
        elif path := path_of(target):
            self._bind_path(path, value, answer)

    def _bind_path(self, path: str, value: ast.expr, answer: Answer) -> None:
        """Keep a variable's value; what a call of it gives (`ready = torch.cuda.is_available`, a lambda) is kept under `ready()`."""
        imported = isinstance(value, ast.Attribute) and path_of(value).partition(".")[0] in self._notes.file.outline.aliases
        name = self._names.qualified(value) if imported else ""
        called = self._values.of(value.body) if isinstance(value, ast.Lambda) else answer_of(name, {}) if name else None
        if called is not None:
            self._notes.bind(f"{path}()", called)
        stands_for = bool(name) and not answer.decided and not answer.made_by
        self._notes.bind(path, answer._replace(made_by=name) if stands_for else answer)

    def _return(self, node: ast.Return, gate: Gate, _: Sequence[ast.stmt]) -> int:
        if isinstance(node.value, ast.Dict):
            for value in node.value.values:
                self._expressions.read(value, gate, REPORT)
        elif node.value is not None:
            self._expressions.read(node.value, gate)
        if gate is not Gate.NEVER:
            answer = self._values.of(node.value) if node.value else Answer(None)
            self._notes.returns.append(answer.under(self._notes.subject))
        return self._end(RETURNS)

    def _raise(self, node: ast.Raise, gate: Gate, _: Sequence[ast.stmt]) -> int:
        if node.exc is not None:
            self._expressions.read(node.exc, gate, REPORT)
            self._expressions.note_exit_code(node.exc, gate)
        return REFUSES

    def _assert(self, node: ast.Assert, gate: Gate, _: Sequence[ast.stmt]) -> int:
        self._expressions.read(node.test, gate)
        self._notes.add_demand(node.test, node, AssertionKind.ASSERT, without=False, gate=gate)
        test, lean = self._judged(node.test)
        if lean is not False or gate is Gate.NEVER:
            return FALLS
        certain = self._values.of(node.test).decided
        self._notes.add_assertion(node, AssertionKind.ASSERT, test.subject, node.test, gate if certain else Gate.MAY)
        return REFUSES if certain else FALLS

    def _import(self, node: ast.Import | ast.ImportFrom, gate: Gate, _: Sequence[ast.stmt]) -> int:
        place = self._notes.file.locate(node)
        for module in [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]:
            then = import_raises(module)
            if then:
                self._notes.add_raising(place, module, then, gate)
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [name for _, name in imported_names(node)]
        for name in names:
            self._notes.add_import(Imported(name, place, gate))
        return FALLS

    def _leave(self, _node: ast.stmt, _gate: Gate, _rest: Sequence[ast.stmt]) -> int:
        return LEAVES

    # --- Definitions ---------------------------------------------------------------------------------------------------------

    def _function(self, node: Function, gate: Gate, _: Sequence[ast.stmt]) -> int:
        """Decorators and defaults are worked out where a function is defined; its body is a scope of its own, and what its decorators say
        that it is for belongs there."""
        with self._notes.without_signs():
            for decorator in node.decorator_list:
                self._expressions.read(decorator, gate)
        is_run = any(is_command(self._names.qualified(decorator)) for decorator in node.decorator_list)
        for argument, default in parameter_defaults(node.args):
            self._expressions.read(default, gate, argument.arg)
            self._expressions.note_parameter(argument.arg, default, is_run)
        return FALLS

    def _class_body(self, node: ast.ClassDef, gate: Gate, _: Sequence[ast.stmt]) -> int:
        """A class's own statements run where it stands; what they assign becomes attributes of its objects."""
        for decorator in node.decorator_list:
            self._expressions.read(decorator, gate)
        enclosing, self._class = self._class, node.name
        with self._notes.fields_of(node.name):
            self._block(node.body, gate)
        self._class = enclosing
        return FALLS

    # --- Loops, with and match -----------------------------------------------------------------------------------------------

    def _for(self, node: ast.For | ast.AsyncFor, gate: Gate, _: Sequence[ast.stmt]) -> int:
        """The body never runs where it runs once for each GPU."""
        self._expressions.read(node.iter, gate)
        items = self._values.of(node.iter)
        self._bind_items(node.target, node.iter, items)
        marks = self._notes.marks()
        with self._notes.under():
            self._notes.subject = self._notes.subject or items.subject
            body = self._block(node.body, Gate.NEVER if items.subject and items.value == [] else gate)
        if self._notes.starts_processes(marks):
            self._notes.add_launch(node.iter, items, gate)
        return self._behind_loop(node, gate, body)

    def _bind_items(self, target: ast.expr, items: ast.expr, answer: Answer) -> None:
        """Where an item says that there is no GPU, that one is looked at: `for name, found in [("cuda", torch.cuda.is_available())]`."""
        self._bind_target(target, items, UNKNOWN)
        known = answer.value if answer.subject and isinstance(answer.value, list) else []
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        for index, name in enumerate(names):
            parts = [item[index] if isinstance(item, list) and index < len(item) else item for item in known]
            if path_of(name) and any(part is False for part in parts):
                self._notes.bind(path_of(name), Answer(False, answer.subject))

    def _while(self, node: ast.While, gate: Gate, _: Sequence[ast.stmt]) -> int:
        """A loop that waits until there is a GPU never ends without one."""
        self._expressions.read(node.test, gate)
        test = self._values.of(node.test)
        body = self._block(node.body, gate)
        waits = test.subject or self._leaves_with_gpu(node)
        if waits and test.decided and test.value and gate is not Gate.NEVER and not body & (LEAVES | RETURNS):
            self._notes.add_assertion(node.test, AssertionKind.REFUSAL, waits, node.test, gate)
            return REFUSES
        return self._behind_loop(node, gate, body)

    def _behind_loop(self, node: ast.For | ast.AsyncFor | ast.While, gate: Gate, body: int) -> int:
        """How a loop ends, with its `else`, which refuses where only a GPU breaks the loop; `body` is how its body ends."""
        otherwise = self._block(node.orelse, gate)
        subject = self._leaves_with_gpu(node) if otherwise == REFUSES and not body & LEAVES else ""
        if subject and gate is not Gate.NEVER:
            self._notes.add_assertion(node.orelse[-1], AssertionKind.REFUSAL, subject, ast.Name(""), gate)
            return otherwise | body & RETURNS
        return otherwise | FALLS | body & (RETURNS | REFUSES)

    def _leaves_with_gpu(self, node: ast.For | ast.AsyncFor | ast.While) -> str:
        """What a loop asks of the GPU before it breaks off; "" where no `if` in its body does."""
        asking = (each for each in node.body if isinstance(each, ast.If) and isinstance(each.body[-1], ast.Break))
        return next((subject for each in asking if (subject := self._values.of(each.test).subject)), "")

    def _with(self, node: ast.With | ast.AsyncWith, gate: Gate, _: Sequence[ast.stmt]) -> int:
        for item in node.items:
            self._expressions.read(item.context_expr, gate)
            self._notes.add_method("__aenter__" if isinstance(node, ast.AsyncWith) else "__enter__", gate)
            if item.optional_vars is not None:
                self._bind_target(item.optional_vars, item.context_expr, self._values.of(item.context_expr))
        marks = self._notes.marks()
        ending = self._block(node.body, gate)
        if not any(_suppresses(item.context_expr, self._names) for item in node.items):
            return ending
        self._notes.forgive(marks, calls=True)
        return ending | FALLS

    def _match(self, node: ast.Match, gate: Gate, rest: Sequence[ast.stmt]) -> int:
        """Cases are read as the `if` and `elif` that they are short for."""
        self._expressions.read(node.subject, gate)
        subject = node.subject
        if not path_of(subject):
            subject = ast.copy_location(ast.Name(MATCHED, ast.Load()), node.subject)
            self._notes.bind(MATCHED, self._values.of(node.subject))
        chain = as_if(subject, node.cases)
        return self._if(chain[0], gate, rest) if isinstance(chain[0], ast.If) else self._block(chain, gate)

    # --- if and elif ---------------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, gate: Gate, rest: Sequence[ast.stmt]) -> int:
        """A chain of `if` and `elif` is read in a loop, so that its length costs no depth."""
        arms: list[_Arm] = []
        assumable = True
        with self._notes.under():
            while True:
                assumable = assumable and not (arms and self._judged(arms[-1].node.test)[1])
                arms.append(self._arm(node, gate, assumable))
                gate = arms[-1].gate_of(body=False)
                if not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
                    break
                node = node.orelse[0]
            ending = self._block(node.orelse, gate)
        for arm in reversed(arms):
            ending = self._judge(arm, ending, rest)
        for arm in arms:
            if not arm.ending & FALLS:
                self._notes.add_condition(arm.node.test, False, arm.test)
        return ending

    def _arm(self, node: ast.If, gate: Gate, assumable: bool) -> _Arm:
        self._notes.gate = gate
        self._expressions.read(node.test, gate)
        test = self._values.of(node.test)
        arm = _Arm(node, test, self._expressions.lean(node.test, test), gate, assumable)
        self._notes.add_condition(node.test, True, test)
        arm = arm._replace(ending=self._block(node.body, arm.gate_of(body=True)))
        self._notes.add_condition(node.test, False, test)
        return arm

    def _judge(self, arm: _Arm, otherwise: int, rest: Sequence[ast.stmt]) -> int:
        """Note what an `if` means for a machine without a GPU, and give how it can end; `otherwise` is how its `else` ends."""
        test, lean = arm.test, arm.lean
        self._notes.add_cpu_mode(arm.node.test, test, arm.node.body, arm.node.orelse)
        if REFUSES in (arm.ending, otherwise):
            self._notes.add_demand(arm.node.test, arm.node.test, AssertionKind.REFUSAL, without=arm.ending == REFUSES, gate=arm.gate)
        if lean is None and self._notes.subject and not test.decided and (arm.ending == REFUSES) is not (otherwise == REFUSES):
            self._notes.add_assertion(arm.node.test, AssertionKind.REFUSAL, self._notes.subject, arm.node.test, min(arm.gate, Gate.MAY))
        elif lean is None and arm.assumable and (arm.ending | otherwise) & REFUSES:
            test, lean = self._judged(arm.node.test)
        if lean is not None and test.subject and arm.gate is not Gate.NEVER:
            without, with_gpu = (arm.ending, otherwise) if lean else (otherwise, arm.ending)
            if not without & REFUSES:
                self._note_fallback(arm, lean, without, with_gpu, rest)
            elif with_gpu != REFUSES:
                certain = arm.test.decided and without == REFUSES
                gate = arm.gate if certain else Gate.MAY
                self._notes.add_assertion(arm.node.test, AssertionKind.REFUSAL, test.subject, arm.node.test, gate)
        if arm.test.decided:
            return arm.ending if arm.test.value else otherwise
        return arm.ending | otherwise

    def _note_fallback(self, arm: _Arm, lean: bool, without: int, with_gpu: int, rest: Sequence[ast.stmt]) -> None:
        """The arm that runs without a GPU chooses the CPU, or leaves out what moves to the GPU: in the other arm, or behind a return."""
        node = arm.node
        absent, present = (node.body, node.orelse) if lean else (node.orelse, node.body)
        leaves = bool(absent) and not without & FALLS
        here = chosen(absent or (rest[:1] if not with_gpu & FALLS else ()), self._names)
        there = chosen(present or (rest if leaves else ()), self._names)
        early = leaves and here.cpu is None and _returns_no_object(absent)
        if early:
            self._notes.add_assertion(node.test, AssertionKind.RETURN, arm.test.subject, node.test, arm.gate)
        counts = there.gpu is None and here.cpu is not None and self._counts(here.cpu, present)
        moves = there.gpu is not None or (here.cpu is not None and bool(absent) and not counts)
        if moves and here.gpu is None and arm.test.subject:
            self._notes.add_choice(here.cpu or node.test, FallbackKind.RETURN if early else FallbackKind.CHOICE)

    def _counts(self, number: ast.expr, present: Sequence[ast.stmt]) -> bool:
        """Whether a number in place of a device only says how many GPUs there are, as the other arm asks."""
        if not isinstance(number, ast.Constant) or type(number.value) is not int:
            return False
        given = [each.value for each in present if isinstance(each, (ast.Assign, ast.AnnAssign)) and each.value is not None]
        return any(answer.subject and type(answer.value) is int for answer in map(self._values.of, given))

    def _judged(self, test: ast.expr) -> tuple[Answer, bool | None]:
        """A test's answer and which way it goes; where it hangs on nothing that is known, by the names it uses."""
        answer = self._values.of(test)
        lean = self._expressions.lean(test, answer)
        if lean is not None and answer.subject:
            return answer, lean
        with self._values.assuming():
            answer = self._values.of(test)
            means = bool(answer.subject) and (isinstance(answer.value, bool) or not answer.decided)
            return answer, self._expressions.lean(test, answer) if means else None

    # --- try -----------------------------------------------------------------------------------------------------------------

    def _try(self, node: ast.Try, gate: Gate, rest: Sequence[ast.stmt]) -> int:
        marks = self._notes.marks()
        ending = self._block(node.body, gate)
        causes = self._notes.causes(marks, gate)
        cause = next(iter(causes), "raise" if ending == REFUSES else "")
        first = next((handler for handler in node.handlers if _catches(handler, self._names, causes or [""])), None)
        handled = self._handlers(node, first, gate, cause)
        little = len(node.body) <= LITTLE or (bool(causes) and all(map(is_driver_tool, causes)))
        if first is not None and not handled & REFUSES and self._goes_on(node, first, rest, little):
            self._forgive(node, first, marks, rest)
            ending = handled if cause else ending
        if ending & FALLS and node.orelse:
            ending = ending & ~FALLS | self._block(node.orelse, gate)
        final = self._block(node.finalbody, gate)
        return ending if final & FALLS else final

    def _handlers(self, node: ast.Try, first: ast.ExceptHandler | None, gate: Gate, cause: str) -> int:
        """Read the handlers; give how the first one ends that catches what a missing GPU raises."""
        handled = FALLS
        with self._notes.under():
            self._notes.subject = self._notes.subject or cause
            for handler in node.handlers:
                ending = self._block(handler.body, gate if cause and handler is first else min(gate, Gate.MAY))
                handled = ending if handler is first else handled
        return handled

    def _goes_on(self, node: ast.Try, handler: ast.ExceptHandler, rest: Sequence[ast.stmt], little: bool) -> bool:
        """Whether the program goes on from a handler: with the CPU, with an answer, or with what follows a `try` round little else."""
        return chosen(handler.body, self._names).cpu is not None or _is_probe(node, handler, rest) or (little and bool(rest))

    def _forgive(self, node: ast.Try, handler: ast.ExceptHandler, marks: Marks, rest: Sequence[ast.stmt]) -> None:
        """What the body would have raised or refused does not end the program; that is a fallback where the body meant the GPU."""
        meant = chosen(node.body, self._names).gpu is not None
        named = self._notes.names_gpu(marks)
        cpu = chosen(handler.body, self._names).cpu
        taken = self._notes.forgive(marks, calls=cpu is not None or named)
        if (cpu is not None and (taken or meant or named)) or (taken and meant and not _is_probe(node, handler, rest)):
            self._notes.add_choice(cpu or handler, FallbackKind.HANDLER)


_READERS: dict[type[ast.stmt], Callable[[_Statements, Any, Gate, Sequence[ast.stmt]], int]] = {
    ast.Expr: _Statements._expression,
    ast.Assign: _Statements._assign,
    ast.AnnAssign: _Statements._assign,
    ast.AugAssign: _Statements._assign,
    ast.Return: _Statements._return,
    ast.Raise: _Statements._raise,
    ast.Assert: _Statements._assert,
    ast.Import: _Statements._import,
    ast.ImportFrom: _Statements._import,
    ast.Break: _Statements._leave,
    ast.Continue: _Statements._leave,
    ast.FunctionDef: _Statements._function,
    ast.AsyncFunctionDef: _Statements._function,
    ast.ClassDef: _Statements._class_body,
    ast.For: _Statements._for,
    ast.AsyncFor: _Statements._for,
    ast.While: _Statements._while,
    ast.With: _Statements._with,
    ast.AsyncWith: _Statements._with,
    ast.Match: _Statements._match,
    ast.If: _Statements._if,
    ast.Try: _Statements._try,
}
if hasattr(ast, "TryStar"):
    _READERS[ast.TryStar] = _Statements._try


def _returns_no_object(body: Sequence[ast.stmt]) -> bool:
    """Whether these statements end in a return of nothing, a number or a truth value."""
    last = body[-1] if body else None
    if not isinstance(last, ast.Return):
        return False
    return last.value is None or (isinstance(last.value, ast.Constant) and not isinstance(last.value.value, (str, bytes)))


def _is_probe(node: ast.Try, handler: ast.ExceptHandler, rest: Sequence[ast.stmt]) -> bool:
    """Whether a `try` only answers whether its body succeeds: `return True`, and `return False` from the handler."""
    positive = [*node.body[-1:], *node.orelse[-1:], *rest[-1:]]
    return _returned_constant(handler.body[-1]) is False and any(_returned_constant(statement) is True for statement in positive)


def _returned_constant(statement: ast.stmt) -> object:
    value = statement.value if isinstance(statement, ast.Return) else None
    return value.value if isinstance(value, ast.Constant) else None


def _catches(handler: ast.ExceptHandler, names: Names, raisers: Sequence[str]) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(catches_missing_gpu(names.qualified(kind), raiser) for kind in types for raiser in raisers)


def _suppresses(context: ast.expr, names: Names) -> bool:
    """Whether a `with` goes on where its body raises for want of a GPU: `suppress(RuntimeError)`."""
    if not isinstance(context, ast.Call) or names.qualified(context.func) != "contextlib.suppress":
        return False
    return any(catches_missing_gpu(names.qualified(kind), "") for kind in context.args)
