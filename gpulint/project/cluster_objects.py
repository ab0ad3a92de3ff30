"""Objects of a cluster that start no container and yet bear on those that do: claims of devices, autoscalers, settings."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.discover import Kind
from gpulint.model.workload import kind_of, objects
from gpulint.parse.nodes import Mapping
from gpulint.project.tree import Tree


def objects_of(tree: Tree, *kinds: str, anchors: tuple[bytes, ...] = ()) -> Iterator[Mapping]:
    """The objects of these kinds in the manifests of a tree, as they are written. Templates are not among them.

    Where `anchors` are given, only files are read that hold one of them, in lower case.
    """
    names = tuple(kind.lower().encode() for kind in kinds)
    for path in tree.paths(Kind.MANIFEST):
        source = tree.source(path)
        if source is not None and _holds(source.lowered, names) and (not anchors or _holds(source.lowered, anchors)):
            yield from (owner for owner in _plain(tree, path) if kind_of(owner) in kinds)


def _plain(tree: Tree, path: str) -> Iterator[Mapping]:
    syntax = tree.yaml(path)
    for document in syntax.documents if syntax else ():
        if not document.template:
            yield from objects(document.root)


def _holds(text: bytes, words: tuple[bytes, ...]) -> bool:
    return any(word in text for word in words)
