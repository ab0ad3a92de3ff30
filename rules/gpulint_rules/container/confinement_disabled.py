"""GPU209: a GPU container is not kept apart from its host."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_container, is_infrastructure
from gpulint.facts.confinement import switched_off
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Text

NAMESPACES = {
    "ipc": "it sees and writes the shared memory of the host's processes; a size for /dev/shm does for most programs",
    "pid": "it sees the host's processes, and may signal those of its own user",
}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A note for each confinement that is switched off, and for each namespace that is the host's."""
    found = tuple(_switched_off(container))
    if found and not is_infrastructure(container) and is_gpu_container(container, project):
        yield from found


def _switched_off(container: Container) -> Iterator[Problem]:
    for option in container.security_options if container.privileged is None else ():
        off = switched_off(option) if isinstance(option, Text) else None
        if off is not None:
            message = f"{off.name} is switched off: {off.means}; a GPU works without"
            yield Problem(option.location, message, Severity.NOTE, help="drop the option, or name a profile of your own")
    for name, namespace in (("ipc", container.ipc), ("pid", container.pid)):
        if isinstance(namespace, Text) and namespace == "host":
            message = f"the host's {name.upper()} namespace is shared: {NAMESPACES[name]}"
            yield Problem(namespace.location, message, Severity.NOTE, help=f"drop the host's {name.upper()} namespace")


RULE = Rule("GPU209", "confinement-disabled", Container, (Severity.NOTE,), Impact.INSECURE, check)
