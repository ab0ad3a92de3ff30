"""Kustomizations of Flux: objects that apply a folder of the repository with patches of their own on top.

Read are those that change what the folder holds, and others of the same folder, since both are applied. A folder without a kustomization
counts as one of all manifests below it, as Flux makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname

from gpulint.discover import Kind
from gpulint.model.manifest import text
from gpulint.model.workload import kind_of, objects
from gpulint.parse.nodes import Entry, Mapping, Scalar, Sequence
from gpulint.project.kustomization import Kustomization, file_in
from gpulint.project.patch_target import group_of
from gpulint.project.tree import Tree

_GROUP = "kustomize.toolkit.fluxcd.io"
_CHANGING = ("patches", "images", "components", "namePrefix", "nameSuffix")
_ALSO_KNOWN_AS = {"targetNamespace": "namespace", **{key: key for key in _CHANGING}}


def flux_kustomizations(tree: Tree) -> dict[str, Kustomization]:
    """The kustomizations that Flux objects are, by names that are no paths; and those that Flux makes of folders without one, by the
    folder's path with a `/` behind it."""
    objects_of_flux = tuple(_objects(tree))
    changed = {folder for folder, spec in objects_of_flux if any(key in spec for key in _CHANGING)}
    found: dict[str, Kustomization] = {}
    for number, (folder, spec) in enumerate(objects_of_flux):
        if folder in changed:
            found[f"{spec.location.path}#{number}"] = Kustomization(tree, spec.location.path, _root(spec), "")
            if file_in(folder, tree) is None:
                found[f"{folder}/"] = Kustomization(tree, spec.location.path, _listing(tree, folder, spec), "")
    return found


def _objects(tree: Tree) -> Iterator[tuple[str, Mapping]]:
    """The specs of Flux's kustomizations that may change something, each with the folder of the tree that it applies, and of the others
    that apply one of these folders."""
    anchors = tuple(f"{key}:".encode() for key in _CHANGING)
    sources = [source for source in map(tree.source, tree.paths(Kind.MANIFEST)) if source is not None and _GROUP.encode() in source.data]
    changing = [source for source in sources if any(anchor in source.data for anchor in anchors)]
    folders = set()
    for folder, spec in (each for source in changing for each in _specs(tree, source.path)):
        folders.add(folder.encode())
        yield folder, spec
    others = (source for source in sources if source not in changing and any(folder in source.data for folder in folders))
    yield from (each for source in others for each in _specs(tree, source.path))


def _specs(tree: Tree, path: str) -> Iterator[tuple[str, Mapping]]:
    syntax = tree.yaml(path)
    for owner in (each for document in (syntax.documents if syntax else ()) for each in objects(document.root)):
        applied = text(owner, "spec", "path")
        is_flux = kind_of(owner) == "Kustomization" and group_of(owner) == _GROUP
        folder = tree.resolve("", applied) if applied and is_flux else None
        if folder in tree.folders:
            yield folder, owner.mapping("spec")


def _root(spec: Mapping) -> Mapping:
    """The kustomization that a Flux object is: its folder as the one resource, and what it has under kustomize's own keys."""
    path = spec.entry("path")
    assert path is not None
    entries = [Entry(Scalar("resources", path.key.location, ()), Sequence((path.value,), path.value.location))]
    entries += (Entry(Scalar(_ALSO_KNOWN_AS[key], key.location, ()), value) for key, value, _ in spec if key in _ALSO_KNOWN_AS)
    return Mapping(tuple(_below(entry, str(path.value)) for entry in entries), spec.location)


def _below(entry: Entry, folder: str) -> Entry:
    """The entry with paths of components from the folder, as Flux takes them."""
    if entry.key != "components" or not isinstance(entry.value, Sequence):
        return entry
    items = (Scalar(f"{folder}/{item}", item.location, ()) if isinstance(item, Scalar) else item for item in entry.value)
    return Entry(entry.key, Sequence(tuple(items), entry.value.location))


def _listing(tree: Tree, folder: str, spec: Mapping) -> Mapping:
    """A kustomization of all that a folder holds: manifests, and folders that are kustomizations themselves."""
    inside = (path for path in tree.paths(Kind.MANIFEST, Kind.KUSTOMIZATION) if path.startswith(f"{folder}/"))
    paths = dict.fromkeys(_outermost(tree, path, folder) or path for path in inside)
    items = Sequence(tuple(Scalar(path, spec.location, ()) for path in paths), spec.location)
    return Mapping((Entry(Scalar("resources", spec.location, ()), items),), spec.location)


def _outermost(tree: Tree, path: str, top: str) -> str | None:
    """The outermost folder between `top` and a file that is a kustomization; None where none is."""
    found = None
    while (path := dirname(path)) and path != top:
        found = path if file_in(path, tree) is not None else found
    return found
