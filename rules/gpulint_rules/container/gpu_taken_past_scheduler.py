"""GPU205: a container takes GPUs by a variable of the runtime, past who hands them out."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.facts.requests import names_no_device
from gpulint.model.container import Container, Dialect, GpuRequest, RequestKind
from gpulint.model.variable import EnvVar
from gpulint.project import Project
from gpulint.project.environment import sets_visible_devices
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text

NVIDIA = "NVIDIA_VISIBLE_DEVICES"
HELP = {
    Dialect.COMPOSE: "add a device reservation",
    Dialect.RUN: "add --gpus",
    Dialect.QUADLET: "add AddDevice=nvidia.com/gpu=all",
    Dialect.LIBRARY: "pass device_requests",
}
HANDED_OUT = frozenset({RequestKind.LIMIT, RequestKind.CLAIM, RequestKind.PRODUCT, RequestKind.CDI})
"""The requests in a pod that the scheduler or the cluster's own controllers answer."""


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where the variable names GPUs that nobody hands out, or stands beside a limit, or does nothing for want of a request."""
    if is_infrastructure(container):
        return
    variable = _names_gpus(container)
    if container.is_in_pod:
        yield from _in_pod(container, variable, project)
    elif variable is not None and "gpu" not in container.open and container.dialect in HELP:
        yield from _by_variable_alone(container, variable, project)


def _names_gpus(container: Container) -> EnvVar | None:
    """The container's own variable where it is known to name GPUs."""
    variable = container.variable(NVIDIA)
    names = variable is not None and isinstance(variable.value, Text) and not names_no_device(variable.value)
    return variable if names else None


def _in_pod(container: Container, variable: EnvVar | None, project: Project) -> Iterator[Problem]:
    own = _handed_out(container)
    if own is not None:
        yield from _beside(variable, own)
    elif "gpu" in container.open or any(map(_is_handed_gpus, container.siblings)):
        return
    elif variable is not None:
        message = f"{NVIDIA}={variable.value} in a pod without a GPU limit takes GPUs past the scheduler, which counts them as free"
        yield Problem(variable.name.location, message, Severity.WARNING, help=f"set a limit such as nvidia.com/gpu: 1, and drop {NVIDIA}")
    elif container.is_main:
        yield from _by_runtime_class(container, project)


def _beside(variable: EnvVar | None, request: GpuRequest) -> Iterator[Problem]:
    if variable is not None:
        message = (
            f"{NVIDIA}={variable.value} beside a GPU limit may win over the GPUs that the device plugin hands out,"
            " and the container then sees GPUs that other pods were given"
        )
        related = (Related(request.location, "the limit is here, and is enough"),)
        yield Problem(variable.name.location, message, Severity.WARNING, help=f"drop {NVIDIA}", related=related)


def _handed_out(container: Container) -> GpuRequest | None:
    return next((each for each in container.requests if each.kind in HANDED_OUT and each.is_meant), None)


def _is_handed_gpus(container: Container) -> bool:
    return _handed_out(container) is not None


def _by_runtime_class(container: Container, project: Project) -> Iterator[Problem]:
    """The runtime class of the pod, with an image that names every GPU itself."""
    runtime = next((each for each in container.requests if each.kind is RequestKind.RUNTIME and each.vendor == "nvidia"), None)
    says_itself = container.variable(NVIDIA) is not None or "env" in container.open
    if runtime is not None and not says_itself and container.image is not None and sets_visible_devices(container, project):
        message = f"the runtime class {runtime.resource} and an image that sets {NVIDIA} take GPUs past the scheduler, without a GPU limit"
        related = (Related(container.image.location, f"the image {container.image.shown} sets {NVIDIA}"),)
        help_line = f"set a limit such as nvidia.com/gpu: 1, or {NVIDIA}=void where no GPU is wanted"
        yield Problem(runtime.location, message, Severity.WARNING, help=help_line, related=related)


def _by_variable_alone(container: Container, variable: EnvVar, project: Project) -> Iterator[Problem]:
    only_variables = all(each.kind is RequestKind.VISIBLE_DEVICES for each in container.requests)
    if only_variables and project.machines_of(container).default_runtime != "nvidia":
        message = (
            f"{NVIDIA}={variable.value} asks for nothing by itself: the container runs on CPU, or takes these GPUs past every request where"
            " nvidia is the default runtime"
        )
        help_line = f"{HELP[container.dialect]}, and drop {NVIDIA}"
        yield Problem(variable.name.location, message, Severity.WARNING, help=help_line)


RULE = Rule("GPU205", "gpu-taken-past-scheduler", Container, (Severity.WARNING,), Impact.INSECURE, check)
