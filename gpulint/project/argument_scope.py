"""Build arguments from before the first FROM that a stage uses without declaring them, so that they are empty there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.environment import image_may_set, in_every_stage, speaks_of_gpu
from gpulint.model.image import ImageRef
from gpulint.model.stage import Run, Stage
from gpulint.parse.dockerfile import Instruction
from gpulint.project import Project
from gpulint.source import Location, Text, Unknown, Value, as_written

_USE = regex(r"(?<!\\)\$(?:(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)(?P<operator>:?[-=?+]|[^}])?[^}]{0,200}\})")
_OWN_FALLBACK = ("-", ":-", "=", ":=")
_SETS_ANYTHING = ("source", ".", "eval")
_DOCKERFILE_USES = ("ENV", "COPY", "ADD", "WORKDIR", "ARG")


class LostArgument(NamedTuple):
    """A use of a build argument that is empty in its stage: its name, where it is used, and where it is declared before the first FROM."""

    name: str
    location: Location
    declared: Location


def lost_arguments(stage: Stage, project: Project) -> Iterator[LostArgument]:
    """The first use of each such argument in a part of the stage that speaks of GPU software."""
    dockerfile = project.dockerfile(stage.path)
    outside = {str(each.name): each.name.location for each in dockerfile.arguments} if dockerfile else {}
    lost = {name for name in outside if not in_every_stage(name) and not _may_be_set(stage.chain()[-1].base, name)} - _inherited(stage)
    if not lost:
        return
    runs = {id(run.instruction): run for run in stage.runs}
    for instruction in stage.instructions:
        for name, location in _uses(instruction, runs.get(id(instruction)), lost):
            lost.discard(name)
            yield LostArgument(name, location, outside[name])
        lost.difference_update(str(name) for name, _ in instruction.pairs if instruction.name in ("ARG", "ENV"))


def _may_be_set(base: ImageRef | None, name: str) -> bool:
    """Whether the base image may set a variable of that name itself. One without GPU software sets none that is named for it."""
    if base is None or not base.facts.listed:
        return True
    may_set = image_may_set(base.repository, name)
    return base.facts.carries_cuda is not False if may_set is None else may_set


def _inherited(stage: Stage) -> set[str]:
    """What the stages that it builds on declare and set."""
    parent = stage.parent
    return {str(each.name) for each in (*parent.arguments, *parent.env)} if parent is not None else set()


def _uses(instruction: Instruction, run: Run | None, lost: Set[str]) -> Iterator[tuple[str, Location]]:
    """Which of these variables a GPU part of an instruction uses without a fallback of its own, and where."""
    if run is not None:
        yield from _uses_of_run(run, lost)
    elif instruction.name in _DOCKERFILE_USES:
        for word in instruction.words:
            yield from ((name, word.location) for name in _names(word) if name in lost and speaks_of_gpu(word))


def _uses_of_run(run: Run, lost: Set[str]) -> Iterator[tuple[str, Location]]:
    """Those of a RUN's commands; none where a script that is read in may set any variable."""
    commands = run.script.commands
    if any(command.name in _SETS_ANYTHING for command in commands):
        return
    text = "\n".join((run.instruction.arguments, *(heredoc.body for heredoc in run.instruction.heredocs)))
    for command in commands:
        values: list[tuple[Value, Location]] = list(zip(command.words, command.tokens, strict=True))
        values += [(assigned.value, assigned.name.location) for assigned in command.assignments]
        is_gpu_part = any(speaks_of_gpu(as_written(value)) for value, _ in values)
        for value, location in values:
            for name in _names(value) if isinstance(value, Unknown) else ():
                if name in lost and (is_gpu_part or speaks_of_gpu(name)) and not _sets(text, name):
                    yield name, location


def _names(value: Value) -> Iterator[str]:
    text = value if isinstance(value, Text) else value.raw
    for match in _USE.finditer(text):
        if match["operator"] not in _OWN_FALLBACK:
            yield match["name"] or match["braced"]


def _sets(text: str, name: str) -> bool:
    """Whether a script sets a variable itself: by an assignment, a loop, or what it reads."""
    return re.search(rf"(?:^|[\s;&|(]){name}=|\bfor\s+{name}\b|\bread\b[^;\n]{{0,200}}\b{name}\b", text) is not None
