"""Where a Python module touches CUDA: its calls that initialise the driver.

From the first of them on the process no longer looks at CUDA_VISIBLE_DEVICES, and what it forks cannot use CUDA.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.python import touches_cuda, uses_cuda
from gpulint.model.module import Call, Gate, Module, Scope
from gpulint.source import Location


class Touch(NamedTuple):
    """A call that touches CUDA; `is_use` says that it puts something on the GPU and does not only ask for one.

    `place` is where that happens in the scope that was asked: the call itself, or where the scope calls the function of the same file that
    it stands in. `gate` is how surely it runs with that scope.
    """

    name: str
    location: Location
    place: Location
    gate: Gate
    is_use: bool

    @property
    def is_direct(self) -> bool:
        """Whether the call stands in the scope itself."""
        return self.place == self.location


def touches(module: Module, scope: Scope) -> Iterator[Touch]:
    """The touches of a scope and of the functions of the file that it calls itself, in the order in which they happen."""
    for call in scope.calls:
        if call.handed:
            continue
        if is_touch(call):
            yield _touch(call, call.location, call.gate)
        called = module.scopes.get(call.name[1:]) if call.name.startswith(":") else None
        if called is not None and called is not scope:
            inner = (each for each in called.calls if is_touch(each) and not each.handed)
            yield from (_touch(each, call.location, min(call.gate, each.gate)) for each in inner)


def is_touch(call: Call) -> bool:
    """Whether a call initialises the driver, where there is one."""
    return touches_cuda(call.name, _plain(call))


def _touch(call: Call, place: Location, gate: Gate) -> Touch:
    return Touch(call.name, call.location, place, gate, uses_cuda(call.name, _plain(call)))


def _plain(call: Call) -> dict[str, object]:
    return {key: answer.value for key, answer in call.arguments.items()}
