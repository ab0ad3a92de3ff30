"""Steps of an image's build that need a GPU, which a build does not have: tools, programs, and the setup.py files of the repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from posixpath import basename
from posixpath import join as join_paths
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import words as fact_words
from gpulint.facts.commands import cpu_argument, launched, program_index, program_name
from gpulint.model.install import Install
from gpulint.model.stage import Run, Stage
from gpulint.parse.shell import SimpleCommand
from gpulint.project import Project
from gpulint.project.built_folders import SETUP, built_folders
from gpulint.project.conditions import uncertain_commands
from gpulint.project.image_files import ImageFiles, absolute, entered
from gpulint.source import Location, Source, Text, Value

if TYPE_CHECKING:
    from gpulint.model.module import Module
    from gpulint.model.setup_probe import SetupProbe
    from gpulint.project.programs import Program


_MOST_PROBES = 100
"""How many of one stage are told: for each of them all commands of its RUN are looked at."""


class BuildProbe(NamedTuple):
    """A command of a build that needs a GPU.

    `shown` is what needs it, for a message; `program` is where that is written, for a program of the repository. `is_read` says that only
    its output is wanted: the build goes on, with nothing in its place.
    """

    location: Location
    shown: str
    program: Location | None = None
    is_read: bool = False


class BuiltScript(NamedTuple):
    """A question in a setup.py of the repository, and the command that builds it."""

    probe: SetupProbe
    built_at: Location


def build_probes(stage: Stage, project: Project) -> Iterator[BuildProbe]:
    """The commands of the stage's RUNs that need a GPU."""
    reader = _reader(stage, project)
    if reader is not None:
        yield from islice((probe for step in reader.steps() for probe in reader.probes(step)), _MOST_PROBES)


def built_scripts(stage: Stage, project: Project) -> Iterator[BuiltScript]:
    """What the setup.py files of the repository that the stage builds ask of the machine."""
    reader = _reader(stage, project)
    if reader is not None:
        yield from (built for step in reader.steps() for built in reader.scripts(step))


class _Step(NamedTuple):
    """A command that a RUN certainly runs: those of the RUN before and behind it, and the folder it runs in."""

    command: SimpleCommand
    commands: Sequence[SimpleCommand]
    at: int
    run: Run
    folder: Value | None
    install: Install | None

    @property
    def earlier(self) -> Sequence[SimpleCommand]:
        return self.commands[: self.at]

    @property
    def later(self) -> Sequence[SimpleCommand]:
        return self.commands[self.at + 1 :]

    @property
    def words(self) -> tuple[str, ...]:
        return self.command.written


def _reader(stage: Stage, project: Project) -> _Reader | None:
    dockerfile = project.dockerfile(stage.path)
    if dockerfile is None:
        return None
    return _Reader(stage, project, ImageFiles(dockerfile, project.context_of(dockerfile), project.tree))


class _Reader:
    """Reads the RUNs of one stage that are not given a device."""

    def __init__(self, stage: Stage, project: Project, files: ImageFiles) -> None:
        self._stage = stage
        self._project = project
        self._files = files
        shells = (each.json or () for each in stage.instructions if each.name == "SHELL")
        self._shell_ends = any(_ENDS_AT_ERROR.fullmatch(word) for shell in shells for word in shell)

    def steps(self) -> Iterator[_Step]:
        for run, installs in self._stage.steps:
            if run.instruction.flag("device") is not None:
                continue
            by_command = {id(install.command): install for install in installs}
            commands, folder = run.script.commands, run.working_directory
            uncertain = uncertain_commands(commands)
            for index, command in enumerate(commands):
                folder = entered(command, folder)
                if id(command) not in uncertain and _CONDITIONS.isdisjoint(command.block):
                    yield _Step(command, commands, index, run, folder, by_command.get(id(command)))

    def probes(self, step: _Step) -> Iterator[BuildProbe]:
        if "substitution" in step.command.block:
            yield from _read_tool(step)
        else:
            found = [*_tool(step), *self._program(step)]
            yield from found if found and self._ends_build(step) else ()

    def scripts(self, step: _Step) -> Iterator[BuiltScript]:
        for folder in built_folders(step.command, step.install):
            origin = self._origin(join_paths(folder.path, SETUP), step)
            source = self._project.tree.source(origin) if origin is not None else None
            if source is not None:
                yield from (BuiltScript(probe, folder.location) for probe in _probes_in(source))

    def _origin(self, path: str, step: _Step) -> str | None:
        place = absolute(step.folder, path)
        return self._files.at(place, self._stage, step.run) if place is not None else None

    def _ends_build(self, step: _Step) -> bool:
        """Whether the build ends where the command fails: it is the last of its RUN, or what follows depends on it, or on every command."""
        if step.command.negated:
            return False
        ends = self._shell_ends or any(map(_sets_error_exit, step.earlier))
        for later in step.later:
            if later.block != step.command.block[: len(later.block)]:
                continue  # deeper than the command, or beside it
            if later.operator != "&&":
                return ends and later.operator not in ("||", "|", "&")
        return True

    def _program(self, step: _Step) -> Iterator[BuildProbe]:
        """Python code that ends without a GPU: written in the command, or a file of the repository."""
        launch = launched(step.words)
        word = step.command.words[launch.at] if launch is not None else None
        if launch is None or not isinstance(word, Text) or cpu_argument(step.words) is not None:
            return
        if launch.form == "code":
            program = read_snippet(word)
            if program is not None and program.raises_without_cuda:
                yield BuildProbe(step.command.location, "this Python code")
        elif launch.form == "script" and basename(word) != SETUP:
            origin = self._origin(word, step)
            program = self._project.program(origin) if origin is not None else None
            if program is not None and program.raises_without_cuda:
                place = (program.raising or program.assertions)[0].location
                yield BuildProbe(step.command.location, program.path, place)


