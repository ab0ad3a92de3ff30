"""GPU602: the program chooses its GPUs by CUDA_VISIBLE_DEVICES when nobody looks at that any more."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.python import reads_devices_late, starts_process
from gpulint.model.cuda_touches import Touch, touches
from gpulint.model.module import MAIN, TOP, EnvironmentWrite, Gate, Imported, Module, Scope
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location

CUDA = "CUDA_VISIBLE_DEVICES"
HELP = f"set {CUDA} above the first import of the framework, or outside of the program"


def check(module: Module, _project: Project) -> Iterator[Problem]:
    """A problem for each assignment behind a call that certainly initialises CUDA, and a note for one that is only behind the import."""
    for scope in module.scopes.values():
        for write in scope.environment:
            if write.name == CUDA and not _is_for_children(write, scope):
                yield from _problem(write, scope, module)


def _is_for_children(write: EnvironmentWrite, scope: Scope) -> bool:
    """Whether what follows the assignment starts processes, which look at the variable for themselves."""
    return any(call.location > write.location and starts_process(call.name) for call in scope.calls)


def _problem(write: EnvironmentWrite, scope: Scope, module: Module) -> Iterator[Problem]:
    touch = next(_earlier_touches(write, scope, module), None)
    if touch is not None:
        is_certain = scope.name in (TOP, MAIN) and touch.is_direct and write.gate is not Gate.MAY
        message = f"{CUDA} is set after {touch.name} has initialised CUDA, so this process keeps the GPUs that it had"
        related = (Related(touch.location, "CUDA is initialised here"),)
        yield Problem(write.location, message, Severity.ERROR if is_certain else Severity.WARNING, help=HELP, related=related)
    elif scope.name in (TOP, MAIN):
        imported = _earlier_import(write, module)
        if imported is not None:
            message = f"{CUDA} is set after the import of {imported.name}, which holds only as long as no import initialises CUDA"
            related = (Related(imported.location, "it is imported here"),)
            yield Problem(write.location, message, Severity.NOTE, help=HELP, related=related)


def _earlier_touches(write: EnvironmentWrite, scope: Scope, module: Module) -> Iterator[Touch]:
    """What certainly touches CUDA before the assignment: in its own scope, and at the top level, which runs before the main guard and,
    as far as it calls nothing of the file, before any function."""
    own = (touch for touch in touches(module, scope) if touch.place < write.location)
    at_import = touches(module, module.top) if scope is not module.top else iter(())
    until = write.location if scope.name == MAIN else _first_call(module)
    certain = (touch for touch in at_import if until is None or touch.place < until)
    yield from (touch for touch in (*certain, *own) if touch.gate is Gate.RUNS)


def _first_call(module: Module) -> Location | None:
    """Where the top level first calls anything of the file, which may be the function that makes the assignment."""
    return next((call.location for call in module.top.calls if call.name.startswith(":") and not call.handed), None)


def _earlier_import(write: EnvironmentWrite, module: Module) -> Imported | None:
    before = (each for each in module.top.imports if each.location < write.location and each.gate is Gate.RUNS)
    return next((each for each in before if reads_devices_late(each.name)), None)


RULE = Rule("GPU602", "late-visible-devices", Module, (Severity.ERROR, Severity.WARNING, Severity.NOTE), Impact.WRONG_GPU, check)
