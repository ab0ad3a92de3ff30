"""GPU110: a package needs the system's cuDNN, and the image has CUDA without cuDNN, or cuDNN of another major."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.cuda_needs import CudaNeed, cuda_needs, loads_torch, may_have_torch
from gpulint.project.stages import ships
from gpulint.project.toolkits import Part, part_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A problem at the FROM of an image that has no cuDNN, or at the package that is built for another one."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or base.facts.minimal or not ships(stage, project):
        return
    needs = [need for need in cuda_needs(stage, project) if need.needs_cudnn]
    cuda = part_of(stage, "cuda", project) if needs else Part(None)
    if not cuda.is_there:
        return
    cudnn = part_of(stage, "cudnn", project)
    served = may_have_torch(stage, project)
    if served and loads_torch(stage, project):
        return
    if cudnn.is_there is False:
        names = ", ".join(dict.fromkeys(need.installed.name for need in needs))
        related = tuple(Related(need.installed.package.location, f"{need.shown} needs cuDNN") for need in needs)
        message = f"{base.shown} has no cuDNN, which {names} loads when it uses the GPU{_outcome(served)}"
        yield Problem(base.location, message, _severity(served), _help(needs), related)
    elif cudnn.is_there:
        yield from (_mismatch(need, cudnn, served) for need in needs if _differs(need, cuda, cudnn))


def _differs(need: CudaNeed, cuda: Part, cudnn: Part) -> bool:
    """Whether each build that may be installed is for another cuDNN major. One that is for another CUDA major is reported as that."""
    if cudnn.version is None or not need.cudnn_majors() or cudnn.version in need.cudnn_majors():
        return False
    return cuda.version is None or cuda.version.partition(".")[0] in need.cuda_majors()


def _mismatch(need: CudaNeed, cudnn: Part, served: bool) -> Problem:
    wanted = " or ".join(sorted(need.cudnn_majors()))
    message = f"{need.shown} is built for cuDNN {wanted}, and the image has cuDNN {cudnn.version}{_outcome(served)}"
    severity = _severity(served or not need.is_exact)
    return Problem(
        need.installed.package.location, message, severity, f"use a base image with cuDNN {wanted}, or another version of the package"
    )


def _outcome(served: bool) -> str:
    return ", unless the program loads torch's copy first" if served else ": it goes on without the GPU, or ends"


def _severity(is_doubtful: bool) -> Severity:
    return Severity.WARNING if is_doubtful else Severity.ERROR


def _help(needs: list[CudaNeed]) -> str:
    majors = {major for need in needs for major in need.cudnn_majors()}
    which = f"cuDNN {majors.pop()}" if len(majors) == 1 else "cuDNN"
    return f"use the -cudnn variant of the image, or install {which}"


RULE = Rule("GPU110", "cudnn-missing", Stage, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
