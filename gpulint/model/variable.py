"""A variable of an environment, as a Dockerfile, a container or a file of variables sets it."""

from __future__ import annotations

from gpulint.deferred import NamedTuple
from gpulint.source import Text, Value


class EnvVar(NamedTuple):
    """A variable of the environment; the value is None where only the name is given (taken from a secret, a field or the host)."""

    name: Text
    value: Value | None
