"""The GPU architectures that a build compiles for, as its variables and settings list them."""

from __future__ import annotations

import re

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import version_key
from gpulint.facts.drivers import compiler_range
from gpulint.facts.source_builds import architecture_variables
from gpulint.project.compilations import Compilation
from gpulint.source import Location, Text, Value

_DOTTED = regex(r"(?P<major>\d{1,2})\.(?P<minor>\d)(?P<own>[af]?)(?P<ptx>\+PTX)?")
_MOST = 100  # architectures of one list


class Architecture(NamedTuple):
    """One entry of a list: its compute capability, whether its code is for exactly that one (`9.0a`), and whether PTX is kept, from which
    a driver makes code for newer ones."""

    major: int
    minor: int
    is_exact: bool
    has_ptx: bool

    @property
    def capability(self) -> str:
        """As the facts write it: `8.6`."""
        return f"{self.major}.{self.minor}"

    def serves(self, capability: str) -> bool:
        """Whether code for this runs on a GPU of that capability: machine code on the same major and no lower minor, PTX on all newer."""
        wanted = version_key(capability)
        own = (self.major, self.minor)
        if self.is_exact:
            return own == wanted
        return (wanted[0] == self.major and wanted >= own) or (self.has_ptx and wanted >= own)


class ArchitectureList(NamedTuple):
    """A list of architectures, the variable that it is the value of, and where it stands."""

    variable: str
    value: Text
    architectures: tuple[Architecture, ...]

    @property
    def location(self) -> Location:
        return self.value.location

    def serves(self, capability: str) -> bool:
        """Whether any entry's code runs on a GPU of that capability."""
        return any(each.serves(capability) for each in self.architectures)


def architecture_list(compilation: Compilation) -> ArchitectureList | None:
    """The list that a PyTorch extension is compiled for; None where none is set, or a part of it is not known."""
    if not compilation.is_extension:
        return None
    for variable in sorted(architecture_variables()):
        value = compilation.environment.get(variable)
        if isinstance(value, Text) and (found := _read(value)):
            return ArchitectureList(variable, value, found)
    return None


def is_listed(compilation: Compilation) -> bool:
    """Whether the variable is set that the build takes its architectures from, whatever its value."""
    value: Value | None = compilation.environment.get(compilation.architectures)
    return value is not None and not (isinstance(value, Text) and not value.strip())


def _read(value: Text) -> tuple[Architecture, ...]:
    """The entries of `8.0;8.6+PTX`; () where one is no number, such as the name of a generation."""
    matches = [_DOTTED.fullmatch(word) for word in re.split(r"[;,\s]+", value.strip())][:_MOST]
    found = tuple(Architecture(int(m["major"]), int(m["minor"]), bool(m["own"]), bool(m["ptx"])) for m in matches if m is not None)
    return found if len(found) == len(matches) else ()


def refused_by(architecture: Architecture, cuda: str) -> str:
    """Why the compiler of a CUDA version has no target for an architecture: "dropped", "too new", "" where it has one or is not known."""
    known = compiler_range(architecture.capability)
    if known is None:
        return ""
    first, last = known
    version = version_key(cuda)[:2]
    if last is not None and version > version_key(last)[:2]:
        return "dropped"
    return "too new" if version < version_key(first)[:2] else ""
