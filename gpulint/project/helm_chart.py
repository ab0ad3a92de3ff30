"""Charts as Helm loads them: Chart.yaml, default values, templates, and the charts that they depend on where these lie in the tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from posixpath import basename, dirname, join, normpath

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.facts.workloads import says_nothing_of_workloads
from gpulint.model.manifest import value
from gpulint.parse.go_template import TemplateError
from gpulint.parse.nodes import EMPTY_MAPPING, NOWHERE, Mapping, Scalar
from gpulint.project.helm_evaluator import Definition, Unit
from gpulint.project.helm_text import Traced, Undecided, literal, of_text
from gpulint.project.helm_values import Leaf, Map, Value, coalesced, from_node, put, to_json
from gpulint.project.tree import Tree
from gpulint.source import Location, Text, Unknown, as_written

MAX_DEPTH = 4
MAX_CHARTS = 50
MAX_TEMPLATES = 500
"""How far charts within charts are looked into, how many, and how many templates one may have."""

_TEMPLATES = (".yaml", ".yml", ".tpl", ".json")
_STRINGS = ("name", "version", "appVersion", "description", "kubeVersion", "home", "icon", "type", "apiVersion")


class Dependency(NamedTuple):
    """A chart below another: the key of its values there, and the paths of the values that turn it on or off. `chart` is None where it does
    not lie in the tree; `is_tagged` says that tags turn it on or off, and `imports` that its values go into those of the chart above."""

    key: str
    chart: HelmChart | None
    condition: str = ""
    is_tagged: bool = False
    imports: bool = False


class HelmChart:
    """A chart by its folder. `files` are those of itself alone."""

    def __init__(self, tree: Tree, path: str, root: Mapping, defaults: Mapping, dependencies: tuple[Dependency, ...]) -> None:
        self.path = path
        self.root = root
        self.defaults = defaults
        self.dependencies = dependencies
        self.folder = dirname(path)
        self._tree = tree

    @property
    def is_library(self) -> bool:
        kind = value(self.root, "type")
        return isinstance(kind, Text) and kind == "library"

    @cached_property
    def template_paths(self) -> tuple[str, ...]:
        prefix = join(self.folder, "templates/")
        own = (path for path in self._tree.all_paths if path.startswith(prefix) and path.endswith(_TEMPLATES))
        return tuple(sorted(own))[:MAX_TEMPLATES]

    @cached_property
    def units(self) -> dict[str, Unit]:
        """Its templates and helpers, but for those that are no Go template."""
        found: dict[str, Unit] = {}
        for path in self.template_paths:
            source = self._tree.source(path)
            try:
                if source is not None:
                    found[path] = Unit(source)
            except TemplateError:
                continue
        return found

    def all_charts(self) -> Iterator[HelmChart]:
        """Itself and the charts below it, the deepest first."""
        for dependency in self.dependencies:
            if dependency.chart is not None:
                yield from dependency.chart.all_charts()
        yield self

    @property
    def is_readable(self) -> bool:
        """Whether every template of it and below it is one: the others may define anything."""
        return all(chart.units.keys() == set(chart.template_paths) for chart in self.all_charts())

    def definitions(self) -> dict[str, Definition]:
        """The named templates of it and of the charts below it, its own last, since they win."""
        found: dict[str, Definition] = {}
        for chart in self.all_charts():
            for unit in chart.units.values():
                found.update((name, Definition(nodes, unit)) for name, nodes in unit.template.defined.items())
        return found

    def workload_units(self) -> Iterator[tuple[str, Unit]]:
        """The templates that may write a workload, by their kinds."""
        for path, unit in self.units.items():
            if not basename(path).startswith("_") and not path.endswith(".tpl") and _may_write_workload(unit.source.text):
                yield path, unit

    def description(self) -> Map:
        """What templates read of it as `.Chart`."""
        found = Map(location=Location(self.path, 1, 1, 1, 1))
        for key in _STRINGS:
            put(found, key[0].upper() + key[1:], _as_string(self.root.get(key)))
        annotations = from_node(self.root.get("annotations"))
        put(found, "Annotations", annotations if isinstance(annotations, Map) else Map())
        put(found, "Keywords", from_node(self.root.get("keywords")))
        put(found, "Dependencies", Unknown(".Chart.Dependencies", Location(self.path, 1, 1, 1, 1)))
        put(found, "IsRoot", Unknown(".Chart.IsRoot", Location(self.path, 1, 1, 1, 1)))
        return found


def _as_string(node: object) -> Value:
    """A field of Chart.yaml, which is always a string: Helm reads `1.10` as the number first."""
    if not isinstance(node, Scalar):
        return node if isinstance(node, Unknown) else literal("")
    found = from_node(node)
    if isinstance(found, Leaf):
        try:
            text = to_json(found).known()
        except Undecided:
            return Unknown(str(node), node.location)
        return of_text(node) if text == node else literal(text, node.location)
    return found if isinstance(found, (Traced, Unknown)) else literal("")


def _may_write_workload(text: str) -> bool:
    """Whether a template names a kind that may start containers, or has one named by a value."""
    kinds = [line.partition(":")[2].strip().strip("\"'") for line in text.splitlines() if line.startswith("kind:")]
    return not kinds or any("{" in kind or not says_nothing_of_workloads(kind) for kind in kinds)


# --- Loading --------------------------------------------------------------------------------------------------------------------------


class Charts:
    """The charts of a tree, each loaded once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._loaded: dict[str, HelmChart | None] = {}
        self.paths = {dirname(path): path for path in tree.paths(Kind.CHART)}

    def outermost(self) -> Iterator[str]:
        """The paths of the charts that stand in the `charts` folder of no other."""
        for folder, path in self.paths.items():
            above = dirname(folder)
            if not (basename(above) == "charts" and dirname(above) in self.paths):
                yield path

    def load(self, path: str) -> HelmChart | None:
        """The chart of a Chart.yaml with what it depends on; None where it cannot be read."""
        if path not in self._loaded:
            self._loaded[path] = self._load(path, 0, [MAX_CHARTS])
        return self._loaded[path]

    def _load(self, path: str, depth: int, left: list[int]) -> HelmChart | None:
        left[0] -= 1
        root, defaults = self.mapping(path), self.mapping(join(dirname(path), "values.yaml"))
        if root is None or defaults is None or depth > MAX_DEPTH or left[0] < 0:
            return None
        written = self._written_dependencies(path, root)
        vendored = dict(self._vendored(dirname(path)))
        found, named = [], set()
        for entry in written:
            place = self._place(path, entry, vendored)
            named.add(place)
            found.append(_dependency(entry, self._load(place, depth + 1, left) if place else None))
        for name, place in vendored.items():
            if place not in named:
                found.append(Dependency(name, self._load(place, depth + 1, left)))
        return HelmChart(self._tree, path, root, defaults, tuple(found))

    def mapping(self, path: str) -> Mapping | None:
        """The mapping that a file holds, an empty one where there is no such file; None where it cannot be read."""
        syntax = self._tree.yaml(path)
        if syntax is None:
            return None if path in self._tree else EMPTY_MAPPING
        if syntax.problems or any(document.template for document in syntax.documents):
            return None
        root = syntax.documents[0].root if syntax.documents else EMPTY_MAPPING
        return root if isinstance(root, Mapping) else EMPTY_MAPPING

    def _written_dependencies(self, path: str, root: Mapping) -> list[Mapping]:
        """The dependencies that Chart.yaml names, or requirements.yaml beside it as older charts have it."""
        older = self.mapping(join(dirname(path), "requirements.yaml")) or EMPTY_MAPPING
        return [*root.sequence("dependencies").mappings(), *older.sequence("dependencies").mappings()]

    def _vendored(self, folder: str) -> Iterator[tuple[str, str]]:
        """The charts in the `charts` folder, by their names."""
        for inner, path in self.paths.items():
            if dirname(inner) == join(folder, "charts"):
                root = self.mapping(path)
                name = value(root, "name") if root else None
                yield (str(name) if isinstance(name, Text) else basename(inner)), path

    def _place(self, path: str, entry: Mapping, vendored: dict[str, str]) -> str | None:
        """The Chart.yaml of a dependency: in the `charts` folder, or where a `file://` repository says."""
        name, repository = value(entry, "name"), value(entry, "repository")
        if isinstance(name, Text) and str(name) in vendored:
            return vendored[str(name)]
        if isinstance(repository, Text) and repository.startswith("file://"):
            return self.paths.get(normpath(join(dirname(path), repository.removeprefix("file://"))))
        return None


