"""The GPU stack of a cluster as files set it up: the settings of an operator or device plugin, and whose version is left to chance."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple, dataclass
from gpulint.facts.gpu_stack import KnownSetting, chooses_driver, known_settings, paths_of
from gpulint.model.manifest import flag, read, value
from gpulint.parse.boolean import kubernetes_boolean
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.source import Location, Text, Value

_OPERATOR = "operator"
_LATEST = "latest"
_MODES = {"true": True, "false": False}


class StackSetting(NamedTuple):
    """A setting that takes one of some words, and the word that it is given."""

    known: KnownSetting
    value: Text


@dataclass(frozen=True, eq=False)
class StackPart:
    """An operator or a device plugin as one file or command sets it up.

    `form` is that of its settings in the facts. `hides_faults` are the places where a switch that makes faults known is off, `shares`
    whether one card is given to several containers. `open_driver` is where a driver is installed without a version, `open_chart` the
    chart that is installed without one; None where neither is so, or it cannot be known. `latest_drivers` are the places where nodes get
    the newest driver.
    """

    form: str
    location: Location
    settings: tuple[StackSetting, ...] = ()
    hides_faults: tuple[Text, ...] = ()
    shares: bool = False
    open_driver: Location | None = None
    open_chart: Text | None = None
    latest_drivers: tuple[Location, ...] = ()


def read_part(form: str, root: Mapping, chart: Text | None = None) -> StackPart:
    """The part that values of a chart set up, or the configuration file of a device plugin. `chart` is one that has no version."""
    return StackPart(
        form,
        root.location,
        tuple(_settings(form, root)),
        tuple(found for path in paths_of("switches", form) if (found := _off(root, path)) is not None),
        any(root.get(*path) is not None for path in paths_of("sharing", form)),
        _open_driver(root) if form == _OPERATOR else None,
        chart,
    )


def read_node_pool(kind: str, root: Mapping) -> StackPart:
    """The part that an object sets up which makes nodes: their drivers."""
    return StackPart("nodes", root.location, latest_drivers=tuple(_latest_drivers(kind, root)))


def _latest_drivers(kind: str, root: Mapping) -> Iterator[Location]:
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Sequence):
            waiting += reversed(node.items)
        elif isinstance(node, Mapping):
            waiting += reversed([value for _, value, _ in node])
            for key, found, _ in node:
                if chooses_driver(kind, key) and isinstance(found, Scalar) and found.lower() == _LATEST:
                    yield key.location.to(found.location)


def looks_like_config(root: Node) -> bool:
    """Whether a mapping is the configuration file of a device plugin: by its version and one of its parts."""
    return isinstance(root, Mapping) and "version" in root and any(key in root for key in ("flags", "sharing"))


def read_assignments(form: str, settings: dict[str, Text], chart: Text | None, location: Location) -> StackPart:
    """The part that a helm command sets up by `--set a.b=c`, of which `settings` are the keys and values."""
    found = tuple(
        StackSetting(each, word)
        for each in known_settings(form)
        if (written := settings.get(".".join(each.path))) is not None
        for word in _words(written)
    )
    switches = (settings.get(".".join(path)) for path in paths_of("switches", form))
    off = tuple(each for each in switches if each is not None and _MODES.get(each.lower()) is False)
    return StackPart(form, location, found, off, open_chart=chart)


def _settings(form: str, root: Mapping) -> Iterator[StackSetting]:
    for known in known_settings(form):
        node = root.get(*known.path)
        for item in node.items if isinstance(node, Sequence) else (node,):
            found = read(item)
            if isinstance(found, Text):
                yield from (StackSetting(known, word) for word in _words(found))


def _words(written: Text) -> Iterator[Text]:
    """The words of a value that may be a list in one text."""
    start = 0
    for part in written.split(","):
        blanks = len(part) - len(part.lstrip())
        if part.strip():
            yield written.cut(start + blanks, start + len(part.rstrip()))
        start += len(part) + 1


def _off(root: Mapping, path: tuple[str, ...]) -> Text | None:
    found = root.get(*path)
    is_off = isinstance(found, Scalar) and not found.is_null and not kubernetes_boolean(found) and found.lower() in _MODES
    return found if is_off and isinstance(found, Scalar) else None


def _open_driver(root: Mapping) -> Location | None:
    """The driver's settings where it is switched on and no version is written; what chooses it by node is a resource of its own."""
    entry = root.entry("driver")
    by_resource = flag(root, "driver", "nvidiaDriverCRD", "enabled")
    if entry is None or flag(root, "driver", "enabled") is None or by_resource is not None:
        return None
    version: Value | None = value(root, "driver", "version")
    return entry.key.location if version is None or (isinstance(version, Text) and not version) else None
