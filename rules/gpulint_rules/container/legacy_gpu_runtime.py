"""GPU214: the nvidia runtime where a request does, or a form of request that the declared docker compose does not take."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.facts.compose_cli import is_older, needs_compose
from gpulint.model.container import Container, Dialect, GpuRequest, RequestKind
from gpulint.project import Project
from gpulint.project.compose_format import format_version
from gpulint.project.container_image import runs_on_jetson
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import known

LATER = {
    Dialect.RUN: ("--gpus", "use docker run with --gpus"),
    Dialect.QUADLET: ("a device by its CDI name", "write AddDevice=nvidia.com/gpu=all"),
    Dialect.LIBRARY: ("a device request", "pass device_requests=[docker.types.DeviceRequest(count=-1, capabilities=[['gpu']])]"),
}
FORMS = {RequestKind.RUNTIME: "runtime", RequestKind.RESERVATION: "reservation", RequestKind.GPUS: "gpus"}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A warning for each request that the declared release refuses or takes for none; else a note on the runtime."""
    if container.dialect not in (Dialect.COMPOSE, *LATER) or is_infrastructure(container):
        return
    for request in container.requests:
        problem = _too_new(request, container, project) or _superseded(request, container, project)
        if problem:
            yield problem


def _too_new(request: GpuRequest, container: Container, project: Project) -> Problem | None:
    cli = project.machines_of(container).compose_cli
    form = FORMS.get(request.kind)
    if cli is None or form is None or not request.is_sound or container.dialect is not Dialect.COMPOSE:
        return None
    version = format_version(container.location.path, project.tree)
    since = needs_compose(form, version)
    if is_older(cli, since):
        shown = "`runtime`" if form == "runtime" else "`gpus`" if form == "gpus" else "a device reservation"
        in_version = f" in a file of version {version}" if version else ""
        message = f"docker compose {cli}, which is declared, refuses {shown}{in_version}: it takes that since {since}"
        return Problem(request.location, message, Severity.WARNING, help=f"install docker compose {since} or newer")
    since = needs_compose("reservation without count", version)
    if form == "reservation" and request.count is None and not request.ids and is_older(cli, since):
        message = f"a reservation without count is one of 0 GPUs for docker compose {cli}, which is declared: it means all since {since}"
        return Problem(request.location, message, Severity.WARNING, help="write count: all, or the number of GPUs")
    return None


def _superseded(request: GpuRequest, container: Container, project: Project) -> Problem | None:
    if request.kind is not RequestKind.RUNTIME or request.vendor != "nvidia" or runs_on_jetson(container, project):
        return None
    name = known(request.resource)
    if container.dialect is Dialect.COMPOSE:
        message = f"`runtime: {name}` needs that runtime on the host, and a variable that names GPUs; a reservation needs neither"
        return Problem(request.location, message, Severity.NOTE, help="reserve a device: driver: nvidia, count: 1, capabilities: [gpu]")
    option, help_line = LATER[container.dialect]
    message = f"the runtime {name} needs to be on the host, and a variable that names GPUs; {option} needs neither"
    return Problem(request.location, message, Severity.NOTE, help=help_line)


RULE = Rule("GPU214", "legacy-gpu-runtime", Container, (Severity.WARNING, Severity.NOTE), Impact.FAILS_TO_START, check)
