"""What the options of `docker run` say of the container: environment, devices, mounts, shared memory, GPU requests, and what stays open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from gpulint.deferred import regex
from gpulint.facts.docker_cli import gpus_are_ids
from gpulint.model.container import GpuRequest, Mount, SharedMemory
from gpulint.model.gpus_flag import gpus_request, unknown_flag_request
from gpulint.model.options import Option, rest_of
from gpulint.model.requests import device_requests, runtime_request, variable_requests
from gpulint.model.variable import EnvVar
from gpulint.parse.shell import UnknownWord
from gpulint.source import Location, Text, Unknown, Value

_SHM = "/dev/shm"
_FIELD = regex(r"(?<!^[A-Za-z]):")
"""The colon between the fields of a volume or device, not the one behind a Windows drive letter."""
_EXPANSION_OR_COLON = regex(r"\$\{[^}]*\}|\$\((?:[^()]|\([^()]*\))*\)|\{\{(?:(?!\{\{).)*?\}\}|:")
_EXPANSION = regex(r"[$`]|\{\{")


class RunOptions:
    """The options of one command, read as those of that kin of docker."""

    def __init__(self, options: Sequence[Option], kin: str = "docker") -> None:
        self.options = tuple(options)
        self._kin = kin

    def last(self, name: str) -> Value | None:
        """The value of an option: of several the last, as the tools take it."""
        return next((option.value for option in reversed(self.options) if option.name == name), None)

    def values(self, *names: str) -> tuple[Value, ...]:
        return tuple(option.value for option in self.options if option.name in names and option.value is not None)

    @property
    def entrypoint(self) -> tuple[Value, ...] | None:
        """`--entrypoint` is one word; an empty one takes the image's away."""
        value = self.last("entrypoint")
        if value is None:
            return None
        return () if isinstance(value, Text) and not value else (value,)

    @property
    def env(self) -> tuple[EnvVar, ...]:
        return tuple(variable for variable in map(environment_variable, self.values("env")) if variable)

    @property
    def privileged(self) -> Text | None:
        """The flag's word, where it switches the privileges on."""
        option = next((option for option in reversed(self.options) if option.name == "privileged"), None)
        if option is None or not isinstance(option.word, Text):
            return None
        return None if option.value is not None and option.value in ("false", "0", "f", "F", "FALSE", "False") else option.word

    @property
    def devices(self) -> tuple[Mount, ...]:
        return tuple(_device(option, option.value) for option in self.options if option.name == "device" and option.value is not None)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        return tuple(mount for option in self.options if option.value is not None for mount in _mounts(option, option.value))

    @property
    def shared_memory(self) -> SharedMemory | None:
        """What stands at /dev/shm: a mount there, else one of the size that the flag names."""
        size = self.last("shm-size")
        given = SharedMemory(size, True, size.location) if size is not None else None
        return next(chain(self._memory_mounts(), self._shm_volumes()), given)

    @property
    def requests(self) -> tuple[GpuRequest, ...]:
        """Every request, in the order in which they stand."""
        found = chain(self._flag_requests(), device_requests(self.devices), variable_requests(self.env))
        return tuple(sorted(found, key=lambda request: request.location[1:]))

    @property
    def open(self) -> frozenset[str]:
        """What these options leave to a file or to a variable that is not known."""
        return frozenset(self._open_aspects())

    def _flag_requests(self) -> Iterator[GpuRequest]:
        for option in self.options:
            if option.name == "gpus":
                yield gpus_request(option.value, option.location, gpus_are_ids(self._kin))
            elif option.name.lstrip("-").startswith("gpu"):
                yield unknown_flag_request(option.name, option.location)
        runtime = runtime_request(self.last("runtime"))
        if runtime:
            yield runtime

    def _open_aspects(self) -> Iterator[str]:
        if self.values("env-file") or any(option.name == "env-host" for option in self.options):
            yield "env"
        if not all(map(environment_variable, self.values("env"))):
            yield "env"
        if any(isinstance(value, Unknown) for value in self.values("device", "runtime")):
            yield "gpu"
        if any(isinstance(value, Unknown) for value in self.values("ipc", "mount")):
            yield "shm"

    def _memory_mounts(self) -> Iterator[SharedMemory]:
        for option in self.options:
            if option.name == "tmpfs" and isinstance(option.value, Text):
                target, *settings = _split(option.value, re.compile("[:,]"))
                if target == _SHM:
                    yield SharedMemory(_setting(settings, "size"), True, option.location)
            elif option.name == "mount" and isinstance(option.value, Text):
                fields = _split(option.value, re.compile(","))
                if _setting(fields, "type") == "tmpfs" and _target(fields) == _SHM:
                    yield SharedMemory(_setting(fields, "tmpfs-size"), True, option.location)

    def _shm_volumes(self) -> Iterator[SharedMemory]:
        for mount in self.mounts:
            if isinstance(mount.target, Text) and mount.target == _SHM:
                yield SharedMemory(None, isinstance(mount.source, Text) and mount.source == _SHM, mount.location)


