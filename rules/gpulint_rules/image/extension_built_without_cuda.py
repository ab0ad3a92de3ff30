"""GPU114: a library with an optional CUDA part is built without it in an image for a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.command import ImageBuild
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import Claim, cannot_be_pulled, deciding_arguments, gpu_claim, is_named_cpu
from gpulint.project.compilations import Compilation, compilations
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown

_VENDORS = ("", "nvidia")
"""Whose GPUs the image may be for: a Jetson's images are often built with its GPU, and another vendor's GPUs need no CUDA."""


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A problem at each build that leaves CUDA out, unless another build of the stage turns it on, or a build command here does."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base):
        return
    if base.facts.vendor not in _VENDORS:
        return
    built = list(compilations(stage, project))
    without = [each for each in built if _leaves_cuda_out(each) and not _is_also_built_with_cuda(each, built)]
    claim = gpu_claim(stage, project) if without and not is_named_cpu(stage, project) else None
    if claim is not None:
        yield from (_problem(each, claim) for each in without if not _is_decided_elsewhere(each, stage, project))


def _leaves_cuda_out(compilation: Compilation) -> bool:
    """Whether what is built then computes on the CPU. What an option or a variable adds to a package of PyTorch is only its fast form."""
    return compilation.with_cuda is False and (compilation.build is None or compilation.build.cuda in ("probed", "cmake"))


def _is_also_built_with_cuda(compilation: Compilation, built: list[Compilation]) -> bool:
    """Whether the same is built with CUDA too, or another setting of the same command turns CUDA on."""
    with_cuda = [each for each in built if each.with_cuda is not False]
    name = compilation.shown.partition("=")[0]
    return any(each.command is compilation.command or each.shown.partition("=")[0] == name for each in with_cuda)


def _is_decided_elsewhere(compilation: Compilation, stage: Stage, project: Project) -> bool:
    """Whether a build argument decides that a build command here, or a service, gives."""
    variable = compilation.environment.get(compilation.build.variable) if compilation.build is not None else None
    places = [compilation.location, *([variable.location] if variable is not None else [])]
    text = " ".join([compilation.shown, str(variable) if variable is not None and not isinstance(variable, Unknown) else ""])
    names = deciding_arguments(stage, project, text, *places)
    given = {str(argument.name) for build in _build_commands(project) for argument in build.arguments}
    given |= {str(argument.name) for each in project.containers if each.build is not None for argument in each.build.arguments}
    return bool(names & given)


def _build_commands(project: Project) -> tuple[ImageBuild, ...]:
    return project.started.builds if project.relevance.scripts else ()


def _problem(compilation: Compilation, claim: Claim) -> Problem:
    build = compilation.build
    if build is not None and build.cuda == "probed":
        message = f"{compilation.shown} looks for a GPU when it is built, and a build sees none: its CUDA part is left out"
        instead = f"set {build.forced_by}=1 and {build.architectures}, or install a wheel that is built with CUDA"
    elif build is not None and build.switch:
        message = f"{compilation.shown} is built without CUDA in an image for a GPU: it computes on the CPU"
        instead = f'turn it on: {build.variable}="{build.switch}" for pip, {build.switch} for CMake'
    else:
        message = f"{compilation.shown} builds without CUDA in an image for a GPU: what is built computes on the CPU"
        instead = "turn it on, or build it in an image without CUDA"
    severity = Severity.ERROR if claim.is_asked else Severity.WARNING
    return Problem(compilation.location, message, severity, instead, (Related(claim.location, claim.says),))


RULE = Rule("GPU114", "extension-built-without-cuda", Stage, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
