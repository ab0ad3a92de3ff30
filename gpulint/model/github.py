"""GitHub workflows and composite actions. Expressions `${{ ... }}` are not known, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from gpulint.deferred import regex
from gpulint.facts.commands import is_shell
from gpulint.facts.docker_cli import BuildAction, build_action, flags
from gpulint.model.ci import Job, Pipeline, Step, chunks_of, lines_of, scalars, variables_of, with_holes
from gpulint.model.command import CommandLines, ImageBuild, RunCommand, read_commands
from gpulint.model.container import Container, Dialect
from gpulint.model.image import parse_image
from gpulint.model.options import Option, OptionReader, UnknownFlagError
from gpulint.model.requests import variable_requests
from gpulint.model.run_options import RunOptions, environment_variable, volume
from gpulint.model.script import with_inner_scripts
from gpulint.model.script_path import ROOT, Place
from gpulint.model.variable import EnvVar
from gpulint.parse.shell import parse as parse_script
from gpulint.parse.shell_expand import assembled
from gpulint.parse.yaml import EMPTY_MAPPING, NOWHERE, Entry, Mapping, Node, Scalar, YamlSyntax
from gpulint.source import Location, Text, Unknown, Value

_OPEN = frozenset({"gpu", "command"})
"""A job's container gets its commands from the steps, and on a runner of one's own its GPU from the engine's default runtime."""

_CHECKOUT = Place(ROOT, {})
"""Where steps run: in the checked out repository."""

_WINDOWS_SHELL = Text("pwsh", NOWHERE)
_LIST = regex(r"[\n,]")
_LINE = regex(r"\n")


def read_workflow(path: str, syntax: YamlSyntax) -> Pipeline:
    """The jobs of a workflow, or the steps of a composite action as those of one job."""
    root = next((document.root for document in syntax.documents if isinstance(document.root, Mapping)), None)
    return Pipeline(path, tuple(_jobs(root)) if root is not None else ())


def _jobs(root: Mapping) -> Iterator[Job]:
    runs = root.entry("runs")
    if runs and isinstance(runs.value, Mapping):
        yield _job(runs.key, runs.value, EMPTY_MAPPING)
    for key, job, _ in root.mapping("jobs"):
        if isinstance(job, Mapping):
            yield _job(key, job, root)


def _job(key: Scalar, job: Mapping, workflow: Mapping) -> Job:
    runner = _labels(job.get("runs-on"))
    unconditional = _is_unconditional(job)
    container = _container(job.entry("container"), key, runner, unconditional)
    services = (_container(entry, entry.key, runner, unconditional) for entry in job.mapping("services"))
    env = _known(variables_of(workflow.mapping("env")), variables_of(job.mapping("env")), container.env if container else ())
    shells = (job.scalar("defaults", "run", "shell"), workflow.scalar("defaults", "run", "shell"))
    shell = next((each for each in shells if each is not None), _WINDOWS_SHELL if _is_windows(runner) else None)
    folders = (job.scalar("defaults", "run", "working-directory"), workflow.scalar("defaults", "run", "working-directory"))
    folder = next((each for each in folders if each is not None), None)
    nodes = tuple(job.sequence("steps").mappings())
    steps = tuple(_step(step, env, shell, folder) for step in nodes)
    always = (unconditional and _is_unconditional(step) for step in nodes)
    started = (_started(step, runner, each) for step, each in zip(steps, always, strict=True))
    return Job(key, key.location, runner, container, tuple(filter(None, services)), steps, tuple(lines for lines in started if any(lines)))


def _labels(node: Node | None) -> tuple[Value, ...] | None:
    """The labels of `runs-on`: one, a list, or under `labels` beside a group."""
    if node is None:
        return None
    return tuple(_value(label) for label in scalars(node.get("labels") if isinstance(node, Mapping) else node))


_CHOOSING = regex(r"\b(?:matrix|runner|env|inputs|vars|needs|steps|secrets|hashFiles|false)\b")


