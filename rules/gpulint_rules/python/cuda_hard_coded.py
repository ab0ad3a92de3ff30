"""GPU609: code that has a CPU mode needs a GPU all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gpulint.facts.python import leaves_device_open
from gpulint.model.cuda_touches import touches
from gpulint.model.module import TOP, FallbackKind, Gate, Module, Scope
from gpulint.project import Project
from gpulint.project.relevance import is_aside
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location

Finder = Callable[[Module, Scope], Iterator[Location]]

FIXED = "this needs a GPU, although the same file has a mode for the CPU"
UNMAPPED = "this loads tensors onto the GPU that they were saved from, although the same file has a mode for the CPU: there it raises"
USE_DEVICE = "use the device that the file has chosen"
MAP = "pass map_location=device, or map_location='cpu' where the model is moved afterwards"


def check(module: Module, _project: Project) -> Iterator[Problem]:
    """A note at the first place of each kind, the others beside it."""
    scopes = tuple(module.scopes.values())
    if is_aside(module.path) or any(scope.assertions for scope in scopes):
        return
    modes = {scope.name: place for scope in scopes for place in _cpu_modes(scope)}
    yield from _problem(list(_found(_fixed, module, modes)), FIXED, USE_DEVICE)
    yield from _problem(list(_found(_unmapped, module, modes)), UNMAPPED, MAP)


def _cpu_modes(scope: Scope) -> Iterator[Location]:
    """Where a scope chooses the CPU by a switch, a default, or because there is no GPU."""
    yield from scope.cpu_modes
    yield from (fallback.location for fallback in scope.fallbacks if fallback.kind in (FallbackKind.CHOICE, FallbackKind.HANDLER))
    yield from (default.location for default in scope.device_defaults)


def _found(places: Finder, module: Module, modes: Mapping[str, Location]) -> Iterator[tuple[Location, Location]]:
    """The places of a kind in the scopes that a mode is for, each with where that is chosen: in the scope itself, in the constructor of its
    class, or at the top level, whose choice is for the whole file."""
    for scope in module.scopes.values():
        constructor = f"{scope.name.rpartition('.')[0]}.__init__"
        mode = modes.get(scope.name) or modes.get(constructor) or modes.get(TOP)
        if mode is not None:
            yield from ((place, mode) for place in places(module, scope))


def _fixed(module: Module, scope: Scope) -> Iterator[Location]:
    """What certainly puts something on a GPU, whatever was chosen."""
    found = touches(module, scope)
    return (touch.location for touch in found if touch.is_use and touch.is_direct and touch.gate is Gate.RUNS)


def _unmapped(_module: Module, scope: Scope) -> Iterator[Location]:
    for call in scope.calls:
        if call.gate is not Gate.NEVER and leaves_device_open(call.name, {key: each.value for key, each in call.arguments.items()}):
            yield call.location


def _problem(found: list[tuple[Location, Location]], message: str, help_line: str) -> Iterator[Problem]:
    if found:
        place, mode = found[0]
        related = (Related(mode, "the mode is chosen here"), *(Related(other, "so does this") for other, _ in found[1:4]))
        yield Problem(place, message, Severity.NOTE, help=help_line, related=related)


RULE = Rule("GPU609", "cuda-hard-coded", Module, (Severity.NOTE,), Impact.FAILS_TO_START, check)
