"""Install: a command that installs packages, read from a parsed shell command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from gpulint.deferred import dataclass, regex
from gpulint.facts.commands import launched, program_index, program_name
from gpulint.facts.installers import Installer, installer, option_roles, variables_of
from gpulint.parse.options import Arguments, Option, read_arguments
from gpulint.parse.requirement import Package, conda_package, poetry_package, python_package, system_package
from gpulint.parse.requirements import Requirements, values_of
from gpulint.parse.shell import SimpleCommand
from gpulint.source import Location, Text, Unknown, Value

__all__ = ["Install", "Option", "Package", "Requirements", "read_installs"]


@dataclass(frozen=True, eq=False)
class Install(Requirements):
    """One command that installs packages, or removes them.

    Manager is pip, uv, poetry, pipenv, pdm, conda, pixi, apt, yum, apk, zypper or pacman. A package whose `text` is an Unknown may be any
    number of words. `requirement_files` holds the file that a command such as `uv sync` reads without being told, at the command's
    verb. Indexes come from the options and, before them, from the environment.
    """

    command: SimpleCommand = field(kw_only=True)
    removes: bool = False


def read_installs(commands: Iterable[SimpleCommand], environment: Mapping[str, Value]) -> Iterator[Install]:
    """The commands among these that install or remove packages; `environment` is what ENV and ARG set before them."""
    exported = dict(environment)
    for command in commands:
        install = _read_install(command, exported)
        if install is not None:
            yield install
        if command.name in _EXPORTERS:
            exported.update((str(each.name), each.value) for each in command.assignments if each.exported)


_EXPORTERS = ("export", "declare", "typeset")


def _read_install(command: SimpleCommand, environment: Mapping[str, Value]) -> Install | None:
    program, words = _program(command.words)
    roles = option_roles(program)
    if roles is None:
        return None
    arguments = read_arguments(words, roles)
    kind = installer(program, _masked(arguments.operands), _masked(words))
    if kind is None:
        return None
    own = {str(each.name): each.value for each in command.assignments}
    told = (*_from_environment(program, {**environment, **own}, roles, arguments), *arguments.options)
    roles = {**roles, **dict(variables_of(program))}
    operands = arguments.operands[kind.operands :]
    reads_files = kind.reads == "requirement"
    files = (*values_of(told, roles, "requirement"), *(operands if reads_files else ()))
    read = _READERS[kind.reads]
    packages = (*values_of(told, roles, "package"), *(() if reads_files else operands))
    return Install(
        kind.manager,
        tuple(read(word) for word in packages),
        files or (() if packages else _implied(kind, arguments, command.location)),
        values_of(told, roles, "constraint"),
        tuple(map(_address, values_of(told, roles, "index", "extra-index"))),
        command.location,
        tuple(map(_address, values_of(told, roles, "extra-index"))),
        arguments.options,
        command=command,
        removes=kind.removes,
    )


_READERS = {
    "conda": conda_package,
    "poetry": poetry_package,
    "python": python_package,
    "requirement": python_package,
    "system": system_package,
}


def _address(index: Value) -> Value:
    """The address of an index that may be given a name: `cpu=https://...`."""
    named = _NAMED.match(index) if isinstance(index, Text) else None
    return index.cut(named.end(), len(index)) if named is not None and isinstance(index, Text) else index


_NAMED = regex(r"[A-Za-z0-9._-]+=(?=https?://)")


def _masked(words: Sequence[Value]) -> list[str]:
    """The words as plain strings, an unknown one as an empty string, which is no name of anything."""
    return [str(word) if isinstance(word, Text) else "" for word in words]


def _program(words: Sequence[Value]) -> tuple[str, Sequence[Value]]:
    """The installing program's name and its arguments, behind wrappers and behind `python -m`."""
    masked = _masked(words)
    at = program_index(masked)
    if at >= len(words):
        return "", ()
    launch = launched(masked)
    if launch is not None and launch.form == "module":
        at = launch.at
    return program_name(masked[at]), words[at + 1 :]


def _from_environment(program: str, environment: Mapping[str, Value], roles: Mapping[str, str], arguments: Arguments) -> Iterator[Option]:
    """The options that variables stand for. An index given by an option takes the place of the environment's."""
    has_index = bool(values_of(arguments.options, roles, "index"))
    for variable, role in variables_of(program):
        value = environment.get(variable)
        if isinstance(value, Unknown):
            yield Option(variable, value, value.location)
        elif value is not None and not (role == "index" and has_index):
            words = (value.cut(*match.span()) for match in re.finditer(r"\S+", value))
            yield from (Option(variable, word, word.location) for word in words)


def _implied(kind: Installer, arguments: Arguments, command: Location) -> tuple[Text, ...]:
    """The file that the command reads without being told, at the place of its verb."""
    place = arguments.operands[kind.operands - 1].location if kind.operands else command
    return (Text(kind.implies, place, ()),) if kind.implies else ()
