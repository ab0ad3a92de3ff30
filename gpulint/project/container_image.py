"""What is known of the image that a container runs: by its name, or by the base of the Dockerfile that builds it here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpulint.deferred import regex
from gpulint.project import Project
from gpulint.source import Text, Unknown

if TYPE_CHECKING:
    from gpulint.facts.images import ImageFacts
    from gpulint.model.container import Container
    from gpulint.model.image import ImageRef

_BOARDS = regex(r"jetson|jetpack|l4t|tegra|(?:^|[-_/.])(?:orin|xavier|tx2)(?:[-_/.]|$)", re.IGNORECASE)


def base_of(container: Container, project: Project) -> ImageRef | None:
    """The image that the container's own stands on: the base of the Dockerfile that builds it here, else the image itself; None where that
    is not known."""
    built = project.build_of(container)
    image = built.stage.chain()[-1].base if built else None if container.build is not None else container.image
    return None if image is None or isinstance(image.name, Unknown) or isinstance(image.tag, Unknown) else image


def facts_of(container: Container, project: Project) -> ImageFacts | None:
    """The facts of that image; None where it is not known."""
    image = base_of(container, project)
    return image.facts if image is not None else None


def runs_on_jetson(container: Container, project: Project) -> bool:
    """Whether the container is one for Jetson boards, by its image, its name, or that of its file or folder."""
    facts = facts_of(container, project)
    image = container.image.name if container.image is not None else None
    names = [str(name) for name in (container.name, image) if isinstance(name, Text)]
    return (facts is not None and facts.vendor == "jetson") or any(map(_BOARDS.search, (*names, container.location.path)))
