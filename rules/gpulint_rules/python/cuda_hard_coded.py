"""GPU609: code that has a CPU mode needs a GPU all the same."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.python import leaves_device_open
from gpulint.model.cuda_touches import touches
from gpulint.model.module import FallbackKind, Gate, Module, Scope
from gpulint.project import Project
from gpulint.project.relevance import is_aside
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location

FIXED = "this needs a GPU, although the same file has a mode for the CPU"
UNMAPPED = "this loads tensors onto the GPU that they were saved from, although the same file has a mode for the CPU: there it raises"
USE_DEVICE = "use the device that the file has chosen"
MAP = "pass map_location=device, or map_location='cpu' where the model is moved afterwards"


def check(module: Module, _project: Project) -> Iterator[Problem]:
    """A note at the first place of each kind, the others beside it."""
    scopes = tuple(module.scopes.values())
    mode = next((place for scope in scopes for place in _cpu_modes(scope)), None)
    if mode is None or is_aside(module.path) or any(scope.assertions for scope in scopes):
        return
    yield from _problem(list(_fixed(module, scopes)), mode, FIXED, USE_DEVICE)
    yield from _problem(list(_unmapped(scopes)), mode, UNMAPPED, MAP)


def _cpu_modes(scope: Scope) -> Iterator[Location]:
    """Where a scope chooses the CPU by a switch, a default, or because there is no GPU."""
    yield from scope.cpu_modes
    yield from (fallback.location for fallback in scope.fallbacks if fallback.kind in (FallbackKind.CHOICE, FallbackKind.HANDLER))
    yield from (default.location for default in scope.device_defaults)


def _fixed(module: Module, scopes: tuple[Scope, ...]) -> Iterator[Location]:
    """What certainly puts something on a GPU, whatever was chosen."""
    for scope in scopes:
        found = touches(module, scope)
        yield from (touch.location for touch in found if touch.is_use and touch.is_direct and touch.gate is Gate.RUNS)


def _unmapped(scopes: tuple[Scope, ...]) -> Iterator[Location]:
    for scope in scopes:
        for call in scope.calls:
            if call.gate is not Gate.NEVER and leaves_device_open(call.name, {key: each.value for key, each in call.arguments.items()}):
                yield call.location


def _problem(places: list[Location], mode: Location, message: str, help_line: str) -> Iterator[Problem]:
    if places:
        related = (Related(mode, "the mode is chosen here"), *(Related(place, "so does this") for place in places[1:4]))
        yield Problem(places[0], message, Severity.NOTE, help=help_line, related=related)


RULE = Rule("GPU609", "cuda-hard-coded", Module, (Severity.NOTE,), Impact.FAILS_TO_START, check)
