"""The containers that charts render: for their default values, for each further values file that lies with a chart, and for each release of
it in the tree.

An aspect that a value which is empty or off by default may supply is open, since who installs the chart is to say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import inf
from posixpath import dirname

from gpulint.deferred import regex
from gpulint.discover import Kind
from gpulint.model.container import Container, Pod
from gpulint.model.kubernetes import read_containers
from gpulint.model.unrendered import undecided_aspects
from gpulint.model.workload import objects
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import Document
from gpulint.project.helm_chart import Charts, HelmChart, Install, install, root_context
from gpulint.project.helm_evaluator import Budget, Evaluator, Unit
from gpulint.project.helm_functions import RenderFailed
from gpulint.project.helm_placement import Rendering, parse_traced
from gpulint.project.helm_releases import releases_of_tree
from gpulint.project.helm_text import Part, Traced, Undecided
from gpulint.project.helm_values import Map, from_node
from gpulint.project.tree import Tree
from gpulint.source import Location

MAX_VALUES_FILES = 20
"""How many values files of one chart are tried, beside its defaults."""

_KNOBS = (
    ("gpu", regex(r"resource|limits|gpu|accelerator|claims", 2)),
    ("shm", regex(r"volume|shm|hostIPC|memory", 2)),
    ("env", regex(r"\benv|environment|extraEnv", 2)),
    ("command", regex(r"\bcommand|\bargs|extraArgs", 2)),
)
"""What a branch of a template may be for, by the words in it. Placement is not among it: who declares what the machines ask for wants to
hear of a chart that leaves it out."""

_TOLERATIONS = regex(r"^\s*tolerations:", 8)


def rendered_containers(tree: Tree, matters: Callable[[str], bool]) -> Iterator[Container]:
    """The containers of what the charts of a tree render, where one of their files matters."""
    charts, budget = Charts(tree), Budget()
    releases = tuple(releases_of_tree(tree, charts))
    for path in charts.outermost():
        own = [release for release in releases if release.chart == path]
        if _matters(tree, dirname(path), matters) or any(matters(release.path) for release in own):
            chart = charts.load(path)
            if chart is not None and not chart.is_library and chart.is_readable:
                given = (*given_values(tree, charts, chart), *(release.given for release in own))
                yield from _of_chart(tree, chart, given, budget)


def _matters(tree: Tree, folder: str, matters: Callable[[str], bool]) -> bool:
    """Whether a values file or template of a chart or of one below it matters."""
    prefix = f"{folder}/" if folder else ""
    return any(path.startswith(prefix) and matters(path) for path in tree.paths(Kind.VALUES, Kind.TEMPLATE))


def _of_chart(tree: Tree, chart: HelmChart, values: Iterable[Map], budget: Budget) -> Iterator[Container]:
    reader, seen = _Reader(frozenset(tree.paths(Kind.VALUES, Kind.MANIFEST))), set()
    for given in values:
        for path, text in rendered_texts(chart, given, budget):
            written = "".join(part.text for part in text.parts)
            rendering = None if (path, written) in seen else _parsed(text, path)
            seen.add((path, written))
            if rendering is not None:
                tree.rendered.add(path)
                yield from reader.containers(rendering)


def given_values(tree: Tree, charts: Charts, chart: HelmChart) -> Iterator[Map]:
    """What is given beside the defaults: nothing, and each further values file of the chart."""
    yield Map()
    folders = (chart.folder, f"{chart.folder}/ci".lstrip("/"))
    paths = [path for path in tree.paths(Kind.VALUES) if dirname(path) in folders and path != f"{chart.folder}/values.yaml".lstrip("/")]
    for path in paths[:MAX_VALUES_FILES]:
        root = charts.mapping(path)
        given = from_node(root, is_default=True) if root is not None else None
        if isinstance(given, Map):
            yield given


def rendered_texts(chart: HelmChart, given: Map, budget: Budget) -> list[tuple[str, Traced]]:
    """What the templates of a chart and of those below it write, each with its path; nothing where the chart refuses these values."""
    try:
        evaluator = Evaluator(chart.definitions(), budget)
        return list(_of_install(install(chart, given), evaluator))
    except (RenderFailed, Undecided, RecursionError):
        return []


def _of_install(installed: Install, evaluator: Evaluator) -> Iterator[tuple[str, Traced]]:
    chart = installed.chart
    context = Map() if chart is None else root_context(chart, installed.values)
    for path, unit in () if chart is None else chart.workload_units():
        text = _text(unit, context, evaluator)
        if text is not None:
            yield path, text
    for below in installed.below:
        yield from _of_install(below, evaluator)


def _text(unit: Unit, context: Map, evaluator: Evaluator) -> Traced | None:
    try:
        return evaluator.render(unit, context)
    except Undecided:
        return None


def _parsed(text: Traced, path: str) -> Rendering | None:
    try:
        return parse_traced(text, path)
    except Undecided:
        return None


# --- Containers -----------------------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the containers of rendered texts. `values` are the files that values come from."""

    def __init__(self, values: frozenset[str]) -> None:
        self._values = values

    def containers(self, rendering: Rendering) -> Iterator[Container]:
        """The containers in a rendered text."""
        for document, left_out in _with_left_out(rendering):
            for owner in objects(document.root):
                yield from self._of_object(owner, left_out)

    def _of_object(self, owner: Mapping, left_out: list[Part]) -> Iterator[Container]:
        aspects = undecided_aspects(owner, self._is_left_empty)
        knobs = frozenset(aspect for aspect, pattern in _KNOBS if any(pattern.search(part.text) for part in left_out))
        tolerations = next((part.location for part in left_out if part.location and _TOLERATIONS.search(part.text)), None)
        pods: dict[int, Pod] = {}
        for container in read_containers(owner):
            own = knobs | aspects.get(container.location, frozenset())
            pod = container.pod
            if pod is not None:
                pod = pods.setdefault(id(pod), _judged_pod(pod, own, tolerations))
            compute = None if "gpu" in own else container.compute
            yield replace(container, pod=pod, open=container.open | own, compute=compute)

    def _is_left_empty(self, node: Node) -> bool:
        """Whether a value is empty that a values file is to fill."""
        if isinstance(node, (Mapping, Sequence)):
            return len(node) == 0 and node.location.path in self._values
        return isinstance(node, Scalar) and node.is_null


def _with_left_out(rendering: Rendering) -> Iterator[tuple[Document, list[Part]]]:
    """The documents of a rendered text, each with the branches that the values leave out of it."""
    begins = [document.location.line for document in rendering.documents[1:]]
    for document, first, behind in zip(rendering.documents, (0, *begins), (*begins, inf), strict=False):
        yield document, [part for line, part in rendering.left_out if first <= line < behind]


def _judged_pod(pod: Pod, own: frozenset[str], tolerations: Location | None) -> Pod:
    return replace(pod, open=pod.open | own, tolerations_location=pod.tolerations_location or tolerations)
