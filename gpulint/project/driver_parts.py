"""What an image gets of the NVIDIA driver: by a package, an installer, a copy or a link, and not taken away again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from posixpath import basename
from posixpath import join as join_paths

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import launched, program_index
from gpulint.facts.driver_packages import (
    DriverPart,
    driver_installer,
    driver_library,
    driver_package,
    host_image,
    host_package,
    is_link_time_folder,
)
from gpulint.model.stage import Stage
from gpulint.parse.requirement import Package
from gpulint.parse.shell import SimpleCommand, UnknownWord
from gpulint.source import Location, Unknown, Value, as_written

STAND_IN = "stand-in"
"""What a DriverPart brings that is no driver and yet is found as one: a stub, or the libcuda of forward compatibility."""


class BroughtPart(NamedTuple):
    """A part of the driver that an image gets: where, what brings it as written, and what it is."""

    location: Location
    shown: str
    part: DriverPart


def brought_parts(stages: Sequence[Stage]) -> Iterator[BroughtPart]:
    """What these stages, nearest first, bring together of the driver."""
    removed = {package.name for stage in stages for removal in stage.removals for package in removal.packages}
    for stage in reversed(stages):
        yield from _by_packages(stage, removed)
        yield from _by_installers(stage)
        yield from _by_copies(stage)
    yield from _by_links([command for stage in reversed(stages) for run in stage.runs for command in run.script.commands])


def hosts_containers(stages: Sequence[Stage]) -> bool:
    """Whether the image starts containers itself, or a machine boots it, so that parts of the host have their place in it."""
    images = [image for stage in stages for image in (stage.base, *stage.copied_images) if image is not None]
    if any(not isinstance(image.name, Unknown) and host_image(image.repository) for image in images):
        return True
    return any(host_package(package.name) for stage in stages for install in stage.installs for package in install.packages)


def _by_packages(stage: Stage, removed: set[str]) -> Iterator[BroughtPart]:
    for install in stage.installs:
        for package in install.packages:
            name = package.name or _likely_name(package)
            part = driver_package(install.manager, name)
            if part is not None and name not in removed:
                yield BroughtPart(package.location, package.shown, part)


_LIKE_A_BRANCH = "550"


def _likely_name(package: Package) -> str:
    """The name of a package of which only the driver's branch is not known: `nvidia-driver-${BRANCH}`; "" for any other."""
    text = package.text
    whole = isinstance(text, UnknownWord) and text.prefix.endswith("-") and len(text.prefix) > len("nvidia-")
    return f"{text.prefix}{_LIKE_A_BRANCH}" if isinstance(text, UnknownWord) and whole else ""


def _by_installers(stage: Stage) -> Iterator[BroughtPart]:
    for run in stage.runs:
        for command in run.script.commands:
            at, words = _program(command)
            part = driver_installer(words)
            if part is not None:
                yield BroughtPart(command.location, as_written(command.words[at]).rpartition("/")[2], part)


def _program(command: SimpleCommand) -> tuple[int, list[str]]:
    """The program that a command runs, a script behind its shell, with its arguments; and where it stands among the words."""
    words = [_filled(word) for word in command.words]
    launch = launched(words)
    at = launch.at if launch is not None and launch.form == "shell-script" else program_index(words)
    return at, words[at:]


def _filled(word: Value) -> str:
    """A word with a digit in place of what is not known of it, since that is a version or an architecture in the names of installers."""
    return f"{word.prefix}0{word.suffix}" if isinstance(word, UnknownWord) else as_written(word)


def _by_copies(stage: Stage) -> Iterator[BroughtPart]:
    """What COPY and ADD bring. A program of the build context is a stand-in for the driver's, made by who copies it."""
    for copy in stage.copies:
        for source in copy.sources:
            path = as_written(source)
            part = driver_library(path) or _for_run_time(path, _placed(path, as_written(copy.destination)))
            if part is not None and (copy.from_ is not None or ".so" in path):
                yield BroughtPart(source.location, basename(path), part)


def _placed(path: str, target: str) -> str:
    """Where a file gets to: the target, or its name in that where it is a folder."""
    is_folder = ".so" not in basename(target)
    return join_paths(target, basename(path)) if is_folder else target


def _for_run_time(path: str, target: str) -> DriverPart | None:
    """What a stub or a libcuda of forward compatibility is where programs find it when they run: under its name with a number."""
    is_numbered = not target.endswith(".so") and "*" not in basename(target)
    part = driver_library(target) if is_numbered and is_link_time_folder(path.rpartition("/")[0]) else None
    return part and part._replace(brings=STAND_IN)


def _by_links(commands: Sequence[SimpleCommand]) -> Iterator[BroughtPart]:
    """Copies of the driver's libraries, and links to a libcuda that is not for run time, unless a later command removes them."""
    for index, command in enumerate(commands):
        program, sources, target = _file_command(command)
        for source in sources:
            place = _placed(source, target)
            part = _for_run_time(source, place) or (driver_library(source) if program in _COPIERS else None)
            if part is not None and not any(_removes(later, place) for later in commands[index + 1 :]):
                yield BroughtPart(command.location, f"{source} as {place}", part)


_COPIERS = ("cp", "install", "mv")


def _file_command(command: SimpleCommand) -> tuple[str, list[str], str]:
    """The program of a command that links or copies, with its sources and its target; nothing for any other command."""
    words = command.written
    at = program_index(words)
    operands = [word for word in words[at + 1 :] if not word.startswith("-")]
    if len(operands) < 2 or (words[at] != "ln" and words[at] not in _COPIERS):
        return "", [], ""
    return words[at], operands[:-1], operands[-1]


def _removes(command: SimpleCommand, path: str) -> bool:
    words = command.written
    at = program_index(words)
    return at < len(words) and words[at] in ("rm", "unlink") and any(fnmatchcase(path, word) for word in words[at + 1 :])
