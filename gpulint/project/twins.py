"""Twins: containers that run the same image or build, of which one may be the CPU or GPU form of the other."""

from __future__ import annotations

from gpulint.model.container import Build, Container
from gpulint.source import Unknown, Value

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
