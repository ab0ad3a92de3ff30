"""Two builds of one framework in an environment: side by side, one over the other, or chosen from indexes that are searched as equals."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.frameworks import Build, conda_torch, index_variant, same_module, torch_build, torch_companion, torch_requirement
from gpulint.facts.installers import python_managers
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Contents, Installed, OfBase, Removed, fits, meanings, satisfies
from gpulint.project.frameworks import TORCH, platform_of, torch_build_of
from gpulint.source import Text, Unknown

_UPPER_BOUNDS = ("<", "==", "~=", "===")


# --- Side by side ---------------------------------------------------------------------------------------------------------------


class Shadow(NamedTuple):
    """A CPU package whose files stand in the place of a GPU package's. `is_certain` says that they are written last."""

    cpu: Installed
    gpu: Installed
    module: str
    is_certain: bool


def shadows(stage: Stage, project: Project) -> Iterator[Shadow]:
    """The CPU packages beside the GPU package of the same module, unless that is put over them on purpose."""
    contents = project.contents(stage)
    order = {id(each): at for at, each in enumerate(contents.packages)}
    for cpu in contents.packages:
        module, names = same_module(cpu.name) or ("", ())
        for gpu in contents.named(*names):
            if gpu.environment != cpu.environment or not (cpu.is_certain and gpu.is_certain):
                continue
            is_last = gpu.install is not cpu.install and order[id(cpu)] > order[id(gpu)]
            if is_last or gpu.install is cpu.install or not _is_put_over(gpu, contents):
                yield Shadow(cpu, gpu, module, is_last)


def _is_put_over(gpu: Installed, contents: Contents) -> bool:
    """Whether a GPU package is installed so as to lie over what is there: again, alone, or after it was taken out."""
    was_removed = any(isinstance(event, Removed) and event.name == gpu.name for event in contents.events)
    return was_removed or "replaces" in meanings(gpu.install) or gpu.is_alone


# --- One over the other ---------------------------------------------------------------------------------------------------------


class Replacement(NamedTuple):
    """An install that puts another build of torch in the place of one that was chosen: what it asks for, and what of torch it needs."""

    cause: Installed
    there: Installed | OfBase
    needs: str
    before: Build
    after: Build


def replacements(stage: Stage, project: Project) -> Iterator[Replacement]:
    """The installs that replace a chosen torch, each command once."""
    contents = project.contents(stage)
    seen: set[int] = set()
    for cause in contents.history:
        found = _replacement(cause, contents, stage, project) if id(cause.install) not in seen else None
        if found is not None:
            seen.add(id(cause.install))
            yield found


def _replacement(cause: Installed, contents: Contents, stage: Stage, project: Project) -> Replacement | None:
    is_python = cause.install.manager in python_managers() or cause.asked.manager in python_managers()
    if not cause.is_certain or cause.stage not in stage.chain() or not is_python or _is_constrained(cause):
        return None
    by_name = cause.name == "torch"
    if not by_name and (cause.is_alone or (cause.name not in TORCH and not _requirement(cause))):
        return None
    before = contents.before(cause)
    there = next((each for each in before if each.name == "torch" or _is_of_conda(each)), None)
    if there is None or there.version is None or any(_is_what_pip_sees(each, cause.name) and satisfies(each, cause) for each in before):
        return None
    if isinstance(there, Installed) and (there.asked is cause.asked or not there.is_certain or not there.is_settled):
        return None
    if not by_name and _names_torch(cause, contents):
        return None
    was = _conda_build(before) if _is_of_conda(there) else _build(there, project)
    return _by_name(cause, there, was, project) if by_name else _by_need(cause, there, was, project)


def _is_of_conda(each: Installed | OfBase) -> bool:
    """Whether it is the torch that conda installs under a name of its own."""
    return isinstance(each, Installed) and each.asked.manager == "conda" and each.name == conda_torch()[0]


def _is_what_pip_sees(each: Installed | OfBase, name: str) -> bool:
    return each.name == name or (name == "torch" and _is_of_conda(each))


def _conda_build(before: tuple[Installed | OfBase, ...]) -> Build:
    """The build of conda's torch, where a package beside it fixes the CUDA version."""
    cuda = next((each.version for each in before if each.name == conda_torch()[1]), None)
    return Build("cuda", cuda) if cuda is not None else Build("")