def _is_unconditional(node: Mapping) -> bool:
    """Whether a job or step runs on every machine alike, and fails the run: no condition but on the event decides, and nothing lets it
    fail."""
    tolerated, condition = node.scalar("continue-on-error"), node.scalar("if")
    if isinstance(tolerated, Unknown) or isinstance(condition, Unknown):
        return False
    return tolerated in (None, "false") and (condition is None or not _CHOOSING.search(condition))


def _is_windows(runner: tuple[Value, ...] | None) -> bool:
    """Whether a job runs on Windows, where steps run in another shell."""
    return any(isinstance(label, Text) and label.lower().startswith("windows") for label in runner or ())


def _known(*environments: Iterable[EnvVar]) -> dict[str, Value]:
    """The variables whose values the file itself tells, an inner environment over an outer one."""
    return {str(each.name): _value(each.value) for each in chain(*environments) if each.value is not None}


# --- Steps ----------------------------------------------------------------------------------------------------------------------


def _step(step: Mapping, env: dict[str, Value], shell: Value | None, folder: Value | None) -> Step:
    """A step with what its job sets for all: variables, the shell, and the folder in which its script runs."""
    run, uses, own_shell, own_folder = (step.scalar(key) for key in ("run", "uses", "shell", "working-directory"))
    script = None
    if isinstance(run, Text) and _is_posix(shell if own_shell is None else own_shell):
        variables = {**env, **_known(variables_of(step.mapping("env")))}
        script = with_inner_scripts(parse_script(run, variables, _expressions(run)), variables)
    return Step(step.location, step.scalar("name"), script, uses, step.mapping("with"), folder if own_folder is None else own_folder)


def _is_posix(shell: Value | None) -> bool:
    """Whether a step's shell reads the language of the POSIX shell; bash is what runs where none is named."""
    return shell is None or (isinstance(shell, Text) and is_shell(shell.split(maxsplit=1)[0] if shell.strip() else "sh"))


def _started(step: Step, runner: tuple[Value, ...] | None, unconditional: bool) -> CommandLines:
    if step.script:
        start = ROOT if step.folder is None else _CHECKOUT.path(_value(step.folder))
        return read_commands(step.script, "github", runner, start, unconditional)
    action = build_action(step.uses.partition("@")[0]) if isinstance(step.uses, Text) else None
    return CommandLines(builds=(_build(step, action),)) if action else CommandLines()


def _build(step: Step, action: BuildAction) -> ImageBuild:
    inputs = step.inputs
    dockerfile, context = _value_or_none(inputs.scalar(action.dockerfile)), _value_or_none(inputs.scalar(action.context))
    push = inputs.scalar(action.push)
    place = step.uses.location if step.uses is not None else step.location
    return ImageBuild(
        tuple(_parts(inputs.scalar(action.tags), _LIST)),
        dockerfile,
        context,
        _value_or_none(inputs.scalar(action.target)),
        tuple(each for each in map(environment_variable, _parts(inputs.scalar(action.arguments), _LINE)) if each),
        place,
        ROOT if context is None else _CHECKOUT.path(context),
        _CHECKOUT.path(dockerfile),
        pushed=isinstance(push, Text) and push == "true",
    )


def _parts(value: Value | None, separator: re.Pattern[str]) -> Iterator[Value]:
    """The entries of an input that is a list."""
    if isinstance(value, Text):
        yield from (_value(part) for part in lines_of(value, separator))
    elif value is not None:
        yield value


# --- Containers -----------------------------------------------------------------------------------------------------------------


def _container(entry: Entry | None, name: Scalar, runner: tuple[Value, ...] | None, unconditional: bool) -> Container | None:
    """The container of a job or a service, by its image alone or by a mapping."""
    if entry is None:
        return None
    node = entry.value
    settings = node if isinstance(node, Mapping) else EMPTY_MAPPING
    image = settings.scalar("image") if isinstance(node, Mapping) else next(iter(scalars(node)), None)
    if image is None or (isinstance(image, Text) and not image):
        return None
    options = RunOptions(_options(settings.scalar("options")))
    env = tuple(EnvVar(each.name, _value_or_none(each.value)) for each in variables_of(settings.mapping("env")))
    reference = parse_image(_value(image))
    return Container(
        Dialect.CI,
        name,
        entry.key.location,
        image=reference,
        entrypoint=options.entrypoint,
        working_directory=options.last("workdir"),
        env=(*env, *options.env),
        requests=(*options.requests, *variable_requests(env)),
        privileged=options.privileged,
        devices=options.devices,
        mounts=(*(volume(_value(each), each.location) for each in scalars(settings.get("volumes"))), *options.mounts),
        shared_memory=options.shared_memory,
        ipc=options.last("ipc"),
        pid=options.last("pid"),
        security_options=options.values("security-opt"),
        user=options.last("user"),
        groups=options.values("group-add"),
        open=_OPEN | options.open | ({"image"} if isinstance(reference.name, Unknown) else set()),
        command=RunCommand(entry.key, entry.key.location.to(node.location), "github", options.options, runner, unconditional),
    )


