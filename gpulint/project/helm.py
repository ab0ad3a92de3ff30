"""Helm: what charts, their values and those of releases name, without rendering: images, and containers whose every aspect is open.

A tag that values leave empty is the chart's appVersion; in a release, whose chart is elsewhere, it is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from posixpath import dirname

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.model.container import ASPECTS, Container, GpuRequest, Mount, Role
from gpulint.model.image import ImageRef, join_image, parse_image
from gpulint.model.kubernetes import read_container, read_containers
from gpulint.model.manifest import read, value
from gpulint.model.pod import read_pod
from gpulint.model.pod_requests import resource_requests
from gpulint.model.requests import runtime_request, variable_requests
from gpulint.model.variable import EnvVar
from gpulint.model.workload import Site, kind_of, reached
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Node, Scalar, Sequence
from gpulint.project.embedded import embedded
from gpulint.project.tree import Tree
from gpulint.source import Location, Text, Unknown, Value

_TAG_KEYS = ("tag", "imageTag", "version")
_PART_KEYS = (*_TAG_KEYS, "digest", "registry", "pullPolicy")
"""Keys of which an image written in parts has at least one beside its name."""

_RELEASING = (b"HelmRelease", b"Application")

_IMAGE = regex(r"(?!https?:|oci:|git@|file:)[\w./:@-]+")
_SOURCES = (("source",), ("sources", "*"))
_RELEASES = {
    "HelmRelease": (("spec", "values"),),
    "HelmChart": (("spec", "valuesContent"),),
    "HelmChartConfig": (("spec", "valuesContent"),),
    "Application": tuple(("spec", *source, "helm", key) for source in _SOURCES for key in ("values", "valuesObject")),
    "ApplicationSet": tuple(
        ("spec", "template", "spec", *source, "helm", key) for source in _SOURCES for key in ("values", "valuesObject")
    ),
}
"""Where each kind of release keeps the values of its chart, as a mapping or as a text."""

_CHARTS = {
    "HelmRelease": ((("spec", "chart", "spec"), "version"),),
    "HelmChart": ((("spec",), "version"),),
    "Application": tuple((("spec", *source), "targetRevision") for source in _SOURCES),
    "ApplicationSet": tuple((("spec", "template", "spec", *source), "targetRevision") for source in _SOURCES),
}
"""Where each kind of release names its charts, and the key of their version there."""


def chart_containers(tree: Tree, matters: Callable[[str], bool]) -> Iterator[Container]:
    """The containers that the templates and values of the tree's charts name. `matters` tells which files are worth reading."""
    for path in filter(matters, tree.paths(Kind.TEMPLATE)):
        syntax = tree.yaml(path)
        for document in syntax.documents if syntax else ():
            yield from read_containers(document.root, template=True)
    charts = {dirname(path): _root(tree, path) for path in tree.paths(Kind.CHART)}
    for path in filter(matters, tree.paths(Kind.VALUES)):
        folder = dirname(path)
        chart = charts.get(folder) or charts.get(dirname(folder)) or EMPTY_MAPPING
        yield from _Values(chart, "Chart", value(chart, "name"), value(chart, "appVersion")).containers(_root(tree, path))
    if charts and any(matters(path) for path in (*tree.paths(Kind.TEMPLATE, Kind.VALUES), *_releasing(tree))):
        from gpulint.project.helm_render import rendered_containers

        yield from rendered_containers(tree, matters)


def _releasing(tree: Tree) -> Iterator[str]:
    """The manifests that may release a chart."""
    return (path for path in tree.paths(Kind.MANIFEST) if may_release(tree, path))


def may_release(tree: Tree, path: str) -> bool:
    """Whether a manifest may release a chart, by its bytes."""
    source = tree.source(path)
    return source is not None and any(kind in source.data for kind in _RELEASING)


def _root(tree: Tree, path: str) -> Mapping:
    syntax = tree.yaml(path)
    root = syntax.documents[0].root if syntax and syntax.documents else None
    return root if isinstance(root, Mapping) else EMPTY_MAPPING


def release_containers(owner: Mapping) -> Iterator[Container]:
    """The containers that the values in a release name: a Flux HelmRelease, an Argo CD Application or ApplicationSet, a k3s HelmChart."""
    release = _Values(owner, kind_of(owner), value(owner, "metadata", "name"), None)
    for root in release_values(owner):
        yield from release.containers(root)


def release_values(owner: Mapping) -> Iterator[Node]:
    """The values of the charts that a release installs; none for an object of another kind."""
    for path in _RELEASES.get(kind_of(owner), ()):
        for node in reached(owner, path):
            yield from embedded(node) if isinstance(node, Scalar) else (node,)


class Release(NamedTuple):
    """A chart that a release installs, and its version as written."""

    chart: Text
    version: Value | None


