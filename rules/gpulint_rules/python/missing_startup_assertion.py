"""GPU601: a program for a GPU can fall silently to CPU, and nothing on its start path asserts the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import chooses_gpu_by, gpu_programs_with, has_cpu_twin, has_gpu, is_gpu_container
from gpulint.model.container import Container
from gpulint.model.module import Fallback
from gpulint.project import Project
from gpulint.project.device_settings import unset_defaults
from gpulint.project.inference_sessions import FAMILY, faulty_sessions
from gpulint.project.links import EntryPoint
from gpulint.project.start_assertions import asserts_gpu_beside, insists_by_options
from gpulint.project.starts import Start
from gpulint.rule import Impact, Problem, Related, Rule, Severity

HELP = "at its start, check that the GPU is there and raise an error that names what to look at"


def check(entry: EntryPoint, project: Project) -> Iterator[Problem]:
    """A warning where a GPU container runs the program or the file was named, a note where it is anybody's guess what runs it."""
    users = [container for container, _ in entry.containers if is_gpu_container(container, project)]
    unchecked = [container for container in users if not asserts_gpu_beside(container, project)]
    fallback = _fallback(entry, unchecked, project)
    if fallback is None or _is_asserted(entry) or (users and not unchecked) or _is_left_to_others(entry, users, project):
        return
    severity = _severity(entry, unchecked, project)
    if severity is None:
        return
    policy = project.strict and severity is Severity.NOTE
    message = f"{entry.path} {_outcome(fallback)} where there is no GPU, and nothing on its start path stops it{' (policy)' * policy}"
    place = entry.program.entry if entry.program and entry.program.entry else fallback.location
    yield Problem(place, message, Severity.WARNING if policy else severity, help=HELP, related=tuple(_related(entry, unchecked, fallback)))


def _fallback(entry: EntryPoint, users: list[Container], project: Project) -> Fallback | None:
    """Where the entry point goes on with the CPU: in a program that trains or serves, or in an entry script; not where all who run it
    choose the GPU by an option or a variable, and not where a more exact rule speaks."""
    program = entry.program
    if program is None:
        return next((fallback for _, start in entry.containers for fallback in start.fallbacks), None)
    if not (program.trains or program.serves):
        return None
    starts = [(container, start) for container, start in entry.containers if container in users]
    left = (each for each in program.fallbacks if not users or not all(_insists(*one, each) for one in starts))
    return next((each for each in left if not _is_reported_session(each, project)), None)


def _insists(container: Container, start: Start, fallback: Fallback) -> bool:
    """Whether a container tells its program to use the GPU where that would fall back."""
    return chooses_gpu_by(container, fallback.switches) or insists_by_options(start, fallback)


def _is_left_to_others(entry: EntryPoint, users: list[Container], project: Project) -> bool:
    """Whether a more exact rule speaks of the whole program: GPU603 of a setting that stays at the CPU, GPU607 of processes that are never
    started."""
    stays = any(unset.container in users for unset in unset_defaults(entry, project)) if users else False
    return stays or (entry.program is not None and bool(entry.program.idle_launches))


def _is_reported_session(fallback: Fallback, project: Project) -> bool:
    """Whether a fallback is a session of ONNX Runtime of which GPU604 speaks."""
    module = project.tree.module(fallback.location.path) if fallback.framework == FAMILY else None
    sessions = faulty_sessions(module, project, gpu_programs_with(module.path, project)) if module is not None else ()
    return any(session.location == fallback.location for session in sessions)


def _is_asserted(entry: EntryPoint) -> bool:
    program = entry.program
    if program is not None and (program.asserts_gpu or program.raises_without_cuda):
        return True
    return bool(entry.containers) and all(start.assertions for _, start in entry.containers)


def _severity(entry: EntryPoint, users: list[Container], project: Project) -> Severity | None:
    """A warning where the file was named, or GPU containers alone run it; a note where a CPU twin does too, or nothing here does."""
    if entry.path in project.named:
        return Severity.WARNING
    if not users:
        return None if entry.containers else Severity.NOTE
    twins = any(_is_cpu_twin(container, users) for container, _ in entry.containers)
    return Severity.NOTE if twins or any(has_cpu_twin(user, project) for user in users) else Severity.WARNING


def _is_cpu_twin(container: Container, users: list[Container]) -> bool:
    """Whether a container runs the program on the CPU on purpose: it asks for no GPU, and is none of those that want one."""
    return not has_gpu(container) and container not in users and "gpu" not in container.open


def _outcome(fallback: Fallback) -> str:
    return fallback.then or "takes the CPU"


def _related(entry: EntryPoint, users: list[Container], fallback: Fallback) -> Iterator[Related]:
    """The fallback, the containers, and the way from the first of them to the program."""
    yield Related(fallback.location, f"here it {_outcome(fallback)}")
    for container in users[:3]:
        yield Related(container.location, "a GPU container runs it here")
    for start in [start for container, start in entry.containers if container in users[:1]]:
        yield from (Related(step.location, f"which starts {step.path}") for step in start.steps)
        if start.program is not None:
            yield Related(start.program.location, f"which starts {start.program.path}")


RULE = Rule("GPU601", "missing-startup-assertion", EntryPoint, (Severity.WARNING, Severity.NOTE), Impact.CPU_FALLBACK, check)
