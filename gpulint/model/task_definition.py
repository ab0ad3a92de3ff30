"""Task definitions of Amazon ECS and job definitions of AWS Batch, in JSON or YAML: their containers.

Source: the API references of ECS (RegisterTaskDefinition) and Batch (RegisterJobDefinition).
"""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.resources import task_resource
from gpulint.model.container import Container, Dialect, GpuRequest, Mount, RequestFault, RequestKind, RequestState, Role, SharedMemory
from gpulint.model.image import parse_image
from gpulint.model.manifest import read
from gpulint.model.requests import variable_requests
from gpulint.model.variable import EnvVar
from gpulint.parse.boolean import compose_boolean
from gpulint.parse.nodes import EMPTY_SEQUENCE, Mapping, Scalar, Sequence
from gpulint.parse.yaml import YamlSyntax
from gpulint.source import Location, Text, Unknown, Value

_NUMBER = regex(r"[+-]?\d+(\.\d+)?")


class _Site(NamedTuple):
    """A container's own mapping, the one of its task with volumes and namespaces, and whether the whole runs where there are no GPUs."""

    node: Mapping
    task: Mapping
    serverless: Location | None


def read_task_definitions(syntax: YamlSyntax) -> tuple[Container, ...]:
    """The containers of every task or job definition in a file."""
    roots = (document.root for document in syntax.documents)
    return tuple(_container(site) for root in roots if isinstance(root, Mapping) for site in _sites(root))


def _sites(root: Mapping) -> Iterator[_Site]:
    """The containers of a definition: a list in ECS, one in Batch, one for each range of nodes in a multi-node job of Batch."""
    definition = next((inner for key in ("taskDefinition", "jobDefinition") if (inner := root.mapping(key))), root)
    serverless = _serverless(definition)
    for node in definition.sequence("containerDefinitions").mappings():
        yield _Site(node, definition, serverless)
    if definition.mapping("containerProperties"):
        properties = definition.mapping("containerProperties")
        yield _Site(properties, properties, serverless)
    for task in definition.sequence("ecsProperties", "taskProperties").mappings():
        for node in task.sequence("containers").mappings():
            yield _Site(node, task, serverless)
    for group in definition.sequence("nodeProperties", "nodeRangeProperties").mappings():
        if group.mapping("container"):
            yield _Site(group.mapping("container"), group.mapping("container"), serverless)


def _serverless(definition: Mapping) -> Location | None:
    """Where it says that it runs on Fargate alone, which has no GPUs."""
    for key in ("requiresCompatibilities", "platformCapabilities"):
        kinds = [item for item in definition.sequence(key) if isinstance(item, Text)]
        if kinds and all(kind == "FARGATE" for kind in kinds):
            return kinds[0].location
    return None


def _container(site: _Site) -> Container:
    node = site.node
    image = read(node.get("image"))
    env = tuple(_variables(node.sequence("environment")))
    privileged = node.scalar("privileged")
    return Container(
        Dialect.TASK,
        read(node.get("name")),
        node.location,
        image=parse_image(image) if image is not None else None,
        role=Role.MAIN,
        entrypoint=_words(node.get("entryPoint")),
        arguments=_words(node.get("command")),
        working_directory=read(node.get("workingDirectory")),
        env=env,
        requests=(*_requests(node.sequence("resourceRequirements"), site.serverless), *variable_requests(env)),
        privileged=privileged if isinstance(privileged, Scalar) and compose_boolean(privileged) else None,
        devices=tuple(_devices(node.mapping("linuxParameters").sequence("devices"))),
        mounts=tuple(_mounts(site)),
        shared_memory=_shared_memory(node.mapping("linuxParameters")),
        ipc=read(site.task.get("ipcMode")),
        pid=read(site.task.get("pidMode")),
        security_options=tuple(_security_options(node.sequence("dockerSecurityOptions"))),
        user=read(node.get("user")),
        open=frozenset({"env"} if node.sequence("environmentFiles") else ()),
    )


def _words(node: object) -> tuple[Value, ...] | None:
    """The words of a list; None where there is none, as for an empty one."""
    items = node if isinstance(node, Sequence) else EMPTY_SEQUENCE
    return tuple(item for item in items if isinstance(item, (Text, Unknown))) or None


def _variables(items: Sequence) -> Iterator[EnvVar]:
    for item in items.mappings():
        name = item.scalar("name")
        if isinstance(name, Text):
            yield EnvVar(name, item.scalar("value"))


def _devices(items: Sequence) -> Iterator[Mount]:
    for item in items.mappings():
        yield Mount(item.scalar("hostPath"), item.scalar("containerPath"), item.location)


def _mounts(site: _Site) -> Iterator[Mount]:
    """The volumes of the task where the container mounts them; one that is no folder of the host has no source."""
    sources = {
        str(name): each.scalar("host", "sourcePath") for each in site.task.sequence("volumes").mappings() if (name := each.scalar("name"))
    }
    for item in site.node.sequence("mountPoints").mappings():
        name = item.scalar("sourceVolume")
        yield Mount(sources.get(str(name)) if isinstance(name, Text) else None, item.scalar("containerPath"), item.location)


def _security_options(items: Sequence) -> Iterator[Value]:
    """The options of the engine, of which ECS writes those with a value with a colon: `label:disable`."""
    for item in items:
        if isinstance(item, Text):
            yield Text(item.replace(":", "=", 1), item.location, ())


def _shared_memory(parameters: Mapping) -> SharedMemory | None:
    """What stands at /dev/shm: `sharedMemorySize` is a number of MiB."""
    size = parameters.scalar("sharedMemorySize")
    return SharedMemory(Text(f"{size}m", size.location, ()), True, size.location) if isinstance(size, Text) else None


def _requests(items: Sequence, serverless: Location | None) -> Iterator[GpuRequest]:
    """The accelerators among the resource requirements. A value must be a string; on Fargate there are none."""
    for item in items.mappings():
        kind, amount = item.scalar("type"), item.scalar("value")
        vendor = task_resource(str(kind)) if isinstance(kind, Text) else None
        if vendor is None or not isinstance(kind, Text):
            continue
        faults = tuple(_faults(amount, serverless))
        zero = isinstance(amount, Text) and amount == "0"
        state = RequestState.BROKEN if faults else RequestState.ZERO if zero else RequestState.ASKED
        yield GpuRequest(RequestKind.PRODUCT, state, item.location, vendor, amount, resource=kind, faults=faults)


def _faults(amount: Value | None, serverless: Location | None) -> Iterator[RequestFault]:
    if isinstance(amount, Scalar) and amount.plain and _NUMBER.fullmatch(amount):
        remedy = str(amount) if amount.isdigit() else ""
        yield RequestFault(f'the value {amount} is a number where the API takes a string: "{amount}"', amount.location, remedy=remedy)
    if serverless is not None:
        yield RequestFault("Fargate, which it asks for, has no GPUs", serverless, misplaced=True)
