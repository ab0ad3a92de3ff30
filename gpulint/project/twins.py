"""Twins: containers that run the same image or build, of which one may be the CPU or GPU form of the other."""

from __future__ import annotations

import re

from gpulint.facts.images import cpu_word, gpu_word
from gpulint.model.container import Build, Container
from gpulint.source import Text, Value


def runs_the_same(left: Container, right: Container) -> bool:
    """Whether two containers run the same build, or the same image with the same tag. What is not known is the same as nothing."""
    if left.build and right.build:
        return _build_key(left.build) is not None and _build_key(left.build) == _build_key(right.build)
    if not (left.image and right.image):
        return False
    mine = (left.image.name, left.image.tag, left.image.digest)
    other = (right.image.name, right.image.tag, right.image.digest)
    return all(map(_same, mine, other))


def _same(left: Value | None, right: Value | None) -> bool:
    if left is None or right is None:
        return left is right
    return isinstance(left, Text) and isinstance(right, Text) and left == right


def _build_key(build: Build) -> tuple[str, ...] | None:
    """What tells one build from another; None where a part of it is not known."""
    parts = (build.context, build.dockerfile, build.target, build.inline)
    if not all(part is None or isinstance(part, Text) for part in parts):
        return None
    folder = build.location.path.rpartition("/")[0]
    return (folder, *("" if part is None else str(part) for part in parts))


def bare_name(name: str) -> str:
    """A service's or container's name without the words that say which device it is for: `asr-gpu`, `asr-cpu` and `asr` are twins."""
    parts = re.split(r"[-_.]", name)
    return "-".join(part for part in parts if not (gpu_word(part) or cpu_word(part))) or name