def environment_variable(value: Value) -> EnvVar | None:
    """`NAME=value`, or a name alone whose value is the caller's; None where the name is not known."""
    text = value.prefix if isinstance(value, UnknownWord) else value
    if isinstance(text, Unknown) or (text is not value and "=" not in text):
        return None
    name, equals, _ = text.partition("=")
    return EnvVar(text.cut(0, len(name)), rest_of(value, len(name) + 1) if equals else None)


def _device(option: Option, value: Value) -> Mount:
    """A device node `source:target:permissions`, or a CDI name, which may hold colons itself."""
    if not isinstance(value, Text) or not value.startswith("/"):
        return Mount(value, None, option.location)
    source, *rest = _split(value, _FIELD)
    return Mount(source, rest[0] if rest else None, option.location)


def _mounts(option: Option, value: Value) -> Iterator[Mount]:
    if option.name == "volume":
        yield volume(value, option.location)
    elif option.name == "mount" and isinstance(value, Text):
        fields = _split(value, re.compile(","))
        yield Mount(_setting(fields, "source", "src"), _target(fields), option.location)
    elif option.name == "tmpfs" and isinstance(value, Text):
        yield Mount(None, _split(value, re.compile(":"))[0], option.location)


def volume(value: Value, location: Location) -> Mount:
    """A volume in its short form: `source:target:options`, or the target alone."""
    first, *rest = _fields_of_volume(value)
    return Mount(first if rest else None, rest[0] if rest else first, location)


def _fields_of_volume(value: Value) -> Sequence[Value]:
    """Source, target and options of a volume; a field with an unknown part is unknown."""
    if isinstance(value, Text):
        return _split(value, _FIELD)
    colons = [match.start() for match in _EXPANSION_OR_COLON.finditer(value.raw) if match[0] == ":"]
    parts = [value.raw[start:end] for start, end in zip([0, *(at + 1 for at in colons)], [*colons, len(value.raw)], strict=True)]
    return [Unknown(part, value.location) if _EXPANSION.search(part) else Text(part, value.location, ()) for part in parts]


def _target(fields: Sequence[Text]) -> Text | None:
    return _setting(fields, "target", "destination", "dst")


def _setting(fields: Sequence[Text], *names: str) -> Text | None:
    """The value of the first `name=value` among the fields that has one of these names."""
    for field in fields:
        name, equals, _ = field.partition("=")
        if equals and name in names:
            return field.cut(len(name) + 1, len(field))
    return None


def _split(text: Text, separator: re.Pattern[str]) -> list[Text]:
    matches = list(separator.finditer(text))
    starts = [0, *(match.end() for match in matches)]
    ends = [*(match.start() for match in matches), len(text)]
    return [text.cut(start, end) for start, end in zip(starts, ends, strict=True)]
