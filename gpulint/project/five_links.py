"""The five links from a container to a program that uses the GPU: the request, the runtime, the floor of the driver, what the image's CUDA
and framework are built with, and the program with what asserts its GPU. Each is known or not, and can be proved on the machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from gpulint.deferred import NamedTuple
from gpulint.facts.drivers import major_floor, toolkit_driver
from gpulint.facts.proofs import build_proof, proof
from gpulint.model.container import Container, Dialect, RequestKind
from gpulint.project import Project
from gpulint.project.container_image import base_of
from gpulint.project.contents import Contents
from gpulint.project.frameworks import torch_build_of
from gpulint.project.graph import function_at, shown, shown_request
from gpulint.project.programs import Program
from gpulint.source import Location, Unknown, as_written


class FiveLink(NamedTuple):
    """One of the five: its name, its value as far as the files tell, where that stands, whether it is known, and the command that proves it
    on the machine."""

    link: str
    value: str
    places: tuple[Location, ...]
    known: bool
    proof: str


def five_links(container: Container, project: Project) -> tuple[FiveLink, ...]:
    """The five links of a container, in the order in which they may break."""
    names = _names(container)
    driver, build = _driver_and_build(container, project, names)
    return (_request(container, names), _runtime(container, project, names), driver, build, _program(container, project, names))


def _names(container: Container) -> Mapping[str, str]:
    """What stands for the words of a command: the names, in the form that a shell takes."""
    pod = container.pod
    workload = f"{pod.kind.lower()}/{shown(pod.name) or 'NAME'}" if pod is not None else ""
    words = (*(container.entrypoint or ()), *(container.arguments or ()))
    image = container.image.shown if container.image is not None and not isinstance(container.image.name, Unknown) else "IMAGE"
    command = shlex.join(map(as_written, words)) if words else "COMMAND"
    return {
        "name": shlex.quote(shown(container.name) or "CONTAINER"),
        "workload": shlex.quote(workload),
        "image": image,
        "command": command,
    }


def _dialect(container: Container) -> str:
    return container.dialect.value if container.dialect in (Dialect.COMPOSE, Dialect.KUBERNETES) else ""


def _request(container: Container, names: Mapping[str, str]) -> FiveLink:
    requests = container.requests
    value = "; ".join(f"{shown_request(each)}, {each.state.value}" for each in requests) or "none"
    places = tuple(each.location for each in requests) or (container.location,)
    return FiveLink("request", value, places, bool(requests) or "gpu" not in container.open, proof("request", _dialect(container), names))


def _runtime(container: Container, project: Project, names: Mapping[str, str]) -> FiveLink:
    command = proof("runtime", _dialect(container), names)
    asked = next((each for each in container.requests if each.kind is RequestKind.RUNTIME), None)
    if asked is not None:
        return FiveLink("runtime", shown(asked.resource) or "nvidia", (asked.location,), not isinstance(asked.resource, Unknown), command)
    pod_class = container.pod.runtime_class if container.pod is not None else None
    if pod_class is not None:
        return FiveLink("runtime", shown(pod_class), (pod_class.location,), not isinstance(pod_class, Unknown), command)
    default = project.machines_of(container).default_runtime
    value = f"{default}, the default of the machines" if default else "the default of the machines"
    return FiveLink("runtime", value, (), default is not None, command)


def _driver_and_build(container: Container, project: Project, names: Mapping[str, str]) -> tuple[FiveLink, FiveLink]:
    builds = tuple(_builds(container, project))
    cudas = [build for build in builds if build.cuda]
    floors = ((build, major_floor(build.cuda), toolkit_driver(build.cuda)) for build in cudas)
    needs = [f"{floor} or newer for CUDA {build.cuda}{f', whose own is {own}' if own else ''}" for build, floor, own in floors if floor]
    stated = project.machines_of(container).driver
    has = f"; the machines have {stated}" if stated else ""
    places = tuple(build.location for build in builds)
    driver = FiveLink(
        "driver",
        f"{'; '.join(dict.fromkeys(needs)) or 'not known'}{has}",
        tuple(build.location for build in cudas),
        bool(needs),
        proof("driver", _dialect(container), names),
    )
    value = "; ".join(build.shown for build in builds) or "not known"
    imports = _frameworks(container, project)
    return driver, FiveLink("build", value, places, bool(builds), build_proof(imports, _dialect(container), names))


class _Build(NamedTuple):
    """Something that is built with CUDA, or without: what to show of it, where it stands, and its CUDA version, "" for none."""

    shown: str
    location: Location
    cuda: str


def _builds(container: Container, project: Project) -> Iterator[_Build]:
    """The CUDA of the image, and the torch that it installs or brings."""
    base, built = base_of(container, project), project.build_of(container)
    if base is not None and base.facts.cuda:
        yield _Build(f"{base.shown} with CUDA {base.facts.cuda}", base.location, base.facts.cuda)
    if built is not None:
        yield from _torch_in(project.contents(built.stage), project)


def _torch_in(contents: Contents, project: Project) -> Iterator[_Build]:
    for installed in contents.named("torch"):
        build = torch_build_of(installed, project)
        kind = {"": "a build that is not known", "cuda": f"CUDA {build.cuda}" if build.cuda else "CUDA"}.get(build.kind, build.kind)
        yield _Build(f"torch {installed.version or ''}".rstrip() + f" for {kind}", installed.package.location, build.cuda or "")
    for there in contents.of_base:
        if there.name == "torch":
            version = f"torch {there.version or ''}".rstrip()
            yield _Build(f"{version} of the base image{f', for CUDA {there.cuda}' if there.cuda else ''}", there.location, there.cuda or "")


def _frameworks(container: Container, project: Project) -> frozenset[str]:
    program = project.program_of(container)
    return program.imports if program is not None else frozenset()


def _program(container: Container, project: Project, names: Mapping[str, str]) -> FiveLink:
    command = proof("program", _dialect(container), names)
    start, program = project.start_of(container), project.program_of(container)
    link = start.program
    if link is None or program is None:
        gaps = "; ".join(gap.reason for gap in start.gaps) or "its words name none of this repository"
        places = tuple(gap.location for gap in start.gaps) or (container.location,)
        return FiveLink("program", f"not known: {gaps}", places, False, command)
    name = f"{program.path}:{function_at(program.entry, project)}" if program.entry is not None else program.path
    value, places = _outcome(program)
    asserted = tuple(assertion.location for assertion in start.assertions)
    if asserted:
        value, places = "what starts it asserts the GPU", asserted
    return FiveLink("program", f"{name}; {value}", places or (program.entry or link.location,), True, command)


def _outcome(program: Program) -> tuple[str, tuple[Location, ...]]:
    """What a program does where there is no GPU, and where."""
    if program.assertions:
        return "it asserts the GPU", tuple(assertion.location for assertion in program.assertions)
    if program.raising:
        return "it raises without a GPU", tuple(raising.location for raising in program.raising[:1])
    if program.fallbacks:
        first = program.fallbacks[0]
        return f"it {first.then or 'takes the CPU'} without a GPU, and nothing asserts one", (first.location,)
    return "nothing asserts the GPU", ()
