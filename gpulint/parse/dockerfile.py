"""Dockerfiles as BuildKit's parser reads them: instructions with their flags, JSON form, heredocs and exact places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpulint.source import Location, Source, Text


class Flag(NamedTuple):
    """`--name=value` before an instruction's arguments; a flag without `=` has no value."""

    name: Text
    value: Text | None


class Heredoc(NamedTuple):
    """`<<NAME` and the lines down to NAME: `expand` is false where the name was quoted."""

    name: str
    body: Text
    expand: bool


@dataclass(frozen=True, eq=False)
class Instruction:
    """One instruction.

    `keyword` is as written; `name` in capitals. `arguments` is what follows keyword and flags, with continuation lines joined as
    BuildKit joins them. `json` holds the strings of the JSON form, where it is one. `trigger` is the instruction that ONBUILD keeps.
    """

    keyword: Text
    arguments: Text
    location: Location
    flags: tuple[Flag, ...] = ()
    json: tuple[Text, ...] | None = None
    heredocs: tuple[Heredoc, ...] = ()
    trigger: Instruction | None = None

    @property
    def name(self) -> str:
        return self.keyword.upper()


class SyntaxProblem(NamedTuple):
    """Why a file could not be read on, and where."""

    message: str
    location: Location


@dataclass(frozen=True, eq=False)
class DockerfileSyntax:
    """A Dockerfile's instructions in order, its parser directives (syntax, escape, check), and what is wrong with it, if anything is."""

    instructions: tuple[Instruction, ...]
    directives: dict[str, Text]
    problems: tuple[SyntaxProblem, ...] = ()


def parse(source: Source) -> DockerfileSyntax:
    """Read a Dockerfile. Never raises: what BuildKit would refuse is in `problems`, and the instructions up to there are given."""
    raise NotImplementedError
