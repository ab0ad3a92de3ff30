"""The words with which a container starts: what it says itself, joined with what its image says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from gpulint.deferred import NamedTuple
from gpulint.source import Text, Value

if TYPE_CHECKING:
    from gpulint.model.container import Container, Dialect
    from gpulint.parse.shell import Script

Words = tuple[Value, ...]


class _Manner(NamedTuple):
    """How a tool joins what a container says with what its image says."""

    empty_is_unset: bool
    """An empty list counts as not given at all (Kubernetes, ECS), instead of taking the image's words away."""
    image_runs: bool
    """The image's own words are run where the container gives none; CI and editors run a shell instead."""


_MANNERS = {
    "compose": _Manner(empty_is_unset=False, image_runs=True),
    "kubernetes": _Manner(empty_is_unset=True, image_runs=True),
    "run": _Manner(empty_is_unset=False, image_runs=True),
    "quadlet": _Manner(empty_is_unset=False, image_runs=True),
    "library call": _Manner(empty_is_unset=False, image_runs=True),
    "ci": _Manner(empty_is_unset=False, image_runs=False),
    "dev container": _Manner(empty_is_unset=False, image_runs=False),
    "task": _Manner(empty_is_unset=True, image_runs=True),
}


def effective_words(
    dialect: Dialect,
    entrypoint: Words | None,
    arguments: Words | None,
    image_entrypoint: Words | None = None,
    image_command: Words | None = None,
) -> Words:
    """The words that a container starts with. None says that a side gives none; an own entrypoint always drops the image's command."""
    manner = _MANNERS[dialect.value]
    if manner.empty_is_unset:
        entrypoint, arguments = entrypoint or None, arguments or None
    if not manner.image_runs:
        image_entrypoint = image_command = None
    if entrypoint is not None:
        return (*entrypoint, *(arguments or ()))
    command = image_command if arguments is None else arguments
    return (*(image_entrypoint or ()), *(command or ()))


def own_commands(container: Container) -> tuple[Words, ...]:
    """The commands that the container's own file has it run: its entrypoint and arguments, those within `sh -c` one by one."""
    if container not in _own_commands:  # a dozen rules ask for them
        _own_commands[container] = _read_own_commands(container)
    return _own_commands[container]


_own_commands: WeakKeyDictionary[Container, tuple[Words, ...]] = WeakKeyDictionary()


def _read_own_commands(container: Container) -> tuple[Words, ...]:
    words = effective_words(container.dialect, container.entrypoint, container.arguments)
    if not words:
        return ()
    commands = [command for command in script_of(words, _variables(container)).commands if "substitution" not in command.block]
    inner = [command.words for command in commands[1:] if command.words]
    return tuple(inner) if inner else (words,)


def _variables(container: Container) -> dict[str, Value]:
    return {str(variable.name): variable.value for variable in container.env if variable.value is not None}


def script_of(words: Words, variables: Mapping[str, Value]) -> Script:
    """The words as a command, with the commands of the script that a shell in it runs behind it."""
    from gpulint.model.script import read_command
    from gpulint.parse.shell import Script, SimpleCommand

    known = tuple(word if isinstance(word, Text) else Text("", word.location) for word in words)
    script = read_command(known, variables)
    first = script.commands[0]
    return Script((SimpleCommand(words, first.location), *script.commands[1:]))
