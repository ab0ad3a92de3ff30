"""What a rule is: a declaration, and a function from one node of the model to the problems it sees there.

A rule pack uses the names of this module and of gpulint.model, gpulint.facts, gpulint.evidence and gpulint.project, and nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gpulint.deferred import NamedTuple, dataclass
from gpulint.source import Location

if TYPE_CHECKING:
    from gpulint.project import Project

Node = TypeVar("Node")


class Severity(enum.IntEnum):
    """How sure and how grave: an error cannot start, be scheduled, or certainly loses the GPU; a note is advice."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The word for people and for SARIF: note, warning, error."""
        return self.name.lower()


class Impact(str, enum.Enum):
    """What the fault does to the workload."""

    CPU_FALLBACK = "cpu-fallback"
    FAILS_TO_START = "fails-to-start"
    NEVER_SCHEDULED = "never-scheduled"
    BUILD_FAILS = "build-fails"
    WRONG_GPU = "wrong-gpu"
    INSECURE = "insecure"
    WASTEFUL = "wasteful"
    UNREPRODUCIBLE = "unreproducible"
    UNREAD = "unread"


class Related(NamedTuple):
    """A further place that bears on a problem, and what it says: one short clause."""

    location: Location
    message: str


class Problem(NamedTuple):
    """What a rule saw: where, how grave, and one sentence that says what is wrong with which value and what follows.

    `help` is the line that says what to write instead.
    """

    location: Location
    message: str
    severity: Severity
    help: str = ""
    related: tuple[Related, ...] = ()


@dataclass(frozen=True, eq=False)
class Rule(Generic[Node]):
    """One rule: who it is, which nodes of the model it looks at, and how. `node` is the class of these, or a tuple of several;
    `machines` are the facts of the machines without which it is silent."""

    id: str
    name: str
    node: type[Node] | tuple[type[Any], ...]
    severities: tuple[Severity, ...]
    impact: Impact
    check: Callable[[Node, Project], Iterable[Problem]]
    machines: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The name as words."""
        return self.name.replace("-", " ")

    @property
    def node_names(self) -> str:
        """The names of the classes that it looks at, as an Entry has them."""
        return " | ".join(node.__name__ for node in (self.node if isinstance(self.node, tuple) else (self.node,)))


class Finding(NamedTuple):
    """A problem as it is reported: with its rule, and whether an ignore of the user's holds it back, with the reason given there.

    `overlay` is the place of the kustomization that builds what has the problem, and the number of those that build something else of it.
    """

    rule: str
    name: str
    problem: Problem
    suppressed_by: Location | None = None
    reason: str = ""
    overlay: tuple[Location, int] | None = None

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Files in the order of their paths, then places, then rules."""
        return (*self.problem.location, self.rule, self.problem.message)


class Entry(NamedTuple):
    """A rule as its pack's catalogue lists it, so that a run imports only the rules it needs.

    `node` is the name of the class it looks at, or several with ` | ` between; `module` is the module of its check, below the pack, or ""
    for a rule of the engine itself; `page` the path of its page; `machines` as a Rule's.
    """

    id: str
    name: str
    node: str
    severities: tuple[Severity, ...]
    impact: Impact
    module: str
    page: str
    machines: tuple[str, ...] = ()
