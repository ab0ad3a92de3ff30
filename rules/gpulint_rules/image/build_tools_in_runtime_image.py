"""GPU121: the image that ships keeps the compilers that only its build needed."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import cannot_be_pulled, gpu_claim
from gpulint.project.contents import Installed
from gpulint.project.stage_programs import programs_of
from gpulint.project.stages import (
    compiles_gpu_code,
    fetches_code,
    is_base_of_others,
    is_build_only,
    is_for_developers,
    runs_a_program,
)
from gpulint.project.toolkits import build_tools, part_of_image
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Unknown


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A note at the first compiler that is installed and not removed again, where the program is known and compiles nothing."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base):
        return
    if is_for_developers(stage) or is_build_only(stage) or not runs_a_program(stage, project) or is_base_of_others(stage, project):
        return
    tools = () if part_of_image(base, "cc").is_there else build_tools(stage, project)
    if not tools or not programs_of(stage, project) or fetches_code(stage) or compiles_gpu_code(stage, project):
        return
    if gpu_claim(stage, project) is not None:
        yield _problem(tools)


def _problem(tools: tuple[Installed, ...]) -> Problem:
    names = ", ".join(each.package.shown for each in tools[:_MOST_NAMES]) + " and more" * (len(tools) > _MOST_NAMES)
    message = f"the image that ships keeps {names}, which nothing in it needs when the container runs"
    instead = "build wheels or programs in an earlier stage and copy them, or remove the compilers in the same RUN"
    return Problem(tools[0].package.location, message, Severity.NOTE, instead)


_MOST_NAMES = 3


RULE = Rule("GPU121", "build-tools-in-runtime-image", Stage, (Severity.NOTE,), Impact.WASTEFUL, check)
