"""Values of a chart that a file sets one by one, by keys which helm reads as those of `--set`: an Application of Argo CD, a HelmChart of
k3s, a helmfile."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.discover import Kind
from gpulint.model.helm_set import CutName, cut_name
from gpulint.model.workload import kind_of, reached
from gpulint.parse.nodes import Mapping, Node
from gpulint.project.cluster_objects import objects_of
from gpulint.project.relevance import anchors
from gpulint.project.tree import Tree
from gpulint.source import Text

_APPLICATION = (("spec", "source"), ("spec", "sources", "*"))
_LISTS = {
    "Application": tuple((*source, "helm", "parameters", "*", "name") for source in _APPLICATION),
    "ApplicationSet": tuple(("spec", "template", *source, "helm", "parameters", "*", "name") for source in _APPLICATION),
}
"""Where the names of parameters stand; in a HelmChart they are the keys of a mapping."""

_HELMFILE = tuple(("releases", "*", key, "*", "name") for key in ("set", "setString"))


def cut_parameters(tree: Tree) -> Iterator[CutName]:
    """The names of GPU resources and labels in such keys, where dots of theirs are not escaped."""
    for key in _keys(tree):
        found = cut_name(key) if isinstance(key, Text) else None
        if found is not None:
            yield found


def _keys(tree: Tree) -> Iterator[object]:
    for owner in objects_of(tree, *_LISTS, "HelmChart", anchors=anchors("gpu")):
        for path in _LISTS.get(kind_of(owner), ()):
            yield from reached(owner, path)
        if kind_of(owner) == "HelmChart":
            yield from (key for key, _, _ in owner.mapping("spec").mapping("set"))
    for root in _helmfiles(tree):
        yield from (node for path in _HELMFILE if isinstance(root, Mapping) for node in reached(root, path))


def _helmfiles(tree: Tree) -> Iterator[Node | None]:
    for path in tree.paths(Kind.HELMFILE):
        source = tree.source(path)
        syntax = tree.yaml(path) if source is not None and any(word in source.lowered for word in anchors("gpu")) else None
        yield from (document.root for document in (syntax.documents if syntax else ()))
