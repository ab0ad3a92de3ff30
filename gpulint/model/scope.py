"""Scope: what the instructions of a Dockerfile so far have set, as it stands at the next one."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from copy import copy

from gpulint.deferred import NamedTuple
from gpulint.model.variable import EnvVar
from gpulint.parse.dockerfile import Instruction
from gpulint.parse.expand import expand
from gpulint.source import Location, Text, Unknown, Value

Words = tuple[Value, ...]

_NOT_KNOWN = Unknown("", Location("", 0, 0, 0, 0))
_PLATFORM_PARTS = ("PLATFORM", "OS", "OSVERSION", "ARCH", "VARIANT")
_PREDEFINED = frozenset({"TARGETSTAGE", *(f"{side}{part}" for side in ("TARGET", "BUILD") for part in _PLATFORM_PARTS)})


class Outside(NamedTuple):
    """What a stage takes from outside: the values given to the build, and the ARGs before the first FROM."""

    build_arguments: Mapping[str, Value]
    global_arguments: Mapping[str, EnvVar]

    def expand_from(self, word: Text, escape: str) -> Value:
        """A word of FROM, in which the ARGs before the first FROM count, and nothing else is set but the platform."""
        return expand(word, self._value_in_from, escape)

    def _value_in_from(self, name: str) -> Value | None:
        argument = self.global_arguments.get(name)
        if argument is not None:
            return _NOT_KNOWN if argument.value is None else argument.value
        return _NOT_KNOWN if name in _PREDEFINED else None


def read_global_arguments(instructions: tuple[Instruction, ...], build_arguments: Mapping[str, Value]) -> dict[str, EnvVar]:
    """The ARGs before the first FROM, with the values that the build is given in place of their defaults."""
    arguments: dict[str, EnvVar] = {}
    outside = Outside(build_arguments, arguments)
    for instruction in instructions:
        for name, default in instruction.pairs if instruction.name == "ARG" else ():
            value = build_arguments.get(name)
            if value is None and default is not None:
                value = outside.expand_from(default, instruction.escape)
            earlier = arguments.get(name)
            if value is None and earlier is not None:
                value = earlier.value
            arguments[str(name)] = EnvVar(name, value)
    return arguments


class Scope:
    """The state of one stage on the way through its instructions.

    `variables` holds whatever a `$NAME` may stand for: the ENV and the ARG set so far, an Unknown for an ARG without a value.
    """

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.variables: dict[str, Value] = {}
        self.env: dict[str, EnvVar] = {}
        self.arguments: dict[str, EnvVar] = {}
        self.shell: tuple[Text, ...] | None = None
        self.entrypoint: Words | None = None
        self.command: Words | None = None
        self.working_directory: Value | None = None
        self.user: Value | None = None
        self._sets_command = False

    def child(self) -> Scope:
        """The state in which a stage begins that is built on this one."""
        scope = copy(self)
        scope.variables, scope.env, scope.arguments = dict(self.variables), dict(self.env), dict(self.arguments)
        scope._sets_command = False
        return scope

    def apply(self, instruction: Instruction) -> None:
        """Go past an instruction."""
        change = _CHANGES.get(instruction.name)
        if change is not None:
            change(self, instruction)

    def expand(self, word: Text, instruction: Instruction) -> Value:
        """A word of the instruction. A variable that nothing here sets may be set in the base image, so that it is not known."""
        return expand(word, self._value, instruction.escape)

    def _value(self, name: str) -> Value:
        return self.variables.get(name, _NOT_KNOWN)

    def _set_env(self, instruction: Instruction) -> None:
        """All values of one ENV see the variables from before it."""
        pairs = [(self.expand(name, instruction), value and self.expand(value, instruction)) for name, value in instruction.pairs]
        for name, value in pairs:
            if isinstance(name, Text) and value is not None:
                self.env[str(name)] = EnvVar(name, value)
                self.variables[str(name)] = value

    def _declare_arguments(self, instruction: Instruction) -> None:
        for name, default in instruction.pairs:
            value = self._argument_value(name, default, instruction)
            self.arguments[str(name)] = EnvVar(name, value)
            if value is not None:
                self.variables[str(name)] = value
            else:
                self.variables.setdefault(str(name), Unknown(f"${{{name}}}", name.location))

    def _argument_value(self, name: Text, default: Text | None, instruction: Instruction) -> Value | None:
        if name in self.outside.build_arguments:
            return self.outside.build_arguments[name]
        if default is not None:
            return self.expand(default, instruction)
        argument = self.outside.global_arguments.get(name)
        return argument.value if argument is not None else None

    def _set_shell(self, instruction: Instruction) -> None:
        self.shell = instruction.json or self.shell

    def _set_entrypoint(self, instruction: Instruction) -> None:
        self.entrypoint = self._words(instruction)
        if not self._sets_command:
            self.command = ()

    def _set_command(self, instruction: Instruction) -> None:
        self.command = self._words(instruction)
        self._sets_command = True

    def _words(self, instruction: Instruction) -> Words:
        """The words of the JSON form, or the shell with the shell form as its script."""
        script = instruction.arguments
        if instruction.json is not None or not script:
            return instruction.json or ()
        shell = self.shell or tuple(Text(word, script.location, ()) for word in ("/bin/sh", "-c"))
        return (*shell, script)

    def _set_working_directory(self, instruction: Instruction) -> None:
        self.working_directory = join_path(self.working_directory, self.expand(instruction.arguments, instruction))

    def _set_user(self, instruction: Instruction) -> None:
        self.user = self.expand(instruction.arguments, instruction)


_CHANGES = {
    "ARG": Scope._declare_arguments,
    "CMD": Scope._set_command,
    "ENTRYPOINT": Scope._set_entrypoint,
    "ENV": Scope._set_env,
    "SHELL": Scope._set_shell,
    "USER": Scope._set_user,
    "WORKDIR": Scope._set_working_directory,
}


def join_path(directory: Value | None, path: Value) -> Value:
    """A path from the root: as it is where it is absolute, else in the directory. Unknown where either is; a final `/` is kept."""
    if isinstance(path, Unknown):
        return path
    if path.startswith("/"):
        whole = str(path)
    elif isinstance(directory, Text):
        whole = f"{directory}/{path}"
    else:
        above = directory.raw if isinstance(directory, Unknown) else ""
        return Unknown(f"{above}/{path}".lstrip("/"), path.location)
    normal = posixpath.normpath(whole) + ("/" if path.endswith(("/", "/.")) or path == "." else "")
    return path if normal == path else Text(normal.replace("//", "/"), path.location, ())
