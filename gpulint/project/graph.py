"""The links of a project as text: each container with its image, requests and program, and how each was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpulint.model.container import Container, GpuRequest
from gpulint.project import Project
from gpulint.source import Text, Unknown, Value


def lines(project: Project, is_selected: Callable[[str], bool]) -> Iterator[str]:
    """A paragraph for each container that a selected file holds or is linked to, in the order of their places, and one for each selected
    Dockerfile that nothing here runs. What comes from a file stands in them as it is."""
    selected = [container for container in project.containers if any(map(is_selected, _files(container, project)))]
    containers = sorted(selected, key=lambda container: container.location)
    unused = (path for path in _unused(project) if is_selected(path))
    paragraphs = [
        *(tuple(_container(container, project)) for container in containers),
        *((f"{path}  (no container here is known to run it)",) for path in unused),
    ]
    for paragraph in paragraphs[:1] or [("no containers",)]:
        yield from paragraph
    for paragraph in paragraphs[1:]:
        yield from ("", *paragraph)


def _container(container: Container, project: Project) -> Iterator[str]:
    yield f"{_shown(container.name) or 'container'}  ({container.dialect.value}, {container.location})"
    image = container.image
    if image is not None:
        yield f"  image    {image.name.raw if isinstance(image.name, Unknown) else image.shown}"
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
    name = _shown(request.resource) or request.vendor or "gpu"
    amount = _shown(request.limit) or _shown(request.count) or ",".join(map(_shown, request.ids))
    return f"{f'{request.kind.value} {name} {amount}'.rstrip()} ({request.state.value}, {request.location})"


def _shown(value: Value | None) -> str:
    """A value for a person: an unknown one as it is written."""
    if isinstance(value, Unknown):
        return value.raw
    return str(value) if isinstance(value, Text) else ""


def _files(container: Container, project: Project) -> Iterator[str]:
    """The files that a container's paragraph names."""
    yield container.location.path
    built, start = project.build_of(container), project.start_of(container)
    if built:
        yield built.stage.path
    yield from (*start.scripts, *(link.path for link in start.programs))


def _unused(project: Project) -> Iterator[str]:
    used = {built.stage.path for built in map(project.build_of, project.containers) if built}
    for path in project.relevance.dockerfiles:
        if path not in used:
            yield path
