"""Which steps of a stage compile CUDA code: installs from source, setup.py files, CMake and nvcc itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import basename, normpath
from posixpath import join as join_paths

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import program_index, program_name
from gpulint.facts.packages import cuda_switch
from gpulint.facts.source_builds import (
    SourceBuild,
    build_of_address,
    build_of_package,
    needs_cuda_if_on,
    read_setup_script,
)
from gpulint.model.install import Install
from gpulint.model.stage import Run, Stage
from gpulint.parse.shell import SimpleCommand
from gpulint.project import Project
from gpulint.project.built_folders import SETUP, BuiltFolder, built_folders
from gpulint.project.conditions import uncertain_commands
from gpulint.project.contents import Installed
from gpulint.project.image_files import ImageFiles, absolute, entered
from gpulint.source import Location, Text, Unknown, Value, as_written

_DEFAULT_LIST = "TORCH_CUDA_ARCH_LIST"
_CLONED = regex(r"(?:https?://|git@|ssh://)\S+")


class Compilation(NamedTuple):
    """A step that builds something that may hold CUDA code.

    `shown` is what is built, for a message, and `location` where that is written. `with_cuda` says whether its CUDA code is compiled: False
    where it is built without, None where that cannot be told. `needs_nvcc` says that it stops where nvcc is missing. `architectures` is
    the variable without which it compiles for the GPUs that the build sees, "" where it needs none. `is_extension` says that it is
    compiled against PyTorch. `build` is what the facts say of the package; `environment` holds the variables that it is built with.
    """

    shown: str
    location: Location
    command: SimpleCommand
    run: Run
    with_cuda: bool | None
    needs_nvcc: bool
    architectures: str
    is_extension: bool
    build: SourceBuild | None
    environment: Mapping[str, Value]


@lru_cache(maxsize=10_000)
def compilations(stage: Stage, project: Project) -> tuple[Compilation, ...]:
    """What the RUNs of a stage build, in their order, without those that a condition may leave out."""
    return tuple(_compilations(stage, project))


def _compilations(stage: Stage, project: Project) -> Iterator[Compilation]:
    dockerfile = project.dockerfile(stage.path)
    if dockerfile is None:
        return
    reader = _Reader(stage, ImageFiles(dockerfile, project.context_of(dockerfile), project.tree), project)
    cloned: dict[str, SourceBuild] = {}
    for run, installs in stage.steps:
        yield from reader.of_run(run, {id(install.command): install for install in installs}, cloned)


class _Reader:
    """Reads what the RUNs of one stage build."""

    def __init__(self, stage: Stage, files: ImageFiles, project: Project) -> None:
        self._stage = stage
        self._files = files
        self._project = project

    def of_run(self, run: Run, installs: Mapping[int, Install], cloned: dict[str, SourceBuild]) -> Iterator[Compilation]:
        """What a RUN builds; `cloned` collects the known sources that it and the RUNs before it fetch, by the folder's name."""
        uncertain = uncertain_commands(run.script.commands) | _forgiven(run.script.commands)
        environment = {str(each.name): each.value for each in (*self._stage.arguments, *self._stage.env) if each.value is not None}
        folder = run.working_directory
        for command in run.script.commands:
            folder = entered(command, folder)
            environment |= {str(each.name): each.value for each in command.assignments if each.exported and not command.words}
            own = environment | {str(each.name): each.value for each in command.assignments}
            cloned |= _fetched(command)
            if id(command) not in uncertain:
                step = _Step(command, run, folder, own)
                yield from self._of_command(step, installs.get(id(command)), cloned)
            if command.name == "export":
                environment = own

    def _of_command(self, step: _Step, install: Install | None, cloned: Mapping[str, SourceBuild]) -> Iterator[Compilation]:
        folders = list(built_folders(step.command, install))
        for folder in folders:
            yield from self._of_folder(step, folder, cloned)
        if install is not None:
            yield from self._of_install(step, install)
        elif not folders:
            found = list(_of_compiler(step))
            yield from found or _of_source(step, cloned)

    def _of_install(self, step: _Step, install: Install) -> Iterator[Compilation]:
        """The packages that an install builds: those of the index by name, and those at an address."""
        if install.removes:
            return
        for installed in self._project.contents(self._stage).history:
            if installed.install.command is step.command and installed.is_certain and installed.name:
                yield from _of_package(step, installed)
        for package in install.packages:
            is_address = not package.name and package.wheel is None and isinstance(package.text, Text)
            build = build_of_address(as_written(package.text)) if is_address else None
            if build is not None:
                yield _compiled(step, package.shown, package.location, build)

    def _of_folder(self, step: _Step, folder: BuiltFolder, cloned: Mapping[str, SourceBuild]) -> Iterator[Compilation]:
        """What building the project in a folder of the image compiles: one that was fetched, or one of the repository."""
        place, location = absolute(step.folder, folder.path), folder.location
        build = next((cloned[name] for name in reversed((place or "").split("/")) if name in cloned), None)
        if build is not None:
            yield _compiled(step, basename(normpath(place or "")), location, build)
            return
        origin = self._files.at(join_paths(place, SETUP), self._stage, step.run) if place else None
        source = self._project.tree.source(origin) if origin else None
        script = read_setup_script(source.text) if source is not None else None
        if script is not None and script.compiles and origin is not None:
            with_cuda = None if script.asks else True
            architectures = "" if script.has_architectures else _DEFAULT_LIST
            yield Compilation(
                origin, location, step.command, step.run, with_cuda, not script.asks, architectures, True, None, step.environment
            )


