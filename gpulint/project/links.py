"""The link from a container to its program, and the entry points that come of it."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname
from posixpath import join as join_paths
from typing import TYPE_CHECKING

from gpulint.deferred import dataclass
from gpulint.discover import Kind
from gpulint.model.container import Command, Container
from gpulint.project.builds import Built, container_path
from gpulint.project.entrypoint import effective_words
from gpulint.project.places import Mapped
from gpulint.project.programs import Program
from gpulint.project.relevance import is_aside
from gpulint.project.starts import Start, read_start
from gpulint.project.tree import Tree
from gpulint.source import Location, Text, Value

if TYPE_CHECKING:
    from gpulint.project import Project


@dataclass(frozen=True, eq=False)
class EntryPoint:
    """A program of this repository, or an entry script, and the containers that run it with what each of them starts.

    `program` is None for a script. `containers` is empty for a Python file that starts by itself.
    """

    path: str
    program: Program | None
    containers: tuple[tuple[Container, Start], ...]


def follow_start(container: Container, built: Built | None, tree: Tree) -> Start:
    """What a container starts. Its files are those that its image copies in and its mounts lay over them; where the image is not known
    and no mount has the program, the only file of the root whose path ends so."""
    stage = built.stage if built else None
    command = effective_words(
        container.dialect,
        container.entrypoint,
        container.arguments,
        stage.entrypoint if stage else None,
        stage.command if stage else None,
    )
    own = container.working_directory
    folder = stage.working_directory if own is None and stage else own
    working_directory = str(folder) if isinstance(folder, Text) else ""
    variables = _variables(container, built)
    mapped = _mapping(container, built, tree)
    start = read_start(command, tree, working_directory, mapped, variables)
    if built is None and not start.programs and not start.scripts:
        return read_start(command, tree, working_directory, None, variables)
    return start


def _variables(container: Container, built: Built | None) -> dict[str, Value]:
    env = (*(built.stage.env if built else ()), *container.env)
    return {str(variable.name): variable.value for variable in env if variable.value is not None}


def _mapping(container: Container, built: Built | None, tree: Tree) -> Mapped:
    """Where in the repository a file of the container comes from: a mount of a folder here, else a copy into the image."""
    mounted = sorted(_mounted(container), key=lambda each: -len(each[0]))  # the deepest holds

    def mapped(path: str) -> str | None:
        for target, origins, place in mounted:
            if f"{path}/".startswith(f"{target}/"):
                inner = path[len(target) :].lstrip("/")
                found = _only_of([tree.resolve("", join_paths(origin, inner) if inner else origin) for origin in origins], tree)
                return Text(found, place) if found is not None else None
        return container_path(built, path, tree) if built else None

    return mapped


def _only_of(paths: list[str | None], tree: Tree) -> str | None:
    """The path where there is one; of several the one that is there, None where more are."""
    there = {path for path in paths if path is not None and path in tree} if len(paths) > 1 else set(paths)
    return there.pop() if len(there) == 1 else None


def _mounted(container: Container) -> Iterator[tuple[str, tuple[str, ...], Location]]:
    """The target of each mount of a folder of the repository, which folder that may be, from the root, and the place of the mount."""
    for mount in container.mounts:
        source, target = mount.source, mount.target
        if source is not None and isinstance(target, Text):
            origins = tuple(dict.fromkeys(_origins(container, source, mount.location.path)))
            if origins:
                yield target.rstrip("/"), origins, mount.location


def _origins(container: Container, source: Value, path: str) -> Iterator[str]:
    """What the source of a mount may be. One that begins with a dot is a folder, unlike a volume's name; it counts from the file, or from
    where the command runs."""
    folder = dirname(path)
    if isinstance(source, Text) and not source.startswith("."):
        return
    if container.command is not None:
        yield from _origins_of_command(container.command, source, folder)
    elif isinstance(source, Text):
        yield join_paths(folder, source)


def _origins_of_command(command: Command, source: Value, folder: str) -> Iterator[str]:
    """The same for a command of a file in that folder, which may be started from there or from the root."""
    from gpulint.model.command import RunCommand

    named = command.place.path(source) if isinstance(command, RunCommand) else None
    if named is not None:
        yield from (named.from_root(start, folder) for start in (folder, ""))


def find_entry_points(project: Project) -> Iterator[EntryPoint]:
    """The entry points of all containers, each once, and the Python files that start by themselves where they are asked for."""
    programs: dict[tuple[str, str], list[tuple[Container, Start]]] = {}
    for container in project.containers:
        start = project.start_of(container)
        link = start.program
        if link is not None:
            programs.setdefault((link.path, link.function), []).append((container, start))
        elif start.fallbacks:
            yield EntryPoint(start.fallbacks[0].location.path, None, ((container, start),))
    for (path, _), containers in programs.items():
        program = project.program_of(containers[0][0])
        if program is not None:
            yield EntryPoint(path, program, tuple(containers))
    linked = {path for path, _ in programs}
    for path in _standalone(project):
        program = project.program(path) if path not in linked else None
        if program is not None:
            yield EntryPoint(path, program, ())


def _standalone(project: Project) -> Iterator[str]:
    """The Python files to be judged by themselves: those that were named, and where notes are wanted all that start by themselves and
    are no test, example or benchmark."""
    for path in project.tree.paths(Kind.PYTHON):
        if path in project.named or (project.wants_notes and _is_entry_point(path, project)):
            yield path


def _is_entry_point(path: str, project: Project) -> bool:
    module = project.tree.module(path) if project.relevance.names_gpu(path) and not is_aside(path) else None
    return module is not None and bool(module.starts)
