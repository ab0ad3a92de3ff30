"""Taints of nodes, and whether a pod's tolerations let it onto a node that has one."""

from __future__ import annotations

from collections.abc import Iterable

from gpulint.deferred import NamedTuple
from gpulint.model.container import Toleration
from gpulint.source import known

EXISTS = "Exists"
"""The operator of a toleration that takes any value."""


class Taint(NamedTuple):
    """A taint as a node has it; the value is "" where it has none."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


def parse_taint(written: str) -> Taint:
    """The taint that `key=value:Effect` or `key:Effect` writes."""
    name, _, effect = written.rpartition(":")
    key, _, value = name.partition("=")
    return Taint(key, value, effect)


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether one of the tolerations is for the taint. Raises UnknownValue where that cannot be known."""
    return any(_is_for(toleration, taint) and _takes(toleration, taint.value) for toleration in tolerations)


def names_taint(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration names the taint, whatever value it takes."""
    return _is_for(toleration, taint) and bool(known(toleration.key))


def takes_any_value(toleration: Toleration) -> bool:
    """Whether the toleration is for every value of its key."""
    return known(toleration.operator) == EXISTS


def taken_value(toleration: Toleration) -> str:
    """The one value that a toleration takes which does not take any: without a value that of a taint which has none."""
    return str(known(toleration.value) or "")


def _is_for(toleration: Toleration, taint: Taint) -> bool:
    """Whether key and effect fit: a toleration without a key is for every taint, one without an effect for every effect."""
    key, effect = known(toleration.key), known(toleration.effect)
    return (not key or key == taint.key) and (not effect or effect == taint.effect)


def _takes(toleration: Toleration, value: str) -> bool:
    if takes_any_value(toleration):
        return True
    return bool(known(toleration.key)) and taken_value(toleration) == value
