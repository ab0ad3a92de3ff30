"""GPU125: the program compiles code when it runs, and the image has no C compiler."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import cannot_be_pulled, is_named_cpu
from gpulint.project.first_use import compiling_uses
from gpulint.project.stages import ships
from gpulint.project.toolkits import part_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A warning at the FROM of the stage that ships, with the call that compiles."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base) or base.facts.minimal:
        return
    if not ships(stage, project) or is_named_cpu(stage, project) or stage.variable("CC") is not None:
        return
    use = next((each for each in compiling_uses(stage, project) if each.needs.c_compiler), None)
    if use is not None and part_of(stage, "cc", project).is_there is False:
        message = f"the program uses {use.name}, which calls a C compiler when it runs, and {base.shown} has none: it ends at that call"
        related = (Related(use.location, "this compiles"),)
        yield Problem(base.location, message, Severity.WARNING, "install gcc and libc6-dev in this stage", related)


RULE = Rule("GPU125", "jit-compiler-missing", Stage, (Severity.WARNING,), Impact.FAILS_TO_START, check)
