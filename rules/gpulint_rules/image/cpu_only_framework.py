"""GPU107: an image for a GPU holds a framework that was built for the CPU alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import says_cpu
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import Claim, builds_with_defaults, cannot_be_pulled, deciding_arguments, gpu_claim, is_named_cpu
from gpulint.project.cpu_builds import CpuBuild, computes_elsewhere, cpu_base, cpu_builds, is_asked_for_cuda
from gpulint.project.jetson import stands_on_jetson
from gpulint.project.stages import is_infrastructure_image, ships
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error where a GPU is asked for and the build is certainly a CPU one, a warning where the base or a package speaks for a GPU."""
    base = stage.chain()[-1].base
    if not ships(stage, project) or is_infrastructure_image(stage, project) or (base is not None and cannot_be_pulled(base)):
        return
    builds = tuple(cpu_builds(stage, project))
    stands_on_cpu = cpu_base(stage, project)
    claim = gpu_claim(stage, project) if builds or stands_on_cpu else None
    if claim is None or (claim.container is not None and says_cpu(claim.container)):
        return
    if not claim.is_asked and is_named_cpu(stage, project):
        return
    for build in builds:
        if _is_fault(build, claim, stage, project):
            yield _problem(build, claim, stage, project)
    if stands_on_cpu and claim.is_asked and base is not None and not _is_chosen(claim, stage, project, base.shown):
        message = f"this image is asked to use a GPU, and stands on {base.shown}, which has no GPU code"
        severity = Severity.ERROR if base.name_facts.listed else Severity.WARNING
        yield Problem(base.location, message, severity, help="take the GPU variant of that image", related=(_of_claim(claim),))


def _is_fault(build: CpuBuild, claim: Claim, stage: Stage, project: Project) -> bool:
    """Whether the GPU is this framework's to use, and nothing outside chooses the build. Wheels on a base for Jetson are another matter."""
    installed = build.installed
    if stands_on_jetson(stage):
        return False
    if build.is_only_where_asked:
        return is_asked_for_cuda(stage, project)
    text = " ".join((installed.package.shown, *(str(index) for index in installed.indexes if isinstance(index, Text))))
    places = (installed.package.location, installed.install.command.location, *(index.location for index in installed.indexes))
    names = deciding_arguments(stage, project, text, *places)
    return builds_with_defaults(claim, names) and not computes_elsewhere(stage, project, build.family)


def _is_chosen(claim: Claim, stage: Stage, project: Project, text: str) -> bool:
    names = deciding_arguments(stage, project, text, stage.chain()[-1].from_location)
    return not builds_with_defaults(claim, names)


def _problem(build: CpuBuild, claim: Claim, stage: Stage, project: Project) -> Problem:
    installed = build.installed
    is_certain = claim.is_asked and build.is_certain and not project.contents(stage).unread
    related = [_of_claim(claim)]
    if installed.package.location.path != installed.run.instruction.location.path:
        related.insert(0, Related(installed.run.instruction.location, "it is installed here"))
    return Problem(
        installed.package.location,
        f"{installed.package.shown} {build.why}: in this image, which is for a GPU, it computes on the CPU",
        Severity.ERROR if is_certain else Severity.WARNING,
        help=build.instead,
        related=tuple(related),
    )


def _of_claim(claim: Claim) -> Related:
    return Related(claim.location, claim.says)


RULE = Rule("GPU107", "cpu-only-framework", Stage, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
