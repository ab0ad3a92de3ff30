"""What sets up the GPUs of a cluster: charts of operators and device plugins, their settings, and the words that these take."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts import fullmatch, table, words

CONFIG = "config"
"""The form of a device plugin's configuration file. The other forms are those of charts' values."""


class KnownSetting(NamedTuple):
    """A setting that takes one of some words. `role` is what it decides: mig, list or id."""

    path: tuple[str, ...]
    role: str
    values: tuple[str, ...]


def chart_form(chart: str) -> str:
    """The form of a chart's values, by the name that `helm install` gives it; "" for a chart whose values are not known."""
    return next((str(row["form"]) for row in table("gpu_stack")["charts"] if fullmatch(row["pattern"], chart)), "")


def known_settings(form: str) -> Iterator[KnownSetting]:
    """The settings of a form that take one of some words."""
    rows = (row for row in table("gpu_stack")["settings"] if row["form"] == form)
    return (KnownSetting(tuple(row["path"]), row["role"], tuple(row["values"])) for row in rows)


def paths_of(kind: str, form: str) -> Iterator[tuple[str, ...]]:
    """The places of a form: `switches` that hide a fault where they say false, `sharing` of cards, `embedded` configurations."""
    return (tuple(row["path"]) for row in table("gpu_stack")[kind] if row["form"] == form)


def node_pool_kinds() -> frozenset[str]:
    """The kinds of objects that make nodes with a GPU and its driver."""
    return frozenset(kind for row in table("gpu_stack")["node_pools"] for kind in row["kinds"])


def chooses_driver(kind: str, key: str) -> bool:
    """Whether a key, anywhere in an object of that kind, says which driver its nodes get."""
    return any(kind in row["kinds"] and key in row["keys"] for row in table("gpu_stack")["node_pools"])


def anchors() -> tuple[bytes, ...]:
    """Bytes of which every file that sets up a part of the stack holds one, in lower case."""
    return tuple(word.encode() for word in sorted(words("gpu_stack", "anchors")))


def may_hold_config(document: str) -> bool:
    """Whether a ConfigMap may hold the configuration of a device plugin."""
    return any(word in document for word in words("gpu_stack", "config_words"))
