"""Which installed packages take CUDA and cuDNN from the image, and which versions of them."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.frameworks import (
    SystemCuda,
    followed_package,
    is_known_index,
    loads_torch_first,
    needs_system_cuda,
    newest_by_python,
    system_cuda,
    torch_requirement,
)
from gpulint.facts.installers import python_managers
from gpulint.facts.packages import package_facts
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Contents, Installed, exact_version, fits
from gpulint.project.frameworks import platform_of, torch_build_of
from gpulint.project.stage_programs import programs_of
from gpulint.source import Text, as_written

_PROJECT_FILES = (".toml", "Pipfile", ".lock")
_WHEELS_WITH_CUDA = "linux/amd64"


class CudaNeed(NamedTuple):
    """A package that takes CUDA from the image.

    `needed` are the CUDA and cuDNN of each build that may be installed, more than one where the version is left open; () where nothing of
    the version is known. `is_exact` says that the version is chosen. `runs_without` says that the package is of use without a GPU too.
    `library` is the package that it brings for its work on the GPU, "" where it does that itself.
    """

    installed: Installed
    needed: tuple[SystemCuda, ...]
    is_exact: bool
    runs_without: bool
    library: str = ""

    @property
    def shown(self) -> str:
        """What takes CUDA from the image, for a message: as it is written, behind the package that it brings for it."""
        return f"{self.library} of {self.installed.package.shown}" if self.library else self.installed.package.shown

    def cuda_majors(self) -> frozenset[str]:
        """The CUDA majors that may be needed; empty where one is not known."""
        return _majors(each.cuda for each in self.needed)

    def cudnn_majors(self) -> frozenset[str]:
        """The cuDNN majors that may be needed; empty where one is not known."""
        return _majors(each.cudnn for each in self.needed)

    @property
    def needs_cudnn(self) -> bool:
        """Whether every build that may be installed needs cuDNN."""
        facts = package_facts(self.installed.name, self.installed.package.extras, self.installed.package.specifier)
        return all(each.cudnn is not None for each in self.needed) if self.needed else facts is not None and facts.needs_cudnn


def _majors(versions: Iterator[str | None]) -> frozenset[str]:
    found = [version.partition(".")[0] if version is not None else "" for version in versions]
    return frozenset(found) if all(found) else frozenset()


def cuda_needs(stage: Stage, project: Project) -> Iterator[CudaNeed]:
    """The Python packages in the image of a stage that take CUDA from it. On other platforms than x86-64 the same names stand for builds
    of another kind."""
    contents = project.contents(stage)
    if platform_of(stage, project) != _WHEELS_WITH_CUDA:
        return
    for installed in contents.packages:
        if installed.install.manager in python_managers() and installed.is_certain:
            yield from _need(installed, contents)


def _need(installed: Installed, contents: Contents) -> Iterator[CudaNeed]:
    facts = package_facts(installed.name, installed.package.extras, installed.package.specifier)
    extras = installed.package.extras
    if facts is None or facts.implies == "cpu-only" or not needs_system_cuda(installed.name, extras):
        return
    runs_without = facts.implies == "gpu-capable"
    followed = followed_package(installed.name, installed.version) if installed.is_settled else None
    if followed is not None and not _is_free_to_choose(installed):
        return
    if followed is not None:
        if not any(each.name == followed for each in contents.packages):
            yield CudaNeed(installed, tuple(filter(None, (system_cuda(followed, None),))), False, runs_without, followed)
        return
    needed = [system_cuda(installed.name, version, extras) for version in _versions(installed)]
    found = tuple(each for each in needed if each is not None)
    if found or not needed:
        yield CudaNeed(installed, found if len(found) == len(needed) else (), installed.version is not None, runs_without)


def _is_free_to_choose(installed: Installed) -> bool:
    """Whether the installer chooses the versions of what a package brings: no lock or constraint file does."""
    own = exact_version(installed.package)
    of_project = any(as_written(file).endswith(_PROJECT_FILES) for file in installed.install.requirement_files)
    return installed.version == own and not installed.install.constraint_files and not of_project


def _is_from_elsewhere(installed: Installed) -> bool:
    """Whether an index or a folder of wheels that the facts do not know may have the package."""
    indexes = [*installed.indexes, *filter(None, [installed.package.from_index])]
    named = all(isinstance(index, Text) and is_known_index(str(index)) for index in indexes)
    return not named or installed.has_option("-f", "--find-links") or installed.package.wheel is not None


def _versions(installed: Installed) -> tuple[str | None, ...]:
    """The versions that may be installed: the chosen one; or the newest that the specifier admits, for each Python that systems have; ()
    where they are not known. Of another index nothing is: it may have builds for another CUDA under the same version."""
    if _is_from_elsewhere(installed):
        return ()
    if installed.version is not None:
        return (installed.version,)
    if not installed.is_settled:
        return ()
    specifier = installed.package.specifier
    if specifier == "" and not newest_by_python(installed.name):
        return (None,)
    return tuple(version for version in newest_by_python(installed.name) if fits(version, specifier or ">=0"))


def may_have_torch(stage: Stage, project: Project) -> bool:
    """Whether a CUDA build of torch, with the CUDA libraries that it brings, may be in the image: by its own name, in the base, or because
    another package asks for it."""
    contents = project.contents(stage)
    if any(each.name == "torch" for each in contents.of_base):
        return True
    if any(torch_build_of(each, project).kind != "cpu" for each in contents.named("torch")):
        return True
    return not contents.named("torch") and any(torch_requirement(each.name, None) is not None for each in contents.packages)


def loads_torch(stage: Stage, project: Project) -> bool:
    """Whether what runs in the image loads torch, and with it the libraries that it brings: the program, or a package of the image."""
    if any(loads_torch_first(each.name) for each in project.contents(stage).packages):
        return True
    return any("torch" in program.imports for program in programs_of(stage, project))
