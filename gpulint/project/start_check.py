"""The check of the driver that an image asks for before its container starts, and what the files make of it."""

from __future__ import annotations

from gpulint.deferred import NamedTuple
from gpulint.facts.drivers import refuses_older_branches
from gpulint.facts.environment import START_CHECK, asks_of_driver, disables_start_check, driver_capabilities
from gpulint.model.container import Container
from gpulint.model.image import ImageRef
from gpulint.model.stage import Stage
from gpulint.model.variable import EnvVar
from gpulint.project import Project
from gpulint.project.environment import variable
from gpulint.source import Text, Unknown

CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"


class CheckChange(NamedTuple):
    """A variable that turns the check off, or, with `narrows`, one that refuses drivers which the image itself admits."""

    variable: EnvVar
    narrows: bool
    image: ImageRef | None


def change_of_stage(stage: Stage) -> CheckChange | None:
    """What the Dockerfile makes of the check; None where it leaves it alone, or where nothing in the image computes."""
    variables = [found for name in START_CHECK if (found := stage.variable(name)) is not None]
    return _change(variables, stage.chain()[-1].base, stage.variable(CAPABILITIES))


def change_of_container(container: Container, project: Project) -> CheckChange | None:
    """What the container's own file makes of the check of its image."""
    built = project.build_of(container)
    image = built.stage.chain()[-1].base if built is not None else container.image
    variables = [found for name in START_CHECK if (found := container.variable(name)) is not None]
    return _change(variables, image, variable(container, project, CAPABILITIES)) if variables else None


def _change(variables: list[EnvVar], image: ImageRef | None, capabilities: EnvVar | None) -> CheckChange | None:
    if not variables or not _may_check(image) or not _computes(capabilities):
        return None
    for each in variables:
        if isinstance(each.value, Text) and disables_start_check(each.name, each.value):
            return CheckChange(each, False, image)
        if isinstance(each.value, Text) and _narrows(each.value, image):
            return CheckChange(each, True, image)
    return None


def _may_check(image: ImageRef | None) -> bool:
    """Whether the image may ask anything of the driver: one without CUDA does not."""
    if image is None or isinstance(image.name, Unknown):
        return True
    facts = image.name_facts if isinstance(image.tag, Unknown) else image.facts
    if facts.carries_cuda is False or facts.minimal:
        return False
    return not isinstance(image.tag, Text) or asks_of_driver(image.repository, image.tag)


def _computes(capabilities: EnvVar | None) -> bool:
    """Whether CUDA is used at all: what only manages GPUs leaves the capability out."""
    value = capabilities.value if capabilities is not None else None
    return isinstance(value, Unknown) or "compute" in driver_capabilities(value)


def _narrows(requirement: Text, image: ImageRef | None) -> bool:
    if image is None or isinstance(image.name, Unknown) or isinstance(image.tag, Unknown):
        return False
    cuda = image.facts.cuda
    return cuda is not None and refuses_older_branches(cuda, requirement)
