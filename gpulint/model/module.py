"""Module: what a Python file does with a GPU, and what it does where there is none.

Each function, and the module's own top level, is a Scope that was read as a machine without a GPU would run it: which calls run there,
which raise, where the code goes on with the CPU, and where it refuses to. gpulint.project.programs follows a program through the scopes.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from gpulint.deferred import NamedTuple, dataclass
from gpulint.model.python_values import UNKNOWN, Answer
from gpulint.source import Location, Text

TOP = ""
"""The name of the scope that runs when the module is imported."""

MAIN = "__main__"
"""The name of the scope below `if __name__ == "__main__":`."""


class Gate(enum.IntEnum):
    """How surely code runs on a machine without a GPU, when its scope runs."""

    NEVER = 0
    MAY = 1
    RUNS = 2


class Call(NamedTuple):
    """A call, by its qualified name (gpulint.model.python_names).

    `arguments` are there for the calls that gpulint.facts.python has rows for: positional ones under "0", "1" ..., named ones under
    their name. `handed` says that the function is not called here but given to another call, which calls it. `caught` says that a
    handler around the call catches what a missing GPU raises, and goes on.
    """

    name: str
    location: Location
    gate: Gate
    arguments: Mapping[str, Answer]
    handed: bool = False
    caught: bool = False


class FallbackKind(enum.Enum):
    """How code goes on with the CPU: it chooses, a library does by default, a handler of an exception does, or a function that moves
    things to the GPU returns early."""

    CHOICE = "choice"
    DEFAULT = "default"
    HANDLER = "handler"
    RETURN = "return"


class Fallback(NamedTuple):
    """A place where the program goes on with the CPU where there is no GPU.

    `then` is a clause for a message. `framework` is the library whose default this is. `switches` are what overrules the choice from
    outside: `$DEVICE` (an environment variable) or `--device` (an option).
    """

    location: Location
    kind: FallbackKind
    then: str = ""
    framework: str = ""
    switches: tuple[str, ...] = ()


class AssertionKind(enum.Enum):
    """How code refuses to run without a GPU: an assert statement, an exception or exit, or by returning early from where it started."""

    ASSERT = "assert"
    REFUSAL = "refusal"
    RETURN = "return"


class Assertion(NamedTuple):
    """A place where the program stops where there is no GPU. `subject` names what it asks, such as `torch.cuda.is_available`.

    `gate` is RUNS where it certainly stops there, MAY where a switch decides (`REQUIRE_GPU`), or an assumption of ours.
    """

    location: Location
    kind: AssertionKind
    subject: str
    gate: Gate


class Demand(NamedTuple):
    """A parameter without which, if it is false, a function refuses to go on: `if not condition: raise`.

    `position` is that of an argument handed over by position, "" for one that takes none by position. `location` is where it refuses.
    """

    parameter: str
    position: str
    kind: AssertionKind
    location: Location


class Check(NamedTuple):
    """A statement that calls a function and gives it, under the keys in `answers`, what says that there is no GPU; keys as in a Call."""

    name: str
    location: Location
    gate: Gate
    answers: frozenset[str]


class Raising(NamedTuple):
    """A call that raises by itself where there is no GPU; `then` is a clause for a message. `gate` is how surely it runs."""

    location: Location
    name: str
    then: str
    gate: Gate


class EnvironmentWrite(NamedTuple):
    """An assignment to an environment variable of the process itself, and how surely it runs."""

    name: str
    value: Answer
    location: Location
    gate: Gate


class Sign(NamedTuple):
    """A call that says what its program is for: "trains" or "serves"."""

    means: str
    location: Location


class DeviceDefault(NamedTuple):
    """A device setting whose default is the CPU.

    `kind` is "option" (of a command line), "parameter" (an option that may be given by position), "variable" (of the environment), "field"
    (of a class) or "entry" (of a file of settings); `name` is `--device`, `DEVICE` or `device`; `value` is the default: `cpu`, a number
    below 0, or with `is_switch` what turns the GPU off. `others` are further names of the same option.
    """

    kind: str
    name: str
    value: Text
    location: Location
    others: tuple[str, ...] = ()
    is_switch: bool = False


class Launch(NamedTuple):
    """A place that starts one process a GPU, so that it starts none where there is no GPU. `subject` names what counts the GPUs."""

    location: Location
    subject: str
    gate: Gate


class Imported(NamedTuple):
    """A name that an import statement brings in, by its qualified name; for `from x import *` that of the module."""

    name: str
    location: Location
    gate: Gate


@dataclass(frozen=True, eq=False)
class Scope:
    """A function or method, the module's top level (TOP) or what stands below its main guard (MAIN); all tuples are in file order.

    `location` is the function's name in its `def`. `methods` are the methods called on objects of unknown class, each with the surest
    gate. `on_cpu` names the frameworks that are told to use the CPU. `cpu_modes` are the tests of a switch, such as `args.no_cuda`, that
    decides between GPU and CPU. `demands` are the parameters that a function insists on, and `checks` the calls that may meet such a one.
    `returned` is what the function returns without a GPU, and `ends` says that it never returns there.
    """

    name: str
    location: Location
    imports: tuple[Imported, ...] = ()
    calls: tuple[Call, ...] = ()
    methods: Mapping[str, Gate] = field(default_factory=dict)
    fallbacks: tuple[Fallback, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    raising: tuple[Raising, ...] = ()
    signs: tuple[Sign, ...] = ()
    environment: tuple[EnvironmentWrite, ...] = ()
    on_cpu: frozenset[str] = frozenset()
    device_defaults: tuple[DeviceDefault, ...] = ()
    launches: tuple[Launch, ...] = ()
    cpu_modes: tuple[Location, ...] = ()
    demands: tuple[Demand, ...] = ()
    checks: tuple[Check, ...] = ()
    returned: Answer = UNKNOWN
    ends: bool = False


class ModuleClass(NamedTuple):
    """A class of the module: its name, the qualified names of its bases and decorators, and its own methods."""

    name: str
    bases: tuple[str, ...]
    decorators: tuple[str, ...]
    methods: frozenset[str]


@dataclass(frozen=True, eq=False)
class Module:
    """One Python file.

    `scopes` reads each scope when it is first asked for: following a program through a large file costs no more than the functions it
    calls. `decorators` holds those of each decorated function, `variables` what is known of the top level's. `aliases` maps each imported
    name to its qualified name; `stars` are the modules whose every name is imported. `starts` are the qualified names of what may be the
    function that the file starts with when it is run, the likeliest last: what the last statement calls, of the main guard or of the file
    where it has none, and what is called main there.
    """

    path: str
    location: Location
    scopes: Mapping[str, Scope]
    classes: Mapping[str, ModuleClass]
    decorators: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, Answer]
    aliases: Mapping[str, str]
    stars: tuple[str, ...]
    starts: tuple[str, ...]

    @property
    def top(self) -> Scope:
        return self.scopes[TOP]
