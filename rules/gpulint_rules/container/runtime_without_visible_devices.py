"""GPU206: the nvidia runtime is chosen, and nothing tells it which GPUs to give."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, RequestKind
from gpulint.project import Project
from gpulint.project.environment import sets_visible_devices
from gpulint.rule import Impact, Problem, Related, Rule, Severity

NVIDIA = "NVIDIA_VISIBLE_DEVICES"


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where the runtime is all that is asked for, and neither the container nor its image sets the variable that it reads."""
    runtime = next((each for each in container.requests if each.kind is RequestKind.RUNTIME and each.vendor == "nvidia"), None)
    others = [each for each in container.requests if each.kind not in (RequestKind.RUNTIME, RequestKind.RAW_DEVICE)]
    if runtime is None or others or container.is_in_pod or container.open & {"env", "gpu"}:
        return
    if container.variable(NVIDIA) is None and sets_visible_devices(container, project) is False:
        message = f"the nvidia runtime gives the GPUs that {NVIDIA} names, and neither the container nor its image sets it: no GPU is given"
        help_line = f"set {NVIDIA}=all, or ask for the GPU itself: a device reservation in Compose, --gpus on the command line"
        yield Problem(runtime.location, message, Severity.ERROR, help=help_line, related=tuple(_image(container, project)))


def _image(container: Container, project: Project) -> Iterator[Related]:
    """Where the image is named that does not set the variable."""
    built = project.build_of(container)
    if built is not None:
        yield Related(built.stage.chain()[-1].from_location, f"the image is built here, and its base does not set {NVIDIA}")
    elif container.image is not None:
        yield Related(container.image.location, f"the image {container.image.shown} does not set {NVIDIA}")


RULE = Rule("GPU206", "runtime-without-visible-devices", Container, (Severity.ERROR,), Impact.CPU_FALLBACK, check)
