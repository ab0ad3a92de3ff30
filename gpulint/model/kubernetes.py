"""Kubernetes containers: from the objects of a document to their containers, each with its pod."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpulint.model.container import (
    ASPECTS,
    Compute,
    Container,
    Dialect,
    GpuRequest,
    Mount,
    Pod,
    Probe,
    RequestKind,
    RequestState,
    Role,
    SharedMemory,
)
from gpulint.model.image import parse_image
from gpulint.model.interpolation import expand_argument
from gpulint.model.manifest import flag, text, value, values
from gpulint.model.pod import read_pod, volumes
from gpulint.model.pod_owner import pod_role
from gpulint.model.pod_requests import (
    claim_requests,
    misplaced_in_container,
    pod_level_requests,
    ray_requests,
    resource_requests,
    spark_requests,
)
from gpulint.model.requests import device_requests, variable_requests
from gpulint.model.security_context import run_as, security_options
from gpulint.model.variable import EnvVar
from gpulint.model.workload import Site, find_sites, objects
from gpulint.parse.nodes import Mapping, Node, Scalar
from gpulint.source import Text, Unknown, Value

_SHM = "/dev/shm"
_ROLES = {"init": Role.INIT, "sidecar": Role.SIDECAR, "launcher": Role.LAUNCHER, "head": Role.LAUNCHER, "helper": Role.LAUNCHER}


def read_containers(root: Node | None, template: bool = False, complete: bool = False) -> tuple[Container, ...]:
    """The containers of the objects of a document, those of one pod beside each other and with one Pod.

    In a template that is not rendered every aspect is open, as it is for a container without an image, which is a patch or a preset.
    `complete` says that what another object brings to these is in them.
    """
    found: list[Container] = []
    for owner in objects(root):
        pods: dict[int, list[Site]] = {}
        for site in find_sites(owner, complete):
            pods.setdefault(id(site.holder), []).append(site)
        for sites in pods.values():
            found += _pod_containers(sites, template)
    return tuple(found)


def _pod_containers(sites: list[Site], template: bool) -> Iterator[Container]:
    pod = read_pod(sites[0])
    containers = [container for site in sites for container in _site_containers(site, pod)]
    claimed = frozenset(
        str(request.resource)
        for container in containers
        for request in container.requests
        if request.kind is RequestKind.CLAIM and request.resource is not None
    )
    shared = tuple(pod_level_requests(sites[0], pod, claimed))
    for container in containers:
        is_open = ASPECTS if template or container.image is None else container.open
        yield replace(container, requests=(*container.requests, *shared), open=is_open)


def _site_containers(site: Site, pod: Pod) -> Iterator[Container]:
    if site.form == "container":
        yield read_container(site, site.node, _ROLES.get(site.role, Role.MAIN), pod)
    elif site.form == "gpu":
        yield read_container(site, site.node, _ROLES.get(site.role, Role.MAIN), pod, tuple(spark_requests(site.node)))
    else:
        for item in site.node.sequence("initContainers").mappings():
            yield read_container(site, item, _init_role(item), pod)
        own = tuple(ray_requests(site))
        for item in site.node.sequence("containers").mappings():
            yield read_container(site, item, _main_role(site), pod, own)
            own = ()


def _init_role(item: Mapping) -> Role:
    policy = text(item, "restartPolicy")
    return Role.SIDECAR if policy is not None and policy == "Always" else Role.INIT


def _main_role(site: Site) -> Role:
    """What its place in the object says, or for a pod its controller's label. A launcher that also works, as an MPIJob may say, is a
    worker."""
    works = flag(site.owner, "spec", "runLauncherAsWorker") is not None
    return Role.MAIN if works else _ROLES.get(pod_role(site.owner) or site.role, Role.MAIN)


def read_container(site: Site, node: Mapping, role: Role, pod: Pod, own: tuple[GpuRequest, ...] = ()) -> Container:
    """One container of a pod. `own` are requests in keys of the product's own."""
    env = tuple(_environment(node))
    mounts = tuple(_mounts(node, site))
    devices = tuple(mount for mount in mounts if isinstance(mount.source, Text) and mount.source.startswith("/dev/"))
    image = _image(site, node)
    resources = node.mapping(site.resources)
    requests = (
        *resource_requests(resources),
        *claim_requests(resources, pod),
        *own,
        *misplaced_in_container(node),
        *device_requests(devices),
        *variable_requests(env),
    )
    return Container(
        Dialect.KUBERNETES,
        _name(site, node),
        node.location,
        image=None if image is None else parse_image(image),
        role=Role.MAIN if role is Role.LAUNCHER and any(map(_takes_cards, requests)) else role,
        entrypoint=_words(node, "command", env),
        arguments=_script(node) or _words(node, "args", env),
        working_directory=value(node, "workingDir"),
        env=env,
        requests=requests,
        privileged=flag(node, "securityContext", "privileged"),
        devices=devices,
        mounts=mounts,
        shared_memory=_shared_memory(node, site),
        ipc=_host_namespace(site, "hostIPC"),
        pid=_host_namespace(site, "hostPID"),
        security_options=tuple(security_options(node, site)),
        user=run_as(node, site),
        processes=_processes(site),
        compute=_compute(node, site),
        liveness=None if node.open else _probe(node, "livenessProbe"),
        startup=_probe(node, "startupProbe"),
        start_checks=tuple(_start_checks(node, env)),
        groups=tuple(values(site.holder, "securityContext", "supplementalGroups")),
        open=pod.open | frozenset(_open_aspects(site, node)),
        pod=pod,
    )


def _takes_cards(request: GpuRequest) -> bool:
    """Whether a request has the scheduler hand out devices: a launcher or head that makes one works as well."""
    return request.kind in (RequestKind.LIMIT, RequestKind.CLAIM) and request.state is RequestState.ASKED


