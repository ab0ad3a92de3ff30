"""Compose services: from the mappings of a file to raw services, and from the layers of a service to its container."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from gpulint.deferred import regex
from gpulint.model.compose_requests import service_requests
from gpulint.model.container import ASPECTS, Build, Compute, Container, Dialect, GpuRequest, Mount, RequestKind, Service, SharedMemory
from gpulint.model.image import parse_image
from gpulint.model.interpolation import Variables
from gpulint.model.requests import device_requests, runtime_request, variable_requests
from gpulint.model.service import RawService, is_null, tag_of
from gpulint.model.variable import EnvVar
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown, Value

_FIELD = regex(r"(?<!^[A-Za-z])(?<!:[A-Za-z]):")
"""The colon between the fields of a volume or device, not the one behind a Windows drive letter."""

_SHM = "/dev/shm"


def read_services(root: Node | None, variables: Variables, template: bool = False) -> dict[str, RawService]:
    """The services of a Compose file by their names, with `extends` not yet followed. Extension fields (`x-`) are none.

    In a template that is not rendered every aspect is open.
    """
    if not isinstance(root, Mapping):
        return {}
    stray = tuple(_stray_blocks(root))
    services: dict[str, RawService] = {}
    for key, node, _ in root.mapping("services"):
        if isinstance(node, Mapping) and not key.startswith("x-") and key not in stray:
            services[str(key)] = RawService(key, (node,), variables, ASPECTS if template else frozenset())
    for key in stray:
        owner = _service_before(key, services.values())
        if owner:
            services[str(owner.key)] = replace(owner, stray=(*owner.stray, key))
    return services


def _stray_blocks(root: Mapping) -> Iterator[Scalar]:
    """Keys of `deploy` blocks that ask for a GPU and stand beside the services or beside `services` itself."""
    for holder in (root, root.mapping("services")):
        entry = holder.entry("deploy")
        if entry and isinstance(entry.value, Mapping) and not any(key in entry.value for key in ("image", "build", "extends")):
            as_service = RawService(entry.key, (Mapping((entry,), holder.location),))
            if any(service_requests(as_service)):
                yield entry.key


def _service_before(key: Scalar, services: Iterable[RawService]) -> RawService | None:
    """The service that a misindented block was meant for: the last one before it, else the first."""
    ordered = sorted(services, key=lambda service: service.key.location)
    before = [service for service in ordered if service.key.location < key.location]
    return before[-1] if before else next(iter(ordered), None)


def read_container(service: RawService, env_files: tuple[EnvVar, ...] = ()) -> Container:
    """The container that a service starts. `env_files` are the variables of its env files, which its own environment overrides."""
    env = (*env_files, *_environment(service, "environment"))
    devices = _by_target(_mounts(service, "devices"))
    image = service.node("image")
    runtime = service.value("runtime")
    return Container(
        Dialect.COMPOSE,
        service.key,
        service.key.location,
        image=parse_image(service.read(image).value()) if isinstance(image, (Scalar, Unknown)) else None,
        build=_build(service),
        entrypoint=_command(service, "entrypoint"),
        arguments=_command(service, "command"),
        working_directory=service.value("working_dir"),
        env=env,
        requests=_requests(service, runtime, env, devices),
        privileged=service.flag("privileged"),
        devices=devices,
        mounts=_by_target(_mounts(service, "volumes")),
        shared_memory=_shared_memory(service),
        compute=Compute(cpu_limit=_cpu_limit(service)),
        ipc=service.value("ipc"),
        pid=service.value("pid"),
        security_options=service.values("security_opt"),
        user=service.value("user"),
        groups=service.values("group_add"),
        open=service.open | frozenset(_open_aspects(service, runtime, devices)),
        service=Service(service.key, service.key.location, service.values("profiles"), _replicas(service)),
    )


def _replicas(service: RawService) -> Value | None:
    """How many containers the service is started in, by the older key or the newer one."""
    replicas = service.value("deploy", "replicas")
    return service.value("scale") if replicas is None else replicas


def _requests(service: RawService, runtime: Value | None, env: tuple[EnvVar, ...], devices: tuple[Mount, ...]) -> tuple[GpuRequest, ...]:
    own = tuple(service_requests(service))
    by_runtime = runtime_request(runtime)
    refused = any(request.kind is RequestKind.CDI for request in own)
    return (
        *own,
        *((by_runtime,) if by_runtime else ()),
        *(() if refused else device_requests(devices)),
        *variable_requests(env),
    )


def _open_aspects(service: RawService, runtime: Value | None, devices: tuple[Mount, ...]) -> Iterator[str]:
    """What a variable that is not known may bring, and the shared memory of another container's namespace."""
    if isinstance(runtime, Unknown) or any(isinstance(device.source, Unknown) for device in devices):
        yield "gpu"
    if any(isinstance(item, Unknown) for item in service.values("environment")):
        yield "env"
    ipc = service.value("ipc")
    if isinstance(ipc, Unknown) or (ipc is not None and ":" in ipc):
        yield "shm"


def _command(service: RawService, key: str) -> tuple[Value, ...] | None:
    """The words of `command` or `entrypoint`; no words where it is set to nothing, None where it is not set."""
    node = service.node(key)
    if isinstance(node, Sequence):
        return tuple(service.read(item).value() for item in node if isinstance(item, (Scalar, Unknown)))
    return service.read(node).words() if isinstance(node, (Scalar, Unknown)) else None


