"""GPU104: a GPU workload ships on a base that the injected driver cannot work in, or removes what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.loader import may_remove_loader_part, removed_loader_part
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.stages import gpu_use, is_file_export, is_infrastructure_image, ships
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Location, Text, Unknown

LACKS = {
    "musl": ("musl in place of glibc, which the driver's libraries and every CUDA build are linked with", Severity.ERROR),
    "scratch": ("no dynamic linker and no libraries at all", Severity.ERROR),
    "distroless": ("no ldconfig: container toolkits before the end of 2025 cannot enter the driver's libraries there", Severity.WARNING),
    "busybox": ("no ldconfig: container toolkits before the end of 2025 cannot enter the driver's libraries there", Severity.WARNING),
}


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error at the FROM of a base that no CUDA build runs on, a warning at one that only newer toolkits serve, and at a RUN that removes
    the linker cache or its configuration."""
    if not ships(stage, project) or is_infrastructure_image(stage, project):
        return
    base = stage.chain()[-1].base
    kind = base.facts.minimal if base is not None and not isinstance(base.name, Unknown) else ""
    reason = gpu_use(stage, project) if kind or any(map(_may_remove, stage.chain())) else None
    if reason is None:
        return
    related = (Related(reason.location, reason.says),)
    if base is not None and kind and not is_file_export(stage, project):
        lack, severity = LACKS[kind]
        outcome = "it finds no GPU" if severity is Severity.ERROR else "the program may find no GPU"
        message = f"this GPU workload ships on {base.shown}, which has {lack}; {outcome}"
        yield Problem(base.location, message, severity, help="ship a glibc base, such as debian or ubuntu slim", related=related)
    for place, word in _removals(stage):
        message = f"this removes {word}, by which the injected driver's libraries are found: the GPU may stay unseen"
        yield Problem(place, message, Severity.WARNING, help="keep it", related=related)


def _may_remove(stage: Stage) -> bool:
    runs = (instruction for instruction in stage.instructions if instruction.name == "RUN")
    return any(may_remove_loader_part(text) for run in runs for text in (run.arguments, *(heredoc.body for heredoc in run.heredocs)))


def _removals(stage: Stage) -> Iterator[tuple[Location, str]]:
    for run in (run for each in stage.chain() for run in each.runs):
        for command in run.script.commands:
            word = removed_loader_part([str(word) if isinstance(word, Text) else "" for word in command.words])
            if word:
                yield command.location, word


RULE = Rule("GPU104", "minimal-base-for-gpu", Stage, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
