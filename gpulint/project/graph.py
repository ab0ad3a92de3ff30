"""The links of a project: each container with its image, requests and program, how each link was found, and what was left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpulint.deferred import NamedTuple
from gpulint.model.container import Container, GpuRequest
from gpulint.project import Project
from gpulint.project.programs import Program
from gpulint.project.starts import Gap, ProgramLink, Step
from gpulint.source import Location, Text, Unknown, Value


class Link(NamedTuple):
    """A link of a container's chain.

    `kind` is image, built, request, script, Makefile, configuration, program, starts, imports, asserts or falls, and `name` what the link
    leads to. `how` says how it was found, `location` where that is written. `by` and `origin` say the same of the file behind a path in
    the container. `path` is the file that it leads to. "" or None stands for what there is not.
    """

    kind: str
    name: str
    how: str = ""
    location: Location | None = None
    by: str = ""
    origin: Location | None = None
    path: str = ""


class Chain(NamedTuple):
    """A container with its links in order, what could not be followed, and the aspects that something else may supply."""

    container: Container
    name: str
    links: tuple[Link, ...]
    gaps: tuple[Gap, ...]
    open: tuple[str, ...]


class Graph(NamedTuple):
    """The chains of the containers in the order of their places, and the Dockerfiles that nothing here runs."""

    chains: tuple[Chain, ...]
    unused: tuple[str, ...]


def read_graph(project: Project, is_selected: Callable[[str], bool]) -> Graph:
    """The chains that a selected file holds or is linked to, and the selected Dockerfiles that no container here is known to run."""
    found = [chain_of(container, project) for container in sorted(project.containers, key=lambda container: container.location)]
    chains = tuple(chain for chain in found if any(map(is_selected, _files(chain))))
    return Graph(chains, tuple(path for path in _unused(project) if is_selected(path)))


def chain_of(container: Container, project: Project) -> Chain:
    """A container's chain."""
    gaps = project.start_of(container).gaps
    return Chain(container, shown(container.name) or "container", tuple(_links(container, project)), gaps, tuple(sorted(container.open)))


def _links(container: Container, project: Project) -> Iterator[Link]:
    image, built, start = container.image, project.build_of(container), project.start_of(container)
    if image is not None:
        yield Link("image", image.name.raw if isinstance(image.name, Unknown) else image.shown, location=image.location)
    if built:
        name = f"{built.stage.path}, stage {shown(built.stage.name) or built.stage.index}"
        yield Link("built", name, built.how, built.stage.from_location, path=built.stage.path)
    for request in container.requests:
        yield Link("request", shown_request(request), request.state.value, request.location)
    yield from map(_of_step, start.steps)
    for link in start.programs:
        yield _of_program(link)
    program = project.program_of(container)
    for assertion in start.assertions:
        yield Link("asserts", assertion.subject, "in what starts the program", assertion.location, path=assertion.location.path)
    if program is not None:
        yield from _of_path(program, project)


def _of_step(step: Step) -> Link:
    return Link(step.kind, step.path, f"by {step.how}", step.location, step.by, step.origin, step.path)


def _of_program(link: ProgramLink) -> Link:
    name = f"{link.path}:{link.function}" if link.function else link.path
    return Link("program", name, f"by {link.how}", link.location, link.by, link.origin, link.path)


def _of_path(program: Program, project: Project) -> Iterator[Link]:
    """What the program that keeps running does on its start path."""
    if program.entry is not None:
        yield Link("starts", function_at(program.entry, project), location=program.entry, path=program.entry.path)
    for path in program.modules[1:]:
        yield Link("imports", path, path=path)
    for assertion in program.assertions:
        how = {"RUNS": "certainly", "MAY": "where something asks for it"}.get(assertion.gate.name, "")
        yield Link("asserts", assertion.subject or assertion.kind.value, how, assertion.location, path=assertion.location.path)
    for fallback in program.fallbacks:
        yield Link("falls", fallback.then or "takes the CPU", location=fallback.location, path=fallback.location.path)


def function_at(entry: Location, project: Project) -> str:
    """The name of the function whose definition stands there; "" where none does."""
    module = project.tree.module(entry.path)
    scopes = module.scopes.items() if module is not None else ()
    return next((name for name, scope in scopes if scope.location == entry), "")


def shown_request(request: GpuRequest) -> str:
    """A request in words: its mechanism, what it asks for, and how much."""
    name = shown(request.resource) or request.vendor or "gpu"
    amount = shown(request.limit) or shown(request.count) or ",".join(map(shown, request.ids))
    return f"{request.kind.value} {name} {amount}".rstrip()


def shown(value: Value | None) -> str:
    """A value for a person: an unknown one as it is written."""
    if isinstance(value, Unknown):
        return value.raw
    return str(value) if isinstance(value, Text) else ""


def _files(chain: Chain) -> Iterator[str]:
    """The files that a chain names."""
    yield chain.container.location.path
    yield from (link.path for link in chain.links if link.path)


def _unused(project: Project) -> Iterator[str]:
    used = {built.stage.path for built in map(project.build_of, project.containers) if built}
    for path in project.relevance.dockerfiles:
        if path not in used:
            yield path
