"""A second process for half of what a large run has to look at.

The rules look at each node for itself, so the work splits by the files that the nodes stand in. A fork has all that was read and linked
before it, costs some milliseconds, and hands back what it found. Where there is one processor, or no fork that can be trusted, the run
stays in one process and finds the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn, TypeVar
from zlib import crc32

Found = TypeVar("Found")
Part = Callable[[str], bool]
"""Tells of each path whether it is among those to look at."""


def whole(_path: str) -> bool:
    """The part that leaves nothing out."""
    return True


def can_split() -> bool:
    """Whether a second process would have a processor of its own, and be a safe copy of this one: on macOS a fork may not be."""
    return sys.platform not in ("darwin", "win32") and hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1


def in_two(find: Callable[[Part], Found]) -> tuple[Found, Found]:
    """What `find` gives for each half of the paths, the same halves in every run. What it gives for the second comes from a fork of this
    process, so it must be something that pickle takes; where that process ends early, this one looks itself."""
    import pickle

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _hand_over(lambda: pickle.dumps(find(_second), pickle.HIGHEST_PROTOCOL), writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        first = find(_first)
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    return first, pickle.loads(data) if status == 0 else find(_second)


def _first(path: str) -> bool:
    return not _second(path)


def _second(path: str) -> bool:
    return crc32(os.fsencode(path)) % 2 == 1


def _hand_over(made: Callable[[], bytes], writer: int) -> NoReturn:
    """Write what is made into the pipe and end this process, with 0 if all of it was written: whoever forked it goes on elsewhere."""
    status = 1
    try:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(made())
        status = 0
    finally:
        os._exit(status)
