"""GPU213: the socket of the container engine is mounted into a GPU container."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_container, is_infrastructure
from gpulint.facts.confinement import engine_of_socket
from gpulint.model.container import Container, Mount
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Text


def check(container: Container, project: Project) -> Iterator[Problem]:
    """One note at the first mount of a socket, or of the folder that it is in."""
    mount = next((each for each in container.mounts if _engine(each)), None)
    if mount is None or is_infrastructure(container) or not is_gpu_container(container, project):
        return
    engine = _engine(mount)
    whose = "the sockets of all engines" if engine == "any" else f"the socket of {engine}"
    message = f"{mount.source} gives this container {whose}: who breaks into it can start any other, and owns the host"
    yield Problem(mount.location, message, Severity.NOTE, help="drop the mount, or give it to a small container that does nothing else")


def _engine(mount: Mount) -> str | None:
    return engine_of_socket(str(mount.source)) if isinstance(mount.source, Text) else None


RULE = Rule("GPU213", "docker-socket-mounted", Container, (Severity.NOTE,), Impact.INSECURE, check)
