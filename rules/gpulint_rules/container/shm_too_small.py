"""GPU208: the processes of a GPU container share memory, and /dev/shm is too small for it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_container, is_infrastructure
from gpulint.model.container import Container, Dialect, Role
from gpulint.model.grant import granted
from gpulint.model.quantity import byte_size, parse_natural
from gpulint.project import Project
from gpulint.project.processes import sharing
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location, Text, known

MEBIBYTE = 1024**2
TINY = 256 * MEBIBYTE
WAYS = {
    Dialect.COMPOSE: "set shm_size: 8gb, or ipc: host",
    Dialect.RUN: "add --shm-size=8g, or --ipc=host",
    Dialect.QUADLET: "add ShmSize=8g",
    Dialect.LIBRARY: 'pass shm_size="8g", or ipc_mode="host"',
    Dialect.CI: "add --shm-size=8g to the options of the container",
    Dialect.DEVCONTAINER: 'add "--shm-size=8g" to runArgs',
    Dialect.KUBERNETES: "mount an emptyDir with medium: Memory and a sizeLimit at /dev/shm",
    Dialect.TASK: "set linuxParameters.sharedMemorySize, in MiB",
}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem with the size that is given or left at its default, as grave as what shows that memory is shared."""
    if is_infrastructure(container) or container.role is Role.LAUNCHER or container.is_init or not is_gpu_container(container, project):
        return
    yield from _without_unit(container) or _too_small(container, project)


def _without_unit(container: Container) -> list[Problem]:
    given = container.shared_memory
    size = given.size if given is not None else None
    number = parse_natural(size) if isinstance(size, Text) else None
    if not isinstance(size, Text) or number is None or not 0 < number < MEBIBYTE:
        return []
    message = f"a size of {size} without a unit is {size} bytes: nothing fits into /dev/shm"
    return [Problem(size.location, message, Severity.ERROR, help=f"write {size}g")]


def _too_small(container: Container, project: Project) -> Iterator[Problem]:
    found = _shortcoming(container)
    if found is None:
        return
    sign, count = sharing(container, project), granted(container)
    says, location = found
    if sign:
        related = (Related(sign.location, f"{sign.says}, and so shares memory"),)
        yield Problem(location, f"{sign.says}, and {says}", Severity.WARNING, help=WAYS[container.dialect], related=related)
    elif count is not None and count > 1:
        yield Problem(location, f"it is given {count} GPUs, and {says}", Severity.NOTE, help=WAYS[container.dialect])


def _shortcoming(container: Container) -> tuple[str, Location] | None:
    """What is wrong with its /dev/shm as the end of a sentence, and where; None where nothing is, or another file may give it more."""
    fails = "processes that share memory fail there with a bus error, or hang"
    ipc = known(container.ipc)
    if ipc is not None and (ipc == "host" or ":" in ipc):
        return None
    given = container.shared_memory
    if given is None:
        return None if "shm" in container.open else (f"/dev/shm has its default 64 MiB: {fails}", container.location)
    if not given.in_memory:
        return "/dev/shm stands on disk: what the processes share goes through it", given.location
    size = byte_size(str(given.size)) if isinstance(given.size, Text) else None
    return (f"/dev/shm has {given.size}: {fails}", given.location) if size is not None and size < TINY else None


RULE = Rule("GPU208", "shm-too-small", Container, (Severity.ERROR, Severity.WARNING, Severity.NOTE), Impact.FAILS_TO_START, check)