class _Step(NamedTuple):
    """A command with the folder it runs in and the variables it sees."""

    command: SimpleCommand
    run: Run
    folder: Value | None
    environment: Mapping[str, Value]

    @property
    def words(self) -> tuple[str, ...]:
        return self.command.written


# --- Packages ---------------------------------------------------------------------------------------------------------------------


def _of_package(step: _Step, installed: Installed) -> Iterator[Compilation]:
    """What the install of a named package compiles: nothing where a wheel of it is taken."""
    address = as_written(installed.package.text)
    build = build_of_package(installed.name) or build_of_address(address.partition("@")[2].strip())
    if build is None or installed.package.wheel is not None or _takes_a_wheel(installed, build, "git+" in address):
        return
    yield _compiled(step, installed.package.shown, installed.package.location, build)


def _takes_a_wheel(installed: Installed, build: SourceBuild, is_source: bool) -> bool:
    """Whether a ready wheel is or may be installed: from another index, or a folder of wheels."""
    if is_source:
        return False
    elsewhere = installed.indexes or installed.has_option("-f", "--find-links", "--only-binary", "--no-index", "--prefer-binary")
    return bool(elsewhere) or not build.is_source_only or installed.install.manager == "conda"


def _compiled(step: _Step, shown: str, location: Location, build: SourceBuild) -> Compilation:
    with_cuda = _is_with_cuda(step, build)
    needs_nvcc = with_cuda is True and (not build.is_prebuilt or _is_set(build.rebuilt_by, step.environment))
    architectures = build.architectures if needs_nvcc else ""
    is_extension = build.cuda != "cmake"
    return Compilation(shown, location, step.command, step.run, with_cuda, needs_nvcc, architectures, is_extension, build, step.environment)


def _is_with_cuda(step: _Step, build: SourceBuild) -> bool | None:
    """Whether the build compiles CUDA code, None where a variable that is not known decides."""
    environment = step.environment
    if build.unless and build.unless in environment:
        return None if isinstance(environment[build.unless], Unknown) else not _is_set(build.unless, environment)
    if build.cuda == "always":
        return True
    if build.cuda == "option":
        return re.fullmatch(build.option, " ".join(step.words)) is not None
    if build.cuda == "variable":
        names = [name for name in environment if re.fullmatch(build.variable, name)]
        return any(_is_set(name, environment) for name in names)
    if build.cuda == "cmake":
        return _switched(environment.get(build.variable), step)
    value = environment.get(build.forced_by)
    return None if isinstance(value, Unknown) else _is_set(build.forced_by, environment)