def _options(text: Value | None) -> list[Option]:
    """The options that the runner hands to `docker create`, as far as they are known."""
    if not isinstance(text, Text):
        return []
    words = split_arguments(text)
    reader = OptionReader([word for word, _ in words], [token for _, token in words], 0, flags("docker", "run"))
    try:
        reader.read()
    except UnknownFlagError as unknown:
        return [*reader.options, unknown.option]
    return reader.options


_RUN_OF_ARGUMENT = regex(r'(?P<backslashes>\\+)(?P<escaped>")?|(?P<quote>")|(?P<blank>[ \t\r\n]+)|(?P<plain>[^\\" \t\r\n]+)')


def split_arguments(text: Text) -> list[tuple[Value, Location]]:
    """The words of an `options` string and the places of their tokens, as the runner's process API splits it.

    Double quotes group and a backslash escapes a double quote. A single quote is a character like any other, and reaches docker.
    """
    holes = _expressions(text)
    masked = _masked(text, holes)
    words: list[tuple[Value, Location]] = []
    runs: list[tuple[int, int]] = []
    quoted, start, at = False, 0, 0
    while at <= len(masked):
        match = _RUN_OF_ARGUMENT.match(masked, at)
        if match is None or (match["blank"] and not quoted):
            if runs:
                words.append(_word(text, runs, text.cut(start, at).location, holes))
            runs, start, at = [], match.end() if match else at, match.end() if match else at + 1
        else:
            found, quoted, at = _runs_of(match, quoted)
            runs += found
    return words


def _runs_of(match: re.Match[str], quoted: bool) -> tuple[list[tuple[int, int]], bool, int]:
    """The characters that a run leaves in its word, whether quotes are open behind it, and where reading goes on."""
    if match["backslashes"] and match["escaped"]:
        start, count = match.start(), len(match["backslashes"])
        kept = [(start, start + count // 2)]
        return (kept, quoted, match.end() - 1) if count % 2 == 0 else ([*kept, match.span("escaped")], quoted, match.end())
    if match["quote"]:
        if quoted and match.string.startswith('"', match.end()):
            return [match.span()], quoted, match.end() + 1
        return [(match.end(), match.end())], not quoted, match.end()
    return [match.span()], quoted, match.end()


def _word(text: Text, runs: list[tuple[int, int]], token: Location, holes: list[tuple[int, int]]) -> tuple[Value, Location]:
    chunks = [chunk for start, end in runs for chunk in chunks_of(text, start, end, holes)]
    return assembled(chunks, token), token


# --- Expressions ----------------------------------------------------------------------------------------------------------------


def _expressions(text: str) -> list[tuple[int, int]]:
    """The ranges of `${{ ... }}`."""
    found: list[tuple[int, int]] = []
    at = text.find("${{")
    while at >= 0:
        end = text.find("}}", at)
        if end < 0:
            break
        found.append((at, end + 2))
        at = text.find("${{", end)
    return found


def _masked(text: str, holes: list[tuple[int, int]]) -> str:
    """The text with a plain character for each of an expression."""
    parts, at = [], 0
    for start, end in holes:
        parts += [text[at:start], "x" * (end - start)]
        at = end
    return "".join((*parts, text[at:]))


def _value(value: Value) -> Value:
    return with_holes(value, _expressions(value)) if isinstance(value, Text) else value


def _value_or_none(value: Value | None) -> Value | None:
    return None if value is None else _value(value)
