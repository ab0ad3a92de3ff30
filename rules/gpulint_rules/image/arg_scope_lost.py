"""GPU120: a build argument from before FROM is empty in the stage that uses it for a GPU part."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.argument_scope import lost_arguments
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error at the first use of each such argument in the stage."""
    base = stage.chain()[-1].base
    if base is None or base.is_missing:
        return
    for lost in lost_arguments(stage, project):
        message = f"${lost.name} is empty here: an ARG from before the first FROM is only known in FROM, until the stage declares it"
        related = (Related(lost.declared, "it is declared here"),)
        yield Problem(lost.location, message, Severity.ERROR, help=f"write ARG {lost.name} below the FROM of this stage", related=related)


RULE = Rule("GPU120", "arg-scope-lost", Stage, (Severity.ERROR,), Impact.CPU_FALLBACK, check)
