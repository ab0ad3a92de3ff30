"""Which parts of the NVIDIA driver a container is given, and which it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import gpu_argument, gpu_program
from gpulint.facts.driver_work import is_display_socket, needed_capability
from gpulint.facts.environment import driver_capabilities, known_capabilities
from gpulint.facts.images import Need
from gpulint.model.container import RequestKind
from gpulint.project import Project
from gpulint.project.container_image import facts_of
from gpulint.project.environment import variable
from gpulint.project.processes import commands_of
from gpulint.project.stages import gpu_base
from gpulint.source import Location, Text, Unknown, as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container

_VARIABLE = "NVIDIA_DRIVER_CAPABILITIES"


class Given(NamedTuple):
    """The capabilities that a container has, how that is written, and where; the container's own place where nothing says it."""

    capabilities: frozenset[str]
    shown: str
    location: Location


class Work(NamedTuple):
    """A capability that the container needs, what shows it, as a clause for a message, and where."""

    capability: str
    says: str
    location: Location


def given(container: Container, project: Project) -> Given | None:
    """What the container is given; None where that is not known, or where CDI brings the whole driver."""
    listed = [each for request in container.requests for each in request.capabilities]
    if any(isinstance(each, Unknown) for each in listed) or any(each.kind is RequestKind.CDI for each in container.requests):
        return None
    named = [each for each in listed if isinstance(each, Text) and each in known_capabilities()]
    own = variable(container, project, _VARIABLE)
    if own is not None:
        if not isinstance(own.value, Text):
            return None
        value = ",".join((str(own.value), *named)) if own.value else ",".join(named)
        return Given(driver_capabilities(value), f"{_VARIABLE}={own.value}", own.name.location)
    if named:
        return Given(frozenset(map(str, named)), f"capabilities: [{', '.join(map(str, listed))}]", named[0].location)
    return _of_image(container, project)


def _of_image(container: Container, project: Project) -> Given | None:
    """What the image sets, or the default where it is known to set nothing."""
    facts = facts_of(container, project)
    if facts is None or "env" in container.open or (facts.driver_capabilities is None and facts.sets_visible_devices is not False):
        return None
    value = facts.driver_capabilities
    shown = f"its image sets {_VARIABLE}={value}" if value else f"nothing sets {_VARIABLE}, and the default is compute,utility"
    return Given(driver_capabilities(value), shown, container.location)


def work_of(container: Container, project: Project) -> Iterator[Work]:
    """What the container needs: to encode or decode, to draw, to compute."""
    for command in commands_of(container, project):
        for word in command:
            capability = needed_capability(str(word)) if isinstance(word, Text) else ""
            if capability:
                yield Work(capability, f"its command says {word}", word.location)
    for each in container.env:
        capability = needed_capability(str(each.value)) if isinstance(each.value, Text) else ""
        if capability:
            yield Work(capability, f"its environment says {each.name}={each.value}", each.name.location)
    yield from _drawing(container)
    yield from _computing(container, project)


def _drawing(container: Container) -> Iterator[Work]:
    screen = container.variable("DISPLAY")
    socket = next((each for each in container.mounts if isinstance(each.source, Text) and is_display_socket(str(each.source))), None)
    if screen is not None and socket is not None:
        yield Work("graphics", "it draws on the screen of the host", socket.location)


def _computing(container: Container, project: Project) -> Iterator[Work]:
    """What shows that it computes: its command, its program, or its image. A GPU tool such as nvidia-smi only looks."""
    commands = [[as_written(word) for word in command] for command in commands_of(container, project)]
    if any(map(gpu_program, commands)):
        return
    if any(gpu_argument(command) is not None for command in commands):
        yield Work("compute", "its command uses a GPU", container.location)
    program = project.program_of(container)
    if program is not None and (program.raises_without_cuda or program.prefers_cuda):
        yield Work("compute", f"its program {program.path} uses CUDA", container.location)
    built, facts = project.build_of(container), facts_of(container, project)
    reason = gpu_base(built.stage) if built else None
    if reason is not None:
        yield Work("compute", f"its image {reason.says}", reason.location)
    elif built is None and facts is not None and facts.need is Need.CERTAIN and container.image is not None:
        yield Work("compute", f"its image {container.image.shown} computes on a GPU", container.image.location)
