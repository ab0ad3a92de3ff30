"""Kustomize: which resources each kustomization builds, with its patches and those of what includes it on them.

Read are resources, bases, components, patches in all spellings, images and namespace. Generators, replacements and name prefixes do not
change what a container asks for and are passed over; remote bases and paths out of the root are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from posixpath import join, normpath

from gpulint.deferred import NamedTuple, dataclass
from gpulint.discover import Kind
from gpulint.model.container import ASPECTS
from gpulint.model.workload import objects
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Node, Scalar, Sequence
from gpulint.project.embedded import embedded
from gpulint.project.patch import PatchError, apply_operations, merge, removes
from gpulint.project.patch_target import group_of, is_target, names_itself, text_at, without_identity
from gpulint.project.tree import Tree
from gpulint.source import Text, Value

_FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BUILT_IN_GROUPS = ("", "apps", "batch", "extensions")
_RESOURCE_KEYS = ("resources", "bases")
_PATCH_KEYS = ("patches", "patchesStrategicMerge", "patchesJson6902")
_NESTING_LIMIT = 64
"""Kustomizations within kustomizations: far above any real nesting, and a bound for recursion."""
_MOST_RESOURCES = 50_000
"""Resources in all, counted at each kustomization that they pass through: overlays that include two of a kind double them."""


@dataclass(frozen=True, eq=False)
class Resource:
    """One object as a kustomization builds it.

    `names` are those it had and, last, has: a patch finds it by each of them. `images` are the entries that pin its images, the
    innermost first; `namespace` is what the kustomizations put it in. `open` names the aspects that a patch which could not be read or
    applied may supply.
    """

    root: Mapping
    names: tuple[str, ...]
    template: bool = False
    images: tuple[Mapping, ...] = ()
    namespace: Text | None = None
    open: frozenset[str] = frozenset()


class _Patch(NamedTuple):
    """A patch with the objects it is for: those of `target`, or the one it names itself. `body` is None where it cannot be read."""

    path: str
    body: Node | None
    target: Mapping | None


class Kustomizations:
    """All kustomizations of a tree. `matters` tells which files are worth reading; where a patch matters, so do the resources below it."""

    def __init__(self, tree: Tree, matters: Callable[[str], bool]) -> None:
        self._tree = tree
        self._matters = matters
        self._roots = {path: self._root(path) for path in tree.paths(Kind.KUSTOMIZATION)}
        self._patches = {path: tuple(self._read_patches(path)) for path in self._roots}
        self._built: dict[str, tuple[Resource, ...]] = {}
        self._reached: set[str] = set()
        self._resources_left = _MOST_RESOURCES

    def _root(self, path: str) -> Mapping:
        syntax = self._tree.yaml(path)
        root = syntax.documents[0].root if syntax and syntax.documents else None
        return root if isinstance(root, Mapping) else EMPTY_MAPPING

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that some kustomization names as a resource or as a patch: none of them is applied as it stands."""
        resources = (reference for path in self._roots for reference in self._references(path, *_RESOURCE_KEYS))
        return frozenset((*resources, *(patch.path for patches in self._patches.values() for patch in patches)))

    def resources(self) -> Iterator[Resource]:
        """What the kustomizations build that no other includes, and what stands in cycles and unused components."""
        included = {inner for path in self._roots for inner in self._inner(path, *_RESOURCE_KEYS, "components")}
        for path in sorted(self._roots, key=lambda path: (path in included, path)):
            if path not in self._reached:
                yield from self._build(path, ())

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
        found = list(given)
        for reference in self._references(path, *_RESOURCE_KEYS):
            found += self._read(path, reference)
        for inner in self._inner(path, *_RESOURCE_KEYS):
            found += self._build(inner, inside)
        resources = tuple(dict.fromkeys(found))
        self._resources_left -= 1 + len(resources)
        if self._resources_left < 0:
            return ()
        for component in self._inner(path, "components"):
            if component not in inside and len(inside) <= _NESTING_LIMIT:
                resources = self._on_top(component, resources, inside)
        return tuple(self._transformed(path, resources))

    def _references(self, path: str, *keys: str) -> Iterator[str]:
        """The paths of the files and folders under these keys."""
        for key in keys:
            for item in self._roots[path].sequence(key):
                resolved = self._tree.resolve(path, item) if isinstance(item, Scalar) else None
                if resolved is not None:
                    yield resolved

    def _inner(self, path: str, *keys: str) -> Iterator[str]:
        """The kustomizations in the folders under these keys."""
        for folder in self._references(path, *keys):
            candidates = (normpath(join(folder, name)) for name in _FILE_NAMES)
            found = next((candidate for candidate in candidates if candidate in self._roots), None)
            if found:
                yield found

    @cached_property
    def _touched(self) -> frozenset[str]:
        """The kustomizations below a patch that matters."""
        waiting = [path for path in self._roots if any(map(self._matters, self._changing(path)))]
        return frozenset(self._reachable(waiting, *_RESOURCE_KEYS, "components"))

    def _changing(self, path: str) -> Iterator[str]:
        """The files that change what a kustomization builds: itself, its components, and the patches of them all."""
        for each in self._reachable([path], "components"):
            yield each
            yield from (patch.path for patch in self._patches[each])

    def _reachable(self, start: Iterable[str], *keys: str) -> Iterator[str]:
        """These kustomizations and, over the folders under the keys, all that they include."""
        waiting, seen = list(start), set()
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                yield path
                waiting += self._inner(path, *keys)

    def _read(self, path: str, resource: str) -> Iterator[Resource]:
        """The objects of a resource file of a kustomization."""
        syntax = self._tree.yaml(resource) if path in self._touched or self._matters(resource) else None
        for document in syntax.documents if syntax else ():
            for owner in objects(document.root):
                yield Resource(owner, (text_at(owner, "metadata", "name"),), document.template)

    def _read_patches(self, path: str) -> Iterator[_Patch]:
        """The patches of a kustomization in the order in which they are applied."""
        for key in _PATCH_KEYS:
            for item in self._roots[path].sequence(key):
                if isinstance(item, Scalar):
                    yield from self._patch(path, item, None)
                elif isinstance(item, Mapping):
                    written = item.scalar("path") or item.scalar("patch")
                    target = item.get("target")
                    yield from self._patch(path, written, target if isinstance(target, Mapping) else None)

    def _patch(self, path: str, written: Value | None, target: Mapping | None) -> Iterator[_Patch]:
        """The patches in a file, or in a scalar of several lines."""
        if not isinstance(written, Text):
            return
        if "\n" in written or written.lstrip().startswith(("[", "{")):
            yield from (_Patch(path, body, target) for body in embedded(written) or (None,))
            return
        file = self._tree.resolve(path, written)
        syntax = self._tree.yaml(file) if file else None
        bodies = [document.root for document in syntax.documents if document.root is not None] if syntax else []
        for body in bodies or (None,):
            yield _Patch(file or path, body, target)

    def _transformed(self, path: str, resources: Iterable[Resource]) -> Iterator[Resource]:
        """The resources with a kustomization's patches, namespace, names and images on them."""
        root = self._roots[path]
        namespace = root.scalar("namespace")
        images = tuple(root.sequence("images").mappings())
        affixes = (text_at(root, "namePrefix"), text_at(root, "nameSuffix"))
        for resource in resources:
            patched: Resource | None = resource
            for patch in self._patches[path]:
                patched = _apply(patch, patched) if patched else None
            if patched and isinstance(namespace, Text):
                patched = replace(patched, namespace=namespace)
            if patched and images:
                patched = replace(patched, images=(*patched.images, *images))
            if patched and any(affixes):
                patched = replace(patched, names=(*patched.names, patched.names[-1].join(affixes)))
            if patched:
                yield patched


