"""Twins: containers that run the same image or build, of which one may be the CPU or GPU form of the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpulint.facts.images import cpu_word, gpu_word
from gpulint.source import Text, Unknown, Value

if TYPE_CHECKING:
    from gpulint.model.container import Build, Container

Key = tuple[str | None, ...]


def twin_key(container: Container) -> Key | None:
    """What containers have in common that run the same build, or the same image with the same tag; None where a part of it is not known."""
    if container.build:
        return _build_key(container.build)
    image = container.image
    return _known(image.name, image.tag, image.digest) if image else None


def _build_key(build: Build) -> Key | None:
    key = _known(build.context, build.dockerfile, build.target, build.inline)
    return None if key is None else (build.location.path.rpartition("/")[0], *key)


def _known(*parts: Value | None) -> Key | None:
    if any(isinstance(part, Unknown) for part in parts):
        return None
    return tuple(None if part is None else str(part) for part in parts)


def is_beside(left: Container, right: Container) -> bool:
    """Whether two containers may be forms of one: under the same name but for words of a device (`asr-gpu`, `asr-cpu`, `asr`), and of the
    same image or build, or of files in one folder."""
    names = [bare_name(each.name) if isinstance(each.name, Text) else None for each in (left, right)]
    if left is right or names[0] is None or names[0] != names[1]:
        return False
    key = twin_key(left)
    return _folder(left) == _folder(right) or (key is not None and key == twin_key(right))


def bare_name(name: str) -> str:
    """A name without the words that say which device it is for."""
    parts = re.split(r"[-_.]", name)
    return "-".join(part for part in parts if not (gpu_word(part) or cpu_word(part))) or name


def _folder(container: Container) -> str:
    return container.location.path.rpartition("/")[0]