_ENDS_AT_ERROR = regex(r"-[a-z]*e[a-z]*")
_CONDITIONS = frozenset({"if", "while", "until"})
_INFORMATION = frozenset({"--help", "-h", "--version"})


def _sets_error_exit(command: SimpleCommand) -> bool:
    words = command.written
    return words[:1] == ("set",) and any(_ENDS_AT_ERROR.fullmatch(word) or word == "errexit" for word in words[1:])


def _is_tool(step: _Step) -> bool:
    """Whether the command is a tool that does nothing without a GPU, such as nvidia-smi."""
    at = program_index(step.words)
    is_one = at < len(step.words) and program_name(step.words[at]) in fact_words("commands", "gpu_programs")
    return is_one and _INFORMATION.isdisjoint(step.words)


def _tool(step: _Step) -> Iterator[BuildProbe]:
    if _is_tool(step):
        yield BuildProbe(step.command.location, program_name(step.words[program_index(step.words)]))


def _read_tool(step: _Step) -> Iterator[BuildProbe]:
    """A tool whose output becomes part of a command, without anything that stands in for it."""
    if not _is_tool(step):
        return
    outer = next((each for each in reversed(step.earlier) if len(each.block) < len(step.command.block)), None)
    inner = [each for each in step.later if each.block == step.command.block]
    text = "\n".join((step.run.instruction.arguments, *(heredoc.body for heredoc in step.run.instruction.heredocs)))
    is_shown = outer is not None and outer.name in ("echo", "printf")
    if not is_shown and not _FALLBACK.search(text) and not any(each.operator == "||" for each in inner):
        yield BuildProbe(step.command.location, program_name(step.words[program_index(step.words)]), is_read=True)


_FALLBACK = regex(r"\$\{\w+:?[-=]\s*\"?(?:\$\(|`)")


def _probes_in(source: Source) -> Iterator[SetupProbe]:
    """What a setup.py asks of the machine. The reader of Python is imported here: few builds have one."""
    from gpulint.model.setup_probe import setup_probes
    from gpulint.parse.python import parse

    tree = parse(source).tree
    if tree is not None:
        yield from setup_probes(source, tree)


def read_snippet(code: Text) -> Program | None:
    """What Python code that is written in a command does. The readers of Python are imported here: few builds run any."""
    from gpulint.project.programs import read_program

    return read_program(_Snippet(code), _Snippet.PATH)


class _Snippet:
    """Python code that is written in a command, as a tree of that one file."""

    PATH = "command.py"

    def __init__(self, code: str) -> None:
        self._source = Source(self.PATH, code.encode("utf-8", "replace"))

    def __contains__(self, path: str) -> bool:
        return path == self.PATH

    def source(self, path: str) -> Source | None:
        return self._source if path == self.PATH else None

    def module(self, path: str) -> Module | None:
        from gpulint.model.python_reader import read_module
        from gpulint.parse.python import parse

        tree = parse(self._source).tree if path == self.PATH else None
        return read_module(self._source, tree) if tree is not None else None
