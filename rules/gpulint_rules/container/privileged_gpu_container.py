"""GPU202: a container that asks for a GPU is privileged."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu, is_for_developers, is_infrastructure
from gpulint.facts.requests import needs_other_devices
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text


def check(container: Container, _project: Project) -> Iterator[Problem]:
    """A problem where privileged stands beside a GPU request and nothing else in the container needs it."""
    if container.privileged is None or not has_gpu(container):
        return
    if is_infrastructure(container) or is_for_developers(container) or _needs_other_devices(container):
        return
    request = container.requests[0]
    message = "privileged on a container that asks for a GPU gives it every GPU and every device of the host, whatever was asked for"
    related = (Related(request.location, "the GPU is asked for here, and that is enough"),)
    yield Problem(container.privileged.location, message, Severity.WARNING, help="drop privileged", related=related)


def _needs_other_devices(container: Container) -> bool:
    """Whether a device or mount shows another reason: graphics nodes, USB, cameras, all of /dev, or an engine of its own."""
    places = [place for mount in (*container.devices, *container.mounts) for place in (mount.source, mount.target)]
    image = container.image.name if container.image else None
    return any(isinstance(place, Text) and needs_other_devices(place) for place in (*places, image))


RULE = Rule("GPU202", "privileged-gpu-container", Container, (Severity.WARNING,), Impact.INSECURE, check)
