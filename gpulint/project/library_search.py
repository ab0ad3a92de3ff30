"""Where the programs of an image or container look for libraries: LD_LIBRARY_PATH, and the folders that the linker is told of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.cuda_tags import LibraryPath, library_path
from gpulint.facts.driver_packages import compat_folder, stub_folder
from gpulint.facts.loader import configures_loader, mounted_driver_folder, registers
from gpulint.model.container import Container
from gpulint.model.image import ImageRef
from gpulint.model.stage import Stage
from gpulint.model.variable import EnvVar
from gpulint.parse.shell import SimpleCommand
from gpulint.project import Project
from gpulint.source import Location, Text, Unknown, as_written

VARIABLE = "LD_LIBRARY_PATH"

_TOOLKIT = regex(r"/usr/local/cuda[^/]*/(?:lib64|lib|targets/[^/]+/lib)/?")


class LibrarySearch(NamedTuple):
    """What LD_LIBRARY_PATH is set to, over the one of an image: `folders` are those named before that of the image, or all of them.

    `inherited` is the image's own, None where it is not known; `keeps` says that the new value holds it, or may. `hiding` is the first
    folder whose libcuda is found in place of the host's, "" for none.
    """

    location: Location
    folders: tuple[str, ...]
    keeps: bool
    inherited: LibraryPath | None
    image: str
    hiding: str

    @property
    def lost(self) -> tuple[str, ...]:
        """The folders of the image that are searched no longer."""
        if self.keeps or self.inherited is None:
            return ()
        return tuple(folder for folder in self.inherited.folders if _same(folder) not in map(_same, self.folders))


def _same(folder: str) -> str:
    """A folder by one of its names: those of the CUDA toolkit lead to one."""
    return "cuda" if _TOOLKIT.fullmatch(folder) else folder.rstrip("/")


def hides_driver(folder: str) -> bool:
    """Whether a folder holds a libcuda that is not the host's: a stub, or that of forward compatibility."""
    return stub_folder(folder) or compat_folder(folder)


def search_of_stage(stage: Stage) -> LibrarySearch | None:
    """The LD_LIBRARY_PATH that the Dockerfile sets, None where it sets none."""
    base = stage.chain()[-1].base
    return _search(stage.variable(VARIABLE), _of_image(base), base.shown if base is not None else "", partial(_may_hold, stage))


def search_of_container(container: Container, project: Project) -> LibrarySearch | None:
    """The LD_LIBRARY_PATH that the container's own file sets, None where it sets none."""
    variable, built, image = container.variable(VARIABLE), project.build_of(container), container.image
    if built is None:
        return _search(variable, _of_image(image), image.shown if image is not None else "", partial(_image_may_hold, image))
    own, base = built.stage.variable(VARIABLE), built.stage.chain()[-1].base
    inherited = _of_image(base) if own is None else _of_value(own)
    return _search(variable, inherited, "its image", partial(_may_hold, built.stage))


def _search(variable: EnvVar | None, inherited: LibraryPath | None, image: str, may_hold: Callable[[str], bool]) -> LibrarySearch | None:
    if variable is None or variable.value is None:
        return None
    parts = [part for part in as_written(variable.value).split(":") if part]
    at = next((index for index, part in enumerate(parts) if VARIABLE in part), None)
    keeps = at is not None or isinstance(variable.value, Unknown)
    hiding = next((part for part in parts[:at] if hides_driver(part) and may_hold(part)), "")
    return LibrarySearch(variable.name.location, tuple(parts[:at]), keeps, inherited, image, hiding)


def _of_value(variable: EnvVar) -> LibraryPath | None:
    """The folders that an ENV names; which of them are of use is not known."""
    return LibraryPath(tuple(variable.value.split(":")), ()) if isinstance(variable.value, Text) else None


def _of_image(image: ImageRef | None) -> LibraryPath | None:
    if image is None or not isinstance(image.name, Text) or not isinstance(image.tag, Text) or image.is_missing:
        return None
    return library_path(image.repository, image.tag)


def _may_hold(stage: Stage, folder: str) -> bool:
    """Whether the folder may be in the image: the base may have it, or the build brings parts of CUDA."""
    packages = (package.name for each in stage.chain() for install in each.installs for package in install.packages)
    if any(name.startswith("cuda") for name in packages):
        return True
    copied = (as_written(place) for each in stage.chain() for copy in each.copies for place in (*copy.sources, copy.destination))
    return any("cuda" in place for place in copied) or _image_may_hold(stage.chain()[-1].base, folder)


def _image_may_hold(image: ImageRef | None, folder: str) -> bool:
    """Whether the folder may be in an image: stubs come with the compiler, the compatibility library with CUDA."""
    if image is None or not isinstance(image.name, Text):
        return True
    facts = image.name_facts if isinstance(image.tag, Unknown) else image.facts
    return facts.carries_cuda is not False and not (stub_folder(folder) and facts.nvcc is False)


def mounted_driver(container: Container) -> str:
    """The folder at which the nodes of the container's pod mount the driver's libraries; "" where they are found without one."""
    labels = container.pod.labels if container.pod is not None else ()
    return next((folder for label in labels if (folder := mounted_driver_folder(label.key))), "")


def registered(stages: Sequence[Stage]) -> Iterator[tuple[Location, str]]:
    """The folders with a libcuda that is not the host's which RUNs of these stages, nearest first, tell the linker of for good."""
    commands = [command for stage in reversed(stages) for run in stage.runs for command in run.script.commands]
    for index, command in enumerate(commands):
        parts = (part for word in command.written for part in re.split(r"\s|\\n", word))
        folder = next(filter(hides_driver, parts), "")
        if folder and _is_for_good(command, commands[index + 1 :]):
            yield command.location, folder


def _is_for_good(command: SimpleCommand, later: Sequence[SimpleCommand]) -> bool:
    """Whether a command that names a folder has the linker search it, and no later one takes that back."""
    if registers(command.written):
        return not any(registers(each.written) for each in later)
    file = _written_file(command, later[:1])
    return configures_loader(file) and not any(each.name == "rm" and file in each.written for each in later)


def _written_file(command: SimpleCommand, following: Sequence[SimpleCommand]) -> str:
    """The file that a command's output goes to, by a redirection or by `| tee`; "" for none."""
    targets = [as_written(each.target) for each in command.redirects if each.operator in (">", ">>")]
    piped = [as_written(word) for each in following if each.operator == "|" and each.name == "tee" for word in each.words[1:]]
    return next((target for target in (*targets, *piped) if target.startswith("/")), "")
