"""Entry scripts: where a shell script refuses to start its program without a GPU, and where it chooses the CPU.

A script asks by `nvidia-smi` and its kin, by a file such as `/dev/nvidia0`, or by a variable that holds what `nvidia-smi` printed. What
stands in `||`, `&&`, `if` and loops round the question says what becomes of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import words
from gpulint.facts.commands import cpu_argument, cpu_variable, gpu_argument, gpu_program, gpu_variable, program_index
from gpulint.facts.python import is_device_file, is_report
from gpulint.model.module import Assertion, AssertionKind, Fallback, FallbackKind, Gate
from gpulint.parse.quantity import parse_natural
from gpulint.parse.shell import SimpleCommand
from gpulint.source import Text, Unknown, Value

Commands = Sequence[SimpleCommand]

_ASKS_FOR_PROGRAM = frozenset({"command", "which", "type", "hash"})
_TESTS = frozenset({"[", "[[", "test"})
_LEAVES = frozenset({"exit", "return", "false"})
_COUNTS = regex(r"\bwc\b|grep\s+(-\w*c|--count)")
_VARIABLE = regex(r"\$\{?(\w+)\}?$")
_NUMBER = {"-eq": int.__eq__, "-ne": int.__ne__, "-lt": int.__lt__, "-le": int.__le__, "-gt": int.__gt__, "-ge": int.__ge__}
_FILE_TESTS = frozenset({"-e", "-f", "-c", "-d", "-r", "-w", "-x", "-b"})


class Checks(NamedTuple):
    """What a script makes of a missing GPU before its program starts."""

    assertions: tuple[Assertion, ...]
    fallbacks: tuple[Fallback, ...]


def read_checks(commands: Commands, fails: Callable[[SimpleCommand], bool], errexit: bool = False) -> Checks:
    """The refusals and fallbacks of a script's commands, which are in file order.

    `fails` says of a command that is no GPU tool whether it fails without a GPU all the same, such as a Python program that asserts one;
    `errexit` that the shell runs with `-e` from the start.
    """
    reader = _Reader(commands, fails, errexit)
    reader.read()
    return Checks(tuple(reader.assertions), tuple(reader.fallbacks))


def words_of(command: SimpleCommand) -> list[str]:
    """The words for a look-up: an unknown one as it is written."""
    return list(command.written)


def is_certain(command: SimpleCommand) -> bool:
    """Whether a command runs whatever the script meets on its way."""
    return all(block in ("script", "group") for block in command.block)


class _Reader:
    def __init__(self, commands: Commands, fails: Callable[[SimpleCommand], bool], errexit: bool) -> None:
        called = {name for command in commands for name in words_of(command)[:1]}
        self._commands = [command for command in commands if _is_run(command, called)]
        self._fails = fails
        self._errexit = errexit
        self._printed: dict[str, str] = {}
        self.assertions: list[Assertion] = []
        self.fallbacks: list[Fallback] = []

    def read(self) -> None:
        for index, command in enumerate(self._commands):
            self._remember(command)
            succeeds = self._succeeds(command)
            if succeeds is not None and command.operator != "|":
                self._judge(index, command, succeeds is not command.negated)

    def _remember(self, command: SimpleCommand) -> None:
        """Keep whether `set -e` holds, and which variables hold what a GPU tool printed: nothing, or a count of 0, without a GPU."""
        said = words_of(command)
        if said[:1] == ["set"]:
            flags = " ".join(said[1:])
            self._errexit = bool(re.search(r"(^|\s)-\w*e|-o errexit", flags)) or (self._errexit and not re.search(r"\+\w*e", flags))
        for name, value, _ in command.assignments:
            self._printed.pop(name, None)
            if isinstance(value, Unknown) and gpu_program(re.findall(r"[\w./-]+", value.raw)[:1]):
                self._printed[name] = "0" if _COUNTS.search(value.raw) else ""

    # --- The question --------------------------------------------------------------------------------------------------------

    def _succeeds(self, command: SimpleCommand) -> bool | None:
        """Whether a command succeeds without a GPU; None where it does not ask for one."""
        said = words_of(command)
        if not said:
            return None
        if said[0] in _ASKS_FOR_PROGRAM and gpu_program(said[-1:]):
            return False
        if said[0] in _TESTS:
            return self._test(command, said)
        if gpu_program(said[program_index(said) :]):
            return False
        return False if self._fails(command) else None

    def _test(self, command: SimpleCommand, said: list[str]) -> bool | None:
        operands = [self._value(word) for word in command.words[1:]]
        operands = operands[:-1] if said[-1] in ("]", "]]") else operands
        if operands[:1] == ["!"]:
            inner = self._compare(operands[1:], said[2:])
            return None if inner is None else not inner
        return self._compare(operands, said[1:])

    def _value(self, word: Value) -> str | None:
        """What a word of a test is without a GPU; None where that hangs on anything else."""
        if isinstance(word, Text):
            return str(word)
        variable = _VARIABLE.match(word.raw)
        if variable:
            return self._printed.get(variable[1])
        return ("0" if _COUNTS.search(word.raw) else "") if gpu_program(re.findall(r"[\w./-]+", word.raw)[:1]) else None

    def _compare(self, operands: Sequence[str | None], said: Sequence[str]) -> bool | None:
        asks = any("$" in word or is_device_file(word) for word in said)
        if not asks or None in operands:
            return None
        known = [str(operand) for operand in operands]
        if len(known) == 2 and known[0] in _FILE_TESTS and is_device_file(known[1]):
            return False
        if len(known) == 2 and known[0] in ("-z", "-n"):
            return (known[1] == "") is (known[0] == "-z")
        if len(known) != 3:
            return None
        left, operator, right = known
        first, second = parse_natural(left), parse_natural(right)
        if operator in _NUMBER and first is not None and second is not None:
            return bool(_NUMBER[operator](first, second))
        return {"=": left == right, "==": left == right, "!=": left != right}.get(operator)

    # --- What becomes of the answer ------------------------------------------------------------------------------------------

    def _judge(self, index: int, command: SimpleCommand, succeeds: bool) -> None:
        place = command.block[-1:]
        if place == ("if",):
            then, otherwise = self._arms(index)
            self._weigh(command, *((then, otherwise) if succeeds else (otherwise, then)))
        elif place == ("while",):
            self._assert(command)
        else:
            self._judge_list(index, command, succeeds)

    def _arms(self, index: int) -> tuple[Commands, Commands]:
        """What stands in the `then` and in the `else` of the `if` whose condition stands there."""
        outer = self._commands[index].block[:-1]
        behind = self._commands[index + 1 :]
        condition = _run_of(behind, (*outer, "if"))
        then = _run_of(behind[len(condition) :], (*outer, "then"))
        return then, _run_of(behind[len(condition) + len(then) :], (*outer, "else"))

    def _judge_list(self, index: int, command: SimpleCommand, succeeds: bool) -> None:
        """`nvidia-smi || exit 1`, `nvidia-smi && DEVICE=cuda || DEVICE=cpu`, `nvidia-smi || { ...; exit 1; }`, or nothing behind it."""
        behind = self._commands[index + 1 :]
        behind = behind[len(list(_while(behind, lambda each: each.operator == "|"))) :]
        joined = list(_while(behind, lambda each: each.operator in ("&&", "||") and each.block == command.block))
        group = _run_of(behind[len(joined) :], (*command.block, "group")) or _run_of(behind[len(joined) :], (*command.block, "subshell"))
        wanted = "&&" if succeeds else "||"
        belongs = any(map(_leaves, group)) or not _starts_program(group)
        absent = [each for each in joined if each.operator == wanted] or (list(group) if belongs else [])
        present = [each for each in joined if each.operator != wanted]
        ends = self._errexit or _ends_script(command, behind)
        if absent:
            self._weigh(command, absent, present)
        elif not succeeds and ((ends and not joined) or (present and len(joined) == len(behind))):
            self._assert(command)

    def _weigh(self, command: SimpleCommand, absent: Commands, present: Commands) -> None:
        """The arm that runs without a GPU refuses, or chooses the CPU, or lacks what the other gives the GPU."""
        if any(map(_leaves, absent)):
            self._assert(command)
            return
        given = {str(name): value for each in present for name, value, _ in each.assignments}
        chooses = next((each for each in absent if _chooses_cpu(each, given)), None)
        if chooses is None and any(map(_chooses_gpu, present)):
            chooses = next((each for each in absent if _starts_program([each])), None) or self._assigned_before(command, given)
        if chooses is not None:
            self.fallbacks.append(Fallback(chooses.location, FallbackKind.CHOICE, "goes on with the CPU"))

    def _assigned_before(self, command: SimpleCommand, names: dict[str, Value]) -> SimpleCommand:
        """The command that gave one of these variables its value before the question; the question itself where none did."""
        before = (each for each in self._commands if each.location < command.location)
        return next((each for each in before if any(name in names for name, _, _ in each.assignments)), command)

    def _assert(self, command: SimpleCommand) -> None:
        subject = next(iter(words_of(command)), "")
        self.assertions.append(Assertion(command.location, AssertionKind.REFUSAL, subject, Gate.RUNS))


def _ends_script(command: SimpleCommand, behind: Commands) -> bool:
    """Whether the script ends as this command does: by `exec`, or because it is the last."""
    return is_certain(command) and (not behind or words_of(command)[:1] == ["exec"])


def _is_run(command: SimpleCommand, called: set[str]) -> bool:
    """Whether a command is run itself: not only for what it prints, and not in a function that nobody calls."""
    functions = [name.removeprefix("function ") for name in command.block if name.startswith("function ")]
    return "substitution" not in command.block and all(name in called for name in functions)


def _run_of(commands: Commands, block: tuple[str, ...]) -> Commands:
    """The first commands, as far as they stand in that block."""
    return list(_while(commands, lambda each: each.block[: len(block)] == block))


def _while(commands: Commands, holds: Callable[[SimpleCommand], bool]) -> Iterator[SimpleCommand]:
    for command in commands:
        if not holds(command):
            return
        yield command


def _leaves(command: SimpleCommand) -> bool:
    return words_of(command)[:1] != [] and words_of(command)[0] in _LEAVES


def _chooses_cpu(command: SimpleCommand, given: dict[str, Value]) -> bool:
    """Whether a command says CPU, or turns off a variable that is on with a GPU."""
    off = words("commands", "off_values")
    for name, value, _ in command.assignments:
        other = given.get(name)
        turned_off = isinstance(other, Text) and other.lower() not in off
        if isinstance(value, Text) and (cpu_variable(name, value) or (turned_off and value.lower() in off)):
            return True
    return cpu_argument(words_of(command)) is not None


def _chooses_gpu(command: SimpleCommand) -> bool:
    known = ((name, value) for name, value, _ in command.assignments if isinstance(value, Text))
    if any(gpu_variable(name, value) or gpu_argument(["", *value.split()]) is not None for name, value in known):
        return True
    return gpu_argument(words_of(command)) is not None


def _starts_program(commands: Commands) -> bool:
    """Whether any of the commands does more than print and set variables."""
    firsts = (words_of(command)[:1] for command in commands)
    return any(first and not is_report(first[0]) and first[0] not in (*_LEAVES, "export", "set") for first in firsts)
