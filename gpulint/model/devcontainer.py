"""devcontainer.json: the container in which an editor works, by its image or its Dockerfile.

One that names a Compose service is that service, and no container of its own. Source: the schema of containers.dev.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, relpath
from posixpath import join as join_paths

from gpulint.deferred import regex
from gpulint.facts.docker_cli import flags
from gpulint.facts.images import gpu_word
from gpulint.model.container import Build, Container, Dialect, GpuRequest, Mount, RequestFault, RequestKind, RequestState
from gpulint.model.image import parse_image
from gpulint.model.options import Option, OptionReader, UnknownFlagError
from gpulint.model.requests import variable_requests
from gpulint.model.run_options import RunOptions
from gpulint.model.variable import EnvVar
from gpulint.parse.boolean import compose_boolean
from gpulint.parse.nodes import EMPTY_MAPPING, Entry, Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import YamlSyntax
from gpulint.source import Text, Unknown, Value

_VARIABLE = regex(r"\$\{[^}]*\}")
_OPEN = frozenset({"gpu", "command"})
"""An editor runs what is typed into it, and works on machines with a GPU and without."""


def read_devcontainer(syntax: YamlSyntax) -> Container | None:
    """The container of a devcontainer.json; None where it is a Compose service, or the file says neither image nor build."""
    root = next((document.root for document in syntax.documents if isinstance(document.root, Mapping)), None)
    if root is None or "dockerComposeFile" in root:
        return None
    key = next((key for key in ("image", "build", "dockerFile") if key in root), None)
    entry = root.entry(key) if key else None
    if entry is None:
        return None
    image = _value(root.scalar("image"))
    given, stray = _run_options(root)
    options = RunOptions(given)
    env = (*_variables(root.mapping("containerEnv")), *_variables(root.mapping("remoteEnv")), *options.env)
    privileged, user = root.scalar("privileged"), _value(root.scalar("containerUser"))
    return Container(
        Dialect.DEVCONTAINER,
        _value(root.scalar("name")),
        entry.key.location,
        image=parse_image(image) if image is not None else None,
        build=_build(root) if image is None else None,
        env=env,
        requests=(
            *_host_requests(root),
            *options.requests,
            *_lost_flag(stray, root),
            *variable_requests(env[: len(env) - len(options.env)]),
        ),
        privileged=privileged if isinstance(privileged, Scalar) and compose_boolean(privileged) else options.privileged,
        devices=options.devices,
        mounts=(*_mounts(root), *options.mounts),
        shared_memory=options.shared_memory,
        ipc=options.last("ipc"),
        pid=options.last("pid"),
        security_options=(*_texts(root.sequence("securityOpt")), *options.values("security-opt")),
        user=user if options.last("user") is None else options.last("user"),
        groups=options.values("group-add"),
        open=_OPEN | options.open,
    )


def _value(value: Value | None) -> Value | None:
    """A string, which is not known where the editor puts a variable into it."""
    if isinstance(value, Text) and _VARIABLE.search(value):
        return Unknown(str(value), value.location)
    return value


def _build(root: Mapping) -> Build:
    """How the image is built: under `build`, or by the older keys beside it. There both paths count from the file's folder."""
    entry = root.entry("build")
    build = entry.value if entry is not None and isinstance(entry.value, Mapping) else EMPTY_MAPPING
    dockerfile = _value(build.scalar("dockerfile") or root.scalar("dockerFile"))
    context = _value(build.scalar("context") or root.scalar("context"))
    location = build.location if build is not EMPTY_MAPPING else root.location
    arguments = tuple(_variables(build.mapping("args")))
    context = context or Text(".", location, ())
    if isinstance(dockerfile, Text) and isinstance(context, Text):
        folder = join_paths("/", dirname(location.path))
        dockerfile = Text(relpath(join_paths(folder, dockerfile), join_paths(folder, context)), dockerfile.location, ())
    return Build(context, dockerfile, _value(build.scalar("target")), arguments, location)


def _texts(items: Sequence) -> Iterator[Value]:
    return (value for item in items if isinstance(item, (Scalar, Unknown)) and (value := _value(item)) is not None)


def _variables(mapping: Mapping) -> Iterator[EnvVar]:
    for key, value, _ in mapping:
        if isinstance(value, (Scalar, Unknown)):
            yield EnvVar(key, _value(value))


def _run_options(root: Mapping) -> tuple[list[Option], Value | None]:
    """The options in `runArgs`, whose elements reach docker as they are: no shell cuts them or takes quotes away. And the first element
    that is none, which docker takes for the image."""
    words = list(_texts(root.sequence("runArgs")))
    reader = OptionReader(words, [word.location for word in words], 0, flags("docker", "run"))
    try:
        reader.read()
    except UnknownFlagError as unknown:
        return [*reader.options, unknown.option], None
    return reader.options, reader.word


def _lost_flag(stray: Value | None, root: Mapping) -> Iterator[GpuRequest]:
    """The request that an element was meant for which is the value of a flag and has none before it, where the file itself speaks of a
    GPU."""
    names = (root.scalar("image"), root.scalar("name"), root.scalar("build", "dockerfile"))
    speaks_of_gpu = any(isinstance(name, Text) and gpu_word(name) for name in names)
    if isinstance(stray, Text) and speaks_of_gpu and (stray == "all" or stray.startswith("device=")):
        reason = f"no flag stands before `{stray}`, which docker takes for the name of the image"
        fault = RequestFault(reason, stray.location, misplaced=True, remedy=str(stray))
        yield GpuRequest(RequestKind.GPUS, RequestState.BROKEN, stray.location, faults=(fault,))


def _mounts(root: Mapping) -> Iterator[Mount]:
    for item in root.sequence("mounts"):
        if isinstance(item, Mapping):
            source, target = (item.scalar(long) or item.scalar(short) for long, short in (("source", "src"), ("target", "dst")))
            yield Mount(_value(source), _value(target), item.location)
        elif isinstance(item, Scalar):
            yield from RunOptions([Option("mount", _value(item), item, item.location, attached=False)]).mounts


def _host_requests(root: Mapping) -> Iterator[GpuRequest]:
    """What `hostRequirements.gpu` asks for, and the key `gpus` that is none."""
    wanted = root.mapping("hostRequirements").entry("gpu")
    if wanted is not None:
        state = _state(wanted.value)
        if state is not None:
            yield GpuRequest(RequestKind.PRODUCT, state, wanted.key.location, resource=wanted.key)
    misspelt = next((entry for entry in (root.entry("gpus"), root.mapping("hostRequirements").entry("gpus")) if entry), None)
    if misspelt is not None:
        yield _no_key(misspelt)


def _no_key(entry: Entry) -> GpuRequest:
    fault = RequestFault("`gpus` is no key of devcontainer.json, and is ignored", entry.key.location, misplaced=True)
    return GpuRequest(RequestKind.PRODUCT, RequestState.BROKEN, entry.key.location, resource=entry.key, faults=(fault,))


def _state(node: Node) -> RequestState | None:
    """How a value of `gpu` is meant: true or the hardware that is needed, `"optional"`, or nothing for false."""
    if isinstance(node, Mapping):
        return RequestState.ASKED
    if not isinstance(node, Scalar):
        return None
    return {"true": RequestState.ASKED, "optional": RequestState.OPTIONAL}.get(str(node))
