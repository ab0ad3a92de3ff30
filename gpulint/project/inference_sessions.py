"""Sessions of ONNX Runtime that may run on the CPU although they are meant for a GPU.

The CUDA provider of a session that cannot be loaded is left out with a warning, and the session runs on the CPU. Only
`session.get_providers()` tells.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from functools import lru_cache
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.facts.frameworks import family
from gpulint.facts.packages import package_facts
from gpulint.facts.python import is_inference_session, literal, must_name_providers
from gpulint.model.module import Call, Gate, Module
from gpulint.model.python_values import Answer
from gpulint.parse.marker import holds_on_linux
from gpulint.parse.requirement import Package
from gpulint.project.contents import exact_version
from gpulint.project.relevance import is_aside
from gpulint.source import Location

if TYPE_CHECKING:
    from gpulint.project import Project
    from gpulint.project.links import EntryPoint

FAMILY = "onnxruntime"
"""The builds of ONNX Runtime, and the name of what they import."""

_QUESTION = b".get_providers("
_REQUIREMENTS = (Kind.REQUIREMENTS, Kind.PYPROJECT, Kind.ENVIRONMENT)


class SessionFault(enum.Enum):
    """What is wrong with a session: it names no providers, which its release refuses or takes for any that loads; it names the CPU alone;
    or it asks for a GPU and nothing checks what became of that."""

    REFUSED = "refused"
    UNNAMED = "unnamed"
    CPU_ALONE = "cpu alone"
    UNCHECKED = "unchecked"


class FaultySession(NamedTuple):
    """A session with its fault, and the package of ONNX Runtime for GPUs that its program is to use, where one is named here."""

    location: Location
    fault: SessionFault
    package: Package | None


def faulty_sessions(module: Module, project: Project, users: Sequence[EntryPoint]) -> Iterator[FaultySession]:
    """The faulty sessions of a file. `users` are the programs with it that GPU containers run; where there are none, the project must
    require the package for GPUs. Where the CPU package is about, which build there is comes first."""
    packages = tuple(_packages(module, project, users))
    package = next((each for each in packages if _implies(each) == "nvidia-gpu" and not each.group), None)
    if any(_implies(each) == "cpu-only" for each in packages) or not (users or (package is not None and not is_aside(module.path))):
        return
    sessions = [(call, _fault(call)) for scope in module.scopes.values() for call in scope.calls if is_inference_session(call.name)]
    is_checked = _is_checked(project) or any(scope.assertions for scope in module.scopes.values())
    for call, fault in sessions:
        if call.gate is Gate.NEVER or fault is None or (is_checked and fault is not SessionFault.CPU_ALONE):
            continue
        if fault is SessionFault.CPU_ALONE and not _is_for_gpu(users, [each for _, each in sessions]):
            continue
        refused = fault is SessionFault.UNNAMED and package is not None and must_name_providers(exact_version(package) or "")
        yield FaultySession(call.location, SessionFault.REFUSED if refused else fault, package)


def _fault(call: Call) -> SessionFault | None:
    """What a session's own providers say; None where they are not known, or are another accelerator's."""
    providers = call.arguments.get("providers", call.arguments.get("2"))
    if providers is None:
        return SessionFault.UNNAMED if "**" not in call.arguments else None
    devices = _devices(providers)
    if "gpu" in devices:
        return SessionFault.UNCHECKED
    return SessionFault.CPU_ALONE if devices == {"cpu"} else None


def _devices(providers: Answer) -> set[str]:
    """The devices of a list of providers, each a name or a pair of name and options; nothing where a GPU's absence chose it."""
    items = providers.value if isinstance(providers.value, list) and not providers.subject else []
    names = [item[0] if isinstance(item, list) and item else item for item in items]
    return {literal(name) if isinstance(name, str) else "" for name in names}


def _is_for_gpu(users: Sequence[EntryPoint], faults: Sequence[SessionFault | None]) -> bool:
    """Whether the sessions are what a GPU container's program computes with: nothing else in it uses the GPU, and no session does."""
    if not users or any(fault is not SessionFault.CPU_ALONE for fault in faults):
        return False
    programs = [user.program for user in users if user.program is not None]
    return not any(program.prefers_cuda or program.raising or program.assertions for program in programs)


@lru_cache(maxsize=1)
def _is_checked(project: Project) -> bool:
    """Whether any code of the project asks a session which providers became active: the check may stand wherever the session goes."""
    paths = (path for path in project.tree.paths(Kind.PYTHON) if not is_aside(path))
    return any(_QUESTION in source.data for source in map(project.tree.source, paths) if source is not None)


def _packages(module: Module, project: Project, users: Sequence[EntryPoint]) -> Iterator[Package]:
    """The builds of ONNX Runtime that are asked for: by the files of requirements in the folders above a file, and in its images."""
    from gpulint.parse.requirements import parse

    for path in project.tree.paths(*_REQUIREMENTS):
        source = project.tree.source(path) if f"{dirname(module.path)}/".startswith(f"{dirname(path)}/".lstrip("/")) else None
        if source is not None and FAMILY.encode() in source.lowered:
            whole = parse(source)
            asked = (package for part in (whole, *whole.nested) for package in part.packages)
            yield from (each for each in asked if family(each.name) == FAMILY and holds_on_linux(each.marker) is not False)
    for user in users:
        for container, _ in user.containers:
            built = project.build_of(container)
            if built is not None:
                yield from (each.package for each in project.contents(built.stage).packages if family(each.name) == FAMILY)


def _implies(package: Package) -> str:
    facts = package_facts(package.name, package.extras, package.specifier)
    return facts.implies if facts else ""
