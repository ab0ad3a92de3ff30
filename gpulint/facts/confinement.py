"""What opens a container towards its host: confinements that are switched off, and the sockets of container engines."""

from __future__ import annotations

from gpulint.deferred import NamedTuple
from gpulint.facts import fullmatch, table


class SwitchedOff(NamedTuple):
    """A confinement that a security option switches off, and what follows, as a clause."""

    name: str
    means: str


def switched_off(option: str) -> SwitchedOff | None:
    """What a security option such as `seccomp=unconfined` switches off; None for one that does not."""
    rows = table("confinement")["options"]
    row = next((row for row in rows if fullmatch(row["pattern"], option.lower())), None)
    return SwitchedOff(row["off"], row["means"]) if row else None


def engine_of_socket(path: str) -> str | None:
    """The container engine that listens at a path of the host, "any" for a folder of several; None for any other path."""
    return next((str(row["engine"]) for row in table("confinement")["sockets"] if fullmatch(row["pattern"], path)), None)
