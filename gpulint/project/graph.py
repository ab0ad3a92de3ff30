"""The links of a project as text: each container with its image, requests and program, and how each was found."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container, GpuRequest
from gpulint.project import Project
from gpulint.source import Text, Unknown, Value


def render(project: Project) -> str:
    """A paragraph for each container, in the order of their places, and the Dockerfiles that nothing here runs."""
    containers = sorted(project.containers, key=lambda container: container.location)
    paragraphs = ["".join(f"{line}\n" for line in _container(container, project)) for container in containers]
    return "\n".join((*paragraphs, *_unused(project))) or "no containers\n"


def _container(container: Container, project: Project) -> Iterator[str]:
    yield f"{_shown(container.name) or 'container'}  ({container.dialect.value}, {container.location})"
    if container.image is not None:
        yield f"  image    {container.image.shown}"
    built = project.build_of(container)
    if built:
        stage = _shown(built.stage.name) or str(built.stage.index)
        yield f"  built    {built.stage.path}, stage {stage}: {built.how}"
    for request in container.requests:
        yield f"  request  {_request(request)}"
    start = project.start_of(container)
    for script in start.scripts:
        yield f"  script   {script}"
    for link in start.programs:
        yield f"  program  {link.path}{f':{link.function}' if link.function else ''}: by {link.how}"
    if container.open:
        yield f"  open     {', '.join(sorted(container.open))}"


def _request(request: GpuRequest) -> str:
    count = "" if request.count is None else f" {_shown(request.count)}"
    name = _shown(request.resource) or request.vendor or "gpu"
    amount = f" {_shown(request.limit)}" if request.limit is not None else count
    return f"{request.kind.value} {name}{amount} ({request.state.value}, {request.location})"


def _shown(value: Value | None) -> str:
    """A value for a person: an unknown one as it is written."""
    if isinstance(value, Unknown):
        return value.raw
    return str(value) if isinstance(value, Text) else ""


def _unused(project: Project) -> Iterator[str]:
    used = {built.stage.path for built in map(project.build_of, project.containers) if built}
    for path in project.relevance.dockerfiles:
        if path not in used:
            yield f"{path}  (no container here is known to run it)\n"
