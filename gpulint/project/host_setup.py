"""Scripts that set up machines: whether the NVIDIA container toolkit that they install reaches Docker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpulint.facts.commands import program_index, program_name
from gpulint.facts.host_setup import names_docker, names_other_engine, restarts_docker, toolkit_package, wires_toolkit
from gpulint.facts.requests import runtime_vendor
from gpulint.model.install import read_installs
from gpulint.parse.shell import Script, SimpleCommand, UnknownWord
from gpulint.source import Text, Value

if TYPE_CHECKING:
    from gpulint.model.command import CommandLine
    from gpulint.project import Project


def installed_toolkit(command: SimpleCommand) -> Value | None:
    """The word by which a command installs the toolkit."""
    word = next((each for each in command.words if toolkit_package(_known_part(each))), None)
    if word is None or not any(not install.removes for install in read_installs([command], {})):
        return None
    return word


def is_for_docker(script: Script) -> bool:
    """Whether a script has to do with Docker, and with no other engine that the toolkit may be for."""
    words = [part for command in script.commands for part in _parts(command)]
    return any(map(names_docker, words)) and not any(map(names_other_engine, words))


def is_wired(project: Project) -> bool:
    """Whether anything in the repository tells an engine of the toolkit: a script, or settings that list its runtime."""
    listed = (runtime for config in project.engine_configs for runtime in config.runtimes)
    return any(runtime_vendor(name) == "nvidia" for name in listed) or any(_wires(line.command) for line in project.command_lines)


def unrestarted(line: CommandLine) -> SimpleCommand | None:
    """The last command of the line's script that tells Docker of the toolkit, where nothing starts Docker anew behind it."""
    commands = line.script.commands
    at = next((index for index in range(len(commands) - 1, -1, -1) if _wires(commands[index])), None)
    if at is None or any(map(_restarts, commands[at + 1 :])):
        return None
    return commands[at]


def _wires(command: SimpleCommand) -> bool:
    targets = (redirect.target for redirect in command.redirects)
    return any(wires_toolkit(part) for part in (*_parts(command), *map(_known_part, targets)))


def _restarts(command: SimpleCommand) -> bool:
    words = [_known_part(word) for word in command.words]
    at = program_index(words)
    return at < len(words) and restarts_docker(program_name(words[at]), words[at + 1 :])


def _parts(command: SimpleCommand) -> Sequence[str]:
    """The known words of a command, and the values of its options."""
    words = [_known_part(word) for word in command.words]
    return [*words, *(word.partition("=")[2] for word in words if word.startswith("--"))]


def _known_part(word: Value) -> str:
    if isinstance(word, Text):
        return str(word)
    return str(word.prefix) if isinstance(word, UnknownWord) else ""