def releases(owner: Mapping) -> Iterator[Release]:
    """The charts that a release names; one that it takes from a repository of git or by a reference is none."""
    for path, version_key in _CHARTS.get(kind_of(owner), ()):
        for node in reached(owner, path):
            chart = value(node, "chart") if isinstance(node, Mapping) else None
            if isinstance(node, Mapping) and isinstance(chart, Text):
                yield Release(chart, value(node, version_key))


class _Values:
    """Finds what the values of one chart or release name. `app_version` stands for a tag that is left empty."""

    def __init__(self, owner: Mapping, kind: str, name: Value | None, app_version: Value | None) -> None:
        self._owner = owner
        self._kind = kind
        self._name = name
        self._app_version = app_version

    def containers(self, root: Node) -> Iterator[Container]:
        """One container for each mapping that holds an image or GPU resources; what the values take of the host is mounted in each."""
        mounts = tuple(_host_paths(root))
        waiting: list[tuple[Node, Text | None, bool]] = [(root, None, True)]
        while waiting:
            node, key, is_item = waiting.pop()
            if isinstance(node, Sequence):
                waiting += ((item, key, True) for item in reversed(node.items))
            elif isinstance(node, Mapping):
                image = self._image(node)
                requests = (*_requests(node), *(resource_requests(node) if is_item else ()))
                if image or requests:
                    container = self._container(node, key, image, requests)
                    yield replace(container, mounts=(*container.mounts, *mounts))
                waiting += ((each.value, each.key, False) for each in reversed(tuple(node)) if not (image and each.key == "image"))

    def _image(self, node: Mapping) -> ImageRef | None:
        """The image of a mapping: in one string, in parts under `image`, or in parts of its own."""
        image = node.get("image")
        if isinstance(image, Mapping):
            return self._joined(image)
        whole = read(image)
        if "repository" in node or whole is None or (isinstance(whole, Text) and not _IMAGE.fullmatch(whole)):
            return self._joined(node)
        found = parse_image(whole)
        bare = found.tag is None and found.digest is None
        return replace(found, tag=self._tag(node, found.location)) if bare else found

    def _joined(self, parts: Mapping) -> ImageRef | None:
        """An image whose parts have keys of their own; a repository alone may be anything's."""
        repository, name = value(parts, "repository"), value(parts, "image") or value(parts, "name")
        registry = value(parts, "registry")
        if repository is None or (isinstance(repository, Text) and not _IMAGE.fullmatch(repository)):
            repository, registry = (name, registry) if "tag" in parts else (None, None)
        elif "image" in parts and isinstance(name, Text):
            repository, registry = name, repository
        if repository is None or not any(key in parts for key in _PART_KEYS):
            return None
        return join_image(repository, self._tag(parts, repository.location), registry, value(parts, "digest"))

    def _tag(self, parts: Mapping, place: Location) -> Value:
        """The tag that is written, or the chart's; not known where neither is."""
        for key in _TAG_KEYS:
            if key in parts:
                written = value(parts, key)
                if isinstance(written, Unknown) or written:
                    return written
                return self._app_version if self._app_version is not None else Unknown("appVersion", place)
        return Unknown("tag", place)

    def _container(self, node: Mapping, key: Text | None, image: ImageRef | None, resources: tuple[GpuRequest, ...]) -> Container:
        site = Site(self._owner, self._kind, True, "main", "pod", node, (self._owner,))
        pod = replace(read_pod(site), name=self._name, open=ASPECTS)
        container = read_container(site, node, Role.MAIN, pod)
        env = container.env or tuple(_environment(node))
        by_class = runtime_request(pod.runtime_class)
        requests = (*resources, *((by_class,) if by_class else ()), *variable_requests(env))
        place = image.location if image else requests[0].location
        name = key if key is not None else self._name
        # What is not said here other values of the chart may say.
        return replace(
            container, name=name, location=place, image=image, env=env, requests=requests, compute=None, liveness=None, open=ASPECTS
        )


def _requests(node: Mapping) -> Iterator[GpuRequest]:
    """The GPU resources in the values of a mapping, under whatever keys."""
    for _, each, _ in node:
        if isinstance(each, Mapping):
            yield from resource_requests(each)


def _host_paths(root: Node) -> Iterator[Mount]:
    """The paths of the host in values, by whatever keys their chart mounts them: `hostPath: /dev/bus/usb`, `hostPath: {path: ...}`."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, (Mapping, Sequence)) or id(node) in seen:
            continue
        seen.add(id(node))
        waiting += [entry.value for entry in node] if isinstance(node, Mapping) else node.items
        path = node.get("hostPath") if isinstance(node, Mapping) else None
        source = value(path, "path") if isinstance(path, Mapping) else read(path)
        if source is not None:
            yield Mount(source, None, source.location)


def _environment(node: Mapping) -> Iterator[EnvVar]:
    """Variables written as a mapping."""
    return (EnvVar(key, read(each)) for key, each, _ in node.mapping("env"))
