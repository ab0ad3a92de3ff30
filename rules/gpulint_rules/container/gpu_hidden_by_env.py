"""GPU204: the GPU that a container is given is hidden from its program, or the request asks for none."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu, is_for_tests, is_infrastructure, says_cpu
from gpulint.facts.requests import names_no_device
from gpulint.model.container import Container, Dialect, GpuRequest, RequestKind, RequestState
from gpulint.model.grant import granted
from gpulint.project import Project
from gpulint.project.visible_devices import Assigned, Hiding, hiding, reused_selection, settings
from gpulint.rule import Impact, Problem, Related, Rule, Severity

CUDA = "CUDA_VISIBLE_DEVICES"
NVIDIA = "NVIDIA_VISIBLE_DEVICES"
HELP = f"drop {CUDA}: inside the container the GPUs that it is given are counted from 0"


def check(container: Container, project: Project) -> Iterator[Problem]:
    """Problems of requests for zero GPUs, and of variables that hide the GPUs asked for."""
    if is_infrastructure(container) or says_cpu(container):
        return
    yield from _zeros(container)
    if has_gpu(container):
        yield from _hidden_from_program(container, project)
        yield from _hidden_from_runtime(container)


def _zeros(container: Container) -> Iterator[Problem]:
    """Requests for none. One that another file puts over the container's own is a switch."""
    if any(request.is_sound for request in container.requests):
        return
    for request in container.requests:
        is_switch = request.location.path != container.location.path
        counts = request.kind in (RequestKind.LIMIT, RequestKind.RESERVATION, RequestKind.GPUS) or container.dialect is Dialect.TASK
        if request.state is RequestState.ZERO and counts and not is_switch:
            yield _zero(request, container)


def _zero(request: GpuRequest, container: Container) -> Problem:
    if container.dialect is Dialect.RUN:
        message = "`--gpus 0` is a count and not an index: the container gets no GPU, or all of them where nvidia is the default runtime"
        return Problem(request.location, message, Severity.ERROR, help="write --gpus device=0 for the first GPU, --gpus 1 for one of them")
    if container.dialect is Dialect.LIBRARY and request.count is None:
        message = "a device request without a count and ids is one for 0 GPUs: none is given, or all where nvidia is the default runtime"
        return Problem(request.location, message, Severity.ERROR, help="pass count=-1 for every GPU, or device_ids")
    message = "a request for 0 GPUs is accepted and gives none, or all of them where nvidia is the default runtime"
    return Problem(request.location, message, Severity.WARNING, help="ask for 1 or more, or drop the request")


def _hidden_from_program(container: Container, project: Project) -> Iterator[Problem]:
    request = next(each for each in container.requests if each.is_meant)
    related = (Related(request.location, "the GPU is asked for here"),)
    reused = reused_selection(container, project)
    if reused:
        message = f"{CUDA} takes the same ${reused.name} that picks the GPUs: inside the container they are counted from 0"
        yield Problem(reused.location, message, Severity.WARNING, help=HELP, related=related)
        return
    for setting in settings(container, project, CUDA):
        found = hiding(setting.value, granted(container)) if setting.value is not None else None
        if setting.derived:
            message = f"{CUDA} is made of {NVIDIA}, whose indices are the host's: inside the container the GPUs are counted from 0"
            yield Problem(setting.location, message, Severity.WARNING, help=HELP, related=related)
        elif found and not (found.on_purpose and is_for_tests(container)):
            yield _hidden(setting, found, related)


def _hidden(setting: Assigned, found: Hiding, related: tuple[Related, ...]) -> Problem:
    severity = Severity.ERROR if found.hides_all else Severity.WARNING
    return Problem(setting.location, f"{CUDA}={setting.value} {found.says}", severity, help=HELP, related=related)


def _hidden_from_runtime(container: Container) -> Iterator[Problem]:
    """NVIDIA_VISIBLE_DEVICES that names no device beside a request. By CDI the devices come past that variable, and in a pod the runtime
    class is no request."""
    variable = container.variable(NVIDIA)
    aside = (RequestKind.VISIBLE_DEVICES, RequestKind.RUNTIME) if container.is_in_pod else (RequestKind.VISIBLE_DEVICES,)
    others = [each for each in container.requests if each.is_sound and each.kind not in aside]
    by_cdi = any(each.kind is RequestKind.CDI or each.driver == "cdi" for each in others)
    if variable is None or variable.value is None or not others or by_cdi or is_for_tests(container):
        return
    if names_no_device(str(variable.value)):
        only_runtime = all(each.kind is RequestKind.RUNTIME for each in others)
        severity = Severity.ERROR if only_runtime else Severity.WARNING
        message = f"{NVIDIA}={variable.value} tells the runtime to give no GPU, and a GPU is asked for beside it"
        related = (Related(others[0].location, "the GPU is asked for here"),)
        yield Problem(variable.name.location, message, severity, help=f"drop {NVIDIA}, or the request", related=related)


RULE = Rule("GPU204", "gpu-hidden-by-env", Container, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
