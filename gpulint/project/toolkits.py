"""What a stage has to compile and run CUDA code with: CUDA libraries, cuDNN, nvcc, a C compiler; by its base, packages and copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import is_shell
from gpulint.facts.cuda_tags import cuda_repository, cudnn_major
from gpulint.facts.images import is_mirrored
from gpulint.facts.toolkits import Brought, PartName, brought, leaves_out_recommended, may_hold, parts_by_hand
from gpulint.model.image import ImageRef
from gpulint.model.stage import Copy, Stage
from gpulint.project import Project
from gpulint.source import Text, Unknown, Value, as_written

if TYPE_CHECKING:
    from gpulint.project.contents import Installed

_MOST_STAGES = 8  # copies from stages that copy from others
_OF_CONDA = (".yml", ".yaml", "pixi.toml")
_SYSTEM_MANAGERS = frozenset({"apt", "yum", "apk", "zypper", "pacman"})


class Part(NamedTuple):
    """Whether a part is there, None where the files do not tell. `version` is the toolkit's for cuda and nvcc, the major for cudnn, None
    where not known. `versions` are the packages that bring it, beside what the base image has, each with its version."""

    is_there: bool | None
    version: str | None = None
    versions: tuple[tuple[Installed, str | None], ...] = ()


def part_of(stage: Stage, name: PartName, project: Project) -> Part:
    """What is known of a part at the end of a stage. What once was installed counts, also where a later step removes it."""
    return _part(stage, name, project, 0)


def _part(stage: Stage, name: PartName, project: Project, depth: int) -> Part:
    base = part_of_image(stage.chain()[-1].base, name)
    found = tuple((installed, _version(parts, name)) for installed, parts in _brought(stage, project) if name in parts.parts)
    if base.is_there or found:
        return Part(True, _common([version for _, version in found] + [base.version] * bool(base.is_there)), found)
    if base.is_there is None or may_come_otherwise(stage, name, project, depth):
        return Part(None)
    return base


def _common(versions: list[str | None]) -> str | None:
    """The version that all of these are, the most exact of them; None where one is not known, or they differ."""
    known = sorted((version for version in versions if version is not None), key=len)
    if len(known) < len(versions) or not known:
        return None
    return known[-1] if all(f"{known[-1]}.".startswith(f"{version}.") for version in known) else None


def _version(parts: Brought, name: PartName) -> str | None:
    return parts.cudnn if name == "cudnn" else parts.cuda


# --- The base image ---------------------------------------------------------------------------------------------------------------


def part_of_image(image: ImageRef | None, name: PartName) -> Part:
    """What the facts tell of an image's part; nothing of an image that only a private registry has, or that cannot be pulled."""
    if image is None or isinstance(image.name, Unknown) or isinstance(image.tag, Unknown):
        return Part(None)
    facts = image.facts
    if not facts.listed or is_mirrored(image.repository) or image.is_missing or facts.vendor not in ("", "nvidia", "cpu"):
        return Part(None)
    if name == "cc":
        return Part(facts.c_compiler)
    if facts.carries_cuda is not True:
        return Part(False if facts.carries_cuda is False and not facts.optional_gpu else None)
    if name == "cuda":
        return Part(True, facts.cuda)
    if name == "nvcc":
        return Part(facts.nvcc, facts.cuda if facts.nvcc else None)
    return _cudnn_of_image(image)


def _cudnn_of_image(image: ImageRef) -> Part:
    if not cuda_repository(image.repository):
        return Part(image.facts.cudnn)
    major = cudnn_major(str(image.tag)) if image.tag is not None else None
    named = image.tag is not None and "cudnn" in as_written(image.tag)
    return Part(None if major is None and not named else named, major or None)


# --- Packages ---------------------------------------------------------------------------------------------------------------------


def _brought(stage: Stage, project: Project) -> Iterator[tuple[Installed, Brought]]:
    """The packages that were ever installed and bring parts."""
    system = system_name(stage)
    for installed in project.contents(stage).history:
        parts = brought(installed.install.manager, installed.name, installed.version or _named_version(installed), system)
        if parts is not None and not (parts.recommended and any(leaves_out_recommended(each.name) for each in installed.install.options)):
            yield installed, parts