def _dependency(entry: Mapping, chart: HelmChart | None) -> Dependency:
    name, condition = value(entry, "alias") or value(entry, "name"), value(entry, "condition")
    is_unclear = "tags" in entry or isinstance(condition, Unknown)
    return Dependency(
        as_written(name or Text("", NOWHERE)), chart, as_written(condition or Text("", NOWHERE)), is_unclear, "import-values" in entry
    )


# --- Values ---------------------------------------------------------------------------------------------------------------------------


class Install(NamedTuple):
    """A chart with the values that it is rendered with, and those of the charts below it that are turned on for sure. `chart` is None where
    it does not lie in the tree."""

    chart: HelmChart | None
    values: Map
    below: tuple[Install, ...]


def install(chart: HelmChart, given: Map) -> Install:
    """A chart with the given values over its defaults. Those of a chart below it that is turned off are not among them, though its own
    defaults may say so."""
    defaults = from_node(chart.defaults, is_default=True)
    assert isinstance(defaults, Map)
    values = coalesced(given, defaults)
    installs = [(dependency, _install_below(dependency, values)) for dependency in chart.dependencies]
    complete = Map(values.items(), values.location, values.open)
    complete.update((dependency.key, inner.values) for dependency, inner in installs)
    found: list[Install] = []
    for dependency, inner in installs:
        is_on = _is_on(dependency, complete)
        if is_on is not False:
            put(values, dependency.key, inner.values, values.names.get(dependency.key))
            values.open = values.open or dependency.imports
        if is_on and dependency.chart is not None:
            found.append(inner)
    return Install(chart, values, tuple(found))


