"""Compose files as they run: which files make one project, `extends`, overrides, env files, and the services that come of it.

Files of one folder are judged as a set. Compose merges an override file by itself; a fragment such as `docker-compose.gpu.yml` is
merged over the service that it completes; and what a sibling says of a service of the same name is open in the others, since only the
command line tells whether the two run together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import dirname, join

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.model.compose import read_container, read_services
from gpulint.model.container import ASPECTS, Container
from gpulint.model.env_file import read_env_file
from gpulint.model.interpolation import Variables
from gpulint.model.service import RawService
from gpulint.model.variable import EnvVar
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import Document
from gpulint.project.tree import Tree
from gpulint.project.variants import supplied_aspects
from gpulint.source import Text, Unknown

_DEFAULT_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDE_FILES = ("compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml")
_MOST_ENV_VARIABLES = 50_000
"""How many variables of env files the services of a run are given: one file may be named by a thousand of them."""

_EXTENDS_LIMIT = 32

Services = dict[str, RawService]


def compose_containers(tree: Tree, paths: Iterable[str] | None = None, together: Iterable[Iterable[str]] = ()) -> tuple[Container, ...]:
    """The containers of the Compose files at `paths`, of all where it is None.

    `together` are lists of files that some command line runs together, in its order. A service gives one container; one that several
    files complete in different ways gives one for each of them, at the same place. A fragment that nothing completes gives one only
    where it asks for a GPU, with every aspect open.
    """
    reader = _Reader(tree)
    files = {path: reader.services(path) for path in (tree.paths(Kind.COMPOSE) if paths is None else paths)}
    included = (tuple(filter(None, each)) for path in files for each in reader.included(path))
    stated = (*included, *(tuple(paths) for paths in together))
    variants = {(variant.files, str(variant.service.key)): variant for variant in _variants(files, stated)}
    neighbours = _Neighbours(files, stated)
    alone = (variant for variant in variants.values() if variant.service.has_image or not reader.is_extended(variant))
    containers = (_container(reader, variant, neighbours) for variant in alone)
    return tuple(container for container in containers if container.image or container.build or container.requests)


class _Variant(NamedTuple):
    """A service as the files that run together make it."""

    files: tuple[str, ...]
    service: RawService


class _Reader:
    """Reads the services of each file once, follows `extends`, and remembers which services are extended."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._extended: set[tuple[str, str]] = set()
        self._raw: dict[tuple[str, str], Services] = {}
        self._variables: dict[str, dict[str, Text]] = {}
        self._env_room = _MOST_ENV_VARIABLES

    def services(self, path: str) -> Services:
        """The services of a file with what they extend, by name; with every aspect open where the file includes one that cannot be read."""
        services = {name: self._extend(path, service, ((path, name),)) for name, service in self._read(path, dirname(path)).items()}
        if None in (included for each in self.included(path) for included in each):
            return {name: replace(service, open=ASPECTS) for name, service in services.items()}
        return services

    def is_extended(self, variant: _Variant) -> bool:
        """Whether another service starts from this one."""
        return any((path, variant.service.key) in self._extended for path in variant.files)

    def included(self, path: str) -> Iterator[tuple[str | None, ...]]:
        """The lists of files that a file includes, each list merged in its order; None for a file that is not there."""
        document = self._document(path)
        root = document.root if document else None
        for item in root.sequence("include") if isinstance(root, Mapping) else ():
            written = item.get("path") if isinstance(item, Mapping) else item
            names = written.items if isinstance(written, Sequence) else (written,)
            resolved = (self.tree.resolve(path, name) if isinstance(name, Text) else None for name in names)
            yield tuple(name if name is not None and name in self.tree else None for name in resolved)

    def _read(self, path: str, folder: str) -> Services:
        """The services of a file, with the variables of the project in `folder`."""
        if (path, folder) not in self._raw:
            document = self._document(path)
            self._raw[path, folder] = read_services(document.root, self._env(folder), document.template) if document else {}
        return self._raw[path, folder]

    def _document(self, path: str) -> Document | None:
        syntax = self.tree.yaml(path)
        return syntax.documents[0] if syntax and syntax.documents else None

    def _env(self, folder: str) -> Variables:
        if folder not in self._variables:
            source = self.tree.source(join(folder, ".env"))
            env = read_env_file(source) if source else ()
            self._variables[folder] = {str(name): value for name, value in env if isinstance(value, Text)}
        return self._variables[folder]

    def _extend(self, path: str, service: RawService, trail: tuple[tuple[str, str], ...]) -> RawService:
        """A service on top of what it extends; with every aspect open where that cannot be read, or leads back to itself."""
        extends = service.node("extends")
        if extends is None:
            return service
        target = self._target(path, service, extends)
        base = self._read(target[0], dirname(trail[0][0])).get(target[1]) if target else None
        if target is None or base is None or target in trail or len(trail) > _EXTENDS_LIMIT:
            return replace(service, open=ASPECTS)
        self._extended.add(target)
        return service.extending(self._extend(target[0], base, (*trail, target)))

    def _target(self, path: str, service: RawService, extends: Node) -> tuple[str, str] | None:
        """File and name of the service that is extended."""
        if not isinstance(extends, Mapping):
            name, file = service.value("extends"), None
        else:
            name, file = service.value("extends", "service"), service.value("extends", "file")
        resolved = path if file is None else self.tree.resolve(path, file) if isinstance(file, Text) else None
        return (resolved, str(name)) if resolved is not None and isinstance(name, Text) else None

    def env_files(self, service: RawService) -> tuple[EnvVar, ...] | None:
        """The variables of a service's env files in their order; None where one cannot be read."""
        found: list[EnvVar] = []
        for item in service.items("env_file"):
            name = service.read(item).value() if isinstance(item, (Scalar, Unknown)) else None
            if isinstance(item, Mapping):
                name = RawService(service.key, (item,), service.variables).value("path")
            path = self.tree.resolve(item.location.path, name) if isinstance(name, Text) else None
            source = self.tree.source(path) if path else None
            if source is None or self._env_room <= 0:
                return None
            found += read_env_file(source)
            self._env_room -= len(found)
        return tuple(found)


