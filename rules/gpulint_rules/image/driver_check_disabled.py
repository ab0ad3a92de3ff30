"""GPU119: the check of the driver at the container's start is turned off, or refuses drivers that the image runs on."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import CI_CONTEXTS, is_gpu_container, is_infrastructure
from gpulint.model.container import Container
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.stages import is_build_only, is_infrastructure_image, ships
from gpulint.project.start_check import CheckChange, change_of_container, change_of_stage
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import as_written


def check(node: Stage | Container, project: Project) -> Iterator[Problem]:
    """A warning at the variable, in an image that ships or on a container with a GPU."""
    if isinstance(node, Container):
        if not is_infrastructure(node) and not _is_in_ci(node) and is_gpu_container(node, project):
            yield from _problem(change_of_container(node, project))
    elif ships(node, project) and not is_build_only(node) and not is_infrastructure_image(node, project):
        yield from _problem(change_of_stage(node))


def _is_in_ci(container: Container) -> bool:
    """Whether a CI job runs the container, on machines of which its own file tells nothing."""
    return container.is_ci_job or (container.command is not None and container.command.context in CI_CONTEXTS)


def _problem(change: CheckChange | None) -> Iterator[Problem]:
    if change is None:
        return
    name, value = change.variable
    shown = f"{name}={as_written(value)}" if value is not None else str(name)
    image = change.image.shown if change.image is not None else "the image"
    if change.narrows:
        message = f"{shown} drops the driver branches that {image} itself admits, so that hosts which can run it refuse to"
        instead = "remove it: the value of the image fits its CUDA"
    else:
        message = f"{shown} lets {image} start on any driver; where its CUDA does not run on that, the program fails or uses the CPU"
        instead = "remove it, and take an image for the CUDA that the hosts' driver has"
    yield Problem(name.location, message, Severity.WARNING, help=instead)


RULE = Rule("GPU119", "driver-check-disabled", (Stage, Container), (Severity.WARNING,), Impact.CPU_FALLBACK, check)
