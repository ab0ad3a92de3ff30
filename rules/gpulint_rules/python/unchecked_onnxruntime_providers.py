"""GPU604: a session of ONNX Runtime that is meant for a GPU may run on the CPU without an exception."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import gpu_programs_with
from gpulint.model.module import Module
from gpulint.project import Project
from gpulint.project.inference_sessions import FaultySession, SessionFault, faulty_sessions
from gpulint.project.links import EntryPoint
from gpulint.rule import Impact, Problem, Related, Rule, Severity

SAYS = {
    SessionFault.REFUSED: "this session names no providers, which that release of onnxruntime-gpu refuses with ValueError",
    SessionFault.UNNAMED: "this session names no providers: it takes CUDA where that loads, and the CPU without an exception where not",
    SessionFault.CPU_ALONE: "this session asks for the CPU alone, and a GPU container runs it",
    SessionFault.UNCHECKED: "this session asks for CUDA and nothing checks that it got it: where CUDA does not load it runs on the CPU",
}
HELP = 'write providers=["CUDAExecutionProvider"], and raise unless session.get_providers() begins with it'


def check(module: Module, project: Project) -> Iterator[Problem]:
    """An error where the release refuses to make the session, a warning where it may run on the CPU."""
    users = gpu_programs_with(module.path, project)
    for session in faulty_sessions(module, project, users):
        severity = Severity.ERROR if session.fault is SessionFault.REFUSED else Severity.WARNING
        yield Problem(session.location, SAYS[session.fault], severity, help=HELP, related=tuple(_related(session, users)))


def _related(session: FaultySession, users: tuple[EntryPoint, ...]) -> Iterator[Related]:
    if session.package is not None:
        yield Related(session.package.location, f"{session.package.shown} is asked for here")
    yield from (Related(container.location, "a GPU container runs it here") for user in users for container, _ in user.containers[:2])


RULE = Rule("GPU604", "unchecked-onnxruntime-providers", Module, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
