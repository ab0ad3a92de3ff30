"""Builds for one CUDA in an image that has another one, or none."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.frameworks import jax_build, newest_by_python, torch_build
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.compilations import Compilation, compilations
from gpulint.project.contents import Installed, fits
from gpulint.project.cuda_needs import CudaNeed, cuda_needs
from gpulint.project.frameworks import torch_build_of
from gpulint.project.toolkits import Part, part_of


class ExtensionMismatch(NamedTuple):
    """A PyTorch extension that is compiled with another CUDA major than torch is built with. `cuda` are the versions that torch may be
    built with, more than one where its version is left open; `toolkit` is nvcc's."""

    torch: Installed
    compilation: Compilation
    cuda: tuple[str, ...]
    toolkit: str
    is_exact: bool


class Bundled(NamedTuple):
    """A package that brings its own CUDA: which major or version."""

    installed: Installed
    cuda: str


def cuda_major(version: str) -> str:
    """The major of a CUDA version."""
    return version.partition(".")[0]


def extension_mismatches(stage: Stage, project: Project) -> Iterator[ExtensionMismatch]:
    """The extensions that a stage's own RUNs compile for a torch of another CUDA major: the build refuses them. One for each torch."""
    extensions = [each for each in compilations(stage, project) if each.is_extension and each.needs_nvcc]
    torch = next((each for each in project.contents(stage).named("torch") if each.is_certain), None) if extensions else None
    toolkit = part_of(stage, "nvcc", project).version if torch is not None else None
    if torch is None or toolkit is None:
        return
    cuda, is_exact = _cuda_of_torch(torch, project)
    if cuda and all(cuda_major(each) != cuda_major(toolkit) for each in cuda):
        yield ExtensionMismatch(torch, extensions[0], cuda, toolkit, is_exact)


def _cuda_of_torch(torch: Installed, project: Project) -> tuple[tuple[str, ...], bool]:
    """The CUDA versions that a torch may be built with, () where that is not known, and whether its version or index settles it."""
    build = torch_build_of(torch, project)
    is_labelled = torch.version is not None and "+" in torch.version
    if build.kind != "cuda" or build.cuda is None or (torch.has_option("-f", "--find-links") and not is_labelled):
        return (), False
    if torch.version is not None or torch.index is not None:
        return (build.cuda,), True
    versions = [version for version in newest_by_python(torch.name) if fits(version, torch.package.specifier or ">=0")]
    found = [torch_build(version).cuda for version in versions]
    return tuple(each for each in found if each is not None) if all(found) else (), False


def needs_without_cuda(stage: Stage, project: Project) -> tuple[CudaNeed, ...]:
    """The packages that take CUDA from the image of a stage, where the image has none."""
    needs = tuple(cuda_needs(stage, project))
    return needs if needs and part_of(stage, "cuda", project).is_there is False else ()


def needs_of_another_cuda(stage: Stage, project: Project) -> Iterator[tuple[CudaNeed, str]]:
    """The packages of which each build that may be installed takes another CUDA major from the image than it has, with the image's."""
    needs = tuple(cuda_needs(stage, project))
    cuda = part_of(stage, "cuda", project) if needs else Part(None)
    if cuda.version is not None:
        for need in needs:
            majors = need.cuda_majors()
            if majors and cuda_major(cuda.version) not in majors:
                yield need, cuda.version


def second_toolkits(stage: Stage, project: Project) -> Iterator[tuple[Installed, str, str]]:
    """The packages of the system that bring another version of the toolkit than the base image has: with their version and the base's."""
    base = stage.chain()[-1].base
    nvcc, cuda = part_of(stage, "nvcc", project), part_of(stage, "cuda", project)
    if base is None or not cuda.is_there or base.facts.cuda is None:
        return
    for part in (cuda, nvcc):
        for installed, version in part.versions:
            if installed.install.manager in _SYSTEM_MANAGERS and version is not None and not _is_same(version, base.facts.cuda):
                yield installed, version, base.facts.cuda


_SYSTEM_MANAGERS = frozenset({"apt", "yum", "zypper"})


def _is_same(version: str, other: str) -> bool:
    """Whether two versions agree in the parts that both have, of major and minor."""
    return all(a == b for a, b in zip(version.split(".")[:2], other.split(".")[:2], strict=False))


def bundled_cuda(stage: Stage, project: Project) -> Iterator[Bundled]:
    """The packages that bring a CUDA of their own whose version is chosen: torch and jax."""
    for installed in project.contents(stage).packages:
        if not installed.is_certain:
            continue
        if installed.name == "torch":
            cuda, is_exact = _cuda_of_torch(installed, project)
            yield from (Bundled(installed, each) for each in cuda if is_exact)
        elif installed.name == "jax":
            build = jax_build(installed.package.extras)
            local = any("local" in extra for extra in installed.package.extras)
            if build.startswith("cuda") and not local:
                yield Bundled(installed, build.removeprefix("cuda"))