def _name(site: Site, node: Mapping) -> Value | None:
    """Its name, or that of the template which is made of the one container."""
    name = value(node, "name")
    return value(site.holder, "name") if name is None and site.form == "container" else name


def _image(site: Site, node: Mapping) -> Value | None:
    """The image; Spark's driver and executor may leave it to the application."""
    around = (node, *site.above) if site.form == "gpu" else (node,)
    return next((image for image in (value(each, "image") for each in around) if isinstance(image, Unknown) or image), None)


def _processes(site: Site) -> Value | None:
    """The processes that a TrainJob or PyTorchJob starts in each of its pods."""
    found = (value(site.node, "numProcPerNode"), value(site.owner, "spec", "nprocPerNode"))
    return next((each for each in found if each is not None), None)


def _compute(node: Mapping, site: Site) -> Compute | None:
    """What the container asks for, or where it says nothing its pod; None where a template may add to that."""
    own, shared = node.get(site.resources), site.holder.get("resources") if site.form == "pod" else None
    if any(map(_may_hold_more, (node, own, shared))):
        return None
    found = [each for each in (own, shared) if isinstance(each, Mapping)]
    return Compute(*(_first(found, amount, name) for name in ("cpu", "memory") for amount in ("requests", "limits")))


def _may_hold_more(node: Node | None) -> bool:
    """Whether resources are written by a template, in whole or in part."""
    parts = (node, node.get("requests"), node.get("limits")) if isinstance(node, Mapping) else (node,)
    return any(isinstance(part, Unknown) or (isinstance(part, Mapping) and part.open) for part in parts)


def _first(found: list[Mapping], *path: str) -> Value | None:
    return next((each for each in (value(resources, *path) for resources in found) if each is not None), None)


def _probe(node: Mapping, key: str) -> Probe | None:
    """A probe of the container; None where there is none."""
    probe = node.get(key)
    if isinstance(probe, Unknown) or (isinstance(probe, Mapping) and probe.open):
        unknown = Unknown(key, probe.location)
        return Probe(unknown, unknown, unknown, probe.location)
    if not isinstance(probe, Mapping):
        return None
    delay, period, threshold = (value(probe, field) for field in ("initialDelaySeconds", "periodSeconds", "failureThreshold"))
    return Probe(delay, period, threshold, probe.location)


def _start_checks(node: Mapping, env: tuple[EnvVar, ...]) -> Iterator[tuple[Value, ...]]:
    for check in (node.mapping("lifecycle", "postStart", "exec"), node.mapping("startupProbe", "exec")):
        yield from filter(None, [_words(check, "command", env)])


def _host_namespace(site: Site, key: str) -> Text | None:
    """The word `host` where the pod shares that namespace with its node."""
    shared = flag(site.holder, key)
    return None if shared is None else Text("host", shared.location, ())


def _open_aspects(site: Site, node: Mapping) -> Iterator[str]:
    if node.sequence("envFrom").items:
        yield "env"
    if site.form == "gpu" or (site.resources != "resources" and site.resources not in node):
        yield "gpu"


def _environment(node: Mapping) -> Iterator[EnvVar]:
    for item in node.sequence("env").mappings():
        name = text(item, "name")
        if name is not None:
            yield EnvVar(name, value(item, "value"))


def _words(node: Mapping, key: str, env: tuple[EnvVar, ...]) -> tuple[Value, ...] | None:
    """The items of `command` or `args`, with the variables of the container's own environment put in."""
    if key not in node:
        return None
    variables = {str(variable.name): variable.value for variable in env}
    complete = not node.sequence("envFrom").items
    return tuple(_word(item, variables, complete) for item in node.sequence(key) if isinstance(item, (Scalar, Unknown)))


def _word(item: Scalar | Unknown, variables: dict[str, Value | None], complete: bool) -> Value:
    if isinstance(item, Unknown) or "{{" in item:
        return item if isinstance(item, Unknown) else Unknown(str(item), item.location)
    return expand_argument(item, variables, complete)


def _script(node: Mapping) -> tuple[Value, ...] | None:
    """The script of an Argo template or a Tekton step, in the form in which shells and Python take one as an argument."""
    for key in ("source", "script"):
        source = node.get(key)
        if isinstance(source, Scalar) and not source.is_null:
            return (Text("-c", source.location, ()), source)
    return None


def _mounts(node: Mapping, site: Site) -> Iterator[Mount]:
    """Volumes at their places, with the host's path where that is what is mounted, and raw block devices."""
    sources = {str(name): value(volume, "hostPath", "path") for volume in volumes(site) if (name := text(volume, "name")) is not None}
    for item in node.sequence("volumeMounts").mappings():
        name = text(item, "name")
        yield Mount(sources.get(str(name)) if name is not None else None, value(item, "mountPath"), item.location)
    for item in node.sequence("volumeDevices").mappings():
        yield Mount(None, value(item, "devicePath"), item.location)


def _shared_memory(node: Mapping, site: Site) -> SharedMemory | None:
    """The volume that is mounted at /dev/shm."""
    for item in node.sequence("volumeMounts").mappings():
        path, name = text(item, "mountPath"), text(item, "name")
        if path is not None and name is not None and path.rstrip("/") == _SHM:
            volume = next((volume for volume in volumes(site) if text(volume, "name") == name), None)
            return _given_by(volume, item) if volume else None
    return None


def _given_by(volume: Mapping, mount: Mapping) -> SharedMemory:
    medium, host_path = text(volume, "emptyDir", "medium"), text(volume, "hostPath", "path")
    in_memory = medium is not None and medium == "Memory"
    return SharedMemory(value(volume, "emptyDir", "sizeLimit"), in_memory or host_path is not None, mount.location)
