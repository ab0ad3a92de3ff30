"""What of an image's programs compiles code when it runs, and with which compilers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import launched, program_index, program_name
from gpulint.facts.packages import Compilation, prebuild_variable, prebuilds, run_time_compilation
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.entrypoint import own_commands
from gpulint.project.stage_programs import programs_of
from gpulint.source import Location, Value, as_written

if TYPE_CHECKING:
    from gpulint.project.contents import Installed


class CompilingUse(NamedTuple):
    """Something that compiles when it runs: a call, a decorator or a program, by its name, where it stands, and what it needs."""

    name: str
    location: Location
    needs: Compilation


class FirstUse(NamedTuple):
    """A package that compiles CUDA operators when a program first uses them, and where that uses it. `prebuild` is the variable that
    has the install compile them."""

    installed: Installed
    location: Location
    prebuild: str


def compiling_uses(stage: Stage, project: Project) -> Iterator[CompilingUse]:
    """What compiles when the image of a stage runs: by its commands and by the programs of the repository that they start."""
    for words in _commands(stage, project):
        for word in _program_words(words):
            needs = run_time_compilation(as_written(word))
            if needs is not None:
                yield CompilingUse(as_written(word), word.location, needs)
    for program in programs_of(stage, project):
        for name, location in program.compiling:
            needs = run_time_compilation(name)
            if needs is not None:
                yield CompilingUse(name, location, needs)


def _commands(stage: Stage, project: Project) -> Iterator[tuple[Value, ...]]:
    """The commands that run in the image: those of its containers that say one, and its own."""
    commands = [command for container in project.containers_of(stage) for command in own_commands(container)]
    yield from commands or [(*(stage.entrypoint or ()), *(stage.command or ()))]


def _program_words(words: tuple[Value, ...]) -> Iterator[Value]:
    """The words of a command that name what runs: its program, and the module that a launcher starts."""
    plain = [as_written(word) for word in words]
    at = program_index(plain)
    if at < len(words):
        yield words[at]
    launch = launched(plain)
    if launch is not None and launch.form == "module":
        yield words[launch.at]


def first_uses(stage: Stage, project: Project) -> Iterator[FirstUse]:
    """The packages of an image that compile CUDA operators at their first use and were not told to do so when they were installed."""
    packages = [each for each in project.contents(stage).packages if each.is_certain and prebuild_variable(each.name)]
    for installed in packages:
        uses = compiling_uses(stage, project) if not _is_prebuilt(installed) else iter(())
        use = next((each for each in uses if each.needs.nvcc and program_name(each.name).partition(".")[0] == installed.name), None)
        if use is not None:
            yield FirstUse(installed, use.location, prebuild_variable(installed.name))


def _is_prebuilt(installed: Installed) -> bool:
    """Whether a variable had the install compile what the package needs."""
    names = [each.name for each in (*installed.stage.env, *installed.stage.arguments)]
    names += [each.name for command in installed.run.script.commands for each in command.assignments if each.exported]
    names += [each.name for each in installed.install.command.assignments]
    return any(prebuilds(installed.name, str(name)) for name in names)
