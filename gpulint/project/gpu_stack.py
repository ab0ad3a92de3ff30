"""The GPU stack that a repository sets up: by releases, ConfigMaps and an operator's own object, values of charts, and helm commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint.discover import Kind
from gpulint.facts.gpu_stack import CONFIG, anchors, chart_form, node_pool_kinds, paths_of
from gpulint.model.gpu_stack import StackPart, looks_like_config, read_assignments, read_node_pool, read_part
from gpulint.model.helm_set import HelmInstall, read_install
from gpulint.model.manifest import value
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Node, Scalar
from gpulint.project.cluster_objects import objects_of
from gpulint.project.embedded import embedded
from gpulint.project.helm import release_values, releases
from gpulint.project.tree import Tree
from gpulint.source import Text

if TYPE_CHECKING:
    from gpulint.model.command import CommandLine

_OWN_OBJECT = "ClusterPolicy"
_OWN_GROUP = "nvidia.com/"
_RELEASES = ("HelmRelease", "HelmChart", "Application", "ApplicationSet")


def stack_parts(tree: Tree, lines: Iterable[CommandLine]) -> Iterator[StackPart]:
    """The operators and device plugins that the files and commands of a tree set up, each with the configurations in its settings."""
    for owner in objects_of(tree, _OWN_OBJECT, "ConfigMap", *_RELEASES, *sorted(node_pool_kinds()), anchors=anchors()):
        yield from _of_object(owner)
    given = {(path, form): node for path, form, node in (*_of_charts(tree), *_given_to_commands(tree, lines))}
    for (_, form), node in given.items():
        yield from _with_configs(form, node)
    for install in _installs(lines):
        yield _of_command(install, tree)


def _of_object(owner: Mapping) -> Iterator[StackPart]:
    kind, version = kind_of(owner), value(owner, "apiVersion")
    if kind in node_pool_kinds():
        yield read_node_pool(kind, owner)
    elif kind == "ConfigMap":
        yield from _configs(owner.mapping("data"))
    elif kind == _OWN_OBJECT:
        if isinstance(version, Text) and version.startswith(_OWN_GROUP):
            yield from _with_configs("operator", owner.mapping("spec"))
    else:
        yield from _of_release(owner)


def _of_release(owner: Mapping) -> Iterator[StackPart]:
    """The parts of a release of a known chart, which without a version takes the newest."""
    for release in releases(owner):
        form = chart_form(release.chart)
        if form:
            roots = [root for root in release_values(owner) if isinstance(root, Mapping)] or [EMPTY_MAPPING]
            open_chart = release.chart if release.version is None else None
            yield from (part for root in roots for part in _with_configs(form, root, open_chart))


def _with_configs(form: str, root: Mapping, open_chart: Text | None = None) -> Iterator[StackPart]:
    yield read_part(form, root, open_chart)
    for path in paths_of("embedded", form):
        yield from _configs(root.mapping(*path))


def _configs(data: Mapping) -> Iterator[StackPart]:
    """The configurations of device plugins among texts."""
    for _, node, _ in data:
        for root in embedded(node) if isinstance(node, Scalar) else ():
            if isinstance(root, Mapping) and looks_like_config(root):
                yield read_part(CONFIG, root)


def _of_charts(tree: Tree) -> Iterator[tuple[str, str, Mapping]]:
    """The values of charts that have a known one as a dependency, below its name there."""
    for chart in filter(lambda path: _names_part(tree, path), tree.paths(Kind.CHART)):
        names = [value(each, "alias") or value(each, "name") for each in _root(tree, chart).sequence("dependencies").mappings()]
        forms = {str(name): chart_form(name) for name in names if isinstance(name, Text) and chart_form(name)}
        folder = dirname(chart)
        for path in tree.paths(Kind.VALUES) if forms else ():
            if dirname(path) == folder:
                yield from ((path, form, _root(tree, path).mapping(name)) for name, form in forms.items())


def _names_part(tree: Tree, path: str) -> bool:
    source = tree.source(path)
    return source is not None and any(anchor in source.lowered for anchor in anchors())


def _given_to_commands(tree: Tree, lines: Iterable[CommandLine]) -> Iterator[tuple[str, str, Mapping]]:
    """The files of values that helm commands give to a known chart."""
    for install in _installs(lines):
        for written in install.files:
            beside = tree.resolve(install.location.path, written)
            path = next((each for each in (beside, str(written)) if each is not None and each in tree), None)
            if path is not None:
                yield path, chart_form(install.chart), _root(tree, path)


def _installs(lines: Iterable[CommandLine]) -> Iterator[HelmInstall]:
    found = (read_install(line.command, lambda word: bool(chart_form(word))) for line in lines)
    return (install for install in found if install is not None)


def _of_command(install: HelmInstall, tree: Tree) -> StackPart:
    """What a command sets; a chart that lies here, or has its version in its address, needs none."""
    path = str(install.chart)
    lies_here = path.startswith((".", "/", "$")) or f"{path.rstrip('/')}/Chart.yaml" in tree or path.endswith(".tgz")
    open_chart = install.chart if install.version is None and not lies_here else None
    return read_assignments(chart_form(install.chart), install.settings, open_chart, install.location)


def _root(tree: Tree, path: str) -> Mapping:
    syntax = tree.yaml(path)
    root: Node | None = syntax.documents[0].root if syntax and syntax.documents else None
    return root if isinstance(root, Mapping) else EMPTY_MAPPING
