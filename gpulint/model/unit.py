"""Containers that systemd starts: a Quadlet (`*.container`), and a service whose `ExecStart` runs a container engine.

A Quadlet's keys become the options of `podman run` that they stand for (gpulint/facts/docker_cli.json), so that both are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpulint.facts.docker_cli import QuadletKey, flags, quadlet_keys
from gpulint.model.command import CommandLines, RunCommand, read_commands
from gpulint.model.container import Container, Dialect, GpuRequest, RequestState
from gpulint.model.image import parse_image
from gpulint.model.options import Option, OptionReader, UnknownFlagError
from gpulint.model.run_options import RunOptions
from gpulint.parse.shell import Script, SimpleCommand
from gpulint.parse.unit import Setting, unit_value, unit_words
from gpulint.source import Location, Text, Unknown, Value

_STARTS = ("ExecStart", "ExecStartPre", "ExecStartPost")
_PREFIXES = "-@:+!|"
"""What may stand before a command: how systemd runs it, and what it makes of its failure."""
_OTHER_UNITS = (".image", ".build")
_TRUE = frozenset({"1", "yes", "true", "on", "y", "t"})


def read_quadlet(settings: Sequence[Setting]) -> Container | None:
    """The container of a Quadlet; None where the unit has none, or its image is not said."""
    own = [each for each in settings if each.section == "Container"]
    image = next((each for each in reversed(own) if each.key == "Image" and each.value), None)
    if image is None:
        return None
    optional = [each.value.location for each in own if each.key == "AddDevice" and each.value.startswith("-")]
    options = tuple(option for each in own for option in _options(each))
    read = RunOptions(options, "podman")
    reference: Value = unit_value(image.value)
    if isinstance(reference, Text) and reference.endswith(_OTHER_UNITS):
        reference = Unknown(str(reference), reference.location)
    place = image.key.location.to(image.value.location)
    arguments = next((unit_words(each.value) for each in reversed(own) if each.key == "Exec"), None)
    return Container(
        Dialect.QUADLET,
        read.last("name"),
        place,
        image=parse_image(reference),
        entrypoint=read.entrypoint,
        arguments=arguments or None,
        working_directory=read.last("workdir"),
        env=read.env,
        requests=tuple(_softened(each) if _lies_in(each, optional) else each for each in read.requests),
        privileged=read.privileged,
        devices=read.devices,
        mounts=read.mounts,
        shared_memory=read.shared_memory,
        ipc=read.last("ipc"),
        pid=read.last("pid"),
        security_options=read.values("security-opt"),
        user=read.last("user"),
        groups=read.values("group-add"),
        open=frozenset({*read.open, *_opened(own, reference)}),
        command=RunCommand(image.key, place, "quadlet", options),
    )


def _opened(settings: Sequence[Setting], image: Value) -> Iterator[str]:
    if isinstance(image, Unknown):
        yield "image"
    if any(each.key == "ContainersConfModule" for each in settings):
        yield "gpu"


def _lies_in(request: GpuRequest, places: Sequence[Location]) -> bool:
    return any(place.line <= request.location.line <= place.end_line for place in places)


def _softened(request: GpuRequest) -> GpuRequest:
    """A device behind a dash is left out where the machine has none."""
    return replace(request, state=RequestState.OPTIONAL)


def _options(setting: Setting) -> Iterator[Option]:
    """The options of `podman run` that a setting stands for; those of `PodmanArgs` as they are written."""
    if setting.key == "PodmanArgs":
        words = unit_words(setting.value)
        reader = OptionReader(words, [word.location for word in words], 0, flags("podman", "run"))
        try:
            reader.read()
        except UnknownFlagError as unknown:
            yield from (*reader.options, unknown.option)
            return
        yield from reader.options
    form = quadlet_keys().get(str(setting.key))
    if form is None or (form.switch and setting.value.lower() not in _TRUE):
        return
    place = setting.value.location
    for value in _values(setting.value, form):
        yield Option(form.option, value, setting.key, place, attached=False)


def _values(value: Text, form: QuadletKey) -> Iterator[Value]:
    """The values that a setting gives its option. The dash before a device that may be missing is no part of its name."""
    if form.switch or form.prefix:
        yield Text(form.prefix if form.switch else f"{form.prefix}{value}", value.location, ())
    elif form.several:
        yield from unit_words(value)
    elif form.option == "device":
        yield unit_value(value.cut(int(value.startswith("-")), len(value)))
    else:
        yield unit_value(value)


def read_service(settings: Sequence[Setting]) -> CommandLines:
    """What the commands of a service start and build."""
    commands = [_command(each.value) for each in settings if each.section == "Service" and each.key in _STARTS]
    return read_commands(Script(tuple(command for command in commands if command is not None)), "systemd")


def _command(value: Text) -> SimpleCommand | None:
    text = value.cut(len(value) - len(value.lstrip(_PREFIXES)), len(value))
    words = unit_words(text)
    return SimpleCommand(words, text.location, tokens=tuple(word.location for word in words)) if words else None