def _environment(service: RawService, *path: str) -> tuple[EnvVar, ...]:
    """The variables of each layer, those that others override first: `NAME=value` items, or a mapping.

    `!reset` reaches a variable of a mapping alone, and what several layers say is a list by then.
    """
    found: list[EnvVar] = []
    is_mapping = False
    for index, node in enumerate(service.every(*path)):
        if isinstance(node, Mapping):
            dropped = {str(key) for key, value, _ in node if tag_of(value) == "!reset"}
            found = [variable for variable in found if not (is_mapping and variable.name in dropped)]
            found += (_variable(service, key, _scalar(service, value)) for key, value, _ in node if key not in dropped)
        elif isinstance(node, Sequence):
            found += _assignments(service, node)
        is_mapping = index == 0 and isinstance(node, Mapping)
    return tuple(found)


def _scalar(service: RawService, node: Node) -> Value | None:
    return service.read(node).value() if isinstance(node, (Scalar, Unknown)) and not is_null(node) else None


def _assignments(service: RawService, items: Sequence) -> Iterator[EnvVar]:
    for item in items:
        if isinstance(item, Scalar):
            assignment = service.read(item)
            end = assignment.text.find("=")
            name = assignment.cut(0, end if end >= 0 else len(assignment.text))
            if isinstance(name, Text):
                yield _variable(service, name, assignment.cut(end + 1, len(assignment.text)) if end >= 0 else None)


def _variable(service: RawService, name: Text, value: Value | None) -> EnvVar:
    """A variable; a name alone is given the value that the project has for it, in its own place."""
    known = service.variables.get(name) if value is None else None
    return EnvVar(name, value if known is None else Text(known, name.location, ()))


def _build(service: RawService) -> Build | None:
    """The build of the last layer that has one, over what the layers below it say."""
    nodes = tuple(service.every("build"))
    if not nodes:
        return None
    contexts = tuple(context for context in map(_context, nodes) if context is not None)
    return Build(
        context=service.read(contexts[-1]).value() if contexts else Text(".", nodes[-1].location, ()),
        dockerfile=service.value("build", "dockerfile"),
        target=service.value("build", "target"),
        arguments=_environment(service, "build", "args"),
        location=nodes[-1].location,
        inline=service.value("build", "dockerfile_inline"),
    )


def _context(build: Node) -> Scalar | Unknown | None:
    if isinstance(build, Mapping):
        return build.scalar("context")
    return build if isinstance(build, (Scalar, Unknown)) else None


def _mounts(service: RawService, key: str) -> Iterator[Mount]:
    """Volumes or devices, in the short form `source:target:options` or as mappings."""
    for item in service.items(key):
        if isinstance(item, Mapping):
            fields = RawService(service.key, (item,), service.variables)
            yield Mount(fields.value("source"), fields.value("target"), item.location)
        elif isinstance(item, (Scalar, Unknown)):
            first, *rest = service.read(item).fields(_FIELD)
            source = first if rest or key == "devices" else None
            yield Mount(source, rest[0] if rest else first, item.location)


def _by_target(mounts: Iterable[Mount]) -> tuple[Mount, ...]:
    """The mounts that count: of those on one target the last, in the place of the first."""
    found: dict[object, Mount] = {}
    for mount in mounts:
        found[str(mount.target) if isinstance(mount.target, Text) else mount.location] = mount
    return tuple(found.values())


def _cpu_limit(service: RawService) -> Value | None:
    """The processors that it is limited to, in the older form or the newer."""
    older = service.value("cpus")
    return service.value("deploy", "resources", "limits", "cpus") if older is None else older


def _shared_memory(service: RawService) -> SharedMemory | None:
    """What stands at /dev/shm: a mount there, else one of the size that `shm_size` names."""
    size = service.value("shm_size")
    given = SharedMemory(size, True, size.location) if size is not None else None
    return next(chain(_shm_tmpfs(service), _shm_volumes(service)), given)


def _shm_tmpfs(service: RawService) -> Iterator[SharedMemory]:
    for item in service.items("tmpfs"):
        if isinstance(item, Scalar):
            target, *options = service.read(item).fields(re.compile(r"[:,]"))
            if _is(target, _SHM):
                size = next((option for option in options if isinstance(option, Unknown) or option.startswith("size=")), None)
                yield SharedMemory(size.cut(5, len(size)) if isinstance(size, Text) else size, True, item.location)


def _shm_volumes(service: RawService) -> Iterator[SharedMemory]:
    for item in service.items("volumes"):
        if isinstance(item, Mapping):
            fields = RawService(service.key, (item,), service.variables)
            if _is(fields.value("type"), "tmpfs") and _is(fields.value("target"), _SHM):
                yield SharedMemory(fields.value("tmpfs", "size"), True, item.location)
    for mount in _mounts(service, "volumes"):
        if _is(mount.target, _SHM):
            yield SharedMemory(None, _is(mount.source, _SHM), mount.location)


def _is(value: Value | None, word: str) -> bool:
    return isinstance(value, Text) and value == word
