"""The environment in which a container's program starts: what the container sets, over what its image does."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gpulint.model.script import read_script
from gpulint.model.variable import EnvVar
from gpulint.project import Project

if TYPE_CHECKING:
    from gpulint.model.container import Container
    from gpulint.parse.shell import Script
    from gpulint.source import Value


def variable(container: Container, project: Project, name: str) -> EnvVar | None:
    """The variable of that name: the container's own, else the one that the Dockerfile of its image sets.

    None where neither sets it, and where a file that was not read may set what the image says otherwise.
    """
    own = container.variable(name)
    if own is not None:
        return own
    built = project.build_of(container)
    return built.stage.variable(name) if built and "env" not in container.open else None


def sets_visible_devices(container: Container, project: Project) -> bool | None:
    """Whether the container's image sets NVIDIA_VISIBLE_DEVICES, or CUDA_VERSION, for which the runtime takes it to; None where that is not
    known."""
    built = project.build_of(container)
    if built is None:
        image = container.image if container.build is None else None
        return image.facts.sets_visible_devices if image is not None else None
    if any(built.stage.variable(each) is not None for each in ("NVIDIA_VISIBLE_DEVICES", "CUDA_VERSION")):
        return True
    base = built.stage.chain()[-1].base
    return base.facts.sets_visible_devices if base is not None else None


def user_of(container: Container, project: Project) -> Value | None:
    """Whom the container's process runs as: by its own words, else by the Dockerfile that builds its image here."""
    built = project.build_of(container)
    return container.user if container.user is not None or built is None else built.stage.user


@lru_cache(maxsize=10_000)
def entry_scripts(container: Container, project: Project) -> tuple[Script, ...]:
    """The scripts of this repository that start the container's program."""
    variables = {str(each.name): each.value for each in container.env if each.value is not None}
    sources = filter(None, map(project.tree.source, project.start_of(container).scripts))
    return tuple(read_script(source.cut(0, len(source.text)), variables) for source in sources)