def _requirement(cause: Installed) -> str:
    """What a package asks of torch in its exact version, or in the newest where nothing is said of it; "" where that is not known."""
    package = cause.package
    is_newest = cause.version is None and cause.is_settled and package.specifier == "" and not {"@", "/"} & set(package.shown)
    return torch_requirement(cause.name, cause.version) or "" if cause.version is not None or is_newest else ""


def _is_constrained(cause: Installed) -> bool:
    """Whether a file of constraints, here or not, holds the versions."""
    return bool(cause.install.constraint_files or cause.asked.constraint_files)


def _names_torch(cause: Installed, contents: Contents) -> bool:
    """Whether the same command asks for torch by name, which is judged then."""
    return any(each.install is cause.install and each.name == "torch" for each in contents.history)


def _by_name(cause: Installed, there: Installed | OfBase, before: Build, project: Project) -> Replacement | None:
    """Another version that is asked for by name, unless it chooses its build itself, by its label or its index."""
    after = torch_build_of(cause, project)
    chooses = "+" in (cause.version or "") or any(isinstance(index, Unknown) or index_variant(index) for index in cause.indexes)
    return Replacement(cause, there, "", before, after) if _is_other(before, after) and not chooses else None


def _by_need(cause: Installed, there: Installed | OfBase, before: Build, project: Project) -> Replacement | None:
    """What another package asks of torch by its known versions: those of PyTorch's family go with one minor of it."""
    version = there.version or ""
    if cause.name in TORCH:
        needs = _needs_of_companion(cause, version)
    else:
        specifier = _requirement(cause)
        needs = "" if fits(version, specifier) else f"torch{specifier}"
    platform = platform_of(cause.stage, project)
    if not needs or not platform:
        return None
    exact = needs.partition("==")[2] or None
    index = cause.index
    after = Build("") if isinstance(index, Unknown) or cause.extra_indexes else torch_build(exact, str(index) if index else None, platform)
    return Replacement(cause, there, needs, before, after) if _is_other(before, after) else None


def _needs_of_companion(cause: Installed, torch: str) -> str:
    """The torch that a companion goes with, where it is not the one that is there."""
    goes_with = torch_companion(cause.name, torch)
    if goes_with is None:
        return ""
    if cause.version is None:
        has_bound = any(mark in cause.package.specifier for mark in _UPPER_BOUNDS)
        return "" if has_bound or not cause.is_settled else "the newest torch"
    own = ".".join(cause.version.partition("+")[0].split(".")[:2])
    return "" if own == goes_with else "another torch"


def _build(there: Installed | OfBase, project: Project) -> Build:
    """The build that is there; of a base image the one that its tag tells."""
    if isinstance(there, Installed):
        return torch_build_of(there, project)
    return Build("cuda", there.cuda) if there.cuda else Build("")


def _is_other(before: Build, after: Build) -> bool:
    return before.kind == after.kind == "cuda" and before.cuda != after.cuda


# --- From indexes that are searched as equals -----------------------------------------------------------------------------------


class Split(NamedTuple):
    """Packages of PyTorch that pip takes from PyPI or from an additional index, whichever has the higher version."""

    packages: tuple[Installed, ...]
    searched: Text
    variant: str


def splits(stage: Stage, project: Project) -> Iterator[Split]:
    """The commands that leave two or more packages of PyTorch to an index of one CUDA version that only adds to PyPI."""
    commands: dict[int, list[Installed]] = {}
    for installed in project.contents(stage).packages:
        if installed.name in TORCH and installed.stage in stage.chain():
            commands.setdefault(id(installed.install), []).append(installed)
    for packages in commands.values():
        indexes = [index for index in packages[0].extra_indexes if isinstance(index, Text) and index_variant(index).startswith("cu")]
        is_only_added = bool(indexes) and len(indexes) == len(packages[0].indexes)
        if len(packages) > 1 and is_only_added and all(map(_is_open, packages)):
            yield Split(tuple(packages), indexes[0], index_variant(indexes[0]))


def _is_open(installed: Installed) -> bool:
    """Whether pip may take any newer version of it."""
    has_bound = any(mark in installed.package.specifier for mark in _UPPER_BOUNDS)
    is_tied = has_bound or installed.package.from_index is not None or installed.version is not None
    return installed.install.manager == "pip" and installed.is_certain and installed.is_settled and not is_tied