def _apply(patch: _Patch, resource: Resource) -> Resource | None:
    """The resource with a patch on it where the patch is for it; None where the patch takes it away."""
    if not _is_for(patch, resource):
        return resource
    root, body = resource.root, patch.body
    if isinstance(body, Mapping) and removes(body):
        return None
    try:
        if isinstance(body, Sequence):
            return _renamed(replace(resource, root=apply_operations(root, body)))
        if isinstance(body, Mapping):
            own = without_identity(body) if patch.target else body
            return replace(resource, root=merge(root, own, group_of(root) in _BUILT_IN_GROUPS))
    except PatchError:
        pass
    return replace(resource, open=ASPECTS)


def _is_for(patch: _Patch, resource: Resource) -> bool:
    if patch.target:
        namespaces = (text_at(resource.root, "metadata", "namespace"), str(resource.namespace or ""))
        return is_target(patch.target, resource.root, resource.names, namespaces)
    if isinstance(patch.body, Mapping):
        return names_itself(patch.body, resource.root, resource.names)
    return patch.body is None


def _renamed(resource: Resource) -> Resource:
    """The resource with the name that an operation has given it; patches go on finding it under the old one too."""
    name = text_at(resource.root, "metadata", "name")
    return resource if name in resource.names else replace(resource, names=(*resource.names, name))