def _variants(files: dict[str, Services], stated: Iterable[tuple[str, ...]]) -> Iterator[_Variant]:
    """Every service in every way that its files complete it."""
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(dirname(path), []).append(path)
    for folder, paths in folders.items():
        defaults = _default_files(folder, files)
        project = _merged(defaults, files)
        yield from project.values()
        for path in paths:
            if path not in defaults:
                siblings = tuple(other for other in paths if other != path and other not in defaults)
                for name, service in files[path].items():
                    own = _Variant((path,), service)
                    whole = _beside(own, project.get(name) or _only(name, siblings, files))
                    if whole is own or service.has_image or _says_something(service):
                        yield whole
    for paths_together in stated:
        yield from (variant for variant in _merged(paths_together, files).values() if len(variant.files) > 1)


def _default_files(folder: str, files: dict[str, Services]) -> tuple[str, ...]:
    """The files that Compose reads in a folder when it is told none."""
    base = next((join(folder, name) for name in _DEFAULT_FILES if join(folder, name) in files), None)
    override = next((join(folder, name) for name in _OVERRIDE_FILES if join(folder, name) in files), None)
    return (base, *((override,) if override else ())) if base else ()


def _merged(paths: Iterable[str], files: dict[str, Services]) -> dict[str, _Variant]:
    """The services of files that run together, each with the files that name it."""
    merged: dict[str, _Variant] = {}
    for path in paths:
        for name, service in files.get(path, {}).items():
            base = merged.get(name)
            merged[name] = _Variant((*base.files, path), service.overriding(base.service)) if base else _Variant((path,), service)
    return merged


def _only(name: str, paths: Iterable[str], files: dict[str, Services]) -> _Variant | None:
    """The one service of that name in these files that has an image; None where there are none or several."""
    found = [_Variant((path,), files[path][name]) for path in paths if name in files[path] and files[path][name].has_image]
    return found[0] if len(found) == 1 else None


def _beside(own: _Variant, other: _Variant | None) -> _Variant:
    """A service of a file that is not read by default. It stands alone where it has an image; a fragment is merged with its other half."""
    if other is None or own.service.has_image == other.service.has_image:
        return own
    return _Variant((*other.files, *own.files), own.service.overriding(other.service))


def _says_something(service: RawService) -> bool:
    """Whether a fragment adds what any rule looks at, beyond ports, volumes and the like."""
    container = read_container(service)
    return bool(supplied_aspects(container)) or container.privileged is not None


class _Neighbours:
    """What else may be said of a service: by files of the same folder, and by those that a command line or `include` puts together."""

    def __init__(self, files: dict[str, Services], stated: Iterable[tuple[str, ...]]) -> None:
        self._files = files
        self._sets = [frozenset(paths) for paths in stated]
        self._aspects: dict[tuple[str, str], frozenset[str]] = {}
        self._folders: dict[str, list[str]] = {}
        for path in files:
            self._folders.setdefault(dirname(path), []).append(path)

    def supplied(self, variant: _Variant) -> frozenset[str]:
        """The aspects that a file outside the variant supplies for the service of its name."""
        paths = {other for path in variant.files for other in self._folders.get(dirname(path), ())}
        paths.update(*(paths_together for paths_together in self._sets if not paths_together.isdisjoint(variant.files)))
        name = str(variant.service.key)
        return frozenset(aspect for path in paths.difference(variant.files) for aspect in self._by(path, name))

    def _by(self, path: str, name: str) -> frozenset[str]:
        """The aspects that a file supplies for the service of a name."""
        if (path, name) not in self._aspects:
            service = self._files.get(path, {}).get(name)
            self._aspects[path, name] = supplied_aspects(read_container(service)) if service else frozenset()
        return self._aspects[path, name]


def _container(reader: _Reader, variant: _Variant, neighbours: _Neighbours) -> Container:
    service = variant.service
    env = reader.env_files(service)
    container = read_container(service, env or ())
    if not service.has_image:
        return replace(container, open=ASPECTS)
    unread = frozenset({"env"}) if env is None else frozenset[str]()
    return replace(container, open=container.open | neighbours.supplied(variant) | unread)
