"""Releases of charts that lie in the same tree: a Flux HelmRelease, or an Argo CD Application or ApplicationSet, with the values it gives.

What takes further values from elsewhere (`valuesFrom`, files of another source, several sources) gives none: they are not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import join, normpath

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.model.manifest import value
from gpulint.model.workload import kind_of, objects
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Scalar, Sequence
from gpulint.project.embedded import embedded
from gpulint.project.helm import may_release
from gpulint.project.helm_chart import Charts
from gpulint.project.helm_values import Map, coalesced, from_node
from gpulint.project.tree import Tree
from gpulint.source import Text

_APPLICATIONS = {"Application": ("spec", "source"), "ApplicationSet": ("spec", "template", "spec", "source")}
MAX_RELEASES = 100
"""How many releases of charts of a tree are looked at."""


class Release(NamedTuple):
    """A chart that is installed with these values, by the path of its Chart.yaml. `path` is the file that says so."""

    chart: str
    given: Map
    path: str


class _Gap(Exception):
    """Values that are not in the files."""


def releases_of_tree(tree: Tree, charts: Charts) -> Iterator[Release]:
    """The releases in the manifests that install a chart of the tree."""
    found = 0
    for path in tree.paths(Kind.MANIFEST):
        syntax = tree.yaml(path) if may_release(tree, path) else None
        for owner in (owner for document in syntax.documents for owner in objects(document.root)) if syntax else ():
            release = _release(owner, charts)
            if release is not None and found < MAX_RELEASES:
                found += 1
                yield release


def _release(owner: Mapping, charts: Charts) -> Release | None:
    """The release that an object is; None where its chart is not in the tree, or its values are not all known."""
    try:
        if kind_of(owner) == "HelmRelease":
            return _flux(owner, charts)
        place = _APPLICATIONS.get(kind_of(owner))
        return _argo(owner.mapping(*place), charts) if place else None
    except _Gap:
        return None


def _flux(owner: Mapping, charts: Charts) -> Release | None:
    spec = owner.mapping("spec", "chart", "spec")
    kind = value(spec, "sourceRef", "kind")
    folder = _folder(spec, "chart", charts)
    if folder is None or not isinstance(kind, Text) or kind != "GitRepository" or "valuesFrom" in owner.mapping("spec"):
        return None
    # Flux reads these files from the root of the source.
    layers = [_file(charts, file) for file in _texts(spec, "valuesFiles")]
    return Release(charts.paths[folder], _laid([*layers, _mapping(owner.mapping("spec"), "values")]), owner.location.path)


def _argo(source: Mapping, charts: Charts) -> Release | None:
    folder = _folder(source, "path", charts)
    if folder is None:
        return None
    helm = source.mapping("helm")
    layers = [_file(charts, join(folder, file)) for file in _texts(helm, "valueFiles")]
    layers += [_mapping(helm, "values"), _mapping(helm, "valuesObject"), *map(_parameter, helm.sequence("parameters").mappings())]
    if "fileParameters" in helm:
        return None
    return Release(charts.paths[folder], _laid(layers), source.location.path)


def _folder(mapping: Mapping, key: str, charts: Charts) -> str | None:
    """The folder of a chart of the tree that is named from its root."""
    written = value(mapping, key)
    folder = normpath(str(written)) if isinstance(written, Text) and written else ""
    return folder if folder in charts.paths else None


def _texts(mapping: Mapping, key: str) -> Iterator[str]:
    for item in mapping.sequence(key):
        if not isinstance(item, Scalar) or "$" in item or "{{" in item:
            raise _Gap
        yield str(item)


def _file(charts: Charts, path: str) -> Map:
    root = charts.mapping(normpath(path))
    if not root:
        raise _Gap
    return _values(root)


def _mapping(holder: Mapping, key: str) -> Map:
    """Values that are written as a mapping, or as the text of one."""
    node = holder.get(key)
    if isinstance(node, Text):
        roots = embedded(node)
        node = roots[0] if len(roots) == 1 else EMPTY_MAPPING if not roots else None
    if node is None and key not in holder:
        return Map()
    if not isinstance(node, Mapping):
        raise _Gap
    return _values(node)


def _values(root: Mapping) -> Map:
    found = from_node(root, is_default=True)
    assert isinstance(found, Map)
    return found


def _parameter(item: Mapping) -> Map:
    """A value that is set by its path."""
    name, given = value(item, "name"), item.get("value")
    if not isinstance(name, Text) or any(mark in name for mark in "\\[{,") or isinstance(given, (Mapping, Sequence)):
        raise _Gap
    *above, last = name.split(".")
    found = Map([(last, from_node(given))])
    for key in reversed(above):
        found = Map([(key, found)])
    return found


def _laid(layers: list[Map]) -> Map:
    """The layers of values, each over those before it."""
    found = Map()
    for layer in layers:
        found = coalesced(layer, found)
    return found
