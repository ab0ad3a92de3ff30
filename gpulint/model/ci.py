"""CI files: jobs with their runners, the containers that they run in, and what their steps start and build."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain, islice, takewhile

from gpulint.deferred import NamedTuple
from gpulint.model.command import CommandLines
from gpulint.model.container import Container
from gpulint.model.variable import EnvVar
from gpulint.parse.shell import Script
from gpulint.parse.shell_expand import Chunk, assembled
from gpulint.parse.yaml import EMPTY_MAPPING, Mapping, Node, Scalar, Sequence
from gpulint.source import Location, Text, Unknown, Value


class Step(NamedTuple):
    """A step of a job: what it runs and in which folder, or the action that it uses, with its inputs."""

    location: Location
    name: Value | None = None
    script: Script | None = None
    uses: Value | None = None
    inputs: Mapping = EMPTY_MAPPING
    folder: Value | None = None


class Job(NamedTuple):
    """A job of a CI file.

    `location` is its key. `runner` are the labels by which it takes a runner, None where it names none. `container` is what its steps
    run in, `services` the containers beside it. `started` is what its steps start and build.
    """

    name: Text
    location: Location
    runner: tuple[Value, ...] | None
    container: Container | None
    services: tuple[Container, ...]
    steps: tuple[Step, ...]
    started: tuple[CommandLines, ...]

    @property
    def containers(self) -> tuple[Container, ...]:
        """All containers of the job: its own, its services, and those that its steps start."""
        own = (self.container,) if self.container else ()
        return (*own, *self.services, *(container for lines in self.started for container in lines.containers))


class Pipeline(NamedTuple):
    """A CI file's jobs, in file order."""

    path: str
    jobs: tuple[Job, ...]

    @property
    def lines(self) -> Iterator[CommandLines]:
        """What the whole file starts, builds and brings together, job by job."""
        for job in self.jobs:
            own = (job.container,) if job.container else ()
            yield CommandLines((*own, *job.services))
            yield from job.started


def scalars(node: Node | None) -> tuple[Value, ...]:
    """The scalars of a list, or the one that stands in its place."""
    items = node.items if isinstance(node, Sequence) else () if node is None else (node,)
    return tuple(item for item in items if isinstance(item, Unknown) or (isinstance(item, Scalar) and not item.is_null))


def variables_of(mapping: Mapping) -> tuple[EnvVar, ...]:
    """The variables of a mapping of names to scalars; a name without a value is the caller's."""
    return tuple(
        EnvVar(key, None if isinstance(value, Scalar) and value.is_null else value)
        for key, value, _ in mapping
        if isinstance(value, (Scalar, Unknown))
    )


def chunks_of(text: Text, start: int, end: int, holes: list[tuple[int, int]]) -> Iterator[Chunk]:
    """The runs of a part of a text, those in its holes not known. The holes stand in their order."""
    at = start
    first = max(bisect_right(holes, (start, len(text))) - 1, 0)
    for low, high in takewhile(lambda hole: hole[0] < end, islice(holes, first, None)):
        if high > start:
            if low > at:
                yield Chunk(text.cut(at, low))
            at = min(high, end)
            yield Chunk(text.cut(max(low, start), at), known=False, many=True)
    if at < end or start == end:
        yield Chunk(text.cut(at, end))


def with_holes(text: Text, holes: list[tuple[int, int]]) -> Value:
    """A text of which ranges are not known."""
    return assembled(list(chunks_of(text, 0, len(text), holes)), text.location) if holes else text


def lines_of(text: Text, separator: re.Pattern[str]) -> Iterator[Text]:
    """The parts of a text between separators, without the blanks around them and without empty ones."""
    value, at = str(text), 0
    for end, start in chain((match.span() for match in separator.finditer(text)), [(len(text), len(text))]):
        part = value[at:end]
        begin = at + len(part) - len(part.lstrip())
        if part.strip():
            yield text.cut(begin, begin + len(part.strip()))
        at = start
