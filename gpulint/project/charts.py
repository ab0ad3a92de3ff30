"""Charts: the GPU resources in their values, and which of these their templates read, as far as the text of the templates tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from posixpath import dirname

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.facts.resources import gpu_resource
from gpulint.model.container import Compute, Container
from gpulint.model.manifest import value
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Node
from gpulint.project.tree import Tree
from gpulint.source import Location, Text

_WHOLE = regex(r"\.Values(?![\w.])|\btpl\b|\.Files\b")
"""What reads values that no search for their names finds."""

_NOTHING = Compute()


class GpuValue(NamedTuple):
    """A GPU resource in the values of a chart: the keys that lead to it, and its own key."""

    path: tuple[str, ...]
    key: Text


class Chart:
    """A chart of the tree, by the path of its Chart.yaml."""

    def __init__(self, path: str, tree: Tree) -> None:
        self.location = Location(path, 1, 1, 1, 1)
        self._tree = tree
        self._folder = dirname(path)
        self._root = _root(tree, path)

    @property
    def is_readable(self) -> bool:
        """Whether all that may read its values lies here: it has templates of its own, and each of its dependencies has."""
        if value(self._root, "type") == "library" or not self.templates:
            return False
        names = [value(each, "name") for each in self._root.sequence("dependencies").mappings()]
        return all(isinstance(name, Text) and any(self._below(f"charts/{name}/templates/")) for name in names)

    @cached_property
    def values(self) -> tuple[GpuValue, ...]:
        """The GPU resources in its values files, but for those of zero."""
        files = (path for path in self._tree.paths(Kind.VALUES) if dirname(path) == self._folder)
        return tuple(found for path in files for found in _gpu_values(_root(self._tree, path), ()))

    @cached_property
    def templates(self) -> dict[str, str]:
        """The text of each of its templates and helpers, those of its dependencies too."""
        paths = [path for path in self._below("templates/") if not path.endswith("NOTES.txt")]
        paths += [path for path in self._below("charts/") if "/templates/" in path]
        return {path: source.text for path in paths if (source := self._tree.source(path)) is not None}

    def readers(self, found: GpuValue) -> Iterator[str]:
        """The templates that read a value: by its name or that of a mapping around it, or all values at once."""
        keys = found.path[1:] if found.path[0] in self._dependencies else found.path
        names = (re.escape(".".join(keys[:end])) for end in range(len(keys), 0, -1))
        pattern = re.compile(rf"\.Values\.(?:{'|'.join(names)})(?![\w.-])")
        return (path for path, text in self.templates.items() if pattern.search(text) or _WHOLE.search(text))

    def left_out_value(self, container: Container) -> GpuValue | None:
        """The GPU value that another template of the chart reads for its workload, where the container's own template renders no resources
        at all."""
        path = container.location.path
        if path not in self.templates or container.compute != _NOTHING or container.requests or not self.is_readable:
            return None
        for found in self.values:
            readers = frozenset(self.readers(found))
            if readers and path not in readers:
                return found
        return None

    @cached_property
    def _dependencies(self) -> frozenset[str]:
        """The keys below which the values of its dependencies stand."""
        dependencies = self._root.sequence("dependencies").mappings()
        names = (value(each, "alias") or value(each, "name") for each in dependencies)
        return frozenset(str(name) for name in names if isinstance(name, Text))

    def _below(self, folder: str) -> Iterator[str]:
        prefix = f"{self._folder}/{folder}" if self._folder else folder
        return (path for path in sorted(self._tree.all_paths) if path.startswith(prefix))


def _gpu_values(node: Node, path: tuple[str, ...]) -> Iterator[GpuValue]:
    """The GPU resources below `limits` or `requests` of a mapping, at whatever depth."""
    for key, inner, _ in node if isinstance(node, Mapping) else ():
        if path and path[-1] in ("limits", "requests") and gpu_resource(key) and inner not in ("0", ""):
            yield GpuValue((*path, str(key)), key)
        else:
            yield from _gpu_values(inner, (*path, str(key)))


def _root(tree: Tree, path: str) -> Mapping:
    syntax = tree.yaml(path)
    root = syntax.documents[0].root if syntax and syntax.documents else None
    return root if isinstance(root, Mapping) else EMPTY_MAPPING