def _is_set(name: str, environment: Mapping[str, Value]) -> bool:
    value = environment.get(name)
    return isinstance(value, Text) and value.lower() not in ("", "0", "false", "off", "no")


def _switched(arguments: Value | None, step: _Step) -> bool | None:
    """Whether arguments for CMake, of a variable or of the command's own settings, turn CUDA on; None where they are not known."""
    if isinstance(arguments, Unknown):
        return None
    words = (*(arguments.split() if arguments is not None else ()), *re.findall(r"-D\S+", " ".join(step.words)))
    states = [cuda_switch(word.strip("\"'")) for word in words]
    if any(word.startswith("-D") and "$" in word for word in words):
        return None
    return any(states)


# --- Compilers --------------------------------------------------------------------------------------------------------------------


def _of_compiler(step: _Step) -> Iterator[Compilation]:
    """What nvcc, CMake or make compile with CUDA by the words of their command."""
    words = step.words
    at = program_index(words)
    name = program_name(words[at]) if at < len(words) else ""
    if name == "nvcc" and not (at and program_name(words[at - 1]) == "-v"):
        yield Compilation("nvcc", step.command.words[at].location, step.command, step.run, True, True, "", False, None, step.environment)
    elif name in ("cmake", "make"):
        for index, word in _settings(words, at + 1):
            state = cuda_switch(word)
            if state is not None:
                place = step.command.words[index].location
                needs = state and needs_cuda_if_on(word if word.startswith("-D") else f"-D{word}")
                yield Compilation(word, place, step.command, step.run, state, needs, "", False, None, step.environment)


def _of_source(step: _Step, cloned: Mapping[str, SourceBuild]) -> Iterator[Compilation]:
    """A fetched source that is configured with CMake, or made, without a word on CUDA: then its CUDA part is left out."""
    words = step.words
    at = program_index(words)
    name = program_name(words[at]) if at < len(words) else ""
    if (name == "cmake" and not _CMAKE_MODES & set(words)) or (name == "make" and "install" not in words):
        folders = [absolute(step.folder, word) or "" for word in (".", *(word for word in words[at + 1 :] if not word.startswith("-")))]
        folder = next((part for path in folders for part in reversed(path.split("/")) if part in cloned), "")
        build = cloned.get(folder)
        if build is not None and build.cuda == "cmake" and not any("$" in word for word in words):
            place = step.command.words[at].location
            yield Compilation(folder, place, step.command, step.run, False, False, "", False, build, step.environment)


_CMAKE_MODES = frozenset({"--build", "--install", "-P", "-E", "--version", "--open"})


def _settings(words: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    """The settings of a build with their places: `-DNAME=value`, `-D NAME=value`, and `NAME=value` of make."""
    for index in range(start, len(words)):
        if words[index - 1] == "-D":
            yield index, f"-D{words[index]}"
        elif words[index].startswith("-D") or re.match(r"[A-Z_]+=", words[index]):
            yield index, words[index]


# --- Sources ----------------------------------------------------------------------------------------------------------------------


def _fetched(command: SimpleCommand) -> dict[str, SourceBuild]:
    """The known source that a `git clone` fetches, by the name of the folder it is put into."""
    words = command.written
    address = next((word for word in words if _CLONED.fullmatch(word)), "")
    build = build_of_address(address) if words[:1] == ("git",) and "clone" in words else None
    if build is None:
        return {}
    target = words[words.index(address) + 1 :]
    folder = target[0] if target and not target[0].startswith("-") else address
    return {basename(folder.rstrip("/")).removesuffix(".git"): build}


def _forgiven(commands: Sequence[SimpleCommand]) -> frozenset[int]:
    """The ids of the commands whose failure the script goes on from: conditions, and what stands before `||`."""
    found: list[int] = []
    follows: dict[tuple[str, ...], bool] = {}
    for command in reversed(commands):
        forgiven = follows.get(command.block, False)
        if forgiven or _CONDITIONS & set(command.block):
            found.append(id(command))
        follows[command.block] = command.operator == "||" or (forgiven and command.operator in ("&&", "|"))
    return frozenset(found)


_CONDITIONS = frozenset({"if", "while"})