def _named_version(installed: Installed) -> str | None:
    """The version that a match specification of conda begins with: `=11.8`, `=11.8=*`."""
    return installed.package.specifier.lstrip("=") or None if installed.install.manager == "conda" else None


def system_name(stage: Stage) -> str:
    """The name and tag of the image that a stage stands on, in which its distribution may be named; "" where it is not known."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown):
        return ""
    return f"{base.repository.rpartition('/')[2]}-{base.tag or ''}".lower()


# --- What else may bring a part ---------------------------------------------------------------------------------------------------


def may_come_otherwise(stage: Stage, name: PartName, project: Project, depth: int = 0) -> bool:
    """Whether anything that is not known may bring the part: a package whose name is not, a file that could not be read, something that
    is put there by hand, a copy out of another image."""
    unread = project.contents(stage).unread
    if any(name in ("cuda", "cudnn") or as_written(file).endswith(_OF_CONDA) for file in unread):
        return True
    return any(
        _has_unknown_package(each)
        or any(name in parts_by_hand(word) for word in _words(each, project))
        or any(_copy_may_bring(copy, each, name, project, depth) for copy in each.copies)
        for each in stage.chain()
    )


def _has_unknown_package(stage: Stage) -> bool:
    """Whether a system's package manager is told of packages that are not known, or of none, as `xargs apt-get install` does."""
    installs = [install for install in stage.installs if install.manager in _SYSTEM_MANAGERS]
    return any(
        not install.packages or any(isinstance(each.text, Unknown) and not each.name for each in install.packages) for install in installs
    )


def _words(stage: Stage, project: Project) -> Iterator[str]:
    """The words of the commands of a stage and of the repository's scripts that they run, and what its copies name."""
    for run in stage.runs:
        for command in run.script.commands:
            yield from command.written
            yield from _words_of_script(command.written, project)
    for copy in stage.copies:
        yield from (as_written(word) for word in (*copy.sources, copy.target))


def _words_of_script(words: Sequence[str], project: Project) -> Iterator[str]:
    """The words of the file of that name anywhere in the tree, where a command runs it: enough to see what it may do."""
    script = next((word for word in words[:3] if word.endswith((".sh", ".bash"))), "")
    name = script.rpartition("/")[2]
    if name and (words[0] == script or is_shell(words[0]) or words[0] in (".", "source")):
        for path in project.tree.all_paths:
            if path.rpartition("/")[2] == name and (source := project.tree.source(path)) is not None:
                yield from source.text.split()


def _copy_may_bring(copy: Copy, stage: Stage, name: PartName, project: Project, depth: int) -> bool:
    """Whether a copy from another stage or image may hold the part: it takes a folder of libraries, from where the part may be."""
    if copy.from_ is None or not any(_may_take(source, name) for source in copy.sources):
        return False
    dockerfile = project.dockerfile(stage.path)
    origin = dockerfile.stage(copy.from_) if dockerfile is not None and isinstance(copy.from_, Text) else None
    if origin is None or origin is stage or depth >= _MOST_STAGES:
        return True
    return _part(origin, name, project, depth + 1).is_there is not False


def _may_take(source: Value, name: PartName) -> bool:
    return isinstance(source, Unknown) or may_hold(str(source), name)


def build_tools(stage: Stage, project: Project) -> tuple[Installed, ...]:
    """The system's packages that bring a compiler into the image of a stage by themselves, and are there at its end."""
    system = system_name(stage)
    found = (each for each in project.contents(stage).packages if each.install.manager in _SYSTEM_MANAGERS and each.is_certain)
    return tuple(each for each in found if _is_compiler(brought(each.install.manager, each.name, each.version, system)))


def _is_compiler(parts: Brought | None) -> bool:
    return parts is not None and not parts.recommended and bool(parts.parts & {"cc", "nvcc"})
