"""What the steps of a stage build that needs the CUDA libraries when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import program_index, program_name
from gpulint.facts.source_builds import has_cuda_feature, may_be_program, needs_cuda_if_on, option_meanings
from gpulint.model.stage import Copy, Stage
from gpulint.parse.shell import SimpleCommand
from gpulint.project import Project
from gpulint.project.compilations import Compilation, compilations
from gpulint.source import Location, Text


class LinkedBuild(NamedTuple):
    """A build whose output loads CUDA libraries: what it is, for a message, and where. `needs_more` where the run-time library alone is
    not enough: cuBLAS and its like."""

    shown: str
    location: Location
    needs_more: bool


def linked_builds(stage: Stage, project: Project) -> Iterator[LinkedBuild]:
    """The builds of a stage, and of those that it builds on, that link with CUDA libraries. nvcc links the run-time library statically
    unless it is told otherwise, so that a program of its own needs none."""
    for each in stage.chain():
        for compilation in compilations(each, project):
            build = _of_compilation(compilation)
            if build is not None:
                yield build
        for run in each.runs:
            for command in run.script.commands:
                yield from _of_features(command)


def _of_compilation(compilation: Compilation) -> LinkedBuild | None:
    words = compilation.command.written
    meanings = option_meanings(words)
    if compilation.is_extension or compilation.build is not None or compilation.with_cuda is not True or "static" in meanings:
        return None
    if compilation.shown == "nvcc":
        is_linked = bool(meanings & {"libraries", "shared"})
        return LinkedBuild("nvcc", compilation.location, "libraries" in meanings) if is_linked else None
    return LinkedBuild(compilation.shown, compilation.location, needs_cuda_if_on(f"-D{compilation.shown.removeprefix('-D')}"))


def _of_features(command: SimpleCommand) -> Iterator[LinkedBuild]:
    """A build of Rust or Go with CUDA among its features."""
    words = command.written
    at = program_index(words)
    if at + 1 >= len(words) or not {"build", "install", "run"} & set(words[at + 1 :]):
        return
    options = [tuple(word.split("=", 1)) for word in words if word.startswith("-") and "=" in word]
    pairs = [*((option[0], option[1]) for option in options), *pairwise(words)]
    if has_cuda_feature(program_name(words[at]), pairs):
        yield LinkedBuild(f"the CUDA feature of {words[at]}", command.words[at].location, True)


def copied_programs(copy: Copy) -> bool:
    """Whether a copy takes what may be programs or libraries."""
    return any(isinstance(source, Text) and may_be_program(str(source)) for source in copy.sources)
