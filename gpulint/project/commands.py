"""What the scripts, Makefiles and CI files of a tree build and start."""

from __future__ import annotations

from typing import NamedTuple

from gpulint.model.container import Container


class CommandLines(NamedTuple):
    """The containers that commands start, the images that they build, and the lists of Compose files that they run together."""

    containers: tuple[Container, ...] = ()
    builds: tuple[object, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()


def read_command_lines(tree, paths):  # type: ignore
    return CommandLines()
