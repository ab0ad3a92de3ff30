"""Scripts that set up machines: whether the NVIDIA container toolkit that they install reaches Docker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import program_index, program_name
from gpulint.facts.driver_packages import driver_installer, driver_package
from gpulint.facts.host_setup import (
    configures_toolkit,
    names_docker,
    names_other_engine,
    restarts_docker,
    sets_default,
    toolkit_package,
    wires_toolkit,
)
from gpulint.facts.requests import runtime_vendor
from gpulint.model.install import read_installs
from gpulint.parse.shell import Script, SimpleCommand, UnknownWord
from gpulint.source import Location, Text, Value

if TYPE_CHECKING:
    from gpulint.model.command import CommandLine
    from gpulint.project import Project


_DRIVER = "libcuda"
"""What a package or installer brings that is the driver itself, by the facts."""


def installed_toolkit(command: SimpleCommand) -> Value | None:
    """The word by which a command installs the toolkit."""
    word = next((each for each in command.words if toolkit_package(_known_part(each))), None)
    if word is None or not any(not install.removes for install in read_installs([command], {})):
        return None
    return word


class Unpinned(NamedTuple):
    """A package that is installed without a version, as it is written, and where."""

    shown: str
    location: Location


def installs_unpinned(command: SimpleCommand) -> Iterator[Unpinned]:
    """The driver and the toolkit among what a command installs on a host, where neither a version nor the name of a branch is written."""
    words = [_known_part(word) for word in command.words]
    words = words[program_index(words) :]
    installed = driver_installer(words)
    if installed is not None and installed.brings == _DRIVER and not any(map(_has_number, words)):
        yield Unpinned(" ".join(words), command.location)
    for install in read_installs([command], {}):
        for package in () if install.removes else install.packages:
            if isinstance(package.text, Text) and not package.specifier and not _has_number(package.name):
                part = driver_package(install.manager, package.name)
                if toolkit_package(package.name) or (part is not None and part.brings == _DRIVER):
                    yield Unpinned(str(package.text), package.text.location)


def _has_number(word: str) -> bool:
    return any(character.isdigit() for character in word)


@lru_cache(maxsize=1000)
def is_for_docker(script: Script) -> bool:
    """Whether a script has to do with Docker, and with no other engine that the toolkit may be for."""
    words = [part for command in script.commands for part in _parts(command)]
    return any(map(names_docker, words)) and not any(map(names_other_engine, words))


@lru_cache(maxsize=1)
def is_wired(project: Project) -> bool:
    """Whether anything in the repository tells an engine of the toolkit: a script, or settings that list its runtime."""
    listed = (runtime for config in project.engine_configs for runtime in config.runtimes)
    return any(runtime_vendor(name) == "nvidia" for name in listed) or any(_wires(line.command) for line in project.command_lines)


@lru_cache(maxsize=1000)
def unrestarted(script: Script) -> SimpleCommand | None:
    """The last command of a script that tells Docker of the toolkit, where nothing starts Docker anew behind it."""
    commands = script.commands
    at = next((index for index in range(len(commands) - 1, -1, -1) if _wires(commands[index])), None)
    if at is None or any(map(_restarts, commands[at + 1 :])):
        return None
    return commands[at]


def default_runtime(line: CommandLine) -> Text | None:
    """The runtime that a command makes Docker's default: by the toolkit's own program, or as text that it writes into daemon.json."""
    command = line.command
    words = [_known_part(word) for word in command.words]
    at = program_index(words)
    if at < len(words) and configures_toolkit(program_name(words[at]), words[at + 1 :]):
        option = next((word for word in command.words if sets_default(_known_part(word))), None)
        return Text("nvidia", option.location, ()) if option is not None and not any(map(_names_other_value, words)) else None
    targets = [each.target for each in command.redirects]
    if not any(_is_settings(_known_part(each)) for each in (*command.words, *targets)):
        return None
    texts = (each for each in (*targets, *command.words, *_piped_into(line)) if isinstance(each, Text))
    found = ((text, match) for text in texts if (match := _DEFAULT.search(text)))
    return next((text.cut(*match.span(1)) for text, match in found), None)


def _piped_into(line: CommandLine) -> tuple[Value, ...]:
    """The words of the command whose output the line's reads."""
    commands = line.script.commands
    at = next(index for index, each in enumerate(commands) if each is line.command)
    return commands[at - 1].words if at and line.command.operator == "|" else ()


_DEFAULT = regex(r'"default-runtime"\s*:\s*"([^"]*)"')


def _is_settings(path: str) -> bool:
    return path.endswith("daemon.json")


def _names_other_value(word: str) -> bool:
    """Whether a word is, or gives an option the value of, an engine beside Docker."""
    return names_other_engine(word) or names_other_engine(word.partition("=")[2])


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
