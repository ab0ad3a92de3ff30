"""Commands that start containers, build images or bring Compose files together: `docker run`, `docker build`, `docker compose -f`.

Read from the simple commands of a script, whatever file it stands in; podman and nerdctl are read as their own flags say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.facts.commands import program_index
from gpulint.facts.docker_cli import Program, appends_words, flags, names_image, program, sub_command
from gpulint.model.container import Command, Compute, Container, Dialect
from gpulint.model.image import parse_image
from gpulint.model.late_options import ASKING, late_options, late_requests
from gpulint.model.options import Option, OptionReader, UnknownFlagError
from gpulint.model.requests import runtime_request
from gpulint.model.run_options import RunOptions, environment_variable
from gpulint.model.script_path import ANYWHERE, START, Place, ScriptPath, places
from gpulint.model.variable import EnvVar
from gpulint.parse.shell import Redirect, Script, SimpleCommand, UnknownWord, parse
from gpulint.source import Location, Text, Unknown, Value


@dataclass(frozen=True, eq=False)
class RunCommand(Command):
    """A `docker run` with its options as they are written, in their order, and those `late` ones behind the image.

    `runner` are the labels of the CI runner that runs it; None outside CI, and where the file does not say. `unconditional` says that
    the job always gets there, and fails with it. `place` is where it runs.
    """

    options: tuple[Option, ...] = ()
    runner: tuple[Value, ...] | None = None
    unconditional: bool = True
    place: Place = ANYWHERE
    late: tuple[Option, ...] = ()


class ImageBuild(NamedTuple):
    """A command or CI step that builds an image.

    `names` are its tags; context and Dockerfile are as written, and None where it names none (the Dockerfile is then the context's own);
    their paths are None where they are not known. `pushed` where the same command pushes it. `open` where a variable that is not known
    may bring further options.
    """

    names: tuple[Value, ...]
    dockerfile: Value | None
    context: Value | None
    target: Value | None
    arguments: tuple[EnvVar, ...]
    location: Location
    context_path: ScriptPath | None
    dockerfile_path: ScriptPath | None
    pushed: bool = False
    open: bool = False


class ComposeCall(NamedTuple):
    """A `docker compose` command: the files that it reads together, none where it reads those that lie there by default.

    `action` is its sub-command; `services` are those that it names, none for all. Files are relative to `project_directory` where it
    is given, else to `folder`, in which the command runs and which is None where it is not known.
    """

    action: Value
    files: tuple[Value, ...]
    services: tuple[Value, ...]
    profiles: tuple[Value, ...]
    project_directory: Value | None
    location: Location
    folder: ScriptPath | None


class CommandLine(NamedTuple):
    """Any command of a script, in the script that it stands in.

    `context` says where that stands: shell, make, github or gitlab; `runner` are the labels of the CI runner that runs it, None outside
    CI and where the file does not say. `unconditional` says that the job always runs the script, and fails with it.
    """

    command: SimpleCommand
    script: Script
    context: str
    runner: tuple[Value, ...] | None
    unconditional: bool = True

    @property
    def location(self) -> Location:
        return self.command.location


class CommandLines(NamedTuple):
    """What the commands of a script start, build and bring together, each in file order, and all its commands."""

    containers: tuple[Container, ...] = ()
    builds: tuple[ImageBuild, ...] = ()
    compose_calls: tuple[ComposeCall, ...] = ()
    commands: tuple[CommandLine, ...] = ()


def read_commands(
    script: Script,
    context: str = "shell",
    runner: tuple[Value, ...] | None = None,
    start: ScriptPath | None = START,
    unconditional: bool = True,
) -> CommandLines:
    """The containers, image builds and Compose calls of a script.

    `context` says where it stands: shell, make, github or gitlab; `runner` are the labels of the CI runner that runs it. `start` is the
    folder in which its first command runs, None where that is not known. `unconditional` says that the job always runs the script, and
    fails with it.
    """
    containers: list[Container] = []
    builds: list[ImageBuild] = []
    calls: list[ComposeCall] = []
    for line in _lines(places(script.commands, start, anew=context == "make")):
        if line.command == "run":
            containers += _containers(line, context, runner, unconditional)
        elif line.command == "build":
            builds += _builds(line)
        else:
            calls += _compose_calls(line)
    commands = tuple(CommandLine(command, script, context, runner, unconditional) for command in script.commands)
    return CommandLines(tuple(containers), tuple(builds), tuple(calls), commands)


# --- Which commands are of the docker family ------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A command of the docker family: its program's word, what it does, its words from there on, and the index of its first argument.

    `compose_file` is what COMPOSE_FILE holds there, and `place` where the command runs.
    """

    called: Program
    word: Text
    command: str
    words: tuple[Value, ...]
    tokens: tuple[Location, ...]
    at: int
    redirects: tuple[Redirect, ...]
    compose_file: Value | None
    place: Place

    @property
    def location(self) -> Location:
        return self.tokens[0].to(self.tokens[-1])

    def reader(self, command: str, at: int) -> OptionReader:
        return OptionReader(self.words, self.tokens, at, flags(self.called.kin, command))


def _lines(commands: Iterable[tuple[SimpleCommand, Place]]) -> Iterator[_Line]:
    compose_file: Value | None = None
    for command, place in _with_evaluated(commands):
        own = next((each.value for each in command.assignments if each.name == "COMPOSE_FILE"), None)
        line = _line(command, compose_file if own is None else own, place)
        if line:
            yield line
        elif own is not None:
            compose_file = own


def _with_evaluated(commands: Iterable[tuple[SimpleCommand, Place]]) -> Iterator[tuple[SimpleCommand, Place]]:
    """The commands of a script, and those of a literal word that `eval` runs."""
    for command, place in commands:
        word = command.words[1] if command.name == "eval" and len(command.words) == 2 else None
        yield from ((each, place) for each in (parse(word).commands if isinstance(word, Text) else (command,)))


def _line(command: SimpleCommand, compose_file: Value | None, place: Place) -> _Line | None:
    plain = command.known
    start = _start(command.words, plain)
    word = command.words[start] if start < len(plain) else None
    called = program(word) if isinstance(word, Text) else None
    if called is None or not isinstance(word, Text):
        return None
    tokens = command.tokens or tuple(each.location for each in command.words)
    appended = _appended(plain[:start], tokens)
    words, tokens = (*command.words[start:], *appended), (*tokens[start:], *(each.location for each in appended))
    reader = OptionReader(words, tokens, 1, {} if called.command else flags(called.kin, ""))
    try:
        if not called.command:
            reader.read()
    except UnknownFlagError:
        return None
    found = sub_command(called, plain[start + reader.at :])
    if found is None:
        return None
    return _Line(called, word, found[0], words, tokens, reader.at + found[1], command.redirects, compose_file, place)


def _start(words: Sequence[Value], plain: Sequence[str]) -> int:
    """The index of the program's word, behind wrappers, `eval`, what appends words to a command, and a variable such as `$SUDO`."""
    first = next((index for index, word in enumerate(words) if not (isinstance(word, UnknownWord) and word.many)), len(words))
    start = first + program_index(plain[first:])
    if start < len(plain) and appends_words(plain[start]):
        return next((index for index in range(start, len(plain)) if program(plain[index])), len(plain))
    return start + 1 if start < len(plain) and plain[start] == "eval" else start


def _appended(before: Sequence[str], tokens: Sequence[Location]) -> tuple[UnknownWord, ...]:
    """The words that a program such as xargs brings, which are not known."""
    index = next((index for index, word in enumerate(before) if appends_words(word)), None)
    if index is None:
        return ()
    nothing = Text("", tokens[index], ())
    return (UnknownWord(before[index], tokens[index], nothing, nothing, many=True),)


# --- docker run -----------------------------------------------------------------------------------------------------------------


class _Run(NamedTuple):
    """What `docker run` is given: options, the image (None where it cannot be told which word that is), and the arguments behind it.

    `open` is what words that are not known may bring.
    """

    options: RunOptions
    image: Value | None
    arguments: tuple[Value, ...] | None
    open: frozenset[str] = frozenset()


def _containers(line: _Line, context: str, runner: tuple[Value, ...] | None, unconditional: bool) -> Iterator[Container]:
    run = _read_run(line)
    if run is None or any(option.name == "help" for option in run.options.options):
        return
    runtime = runtime_request(Text(line.called.runtime, line.word.location, ()))
    requests = (*((runtime,) if runtime else ()), *run.options.requests)
    image = None if run.image is None else parse_image(run.image)
    late = late_options(run.arguments or (), line.called.kin, image)
    if any(request.is_sound for request in requests):
        late = tuple(option for option in late if option.name not in ASKING)
    yield Container(
        Dialect.RUN,
        run.options.last("name"),
        line.location,
        image=image,
        entrypoint=run.options.entrypoint,
        arguments=run.arguments,
        working_directory=run.options.last("workdir"),
        env=run.options.env,
        requests=(*requests, *late_requests(late)),
        privileged=run.options.privileged,
        devices=run.options.devices,
        mounts=run.options.mounts,
        shared_memory=run.options.shared_memory,
        compute=Compute(cpu_limit=run.options.last("cpus")),
        ipc=run.options.last("ipc"),
        pid=run.options.last("pid"),
        security_options=run.options.values("security-opt"),
        user=run.options.last("user"),
        groups=run.options.values("group-add"),
        open=run.options.open | run.open,
        command=RunCommand(line.word, line.location, context, run.options.options, runner, unconditional, line.place, late),
    )


def _read_run(line: _Line) -> _Run | None:
    """None where nothing is run, or where a flag is not known, so that the words behind it cannot be told apart."""
    reader = line.reader("run", line.at)
    unclear: list[Value] = []
    try:
        reader.read()
        while reader.word is not None and _may_be_options(reader.word) and not _is_argument(line.words[reader.at + 1 :]):
            unclear.append(reader.word)
            reader.at += 1
            reader.read()
    except UnknownFlagError as unknown:
        return _misspelt_run(line, reader, unknown.option)
    options = RunOptions(reader.options, line.called.kin)
    if _takes_image_as_value(options):
        return _Run(options, None, None, frozenset({"image", "command"}))
    rest = line.words[reader.at :]
    supplied = frozenset({"gpu", "env", "shm"}) if unclear else frozenset()
    if rest and (not unclear or _is_image(rest[0])):
        return _Run(options, rest[0], rest[1:] or None, supplied | _open_behind(rest))
    return _Run(options, unclear[-1], None, supplied | {"image", "command"}) if unclear else None


def _may_be_options(word: Value) -> bool:
    """Whether an unknown word may stand for any number of options, and is not called after an image."""
    return isinstance(word, UnknownWord) and word.many and not names_image(word.raw)


def _is_argument(words: Sequence[Value]) -> bool:
    """Whether the next word is neither an option nor an image, so that the one before it is the image."""
    return bool(words) and isinstance(words[0], Text) and not words[0].startswith("-") and not _REFERENCE.fullmatch(words[0])


def _misspelt_run(line: _Line, reader: OptionReader, option: Option) -> _Run | None:
    """What is known of a command with a flag that does not exist: something where the flag was meant to ask for a GPU."""
    if not option.name.lstrip("-").startswith("gpu"):
        return None
    return _Run(RunOptions([*reader.options, option], line.called.kin), None, None, frozenset({"image", "command"}))


def _takes_image_as_value(options: RunOptions) -> bool:
    """Whether `--gpus` stands without a value of its own, so that it took the word behind it."""
    given = [option.value for option in options.options if option.name == "gpus" and not option.attached]
    return any(value is None or (isinstance(value, Text) and not _GPUS_VALUE.search(value)) for value in given)


_GPUS_VALUE = regex(r"^[+-]?\d|^all$|[=,]|^$")
_REFERENCE = regex(r"[a-z0-9][\w.-]*(:\d+(?=/))?(/[a-z0-9][\w.-]*)*(?P<version>(:\w[\w.-]*)?(@sha256:\w+)?)")


def _is_image(word: Value) -> bool:
    """Whether a word behind one that may be options or the image is itself the image: by its form, or because it is one word."""
    if isinstance(word, Unknown):
        return not _may_be_options(word)
    match = _REFERENCE.fullmatch(word)
    return bool(match and (match["version"] or "." in word.partition("/")[0]))


def _open_behind(words: Sequence[Value]) -> frozenset[str]:
    image = {"image"} if isinstance(parse_image(words[0]).name, Unknown) else set()
    return frozenset(image | ({"command"} if any(isinstance(word, Unknown) for word in words[1:]) else set()))


# --- docker build ---------------------------------------------------------------------------------------------------------------


def _builds(line: _Line) -> Iterator[ImageBuild]:
    reader = line.reader("build", line.at)
    words: list[Value] = []
    try:
        reader.read()
        while reader.word is not None:
            words.append(reader.word)
            reader.at += 1
            reader.read()
    except UnknownFlagError:
        return
    options = RunOptions(reader.options, line.called.kin)
    sure = [word for word in words if not (isinstance(word, UnknownWord) and word.many)]
    context = next(iter(sure or words), None)
    file = options.last("file")
    dockerfile = _file_on_input(context, line.redirects) if file is None else file
    yield ImageBuild(
        options.values("tag"),
        dockerfile,
        context,
        options.last("target"),
        tuple(each for each in map(environment_variable, options.values("build-arg")) if each),
        line.location,
        line.place.path(context),
        line.place.path(dockerfile),
        pushed=any(option.name == "push" for option in reader.options),
        open=len(sure) < len(words),
    )


def _file_on_input(context: Value | None, redirects: Sequence[Redirect]) -> Value | None:
    """The Dockerfile of `docker build - < Dockerfile`."""
    if not isinstance(context, Text) or context != "-":
        return None
    return next((redirect.target for redirect in redirects if redirect.operator == "<"), None)


# --- docker compose -------------------------------------------------------------------------------------------------------------


def _compose_calls(line: _Line) -> Iterator[ComposeCall]:
    reader = line.reader("compose", line.at)
    try:
        reader.read()
    except UnknownFlagError:
        return
    options = RunOptions(reader.options)
    if reader.word is not None:
        files = options.values("file") or _files_of_variable(line.compose_file)
        services = _services(line, reader.word, reader.at + 1)
        profiles, folder = options.values("profile"), options.last("project-directory")
        yield ComposeCall(reader.word, files, services, profiles, folder, line.location, line.place.folder)


def _files_of_variable(value: Value | None) -> tuple[Value, ...]:
    """The files in COMPOSE_FILE, between colons."""
    if value is None or isinstance(value, Unknown):
        return () if value is None else (value,)
    return tuple(value.cut(*match.span()) for match in re.finditer("[^:]+", value))


def _services(line: _Line, action: Value, at: int) -> tuple[Value, ...]:
    """The services behind a sub-command: one for `run`, whose further words are the container's."""
    known = flags(line.called.kin, f"compose {action}") if isinstance(action, Text) else None
    if not known:
        return ()
    reader = OptionReader(line.words, line.tokens, at, known)
    services: list[Value] = []
    try:
        reader.read()
        while reader.word is not None and not (services and action == "run"):
            services.append(reader.word)
            reader.at += 1
            reader.read()
    except UnknownFlagError:
        return tuple(services)
    return tuple(services)
