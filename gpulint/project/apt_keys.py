"""What a build does to the signing keys of NVIDIA's apt repositories, and where it then fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from gpulint.deferred import NamedTuple
from gpulint.facts.cuda_tags import cures_key, revoked_key, updates_lists
from gpulint.model.stage import Stage
from gpulint.parse.shell import SimpleCommand
from gpulint.source import Location, as_written


class Step(NamedTuple):
    """One command of a build, or one COPY or ADD, as words. `may_fail` says that the build goes on where the command fails."""

    words: tuple[str, ...]
    location: Location
    may_fail: bool = False


def build_steps(stages: Sequence[Stage]) -> Iterator[Step]:
    """The steps of these stages, nearest first, in the order of the build."""
    for stage in reversed(stages):
        runs = {id(run.instruction): run for run in stage.runs}
        copies = {id(copy.instruction): copy for copy in stage.copies}
        for instruction in stage.instructions:
            if id(instruction) in copies:
                yield Step(tuple(map(as_written, copies[id(instruction)].sources)), instruction.location)
            elif id(instruction) in runs:
                yield from _commands(runs[id(instruction)].script.commands)


def _commands(commands: Sequence[SimpleCommand]) -> Iterator[Step]:
    for command, after in zip_longest(commands, commands[1:]):
        may_fail = after is not None and after.operator == "||"
        yield Step(command.written, command.location, may_fail)


def revoked_key_fetched(steps: Sequence[Step]) -> Step | None:
    """The step that fetches the key which the CUDA repositories were signed with before, where none fetches the one of today."""
    if any(cures_key(step.words) for step in steps):
        return None
    return next((step for step in steps if any(map(revoked_key, step.words))), None)


def first_update(steps: Sequence[Step]) -> Step | None:
    """The step in which apt first reads the lists of its repositories and must not fail, unless an earlier one sees to the keys."""
    for step in steps:
        if cures_key(step.words):
            return None
        if updates_lists(step.words) and not step.may_fail:
            return step
    return None
