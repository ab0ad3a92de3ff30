"""Compose files as they run: which files make one project, `extends`, overrides, env files, and the services that come of it.

Files of one folder are judged as a set. Compose merges an override file by itself; a fragment such as `docker-compose.gpu.yml` is
merged over the service that it completes; and what a sibling says of a service of the same name is open in the others, since only the
command line tells whether the two run together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import dirname, join

from gpulint.discover import Kind
from gpulint.model.compose import read_container
from gpulint.model.container import ASPECTS, Container
from gpulint.model.service import RawService
from gpulint.project.compose_reader import ComposeReader, Merged, Services
from gpulint.project.tree import Tree
from gpulint.project.variants import supplied_aspects

_DEFAULT_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDE_FILES = ("compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml")


def compose_containers(tree: Tree, paths: Iterable[str] | None = None, together: Iterable[Iterable[str]] = ()) -> tuple[Container, ...]:
    """The containers of the Compose files at `paths`, of all where it is None.

    `together` are lists of files that some command line runs together, in its order. A service gives one container; one that several
    files complete in different ways gives one for each of them, at the same place. A fragment that nothing completes gives one only
    where it asks for a GPU, with every aspect open.
    """
    reader = ComposeReader(tree)
    files = {path: reader.services(path) for path in (tree.paths(Kind.COMPOSE) if paths is None else paths)}
    stated = tuple(tuple(paths) for paths in together)
    variants: dict[tuple[tuple[str, ...], str], Merged] = {}
    for variant in _variants(reader, files, stated):
        key = (variant.files, str(variant.service.key))
        if key not in variants or len(variants[key].run) < len(variant.run):  # a file that another includes is a part of that project
            variants[key] = variant
    neighbours = _Neighbours(files, {*stated, *(variant.run for variant in variants.values())})
    alone = (variant for variant in variants.values() if variant.service.has_image or not reader.is_extended(variant))
    containers = (_container(reader, variant, neighbours) for variant in alone)
    return tuple(container for container in containers if container.image or container.build or container.requests)


def _variants(reader: ComposeReader, files: dict[str, Services], stated: Iterable[tuple[str, ...]]) -> Iterator[Merged]:
    """Every service in every way that its files complete it."""
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(dirname(path), []).append(path)
    for folder, paths in folders.items():
        defaults = reader.named_by_env(folder) or _default_files(folder, files)
        project = reader.merged(defaults)
        yield from project.values()
        for path in paths:
            if path not in defaults:
                siblings = tuple(other for other in paths if other != path and other not in defaults)
                for name, own in reader.merged((path,)).items():
                    whole = _beside(own, project.get(name) or _only(name, siblings, files))
                    if whole is own or own.service.has_image or _says_something(own.service):
                        yield whole
    for paths_together in stated:
        yield from (variant for variant in reader.merged(paths_together).values() if len(variant.files) > 1)


def _default_files(folder: str, files: dict[str, Services]) -> tuple[str, ...]:
    """The files that Compose reads in a folder when it is told none."""
    base = next((join(folder, name) for name in _DEFAULT_FILES if join(folder, name) in files), None)
    override = next((join(folder, name) for name in _OVERRIDE_FILES if join(folder, name) in files), None)
    return (base, *((override,) if override else ())) if base else ()


def _only(name: str, paths: Iterable[str], files: dict[str, Services]) -> Merged | None:
    """The one service of that name in these files that has an image; None where there are none or several."""
    found = [Merged((path,), files[path][name], (path,)) for path in paths if name in files[path] and files[path][name].has_image]
    return found[0] if len(found) == 1 else None


def _beside(own: Merged, other: Merged | None) -> Merged:
    """A service of a file that is not read by default. It stands alone where it has an image; a fragment is merged with its other half."""
    if other is None or own.service.has_image == other.service.has_image:
        return own
    return Merged((*other.files, *own.files), own.service.overriding(other.service), (*other.run, *own.run))


def _says_something(service: RawService) -> bool:
    """Whether a fragment adds what any rule looks at, beyond ports, volumes and the like."""
    container = read_container(service)
    return bool(supplied_aspects(container)) or container.privileged is not None


class _Neighbours:
    """What else may be said of a service: by files of the same folder, and by those that run with it."""

    def __init__(self, files: dict[str, Services], runs: Iterable[tuple[str, ...]]) -> None:
        self._files = files
        self._runs: dict[str, list[tuple[str, ...]]] = {}
        for run in runs:
            for path in run if len(run) > 1 else ():
                self._runs.setdefault(path, []).append(run)
        self._aspects: dict[tuple[str, str], frozenset[str]] = {}
        self._folders: dict[str, list[str]] = {}
        for path in files:
            self._folders.setdefault(dirname(path), []).append(path)

    def supplied(self, variant: Merged) -> frozenset[str]:
        """The aspects that a file outside the variant supplies for the service of its name."""
        paths = {other for path in variant.files for other in self._folders.get(dirname(path), ())}
        paths.update(other for path in variant.files for run in self._runs.get(path, ()) for other in run)
        name = str(variant.service.key)
        return frozenset(aspect for path in paths.difference(variant.files) for aspect in self._by(path, name))

    def _by(self, path: str, name: str) -> frozenset[str]:
        """The aspects that a file supplies for the service of a name."""
        if (path, name) not in self._aspects:
            service = self._files.get(path, {}).get(name)
            self._aspects[path, name] = supplied_aspects(read_container(service)) if service else frozenset()
        return self._aspects[path, name]


def _container(reader: ComposeReader, variant: Merged, neighbours: _Neighbours) -> Container:
    service = variant.service
    env = reader.env_files(service)
    container = read_container(service, env or ())
    if container.service is not None:
        container = replace(container, service=replace(container.service, run=variant.run))
    if not service.has_image:
        return replace(container, open=ASPECTS)
    unread = frozenset({"env"}) if env is None else frozenset[str]()
    return replace(container, open=container.open | neighbours.supplied(variant) | unread)
