"""Reads the expressions of a Python scope: its calls, and its choices between GPU and CPU."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gpulint.facts.python import (
    CPU,
    NOTE,
    RAISE,
    SILENT,
    behaviour,
    is_answer_name,
    is_asked_for,
    is_exit,
    is_field,
    is_gpu_name,
    is_report,
    literal,
    makes_options,
    process_count,
    runs_argument,
    sign,
)
from gpulint.model.module import AssertionKind, Call, Check, EnvironmentWrite, Fallback, FallbackKind, Gate
from gpulint.model.python_choices import chosen
from gpulint.model.python_names import parameter_defaults
from gpulint.model.python_notes import Notes
from gpulint.model.python_values import UNKNOWN, Answer
from gpulint.source import Location

REPORT = "\0report"
"""The label of what is only printed, logged or sent to a person."""

Switches = tuple[str, ...]
Part = tuple[ast.AST, Gate, str, Switches]
"""A part of an expression that is yet to be read: the node, its gate, the name of what takes its value (or REPORT), and what a user can
set instead of it (`$DEVICE`, `--device`)."""

_VARIABLES = ("os.getenv", "os.environ.get", "os.environ.setdefault")
_OPTIONS = (".add_argument", "click.option", "typer.Option")
_SETTERS = ("os.environ.setdefault", "os.putenv")
_NO_PARTS = (str, int, type(None), ast.Constant, ast.Name, ast.Load, ast.Store)
_LEAVES = frozenset({*_NO_PARTS, *ast.operator.__subclasses__(), *ast.cmpop.__subclasses__(), *ast.unaryop.__subclasses__()})


class Expressions:
    """The reader of one scope's expressions; what it sees goes to the scope's notes."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._values = notes.values
        self._names = notes.names

    def read(self, node: ast.expr, gate: Gate, label: str = "") -> None:
        """Note what an expression calls and chooses. `label` is the name of what takes its value."""
        pending: list[Part] = [(node, gate, label, ())]
        while pending:
            part, gate, label, switches = pending.pop()
            reader = _READERS.get(type(part))
            if reader is not None:
                pending.extend(reversed(reader(self, part, gate, label, switches)))
            elif type(part) not in _LEAVES:
                keep = label if label == REPORT else ""
                pending.extend([(child, gate, keep, switches) for child in reversed(_inner(part))])

    def write_environment(self, name: str, answer: Answer, place: Location) -> None:
        """Note that the code sets an environment variable of its own process; some make a library take the CPU, or raise."""
        gate = self._notes.gate
        self._notes.add_environment(EnvironmentWrite(name, answer, place, gate))
        self._effects(f"${name}", {"0": answer}, place, gate, ())

    def lean(self, test: ast.expr, answer: Answer) -> bool | None:
        """Which way a test goes without a GPU; an undecided one goes where its operand that hangs on a GPU lets it; None if unknown."""
        if answer.decided:
            return bool(answer.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.lean(test.operand, self._values.of(test.operand))
            return None if inner is None else not inner
        if not isinstance(test, ast.BoolOp) or not answer.subject:
            return None
        goes = isinstance(test.op, ast.And)
        operands = [self._values.of(value) for value in test.values]
        return goes if any(operand.subject and operand.decided and bool(operand.value) is goes for operand in operands) else None

    # --- Calls ---------------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, gate: Gate, label: str, switches: Switches) -> list[Part]:
        name = self._names.qualified(node.func)
        self._note_call(self._called_object(node.func) or name, node, gate, switches)
        self._note_end(name, node, gate)
        self._note_handed(name, node, gate)
        switches = switches or _switches(name, node)
        self._note_settings(name, node, switches)
        inner = REPORT if label == REPORT or is_report(name) else ""
        parts: list[Part] = [] if type(node.func) is ast.Name else [(node.func, gate, "", ())]
        parts.extend([(argument, gate, inner, switches) for argument in node.args if type(argument) not in _LEAVES])
        for keyword in node.keywords:
            if type(keyword.value) not in _LEAVES or is_gpu_name(keyword.arg or ""):
                self._note_flag(keyword, gate, inner, switches)
                parts.append((keyword.value, gate, inner or keyword.arg or "", switches))
        return parts

    def _called_object(self, function: ast.expr) -> str:
        """The call of an object that a library's call made, where any table asks for it: `model = YOLO("m.pt")`, then `model(image)`."""
        maker = self._notes.made_by(function.id) if isinstance(function, ast.Name) else ""
        name = f"{maker}.__call__" if maker else ""
        return name if name and is_asked_for(name) else ""

    def _note_call(self, name: str, node: ast.Call, gate: Gate, switches: Switches) -> None:
        if name.startswith("*"):
            self._notes.add_method(name.rpartition(".")[2], gate)
        asked = is_asked_for(name)
        if not asked and (name[:1] in ("", "*") or not ("." in name or name[0] == ":" or self._notes.file.outline.stars)):
            return
        arguments = self._values.arguments(node) if asked else {}
        place = self._notes.file.locate(node)
        self._notes.add_call(Call(name, place, gate, arguments))
        if asked:
            self._effects(name, arguments, place, gate, switches)

    def _effects(self, name: str, arguments: Mapping[str, Answer], place: Location, gate: Gate, switches: Switches) -> None:
        """What the tables say of a call: it raises, falls to the CPU, asks for the CPU, trains or serves."""
        plain = {key: answer.value for key, answer in arguments.items()}
        means = sign(name, plain, self._notes.file.packages)
        if means:
            self._notes.add_sign(means, place)
        known = behaviour(name, plain, self._notes.file.packages)
        if known is None or gate is Gate.NEVER:
            return
        if known.effect == RAISE:
            self._notes.add_raising(place, name, known.then, gate)
        elif known.effect == CPU and not any(answer.subject for answer in arguments.values()):
            self._notes.add_on_cpu(known.framework, gate)
        elif known.effect in (SILENT, NOTE):
            kind = FallbackKind.DEFAULT if known.default else FallbackKind.CHOICE
            variable = (f"${known.variable}",) if known.variable else ()
            self._notes.add_fallback(Fallback(place, kind, known.then, known.framework, switches + variable))

    def note_check(self, node: ast.Call, gate: Gate) -> None:
        """Note a statement that hands a function an answer which says that there is no GPU: `check(torch.cuda.is_available(), "...")`."""
        name = self._names.qualified(node.func)
        if not name or name[0] == "*" or not (name[0] == ":" or "." in name or self._notes.file.outline.stars):
            return
        answers = {key for key, answer in self._values.arguments(node).items() if answer.subject and answer.decided and not answer.value}
        if answers:
            self._notes.add_check(Check(name, self._notes.file.locate(node), gate, frozenset(answers)))

    def _note_end(self, name: str, node: ast.Call, gate: Gate) -> None:
        """A call that ends the program, as surely as the statement runs, ends the statement; `sys.exit(check())` may be an assertion."""
        if gate is not self._notes.gate or not self._never_returns(name):
            return
        self._notes.ended = True
        if is_exit(name):
            self._note_code(node, gate)

    def _never_returns(self, name: str) -> bool:
        """Whether a call of this qualified name ends the program without a GPU."""
        scope = self._notes.file.scope(name[1:]) if name.startswith(":") else None
        return is_exit(name) or (scope is not None and scope.ends)

    def note_exit_code(self, node: ast.expr, gate: Gate) -> None:
        """`raise SystemExit(main())` may be an assertion, as `sys.exit(main())` may."""
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "SystemExit":
            self._note_code(node, gate)

    def _note_code(self, node: ast.Call, gate: Gate) -> None:
        code = self._values.of(node.args[0]) if node.args else UNKNOWN
        if code.subject and code.decided and code.value and gate is not Gate.NEVER:
            self._notes.add_assertion(node, AssertionKind.REFUSAL, code.subject, node, gate)

    def _note_handed(self, name: str, node: ast.Call, gate: Gate) -> None:
        """Functions given to another call, which calls them: `Thread(target=work)`, `mp.spawn(work)`, `uvicorn.run("app:app")`.

        `mp.spawn(work, nprocs=device_count())` calls none without a GPU.
        """
        runner = runs_argument(name)
        count = _count_of_processes(name, node)
        if count is not None:
            self._notes.add_launch(node, self._values.of(count), gate)
        if runner and any(answer.subject and answer.value == 0 for answer in self._values.arguments(node).values()):
            gate = Gate.NEVER
        for argument in _handed(node):
            given = self._given(argument, runner)
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and name.endswith(".run"):
                given = _import_string(argument.value)
            if given:
                reached = gate if runner else min(gate, Gate.MAY)
                self._notes.add_call(Call(given, self._notes.file.locate(argument), reached, {}, handed=True))

    def _given(self, argument: ast.expr, runner: bool) -> str:
        """The qualified name of a function that an argument is: one of this file, or any where the call is known to run it."""
        functions = self._notes.file.outline.functions
        if not isinstance(argument, (ast.Name, ast.Attribute)):
            return ""
        if not runner and isinstance(argument, ast.Name) and argument.id not in functions:
            return ""
        name = self._names.qualified(argument)
        return name if (runner and "." in name) or (name[:1] == ":" and name[1:] in functions) else ""

    def _note_flag(self, keyword: ast.keyword, gate: Gate, label: str, switches: Switches) -> None:
        """`gpu=torch.cuda.is_available()` leaves the choice to the answer."""
        name = keyword.arg or ""
        if gate is Gate.NEVER or label == REPORT or not is_gpu_name(name) or is_answer_name(name) or isinstance(keyword.value, ast.IfExp):
            return
        answer = self._values.of(keyword.value)
        if answer.subject and answer.decided and not answer.value:
            self._notes.add_choice(keyword.value, switches=switches)

    def _note_settings(self, name: str, node: ast.Call, switches: Switches) -> None:
        """Options and variables with a device for a default, and variables of the environment that the code sets."""
        for variable, value in _written_variables(name, node):
            self.write_environment(variable, self._values.of(value), self._notes.file.locate(node))
        maker = makes_options(name)
        if maker and node.args:
            self._note_parameters(self._names.qualified(node.args[0]), maker)
        default = _default(name, node)
        if default is None or not switches:
            return
        answer = Answer(False) if _is_flag(default) else self._values.of(default)
        setting = switches[-1]
        if setting.startswith("-") and (answer.subject or (isinstance(answer.value, str) and literal(answer.value))):
            self._notes.file.options[setting.lstrip("-").replace("-", "_")] = answer
        kind = "variable" if setting.startswith("$") else "option"
        self._notes.add_device_default(kind, setting.lstrip("$"), default, answer, switches[:-1])

    def _note_parameters(self, name: str, kind: str) -> None:
        """The parameters of a function or class of this file that a call makes options of."""
        functions = self._notes.file.outline.functions
        found = functions.get(name[1:]) or functions.get(f"{name[1:]}.__init__") if name.startswith(":") else None
        for argument, default in parameter_defaults(found.node.args) if found is not None else ():
            option = f"--{argument.arg.replace('_', '-')}"
            self._notes.add_device_default(kind, option, default, self._values.of(default), (f"--{argument.arg}",))

    def note_decorators(self, decorators: Sequence[ast.expr]) -> None:
        """What the decorators of a function say that it is for: `@torch.inference_mode()`."""
        for decorator in decorators:
            means = sign(self._names.qualified(decorator), {}, self._notes.file.packages)
            if means:
                self._notes.add_sign(means, self._notes.file.locate(decorator))

    def note_parameter(self, name: str, default: ast.expr, is_run: bool) -> None:
        """A parameter of a function that is a command is an option of the command line; typer's own objects say more of it."""
        switches: Switches = (f"--{name.replace('_', '-')}",)
        if isinstance(default, ast.Call) and self._names.qualified(default.func) == "typer.Option" and default.args:
            named = [argument.value for argument in default.args[1:] if isinstance(argument, ast.Constant)]
            switches = tuple(each for each in named if isinstance(each, str) and each.startswith("-")) or switches
            default = default.args[0]
        elif not is_run:
            return
        self._notes.add_device_default("option", switches[-1], default, self._values.of(default), switches[:-1])

    def default_of_field(self, value: ast.expr) -> ast.expr:
        """What a field of a class is worth where nothing is given: the value, or the one in `field(default=...)`."""
        if not isinstance(value, ast.Call) or not is_field(self._names.qualified(value.func)):
            return value
        given = next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
        return given or (value.args[0] if value.args else value)

    # --- Choices -------------------------------------------------------------------------------------------------------------

    def _if_expression(self, node: ast.IfExp, gate: Gate, label: str, switches: Switches) -> list[Part]:
        test = self._values.of(node.test)
        lean = self.lean(node.test, test)
        if lean is not None and test.subject and gate is not Gate.NEVER and label != REPORT:
            absent, present = (node.body, node.orelse) if lean else (node.orelse, node.body)
            if isinstance(absent, ast.Call) and self._never_returns(self._names.qualified(absent.func)):
                self._notes.add_assertion(node, AssertionKind.REFUSAL, test.subject, node.test, gate if test.decided else Gate.MAY)
            else:
                self._note_choice(node, absent, present, label, switches)
        self._notes.add_cpu_mode(node.test, test, [node.body], [node.orelse])
        if test.decided:
            body, orelse = (gate, Gate.NEVER) if test.value else (Gate.NEVER, gate)
        else:
            body = orelse = min(gate, Gate.MAY)
        return [(node.test, gate, "", ()), (node.body, body, label, switches), (node.orelse, orelse, label, switches)]

    def _note_choice(self, node: ast.expr, absent: ast.expr, present: ast.expr, label: str, switches: Switches) -> None:
        """A fallback where an expression gives a GPU with one and none without, or the CPU without and something by name with one."""
        here, there = chosen([absent], self._names, label), chosen([present], self._names, label)
        without = self._device(absent) or ("gpu" if here.gpu else "cpu" if here.cpu else "")
        with_gpu = self._device(present) or ("gpu" if there.gpu else "")
        answer = self._values.of(present)
        counted = bool(answer.subject) and isinstance(answer.value, int)
        named = not counted and (isinstance(present, (ast.Constant, ast.Name, ast.Attribute)) or bool(answer.subject))
        if without != "gpu" and (with_gpu == "gpu" or (without == "cpu" and named)):
            self._notes.add_choice(node, switches=switches)

    def _device(self, node: ast.expr) -> str:
        """Which device an expression's value names: "gpu", "cpu" or ""."""
        value = self._values.of(node).value
        return literal(value) if isinstance(value, str) else ""

    def _operands(self, node: ast.BoolOp, gate: Gate, label: str, switches: Switches) -> list[Part]:
        """The operands with the gates that the ones before leave them; `is_available() or sys.exit()` is an assertion."""
        stops = isinstance(node.op, ast.Or)
        parts: list[Part] = []
        subject = ""
        for value in node.values:
            parts.append((value, gate, label, switches))
            if subject and gate is self._notes.gate and isinstance(value, ast.Call) and is_exit(self._names.qualified(value.func)):
                self._notes.add_assertion(node, AssertionKind.REFUSAL, subject, node, gate)
            answer = self._values.of(value)
            subject = subject or answer.subject
            if not answer.decided:
                gate = min(gate, Gate.MAY)
            elif bool(answer.value) is stops:
                gate = Gate.NEVER
        self._note_old_idiom(node, parts[0][1], label, switches)
        self._note_stand_in(node)
        return parts

    def _note_stand_in(self, node: ast.BoolOp) -> None:
        """`os.getenv("DEVICE") or "cpu"` gives the variable a default too."""
        first = node.values[0]
        name = self._names.qualified(first.func) if isinstance(first, ast.Call) and len(first.args) == 1 else ""
        variable = _switches(name, first) if isinstance(first, ast.Call) and name in _VARIABLES else ()
        if variable and isinstance(node.op, ast.Or) and len(node.values) == 2:
            self._notes.add_device_default("variable", variable[0].lstrip("$"), node.values[1], self._values.of(node.values[1]))

    def _note_old_idiom(self, node: ast.BoolOp, gate: Gate, label: str, switches: Switches) -> None:
        """`is_available() and "cuda" or "cpu"`, and `current_accelerator() or "cpu"`."""
        first = node.values[0]
        if not isinstance(node.op, ast.Or) or gate is Gate.NEVER or label == REPORT or len(node.values) != 2:
            return
        answer = self._values.of(first)
        if answer.subject and answer.decided and not answer.value:
            present = first.values[-1] if isinstance(first, ast.BoolOp) else first
            self._note_choice(node, node.values[1], present, label, switches)

    def _subscript(self, node: ast.Subscript, gate: Gate, label: str, switches: Switches) -> list[Part]:
        if gate is not Gate.NEVER and isinstance(node.ctx, ast.Load):
            self._note_index(node, gate, label, switches)
        return [(node.value, gate, "", ()), (node.slice, gate, "", ())]

    def _note_index(self, node: ast.Subscript, gate: Gate, label: str, switches: Switches) -> None:
        """`["cpu", "cuda"][is_available()]` chooses; `list_physical_devices("GPU")[0]` raises."""
        base = self._values.of(node.value)
        if base.subject and base.value == [] and not isinstance(node.slice, ast.Slice):
            then = "gives an empty list, and its first item raises IndexError"
            self._notes.add_raising(self._notes.file.locate(node), base.subject, then, gate)
        elif isinstance(node.value, (ast.List, ast.Tuple, ast.Dict)) and self._values.of(node.slice).subject and label != REPORT:
            items = node.value.values if isinstance(node.value, ast.Dict) else node.value.elts
            if chosen(items, self._names, label).gpu is not None and self._device(node) == "cpu":
                self._notes.add_choice(node, switches=switches)

    def _lambda(self, node: ast.Lambda, gate: Gate, _label: str, _switches: Switches) -> list[Part]:
        return [(node.body, min(gate, Gate.MAY), "", ())]

    def _attribute(self, node: ast.Attribute, gate: Gate, _label: str, _switches: Switches) -> list[Part]:
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            base = base.value
        return [(base, gate, "", ())]


_READERS: dict[type[ast.AST], Callable[[Expressions, Any, Gate, str, Switches], list[Part]]] = {
    ast.Call: Expressions._call,
    ast.IfExp: Expressions._if_expression,
    ast.BoolOp: Expressions._operands,
    ast.Subscript: Expressions._subscript,
    ast.Lambda: Expressions._lambda,
    ast.Attribute: Expressions._attribute,
}


def _inner(node: ast.AST) -> list[ast.AST]:
    """The expressions inside an expression, without names and constants."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found.extend(item for item in value if type(item) not in _LEAVES)
        elif isinstance(value, ast.AST) and type(value) not in _LEAVES:
            found.append(value)
    return found


def _handed(node: ast.Call) -> list[ast.expr]:
    """The arguments of a call, and what a mapping or sequence among them holds."""
    arguments = [*node.args, *[keyword.value for keyword in node.keywords]]
    for argument in arguments[:]:
        if isinstance(argument, ast.Dict):
            arguments.extend(argument.values)
        elif isinstance(argument, (ast.List, ast.Tuple)):
            arguments.extend(argument.elts)
    return arguments


def _switches(name: str, node: ast.Call) -> Switches:
    """What a user sets instead of the default in this call: `--device` for an option, `$DEVICE` for a variable."""
    if name not in _VARIABLES and not name.endswith(_OPTIONS):
        return ()
    words = [argument.value for argument in node.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
    if name in _VARIABLES:
        return (f"${words[0]}",) if words else ()
    return tuple(word for word in words if word.startswith("-"))


def _written_variables(name: str, node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The variables of its own environment that a call sets: `os.putenv(name, value)`, `os.environ.update({name: value})`."""
    if name in _SETTERS and len(node.args) == 2 and isinstance(node.args[0], ast.Constant):
        yield str(node.args[0].value), node.args[1]
    elif name == "os.environ.update":
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)
        mapping = node.args[0] if node.args and isinstance(node.args[0], ast.Dict) else ast.Dict([], [])
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value), value


def _count_of_processes(name: str, node: ast.Call) -> ast.expr | None:
    """The argument that says how many processes a call starts; None where it has none."""
    argument = process_count(name)
    if argument is None:
        return None
    named = (keyword.value for keyword in node.keywords if keyword.arg == argument.name)
    return next(named, node.args[argument.position] if argument.position < len(node.args) else None)


def _default(name: str, node: ast.Call) -> ast.expr | None:
    """The default that a call gives an option or a variable; of an option that is off unless it is given, what says so."""
    if name in _VARIABLES:
        return node.args[1] if len(node.args) > 1 else None
    if not name.endswith(_OPTIONS):
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    return given.get("default") or next((value for value in given.values() if _is_flag(value)), None)


def _is_flag(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == "store_true"


def _import_string(text: str) -> str:
    """`app.server:app` as a qualified name; "" for any other string."""
    module, _, attribute = text.partition(":")
    parts = [*module.split("."), attribute]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""
