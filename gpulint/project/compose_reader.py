"""Reads Compose files into services, with what they extend and include, the way Compose does before it starts anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import dirname, join

from gpulint.deferred import NamedTuple
from gpulint.model.compose import read_services
from gpulint.model.container import ASPECTS
from gpulint.model.env_file import read_env_file
from gpulint.model.interpolation import Variables
from gpulint.model.service import RawService
from gpulint.model.variable import EnvVar
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import Document
from gpulint.project.tree import Tree
from gpulint.source import Text, Unknown

_MOST_ENV_VARIABLES = 50_000
"""How many variables of env files the services of a run are given: one file may be named by a thousand of them."""

_EXTENDS_LIMIT = 32
_INCLUDE_LIMIT = 8
_MOST_INCLUDED = 50_000
"""How many services `include` brings into other projects in a run: one file may be included by a thousand, and they by one another."""

Services = dict[str, RawService]
EnvFiles = tuple[str, ...]
"""The files that the variables of a project come from; of two that set the same the first counts."""


class Merged(NamedTuple):
    """A service as the files that run together make it: `files` are those that name it, `run` all that run with it."""

    files: tuple[str, ...]
    service: RawService
    run: tuple[str, ...] = ()


class _Include(NamedTuple):
    """An item of `include`: files that are merged in their order (None for one that cannot be read), and where their variables are."""

    files: tuple[str | None, ...]
    env_files: EnvFiles


class ComposeReader:
    """Reads the services of each file once, follows `extends` and `include`, and remembers which services are extended."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._extended: set[tuple[str, str]] = set()
        self._raw: dict[tuple[str, EnvFiles], Services] = {}
        self._services: dict[tuple[str, EnvFiles], Services] = {}
        self._variables: dict[EnvFiles, dict[str, Text]] = {}
        self._projects: dict[tuple[tuple[str, ...], EnvFiles], dict[str, Merged]] = {}
        self._env_room = _MOST_ENV_VARIABLES
        self._included_room = _MOST_INCLUDED

    # --- One file ---------------------------------------------------------------------------------------------------------------

    def services(self, path: str, env_files: EnvFiles | None = None) -> Services:
        """The services of a file with what they extend, by name; with every aspect open where the file includes one that cannot be read."""
        key = (path, own_env_files(path) if env_files is None else env_files)
        if key not in self._services:
            services = {name: self._extend(service, key[1], ((path, name),)) for name, service in self._read(*key).items()}
            if any(None in include.files for include in self._includes(path)):
                services = {name: replace(service, open=ASPECTS) for name, service in services.items()}
            self._services[key] = services
        return self._services[key]

    def is_extended(self, merged: Merged) -> bool:
        """Whether another service starts from this one."""
        return any((path, merged.service.key) in self._extended for path in merged.files)

    def _read(self, path: str, env_files: EnvFiles) -> Services:
        """The services of a file; of several documents each is put over those before it, as another file is."""
        if (path, env_files) not in self._raw:
            services: Services = {}
            for document in self._documents(path):
                for name, service in read_services(document.root, self._env(env_files), document.template).items():
                    services[name] = service.overriding(services[name]) if name in services else service
            self._raw[path, env_files] = services
        return self._raw[path, env_files]

    def _documents(self, path: str) -> tuple[Document, ...]:
        syntax = self.tree.yaml(path)
        return syntax.documents if syntax else ()

    def _extend(self, service: RawService, env_files: EnvFiles, trail: tuple[tuple[str, str], ...]) -> RawService:
        """A service on top of what it extends; with every aspect open where that cannot be read, or leads back to itself."""
        extends = service.node("extends")
        if extends is None:
            return service
        target = self._target(trail[-1][0], service, extends)
        base = self._read(target[0], env_files).get(target[1]) if target else None
        if target is None or base is None or target in trail or len(trail) > _EXTENDS_LIMIT:
            return replace(service, open=ASPECTS)
        self._extended.add(target)
        return service.extending(self._extend(base, env_files, (*trail, target)))

    def _target(self, path: str, service: RawService, extends: Node) -> tuple[str, str] | None:
        """File and name of the service that is extended."""
        if not isinstance(extends, Mapping):
            name, file = service.value("extends"), None
        else:
            name, file = service.value("extends", "service"), service.value("extends", "file")
        resolved = path if file is None else self.tree.resolve(path, file) if isinstance(file, Text) else None
        return (resolved, str(name)) if resolved is not None and isinstance(name, Text) else None

    # --- Files together ---------------------------------------------------------------------------------------------------------

    def merged(self, paths: tuple[str, ...], env_files: EnvFiles | None = None, depth: int = 0) -> dict[str, Merged]:
        """The services of files that run together, with those that they include: each file over those before it and over what it
        includes itself."""
        env_files = own_env_files(paths[0]) if env_files is None and paths else env_files or ()
        if (paths, env_files) not in self._projects:
            self._projects[paths, env_files] = {}  # what includes itself gets nothing of itself
            self._projects[paths, env_files] = self._merge(paths, env_files, depth)
        return self._projects[paths, env_files]

    def _merge(self, paths: tuple[str, ...], env_files: EnvFiles, depth: int) -> dict[str, Merged]:
        merged: dict[str, Merged] = {}
        for path in paths:
            layer: dict[str, Merged] = {}
            for include in self._includes(path):
                if depth < _INCLUDE_LIMIT and self._included_room > 0:
                    files, known = tuple(filter(None, include.files)), tuple(dict.fromkeys((*env_files, *include.env_files)))
                    included = self.merged(files, known, depth + 1)
                    self._included_room -= 1 + len(included)
                    layer.update(included)
            _put_over(layer, {name: Merged((path,), service) for name, service in self.services(path, env_files).items()})
            _put_over(merged, layer)
        run = tuple(dict.fromkeys((*paths, *(path for each in merged.values() for path in each.files))))
        return {name: each._replace(run=run) for name, each in merged.items()}

    def included(self, path: str) -> Iterator[str]:
        """The files that a file includes itself."""
        return (name for include in self._includes(path) for name in include.files if name is not None)

    def _includes(self, path: str) -> Iterator[_Include]:
        for document in self._documents(path):
            for item in document.root.sequence("include") if isinstance(document.root, Mapping) else ():
                files = tuple(self._found(path, name) for name in _texts(item.get("path") if isinstance(item, Mapping) else item))
                yield _Include(files, tuple(self._include_env_files(path, item, files)))

    def _found(self, path: str, name: Text | None) -> str | None:
        resolved = self.tree.resolve(path, name) if name is not None else None
        return resolved if resolved is not None and resolved in self.tree else None

    def _include_env_files(self, path: str, item: Node, files: tuple[str | None, ...]) -> Iterator[str]:
        """The env files of what is included: those that it is given, of which the last counts most, else the one of its folder."""
        given = item.get("env_file") if isinstance(item, Mapping) else None
        folder = item.get("project_directory") if isinstance(item, Mapping) else None
        if given is not None:
            yield from filter(None, (self._found(path, name) for name in reversed(_texts(given))))
        elif isinstance(folder, Scalar):
            yield join(dirname(path), folder, ".env")
        elif files and files[0] is not None:
            yield from own_env_files(files[0])

    # --- Variables --------------------------------------------------------------------------------------------------------------

    def _env(self, env_files: EnvFiles) -> Variables:
        if env_files not in self._variables:
            self._variables[env_files] = {name: value for path in reversed(env_files) for name, value in self._known(path)}
        return self._variables[env_files]

    def _known(self, path: str) -> Iterator[tuple[str, Text]]:
        """The variables of an env file whose values are known."""
        resolved = self.tree.resolve("", path)
        source = self.tree.source(resolved) if resolved else None
        return ((str(name), value) for name, value in (read_env_file(source) if source else ()) if isinstance(value, Text))

    def named_by_env(self, folder: str) -> tuple[str, ...]:
        """The files that COMPOSE_FILE in a folder's `.env` names; none where one of them is not there."""
        variables = self._env(own_env_files(join(folder, "compose.yaml")))
        separator = str(variables.get("COMPOSE_PATH_SEPARATOR") or ":")
        names = [name for name in str(variables.get("COMPOSE_FILE", "")).split(separator) if name]
        paths = [self.tree.resolve("", join(folder, name)) for name in names]
        return tuple(path for path in paths if path) if all(path is not None and path in self.tree for path in paths) else ()

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


def own_env_files(path: str) -> EnvFiles:
    """Where the variables of a project are whose first file stands there."""
    return (join(dirname(path), ".env"),)


def _put_over(merged: dict[str, Merged], layer: dict[str, Merged]) -> None:
    """Put the services of a layer over those of the same names."""
    for name, upper in layer.items():
        base = merged.get(name)
        merged[name] = Merged((*base.files, *upper.files), upper.service.overriding(base.service)) if base else upper


def _texts(node: Node | None) -> list[Text | None]:
    """A scalar, or those of a list; None for what is none."""
    nodes: Iterable[Node | None] = node.items if isinstance(node, Sequence) else (node,)
    return [each if isinstance(each, Text) else None for each in nodes]
