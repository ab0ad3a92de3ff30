"""Kustomize: which objects each kustomization builds, of its own and of those that it includes. Kustomizations of Flux are among them.

Remote bases and paths out of the root are not followed: of what they hold nothing is known, and a component among them may change
everything. What generators and charts bring is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from gpulint.discover import Kind
from gpulint.model.container import ASPECTS
from gpulint.model.workload import objects
from gpulint.project.config_maps import with_environment, with_generated
from gpulint.project.flux import flux_kustomizations
from gpulint.project.kustomization import Kustomization, file_in, read_kustomization
from gpulint.project.transform import Resource, read_resource, transformed
from gpulint.project.tree import Tree

_NESTING_LIMIT = 64
"""Kustomizations within kustomizations: far above any real nesting, and a bound for recursion."""
_MOST_RESOURCES = 50_000
"""Resources in all, counted at each kustomization that they pass through: overlays that include two of a kind double them."""
_MOST_CHANGES = 100_000
"""Changes of kustomizations in all, counted for each resource that they are tried on: hundreds of overlays of twenty resources."""


class Kustomizations:
    """All kustomizations of a tree. `matters` tells which files are worth reading; where a patch matters, so do the resources below it."""

    def __init__(self, tree: Tree, matters: Callable[[str], bool]) -> None:
        self._tree = tree
        self._matters = matters
        self._all = {path: read_kustomization(tree, path) for path in tree.paths(Kind.KUSTOMIZATION)}
        self._all.update(flux_kustomizations(tree))
        self._built: dict[str, tuple[Resource, ...]] = {}
        self._reached: set[str] = set()
        self._resources_left = _MOST_RESOURCES
        self._changes_left = _MOST_CHANGES

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that some kustomization names as a resource, as a patch or as data: none of them is applied as it stands."""
        every = self._all.values()
        return frozenset(path for each in every for paths in (each.resources, each.patch_files, each.data_files) for path in paths)

    def built(self) -> Iterator[tuple[Kustomization, tuple[Resource, ...]]]:
        """Each kustomization that no other includes with what it builds, and those that stand in cycles and unused components."""
        included = {inner for each in self._all.values() for inner in self._included(each)}
        for path in sorted(self._all, key=lambda path: (path in included, path)):
            if path not in self._reached:
                found = self._build(path, ())
                is_part = path in included or self._all[path].is_component
                found = with_environment(found)
                yield self._all[path], tuple(replace(each, open=ASPECTS) for each in found) if is_part else found

    def built_by(self, path: str) -> tuple[Resource, ...]:
        """What the kustomization in a file builds, whether others include it or not."""
        return self._build(path, ())

    def _build(self, path: str, trail: tuple[str, ...]) -> tuple[Resource, ...]:
        """What a kustomization builds; `trail` are those that include it."""
        if path in trail or len(trail) > _NESTING_LIMIT:
            return ()
        if path not in self._built:
            self._built[path] = self._on_top(path, (), trail)
        return self._built[path]

    def _on_top(self, path: str, given: tuple[Resource, ...], trail: tuple[str, ...]) -> tuple[Resource, ...]:
        """What a kustomization or component makes of the resources given and its own."""
        self._reached.add(path)
        inside = (*trail, path)
        resources = tuple(dict.fromkeys((*given, *self._own(path, inside))))
        resources = with_generated(resources, self._all[path], self._tree)
        self._resources_left -= 1 + len(resources)
        if self._resources_left < 0:
            return ()
        for folder in self._all[path].components:
            component = self._in_folder(folder)
            if component is None:
                resources = tuple(replace(each, open=ASPECTS) for each in resources)
            elif component not in inside and len(inside) <= _NESTING_LIMIT:
                resources = self._on_top(component, resources, inside)
        if self._all[path].changes_nothing:
            return resources
        self._changes_left -= len(resources) * self._all[path].changes
        if self._changes_left < 0:
            return tuple(replace(each, open=ASPECTS) for each in resources)
        changed = (transformed(each, self._all[path]) for each in resources)
        return tuple(each for each in changed if each is not None)

    def _own(self, path: str, inside: tuple[str, ...]) -> Iterator[Resource]:
        """The resources that a kustomization names, those of what it includes among them."""
        for resource in self._all[path].resources:
            inner = self._in_folder(resource)
            yield from self._read(path, resource) if inner is None else self._build(inner, inside)

    def _in_folder(self, folder: str | None) -> str | None:
        """The kustomization in a folder."""
        found = None if folder is None else file_in(folder, self._tree) or f"{folder}/"
        return found if found in self._all else None

    def _read(self, path: str, resource: str) -> Iterator[Resource]:
        """The objects of a resource file of a kustomization."""
        syntax = self._tree.yaml(resource) if path in self._touched or self._matters(resource) else None
        for document in syntax.documents if syntax else ():
            yield from (read_resource(owner, document.template) for owner in objects(document.root))

    # --- What matters -----------------------------------------------------------------------------------------------------------

    @cached_property
    def _touched(self) -> frozenset[str]:
        """The kustomizations below a patch that matters."""
        waiting = [path for path in self._all if any(map(self._matters, self._changing(path)))]
        return frozenset(self._reachable(waiting, self._included))

    def _changing(self, path: str) -> Iterator[str]:
        """The files that change what a kustomization builds: itself, its components, and the patches of them all."""
        for each in self._reachable([path], self._components):
            yield self._all[each].path
            yield from (*self._all[each].patch_files, *self._all[each].all_env_files)

    def _reachable(self, start: Iterable[str], further: Callable[[Kustomization], Iterable[str]]) -> Iterator[str]:
        """These kustomizations and, step by step, all that they lead to."""
        waiting, seen = list(start), set()
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                yield path
                waiting += further(self._all[path])

    def _included(self, kustomization: Kustomization) -> Iterator[str]:
        """The kustomizations that one includes, as resources or components."""
        yield from filter(None, map(self._in_folder, kustomization.resources))
        yield from self._components(kustomization)

    def _components(self, kustomization: Kustomization) -> Iterator[str]:
        return filter(None, map(self._in_folder, kustomization.components))
