"""GPU108: a package takes CUDA from the image, and the image has another CUDA major, none, or two."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import Claim, cannot_be_pulled, gpu_claims, is_for_other_accelerator, is_named_cpu
from gpulint.project.cuda_mismatches import (
    ExtensionMismatch,
    bundled_cuda,
    cuda_major,
    extension_mismatches,
    needs_of_another_cuda,
    needs_without_cuda,
    second_toolkits,
)
from gpulint.project.cuda_needs import may_have_torch
from gpulint.project.stages import ships
from gpulint.project.toolkits import part_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A problem at each package whose CUDA is not the image's, or at the FROM of an image that has none."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base) or base.facts.minimal:
        return
    compiled = list(extension_mismatches(stage, project))
    yield from map(_extension, compiled)
    if ships(stage, project) and not is_named_cpu(stage, project):
        yield from _without_cuda(stage, project)
        yield from _of_another_cuda(stage, project)
        yield from _two_toolkits(stage, project)
        yield from () if compiled else _bundled(stage, project)


def _extension(found: ExtensionMismatch) -> Problem:
    torch, compilation = found.torch.package, found.compilation
    builds = " or ".join(dict.fromkeys(found.cuda))
    opening = f"{torch.shown} is built with CUDA {builds}"
    if not found.is_exact:
        opening = f"{torch.shown} leaves the build of torch open, and those of today are built with CUDA {builds}"
    message = f"{opening}; {compilation.shown} is compiled against it with CUDA {found.toolkit}, which PyTorch refuses"
    severity = Severity.ERROR if found.is_exact else Severity.WARNING
    instead = f"install the torch build for CUDA {cuda_major(found.toolkit)}, or use a base image with CUDA {cuda_major(found.cuda[0])}"
    return Problem(torch.location, message, severity, instead, (Related(compilation.location, "this is compiled against it"),))


def _without_cuda(stage: Stage, project: Project) -> Iterator[Problem]:
    """At the FROM: packages that look for CUDA libraries in an image that has none. Those of a CUDA build of torch may serve them."""
    needs = needs_without_cuda(stage, project)
    base = stage.chain()[-1].base
    if not needs or base is None or may_have_torch(stage, project):
        return
    claim = next((each for each in gpu_claims(stage, project) if not _is_of_package(each, stage, project)), None)
    meant = [need for need in needs if not need.runs_without or claim is not None]
    if not meant or is_for_other_accelerator(stage, project):
        return
    names = ", ".join(dict.fromkeys(need.installed.name for need in meant))
    related = [Related(need.installed.package.location, f"{need.shown} needs CUDA") for need in meant]
    related += [Related(claim.location, claim.says)] if claim is not None else []
    severity = Severity.WARNING if claim is None else Severity.ERROR
    message = f"{base.shown} has no CUDA libraries, which {names} takes from the image: it computes on the CPU, or ends"
    yield Problem(base.location, message, severity, _instead([need.cuda_majors() for need in meant]), tuple(related))


def _is_of_package(claim: Claim, stage: Stage, project: Project) -> bool:
    """Whether nothing but a package says that a GPU is meant."""
    return any(claim.location == each.package.location for each in project.contents(stage).packages)


def _instead(majors: list[frozenset[str]]) -> str:
    wanted = frozenset.union(*majors)
    which = f"CUDA {min(wanted)}" if len(wanted) == 1 else "CUDA"
    return f"use an nvidia/cuda runtime image with {which}, or install the package with the extra that brings the libraries"


def _of_another_cuda(stage: Stage, project: Project) -> Iterator[Problem]:
    for need, cuda in needs_of_another_cuda(stage, project):
        wanted = " or ".join(sorted(need.cuda_majors()))
        package = need.installed.package
        message = f"{need.shown} is built for CUDA {wanted}, and the image has CUDA {cuda}: it finds no libraries for the GPU"
        severity = Severity.ERROR if need.is_exact else Severity.WARNING
        yield Problem(
            package.location, message, severity, f"use a base image with CUDA {wanted}, or a version of the package for CUDA {cuda}"
        )


def _two_toolkits(stage: Stage, project: Project) -> Iterator[Problem]:
    for installed, version, of_base in dict.fromkeys(second_toolkits(stage, project)):
        message = (
            f"{installed.package.shown} brings CUDA {version} beside the CUDA {of_base} of the base image: programs find either of them"
        )
        yield Problem(installed.package.location, message, Severity.WARNING, "install the packages of the base image's version")


def _bundled(stage: Stage, project: Project) -> Iterator[Problem]:
    """Notes on packages that bring a CUDA of another major than the image's: they work, and the image's is only carried along."""
    cuda = part_of(stage, "cuda", project)
    if cuda.version is None:
        return
    for installed, own in bundled_cuda(stage, project):
        if cuda_major(own) != cuda_major(cuda.version):
            policy = " (policy)" if project.strict else ""
            message = (
                f"{installed.package.shown} brings its own CUDA {own} beside the image's {cuda.version}, which it does not use{policy}"
            )
            severity = Severity.WARNING if project.strict else Severity.NOTE
            yield Problem(installed.package.location, message, severity, "use one CUDA version for both, or a base image without CUDA")


RULE = Rule("GPU108", "cuda-build-mismatch", Stage, (Severity.ERROR, Severity.WARNING, Severity.NOTE), Impact.CPU_FALLBACK, check)
