"""GPU126: the image chooses the GPUs of every container that is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from gpulint.model.container import Container
from gpulint.model.grant import asks_for_all, granted
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.stages import is_build_only, is_infrastructure_image, ships
from gpulint.project.visible_devices import CUDA, hiding
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A note at ENV CUDA_VISIBLE_DEVICES with indices, a warning where a container here is given more GPUs than it names."""
    variable = stage.variable(CUDA)
    if variable is None or not isinstance(variable.value, Text) or hiding(variable.value, None) is not None:
        return
    if not ships(stage, project) or is_build_only(stage) or is_infrastructure_image(stage, project):
        return
    containers = [each for each in project.containers_of(stage) if each.variable(CUDA) is None and "env" not in each.open]
    if any(hiding(variable.value, granted(container)) for container in containers):
        return
    shown, count = f"{CUDA}={variable.value}", len(list(takewhile(lambda entry: entry != "-1", variable.value.split(","))))
    larger = next((each for each in containers if (_given(each, project) or 0) > count), None)
    instead = "leave the choice to who runs the image: --gpus, device_ids, or the limit of the pod"
    if larger is None:
        message = f"{shown} in the image hides all other GPUs from whoever runs it"
        yield Problem(variable.name.location, message, Severity.NOTE, help=instead)
        return
    message = f"{shown} in the image leaves {count} of the {_given(larger, project)} GPUs that its container is given"
    related = tuple(Related(request.location, "they are asked for here") for request in larger.requests[:1])
    yield Problem(variable.name.location, message, Severity.WARNING, help=instead, related=related)


def _given(container: Container, project: Project) -> int | None:
    """How many GPUs the container gets: as many as it asks for, or all that the user says its machines have."""
    return project.machines_of(container).gpus_per_node if asks_for_all(container) else granted(container)


RULE = Rule("GPU126", "visible-devices-baked-in", Stage, (Severity.WARNING, Severity.NOTE), Impact.WRONG_GPU, check)
