"""GPU304: a service that runs on CPU too demands a GPU in the file that everybody starts."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import cpu_twin, is_for_developers, is_for_tests, is_infrastructure
from gpulint.facts.images import Need, gpu_word
from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.project import Project
from gpulint.project.shared_cards import is_chosen_outside
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown

DEMANDING = (RequestKind.GPUS, RequestKind.RESERVATION, RequestKind.CDI, RequestKind.RUNTIME)


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem where the request stands with the service itself, and neither a profile nor another file lets one do without it."""
    request = next((each for each in container.requests if each.kind in DEMANDING and each.is_asked), None)
    if request is None or not _is_base(container, request) or _is_exempt(container, project) or is_chosen_outside(request, project):
        return
    mode = _cpu_mode(container, project)
    if mode is not None:
        message = f"{mode.message}, and here it demands a GPU: on a machine without one the project does not start"
        help_line = "move the request into a file of its own, such as compose.gpu.yaml, or the service under a profile"
        yield Problem(request.location, message, Severity.NOTE, help_line, (mode._replace(message="the CPU mode"),))


def _is_base(container: Container, request: GpuRequest) -> bool:
    """Whether the request stands in the file of the service, neither is named for GPUs, and no profile has to be asked for."""
    service, path = container.service, container.location.path
    if service is None or service.profiles or not request.location.path == path == service.run[0]:
        return False
    return not (gpu_word(service.name) or gpu_word(path.rpartition("/")[2]))


def _is_exempt(container: Container, project: Project) -> bool:
    """Whether who starts it has a GPU, or another file starts the same service without one."""
    if is_infrastructure(container) or is_for_developers(container) or is_for_tests(container):
        return True
    folder = container.location.path.rpartition("/")[0]
    others = (other for other in project.containers if other.service and other.name == container.name)
    return any(not other.requests and other.location.path.rpartition("/")[0] == folder for other in others)


def _cpu_mode(container: Container, project: Project) -> Related | None:
    """What shows that the service runs on CPU too, with its place."""
    twin = cpu_twin(container, project)
    if twin is not None and twin.location.path == container.location.path:
        return Related(twin.location, f"the service has a CPU form, {twin.name}")
    image = container.image
    if image is None or isinstance(image.name, Unknown) or isinstance(image.tag, Unknown):
        return None
    if image.facts.optional_gpu and image.facts.need in (Need.POSSIBLE, Need.NONE) and not image.tag_word:
        return Related(image.location, f"the image {image.shown} runs on CPU too")
    return None


RULE = Rule("GPU304", "gpu-required-by-default", Container, (Severity.NOTE,), Impact.FAILS_TO_START, check)
