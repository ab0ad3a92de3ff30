"""GPU111: what a build stage links with CUDA is copied onto a base that has no CUDA libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpulint.model.image import ImageRef
from gpulint.model.stage import Copy, Stage
from gpulint.project import Project
from gpulint.project.claims import cannot_be_pulled, is_named_cpu
from gpulint.project.linked_builds import LinkedBuild, copied_programs, linked_builds
from gpulint.project.stages import is_file_export, ships
from gpulint.project.toolkits import may_come_otherwise, part_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text, Unknown


class _Left(NamedTuple):
    build: LinkedBuild
    copy: Copy


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error at the FROM of the stage that ships, once, with the copy and the build."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base) or base.facts.minimal:
        return
    if not ships(stage, project) or is_file_export(stage, project) or is_named_cpu(stage, project):
        return
    left = next(_left_behind(stage, project), None)
    if left is not None and _has_no_libraries(stage, base, left.build, project):
        has = "no CUDA library but the run-time one" if base.facts.carries_cuda else "no CUDA libraries"
        message = f"{base.shown} has {has}, and what is copied onto it is built with {left.build.shown} and loads them: the GPU is lost"
        related = (Related(left.copy.instruction.location, "it is copied here"), Related(left.build.location, "it is built here"))
        instead = "ship the nvidia/cuda runtime image of the build's version, or install its libraries"
        yield Problem(base.location, message, Severity.ERROR, instead, related)


def _left_behind(stage: Stage, project: Project) -> Iterator[_Left]:
    """What the stage copies out of stages that link with CUDA."""
    dockerfile = project.dockerfile(stage.path)
    for copy in (copy for each in stage.chain() for copy in each.copies):
        origin = dockerfile.stage(copy.from_) if dockerfile is not None and isinstance(copy.from_, Text) else None
        if origin is not None and origin is not stage and copied_programs(copy):
            yield from (_Left(build, copy) for build in linked_builds(origin, project))


def _has_no_libraries(stage: Stage, base: ImageRef, build: LinkedBuild, project: Project) -> bool:
    """Whether the image has no CUDA libraries at all; or none but the run-time library, and the build needs more."""
    cuda = part_of(stage, "cuda", project)
    if cuda.is_there is False:
        return True
    is_base_alone = base.facts.flavour == "base" and not cuda.versions and not may_come_otherwise(stage, "cuda", project)
    return is_base_alone and cuda.is_there is True and build.needs_more


RULE = Rule("GPU111", "cuda-libraries-left-behind", Stage, (Severity.ERROR,), Impact.CPU_FALLBACK, check)