def _install_below(dependency: Dependency, above: Map) -> Install:
    own = above.get(dependency.key)
    given = _with_globals(own if isinstance(own, Map) else Map(), above)
    if dependency.chart is not None:
        return install(dependency.chart, given)
    return Install(None, Map(given.items(), given.location, open=True), ())


def _with_globals(own: Map, above: Map) -> Map:
    """The values for a chart below, with the `global` ones of the chart above it."""
    shared = above.get("global")
    if isinstance(shared, Map):
        below = own.get("global")
        found = Map(own.items(), own.location, own.open)
        found.names, found.is_default = dict(own.names), own.is_default
        put(found, "global", coalesced(shared, below) if isinstance(below, Map) else shared)
        return found
    return own


def _is_on(dependency: Dependency, values: Map) -> bool | None:
    """Whether the values turn a dependency on, as the first of its conditions that names one says; None where that is not known."""
    if dependency.is_tagged:
        return None
    for path in filter(None, dependency.condition.strip().split(",")):
        found: Value = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, Map) else None
        if isinstance(found, Unknown):
            return None
        if isinstance(found, Leaf) and isinstance(found.data, bool):
            return found.data
    return True


def root_context(chart: HelmChart, values: Map) -> Map:
    """What the templates of a chart see as `$`. What only an installation knows is Unknown."""
    place = Location(chart.path, 1, 1, 1, 1)
    release = Map({"Service": literal("Helm")}.items(), place)
    for key in ("Name", "Namespace", "Revision", "IsInstall", "IsUpgrade"):
        release[key] = Unknown(f".Release.{key}", place)
    found = Map((("Values", values), ("Chart", chart.description()), ("Release", release)), place)
    for key in ("Capabilities", "Files", "Template", "Subcharts"):
        found[key] = Unknown(f".{key}", place)
    return found
