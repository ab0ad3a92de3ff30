"""GPU117: one environment gets two builds of a framework, and the one that is meant may not be the one that stays."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import is_for_other_accelerator
from gpulint.project.conflicts import Replacement, Shadow, Split, replacements, shadows, splits
from gpulint.project.contents import Installed
from gpulint.project.stages import is_infrastructure_image, ships
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error where the CPU package is written over the GPU package, a warning where either may be, or another CUDA build comes."""
    if not ships(stage, project) or is_infrastructure_image(stage, project) or is_for_other_accelerator(stage, project):
        return
    yield from map(_of_shadow, shadows(stage, project))
    yield from map(_of_replacement, replacements(stage, project))
    yield from map(_of_split, splits(stage, project))


def _of_shadow(shadow: Shadow) -> Problem:
    cpu, gpu = shadow.cpu.package, shadow.gpu.package
    outcome = "its files are put over those of the GPU build" if shadow.is_certain else "which of the two stays depends on their order"
    message = f"{cpu.shown} is installed beside {gpu.shown}: both are the module {shadow.module}, and {outcome}"
    return Problem(
        cpu.location,
        message,
        Severity.ERROR if shadow.is_certain else Severity.WARNING,
        help=f"leave {shadow.cpu.name} out; where another package brings it, uninstall both and install {shadow.gpu.name} last",
        related=(Related(gpu.location, "the GPU build is asked for here"),),
    )


def _of_replacement(replacement: Replacement) -> Problem:
    cause, there = replacement.cause, replacement.there
    needs = f", which needs {replacement.needs}," if replacement.needs else ""
    was, becomes = replacement.before.cuda, replacement.after.cuda
    message = f"{cause.package.shown}{needs} replaces torch {there.version} for CUDA {was} by a build for CUDA {becomes}"
    origin = there.package.location if isinstance(there, Installed) else there.location
    related = [Related(origin, f"torch {there.version} comes from here")]
    if cause.package.location.path != cause.install.command.location.path:
        related.append(Related(cause.package.location, f"{cause.package.shown} is asked for here"))
    instead = "hold torch in a constraint file (-c), name it with its index in this command too, or take a version that goes with it"
    return Problem(cause.install.command.location, message, Severity.WARNING, help=instead, related=tuple(related))


def _of_split(split: Split) -> Problem:
    names = " and ".join(installed.name for installed in split.packages)
    searched = split.searched
    message = f"pip takes {names} from PyPI or {searched}, whichever is newer: they need not be builds for {split.variant}"
    instead = f"pin their versions, or take them by --index-url {searched} in a command of their own"
    related = (Related(searched.location, "this index only adds to PyPI"),)
    return Problem(split.packages[0].package.location, message, Severity.WARNING, help=instead, related=related)


RULE = Rule("GPU117", "conflicting-framework-installs", Stage, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
