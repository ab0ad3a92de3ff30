"""One kustomization: what it names as its resources, components and patches, and what else of it changes objects.

It is read from a file of its own, or from a Flux Kustomization, which applies the like to a folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from posixpath import join, normpath

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.facts.kustomize import leaves_containers_alone
from gpulint.model.container import ASPECTS
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Node, Scalar, Sequence
from gpulint.project.embedded import embedded
from gpulint.project.tree import Tree
from gpulint.source import Location

FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_RESOURCE_KEYS = ("resources", "bases")
_GENERATOR_KEYS = ("configMapGenerator", "secretGenerator")
_INCLUDING = frozenset({"apiVersion", "kind", "metadata", "components", *_RESOURCE_KEYS})
_PATCH_KEYS = ("patchesStrategicMerge", "patches", "patchesJson6902")


class Patch(NamedTuple):
    """A patch with the objects it is for: those of `target`, or the one it names itself. `body` is None where it cannot be read."""

    body: Node | None
    target: Mapping | None


class _Written(NamedTuple):
    """A patch as a kustomization has it: its path or, where it `is_inline`, the patch itself."""

    text: Scalar
    is_inline: bool
    target: Mapping | None


class Kustomization:
    """One kustomization of a tree. `path` is its file, and `base` that from whose folder its paths run."""

    def __init__(self, tree: Tree, path: str, root: Mapping, base: str) -> None:
        self.path = path
        self.root = root
        self._tree = tree
        self._base = base

    @property
    def location(self) -> Location:
        """The place that says what it builds on: its list of resources, else its first line."""
        entry = next((entry for entry in map(self.root.entry, (*_RESOURCE_KEYS, "components")) if entry is not None), None)
        return self.root.location if entry is None else entry.key.location

    @cached_property
    def changes_nothing(self) -> bool:
        """Whether it hands on what it includes as it is."""
        return all(entry.key in _INCLUDING for entry in self.root)

    @cached_property
    def changes(self) -> int:
        """How many changes it tries on each resource: its patches, images and replacements, these once for each target."""
        targets = sum(1 + len(each.sequence("targets")) for each in self.replacements or ())
        return len(self.first_patches) + len(self.late_patches) + len(self.root.sequence("images")) + targets

    @property
    def is_component(self) -> bool:
        """Whether others have to include it, since it changes their resources."""
        return kind_of(self.root) == "Component"

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The paths of the files and folders that it names as resources, in order."""
        return tuple(path for key in _RESOURCE_KEYS for path in self._paths(key) if path is not None)

    @cached_property
    def components(self) -> tuple[str | None, ...]:
        """The folders of its components; None for one that is elsewhere."""
        return tuple(self._paths("components"))

    def _paths(self, key: str) -> Iterator[str | None]:
        return (self.resolve(item) if isinstance(item, Scalar) else None for item in self.root.sequence(key))

    def resolve(self, reference: str) -> str | None:
        """The path of the tree that a reference in it means; None for one that leads elsewhere."""
        return self._tree.resolve(self._base, reference)

    # --- Patches ----------------------------------------------------------------------------------------------------------------

    @cached_property
    def patch_files(self) -> frozenset[str]:
        """The files that hold its patches."""
        paths = (self.resolve(each.text) for key in _PATCH_KEYS for each in self._written(key) if not each.is_inline)
        return frozenset(path for path in paths if path is not None)

    @cached_property
    def first_patches(self) -> tuple[Patch, ...]:
        """The patches that are applied before anything else, in order."""
        return tuple(patch for key in _PATCH_KEYS[:2] for patch in self._patches(key))

    @cached_property
    def late_patches(self) -> tuple[Patch, ...]:
        """The patches that are applied when names and labels have been changed."""
        return tuple(self._patches(_PATCH_KEYS[2]))

    def _patches(self, key: str) -> Iterator[Patch]:
        for written in self._written(key):
            bodies = embedded(written.text) if written.is_inline else self._documents(written.text)
            yield from (Patch(body, written.target) for body in bodies or (None,))

    def _written(self, key: str) -> Iterator[_Written]:
        for item in self.root.sequence(key):
            if isinstance(item, Scalar):
                yield _Written(item, _is_inline(item), None)
            elif isinstance(item, Mapping):
                target = item.get("target")
                for name in ("path", "patch"):
                    text = item.scalar(name)
                    if isinstance(text, Scalar):
                        yield _Written(text, name == "patch", target if isinstance(target, Mapping) else None)

    def _documents(self, reference: str) -> tuple[Node, ...]:
        """The documents of a file; none where it cannot be read."""
        path = self.resolve(reference)
        syntax = self._tree.yaml(path) if path is not None else None
        return tuple(document.root for document in syntax.documents if document.root is not None) if syntax else ()

    # --- The rest ---------------------------------------------------------------------------------------------------------------

    @cached_property
    def opens(self) -> frozenset[str]:
        """The aspects that something in it which is not read may supply."""
        if not all(map(self._is_harmless, self.root.sequence("transformers"))):
            return ASPECTS
        if "openapi" in self.root:
            return ASPECTS
        return frozenset({"image"} if "configurations" in self.root else ())

    def _is_harmless(self, transformer: Node) -> bool:
        """Whether a transformer, given by its path or itself, is known to leave containers alone."""
        if not isinstance(transformer, Scalar):
            return False
        bodies = embedded(transformer) if _is_inline(transformer) else self._documents(transformer)
        return bool(bodies) and all(isinstance(body, Mapping) and leaves_containers_alone(kind_of(body)) for body in bodies)

    def env_files(self, generator: Mapping) -> tuple[str | None, ...]:
        """The paths of the env files that an entry of a generator names; None for one that is elsewhere."""
        written = (*generator.sequence("envs"), *filter(None, (generator.get("env"),)))
        return tuple(self.resolve(item) if isinstance(item, Scalar) else None for item in written)

    @cached_property
    def all_env_files(self) -> frozenset[str]:
        """The env files from which it makes ConfigMaps."""
        generators = self.root.sequence(_GENERATOR_KEYS[0]).mappings()
        return frozenset(path for each in generators for path in self.env_files(each) if path is not None)

    @cached_property
    def data_files(self) -> frozenset[str]:
        """The files that it puts into ConfigMaps and Secrets as they are."""
        generators = (each for key in _GENERATOR_KEYS for each in self.root.sequence(key).mappings())
        written = (item.rpartition("=")[2] for each in generators for item in each.sequence("files") if isinstance(item, Scalar))
        return frozenset(path for path in map(self.resolve, written) if path is not None)

    @cached_property
    def replacements(self) -> tuple[Mapping, ...] | None:
        """Its replacements, with those of files put in; None where one cannot be read."""
        found: list[Mapping] = []
        for item in self.root.sequence("replacements").mappings():
            path = item.scalar("path")
            bodies = (item,) if path is None else self._documents(str(path)) if isinstance(path, Scalar) else ()
            read = [each for body in bodies for each in (body.mappings() if isinstance(body, Sequence) else (body,))]
            if not read or not all(isinstance(each, Mapping) for each in read):
                return None
            found += (each for each in read if isinstance(each, Mapping))
        return tuple(found)


def _is_inline(written: str) -> bool:
    """Whether a patch is written where its path could stand."""
    return "\n" in written or written.lstrip().startswith(("[", "{"))


def read_kustomization(tree: Tree, path: str) -> Kustomization:
    """The kustomization in a file; an empty one where it holds no mapping."""
    syntax = tree.yaml(path)
    root = syntax.documents[0].root if syntax and syntax.documents else None
    return Kustomization(tree, path, root if isinstance(root, Mapping) else EMPTY_MAPPING, path)


def file_in(folder: str, tree: Tree) -> str | None:
    """The file that makes a folder a kustomization."""
    candidates = (normpath(join(folder, name)) for name in FILE_NAMES)
    return next((path for path in candidates if path in tree and tree.kind(path) is Kind.KUSTOMIZATION), None)
