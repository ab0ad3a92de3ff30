"""Which commands of a script may be left out although the script runs to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpulint.parse.shell import SimpleCommand

_BRANCHES = frozenset({"then", "else", "case", "while", "until"})
_TESTS = frozenset({"[", "[[", "test", "grep", "which", "command", "type", "hash"})
"""Programs that answer a question: what follows one by `&&` runs where the answer is yes."""


def uncertain_commands(commands: Sequence[SimpleCommand]) -> frozenset[int]:
    """The ids of the commands that a branch, a function, a test before `&&`, or `||` may leave out."""
    return frozenset(map(id, (*_in_branches(commands), *_in_chains(commands))))


def _in_branches(commands: Sequence[SimpleCommand]) -> Iterator[SimpleCommand]:
    for command in commands:
        if any(label in _BRANCHES or label.startswith("function ") for label in command.block):
            yield command


def _in_chains(commands: Sequence[SimpleCommand]) -> Iterator[SimpleCommand]:
    """Those that an operator makes depend on the command before them. Behind `a || b`, `&&` goes on whichever of the two ran."""
    before: dict[tuple[str, ...], tuple[SimpleCommand, bool]] = {}
    for command in commands:
        last, depends = before.get(command.block, (command, False))
        if command.operator == "&&":
            depends = last.name in _TESTS or last.negated or (depends and last.operator != "||")
        else:
            depends = command.operator == "||"
        before[command.block] = (command, depends)
        if depends:
            yield command
