"""GitLab CI files: jobs, their images and services, and what their scripts start and build.

A GPU comes from the runner's own configuration, which no file of the repository holds, so that its absence is never seen here.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.ci import Job, Pipeline, Step, scalars
from gpulint.model.command import RunCommand, read_commands
from gpulint.model.container import Container, Dialect
from gpulint.model.image import parse_image
from gpulint.model.requests import variable_requests
from gpulint.model.script import with_inner_scripts
from gpulint.model.script_path import ROOT
from gpulint.model.variable import EnvVar
from gpulint.parse.recipe import one_script
from gpulint.parse.shell import Script, expand
from gpulint.parse.shell import parse as parse_script
from gpulint.parse.yaml import Entry, Mapping, Node, Scalar, Sequence, YamlSyntax
from gpulint.source import Text, Unknown, Value

_OPEN = frozenset({"gpu", "shm", "env", "command"})
_NO_JOBS = frozenset({"include", "stages", "variables", "workflow", "image", "services", "before_script", "after_script", "cache", "spec"})
_SCRIPTS = (("before_script", "script"), ("after_script",))
"""The lists that one shell runs, one behind the other. The job does not fail with the last."""

DEPTH_LIMIT = 10
"""Lists of lines in lists: GitLab itself allows ten levels."""


def read_gitlab(path: str, syntax: YamlSyntax) -> Pipeline:
    """The jobs of a CI file, hidden ones too, and those keys of the file that hold for all jobs as a job of their own."""
    roots = [document.root for document in syntax.documents if isinstance(document.root, Mapping)]
    return Pipeline(path, tuple(job for root in roots for job in _jobs(root)))


def _jobs(root: Mapping) -> Iterator[Job]:
    variables = _variables(root.mapping("variables"), {})
    if any(key in root for key in ("image", "services", "before_script", "after_script")):
        key = next(entry.key for entry in root if entry.key in ("image", "services", "before_script", "after_script"))
        yield _job(key, root, variables, root.get("tags"))
    for key, job, _ in root:
        if isinstance(job, Mapping) and key not in _NO_JOBS:
            yield _job(key, job, _variables(job.mapping("variables"), variables), _tags(job, root.mapping("default")))


def _tags(job: Mapping, defaults: Mapping) -> Node | None:
    """The labels by which a job takes a runner: its own, else those of all jobs, unless what it extends may have others."""
    return job.get("tags") or (None if "extends" in job or job.mapping("inherit") else defaults.get("tags"))


def _may_fail(job: Mapping) -> bool:
    """Whether the pipeline goes on where the job fails."""
    allowed = job.get("allow_failure")
    return allowed is not None and not (isinstance(allowed, Scalar) and allowed == "false")


def _job(key: Scalar, job: Mapping, variables: dict[str, Value], tags: Node | None) -> Job:
    runner = None if tags is None else tuple(_expanded(tag, variables) for tag in scalars(tags))
    containers = (_container(entry.key, entry.value, key, runner, variables) for entry in _entries(job, "image"))
    services = (_container(entry.key, item, key, runner, variables) for entry in _entries(job, "services") for item in _items(entry.value))
    scripts = tuple(_scripts(job, variables))
    started = tuple(read_commands(script, "gitlab", runner, ROOT, decides and not _may_fail(job)) for script, decides in scripts)
    return Job(
        key,
        key.location,
        runner,
        next(filter(None, containers), None),
        tuple(filter(None, services)),
        tuple(Step(job.location, script=script) for script, _ in scripts),
        tuple(lines for lines in started if any(lines)),
    )


def _entries(job: Mapping, key: str) -> Iterator[Entry]:
    entry = job.entry(key)
    if entry:
        yield entry


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else (node,)


def _variables(mapping: Mapping, outer: dict[str, Value]) -> dict[str, Value]:
    """The variables that hold in a job: each a scalar, or a mapping with its value; a later one may use earlier ones."""
    found = dict(outer)
    for key, node, _ in mapping:
        value = node.get("value") if isinstance(node, Mapping) else node
        if isinstance(value, (Scalar, Unknown)):
            found[str(key)] = _expanded(value, found)
    return found


def _expanded(value: Value, variables: dict[str, Value]) -> Value:
    return expand(value, variables) if isinstance(value, Text) and "$" in value else value


# --- Containers -----------------------------------------------------------------------------------------------------------------


def _container(key: Scalar, node: Node, job: Scalar, runner: tuple[Value, ...] | None, variables: dict[str, Value]) -> Container | None:
    """The container of `image` or of a service, by its image alone or by a mapping."""
    image = node.scalar("name") if isinstance(node, Mapping) else next(iter(scalars(node)), None)
    if image is None or (isinstance(image, Text) and not image):
        return None
    settings = node if isinstance(node, Mapping) else Mapping((), node.location)
    env = tuple(EnvVar(name, _expanded(value, variables)) for name, value, _ in settings.mapping("variables") if isinstance(value, Scalar))
    reference = parse_image(_expanded(image, variables))
    alias = settings.scalar("alias")
    return Container(
        Dialect.CI,
        job if alias is None else alias,
        key.location,
        image=reference,
        entrypoint=_words(settings, "entrypoint"),
        arguments=_words(settings, "command"),
        env=env,
        requests=tuple(variable_requests(env)),
        user=settings.scalar("docker", "user"),
        open=_OPEN | ({"image"} if isinstance(reference.name, Unknown) else set()),
        command=RunCommand(key, key.location.to(node.location), "gitlab", runner=runner),
    )


def _words(settings: Mapping, key: str) -> tuple[Value, ...] | None:
    return scalars(settings.get(key)) if key in settings else None


# --- Scripts --------------------------------------------------------------------------------------------------------------------


def _scripts(job: Mapping, variables: dict[str, Value]) -> Iterator[tuple[Script, bool]]:
    """The scripts of a job, each of the lines that one shell runs, and whether the job fails with it. What a line sets is known in the
    lines below it."""
    for keys in _SCRIPTS:
        lines = [line for key in keys for line in _lines(job.get(key), DEPTH_LIMIT)]
        if lines:
            yield one_script(_line_scripts(lines, dict(variables))), "script" in keys


def _lines(node: Node | None, depth: int) -> Iterator[Text]:
    """The lines of a script: a string, or a list of strings and lists; what `!reference` brings stands elsewhere."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence) and depth and node.tag is None:
        for item in node:
            yield from _lines(item, depth - 1)


def _line_scripts(lines: list[Text], variables: dict[str, Value]) -> Iterator[Script]:
    for line in lines:
        script = parse_script(line, variables)
        _keep_assignments(script, variables)
        yield with_inner_scripts(script, variables)


def _keep_assignments(script: Script, variables: dict[str, Value]) -> None:
    """Note what a line sets for the lines below it: known where it is set on every path, else not."""
    for command in script.commands:
        lasting = not command.words or command.name == "export"
        for name, value, _ in command.assignments if lasting else ():
            if command.block or command.operator in ("&&", "||", "|"):
                variables[str(name)] = Unknown(f"${name}", name.location)
            else:
                variables[str(name)] = value
