"""daemon.json: how the Docker engine of a machine is set up, where a repository keeps that."""

from __future__ import annotations

from gpulint.deferred import NamedTuple
from gpulint.parse.nodes import Mapping, Scalar
from gpulint.parse.yaml import YamlSyntax
from gpulint.source import Location, Text


class EngineConfig(NamedTuple):
    """The settings of a Docker engine: the runtime of containers that name none, and the names of the runtimes that there are."""

    location: Location
    default_runtime: Text | None
    runtimes: tuple[Text, ...]


def read_engine_config(syntax: YamlSyntax) -> EngineConfig | None:
    """The settings in a daemon.json; None where it holds none."""
    root = next((document.root for document in syntax.documents if isinstance(document.root, Mapping)), None)
    if root is None:
        return None
    default = root.scalar("default-runtime")
    return EngineConfig(
        root.location, default if isinstance(default, Scalar) else None, tuple(entry.key for entry in root.mapping("runtimes"))
    )
