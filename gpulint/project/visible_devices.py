"""CUDA_VISIBLE_DEVICES and its kin: where a container gets the variable from, and what the value leaves of the GPUs it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.model.container import RequestKind
from gpulint.parse.quantity import parse_natural
from gpulint.project import Project
from gpulint.project.environment import entry_scripts, variable
from gpulint.source import Location, Text, Unknown, as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container, GpuRequest
    from gpulint.model.variable import EnvVar
    from gpulint.parse.shell import Script

_DEVICE = regex(r"\d+|(GPU|MIG)-\S+")
_HIDES_ON_PURPOSE = ("", "-1", "NoDevFiles")
_VARIABLE = regex(r"\$\{?(\w+)")
_HANDED_IN = regex(r"""\w+["']?\s*[=:]\s*["']*\$\{?(?P<name>\w+)""")
CUDA = "CUDA_VISIBLE_DEVICES"
_CHOSEN_BY = "NVIDIA_VISIBLE_DEVICES"


class Assigned(NamedTuple):
    """A value of the variable, by the environment or an entry script; None where it is not known. `derived` says that a script makes it of
    NVIDIA_VISIBLE_DEVICES."""

    value: Text | None
    location: Location
    derived: bool = False


class Hiding(NamedTuple):
    """What a value hides, as the end of a sentence; `on_purpose` where it is the usual way to say that no GPU is wanted."""

    says: str
    hides_all: bool
    on_purpose: bool = False


class Reused(NamedTuple):
    """A variable of the caller that picks the GPUs and is handed in as well."""

    name: str
    location: Location


def hiding(value: Text, count: int | None) -> Hiding | None:
    """What a value of CUDA_VISIBLE_DEVICES hides of the `count` GPUs of a container (None where that is not known); None for nothing.

    The first entry that is no GPU ends the list.
    """
    if value.strip() in _HIDES_ON_PURPOSE:
        return Hiding("hides every GPU from the program", True, on_purpose=True)
    entries = [entry.strip() for entry in value.split(",")]
    for index, entry in enumerate(entries):
        seen = "no GPU" if index == 0 else f"only {_numbered(index, 'GPU')}"
        if not _DEVICE.fullmatch(entry):
            return Hiding(f"names no device by {entry!r}: the program sees {seen}", index == 0) if entry != "-1" else None
        number = parse_natural(entry)
        if number is not None and count is not None and number >= count:
            given = f"the container is given {_numbered(count, 'GPU')}, counted from 0"
            return Hiding(f"names index {entry}, and {given}: the program sees {seen}", index == 0)
    return None


def _numbered(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def settings(container: Container, project: Project, name: str) -> Iterator[Assigned]:
    """The values that the variable has for the program: those that an entry script gives it, else the environment's."""
    scripts = [found for script in entry_scripts(container, project) for found in _assigned(script, name)]
    if scripts:
        yield from scripts
    elif not any(f"{name}=" in as_written(word) for word in (*(container.entrypoint or ()), *(container.arguments or ()))):
        found = variable(container, project, name)
        if found is not None and isinstance(found.value, Text):
            yield Assigned(found.value, found.name.location)


def _assigned(script: Script, name: str) -> Iterator[Assigned]:
    """The exports of a script: known only where it certainly comes there."""
    tainted = {_CHOSEN_BY}
    for command in script.commands:
        certain = command.operator not in ("&&", "||") and all(block in ("script", "group") for block in command.block)
        for assigned, value, _ in command.assignments:
            derived = isinstance(value, Unknown) and not tainted.isdisjoint(_VARIABLE.findall(value.raw))
            if derived:
                tainted.add(str(assigned))
            if assigned == name:
                yield Assigned(value if isinstance(value, Text) and certain else None, assigned.location, derived)


def reused_selection(container: Container, project: Project) -> Reused | None:
    """The variable of the caller that picks the container's GPUs and is also its CUDA_VISIBLE_DEVICES."""
    own = container.variable(CUDA)
    if own is None:
        return None
    name = _handed_in(own, project)
    chosen = {each for request in container.requests for each in _chosen_by(request, container, project)}
    return Reused(name, own.name.location) if name in chosen else None


def _handed_in(own: EnvVar, project: Project) -> str:
    """The caller's variable that gives the container's one its value: that of the same name where none is written."""
    if own.value is None:
        return str(own.name)
    match = _HANDED_IN.match(_written(own.name.location, project, to_end_of_line=True))
    return match["name"] if match else ""


def _chosen_by(request: GpuRequest, container: Container, project: Project) -> list[str]:
    """The caller's variables by which a request names its devices."""
    by_variable = request.kind is RequestKind.VISIBLE_DEVICES or (request.kind is RequestKind.GPUS and container.command is not None)
    return _VARIABLE.findall(_written(request.location, project)) if request.ids or by_variable else []


def _written(location: Location, project: Project, to_end_of_line: bool = False) -> str:
    source = project.tree.source(location.path)
    if source is None:
        return ""
    return source.line(location.line)[location.column - 1 :] if to_end_of_line else source.written(location)
