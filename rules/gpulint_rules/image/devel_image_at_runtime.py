"""GPU103: what ships is built on a devel image though the runtime one would do."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.stages import compiles_gpu_code, is_base_of_others, is_for_developers, runs_a_program
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import Unknown


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A warning at the FROM that names the devel image, unless the stage compiles GPU code at run time."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or base.is_missing:
        return
    twin = base.facts.runtime_tag
    if twin is None or is_for_developers(stage) or not runs_a_program(stage, project) or is_base_of_others(stage, project):
        return
    compiles = compiles_gpu_code(stage, project)
    if compiles and not project.strict:
        return
    message = f"{base.shown} ships compilers and headers, several GB that nothing here needs when the container runs"
    if compiles:
        message = f"{base.shown} ships compilers and headers; compile ahead in a stage of its own (policy)"
    yield Problem(base.location, message, Severity.WARNING, help=f"ship {base.name}:{twin}, and compile in an earlier stage")


RULE = Rule("GPU103", "devel-image-at-runtime", Stage, (Severity.WARNING,), Impact.WASTEFUL, check)
