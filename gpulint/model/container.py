"""Container: anything that starts one. A Compose service, a pod's container, `docker run`, a CI job's container: all have this shape."""

from __future__ import annotations

import enum
from dataclasses import field
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, dataclass
from gpulint.source import Location, Text, Value

if TYPE_CHECKING:
    from gpulint.model.image import ImageRef
    from gpulint.model.variable import EnvVar


ASPECTS = frozenset({"gpu", "shm", "env", "command", "image", "toleration", "runtime-class"})
"""What of a container its own file may leave to another: each may be found absent only where it is not open."""


class Dialect(enum.Enum):
    """Which tool starts the container; it decides how entrypoint and arguments are read."""

    COMPOSE = "compose"
    KUBERNETES = "kubernetes"
    RUN = "run"
    LIBRARY = "library call"
    QUADLET = "quadlet"
    CI = "ci"
    DEVCONTAINER = "dev container"
    TASK = "task"


class Role(enum.Enum):
    """What the container is in its pod. A sidecar is an init container that keeps running."""

    MAIN = "main"
    INIT = "init"
    SIDECAR = "sidecar"
    LAUNCHER = "launcher"


class RequestKind(enum.Enum):
    """By which mechanism an accelerator is asked for. PLACEMENT is a selector or toleration that stands where it does nothing."""

    LIMIT = "limit"
    RESERVATION = "reservation"
    GPUS = "gpus"
    CDI = "cdi"
    CLAIM = "claim"
    RUNTIME = "runtime"
    VISIBLE_DEVICES = "visible-devices"
    RAW_DEVICE = "raw-device"
    PRODUCT = "product"
    PLACEMENT = "placement"


class RequestState(enum.Enum):
    """How a request stands: asked for; only if there is one; zero of them; or so written that the tool refuses or drops it."""

    ASKED = "asked"
    OPTIONAL = "optional"
    ZERO = "zero"
    BROKEN = "broken"


class RequestFault(NamedTuple):
    """Why a request comes to nothing, as a clause for a message, and the place of what is wrong.

    `misplaced` where the setting is well formed and stands in the wrong place. `remedy` is the value to write in its place, before any
    quoting, where it is plain which one is meant. `likely` where the setting could be right, and is so near to a known one that this
    one is surely meant.
    """

    reason: str
    location: Location
    misplaced: bool = False
    remedy: str = ""
    likely: bool = False


@dataclass(frozen=True, eq=False)
class GpuRequest:
    """One request for an accelerator.

    `vendor` is nvidia, amd, intel, habana, google or aws, or "" where the form does not say. `count` is the number asked for as
    written, "all", or None; `ids` the devices named. `resource` is the name it is asked by, where the mechanism has one: the resource
    of a LIMIT (with `limit` and `request` as its two quantities), a claim, a runtime, a product's key. `faults` say why a BROKEN one
    is refused or dropped.
    """

    kind: RequestKind
    state: RequestState
    location: Location
    vendor: str = ""
    count: Value | None = None
    ids: tuple[Value, ...] = ()
    capabilities: tuple[Value, ...] = ()
    driver: Value | None = None
    resource: Text | None = None
    limit: Value | None = None
    request: Value | None = None
    faults: tuple[RequestFault, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Whether it asks for a GPU without condition."""
        return self.state is RequestState.ASKED

    @property
    def is_sound(self) -> bool:
        """Whether it brings a GPU where there is one."""
        return self.state in (RequestState.ASKED, RequestState.OPTIONAL)

    @property
    def is_meant(self) -> bool:
        """Whether who wrote it wants a GPU: a zero does not, a broken attempt does."""
        return self.state is not RequestState.ZERO

    @property
    def is_of_pod(self) -> bool:
        """Whether it stands on the pod, whose containers share it: a RuntimeClass."""
        return self.kind is RequestKind.RUNTIME


class Mount(NamedTuple):
    """A volume, bind or device: source (None for an anonymous one) and target inside the container."""

    source: Value | None
    target: Value | None
    location: Location


class SharedMemory(NamedTuple):
    """What is given as /dev/shm in place of the runtime's small default: its size as written, None for no bound of its own.

    `in_memory` is false where a disk-backed volume stands there.
    """

    size: Value | None
    in_memory: bool
    location: Location


class Compute(NamedTuple):
    """The processor time and memory that a container asks for and is limited to, as written; None for what is not said."""

    cpu_request: Value | None = None
    cpu_limit: Value | None = None
    memory_request: Value | None = None
    memory_limit: Value | None = None


class Probe(NamedTuple):
    """How a kubelet asks a container for its health: the seconds before the first question and between two, and after how many failures
    in a row it acts; None for what is left at its default."""

    initial_delay: Value | None
    period: Value | None
    failure_threshold: Value | None
    location: Location


class Build(NamedTuple):
    """How the image is built where it is run: context and Dockerfile as written (the Dockerfile relative to the context, the context
    relative to the folder of the file that its location names). `inline` is a Dockerfile's text in place of a file."""

    context: Value
    dockerfile: Value | None
    target: Value | None
    arguments: tuple[EnvVar, ...]
    location: Location
    inline: Value | None = None


class Label(NamedTuple):
    """A node label that a pod selects or requires by affinity; no value for a mere `Exists`."""

    key: Text
    values: tuple[Value, ...]


class Toleration(NamedTuple):
    key: Value | None
    operator: Value | None
    value: Value | None
    effect: Value | None
    location: Location


class Rollout(NamedTuple):
    """How a Deployment replaces its pods, as written; None for what is left at its default. `location` is where that is said, or the
    Deployment's kind where nothing is."""

    strategy: Value | None
    max_surge: Value | None
    max_unavailable: Value | None
    replicas: Value | None
    location: Location


class JobLimits(NamedTuple):
    """What ends a Job that does not end by itself: its deadline in seconds, how often a failure is repeated, whether a policy decides on
    failures. `location` is the Job's spec."""

    deadline: Value | None
    backoff_limit: Value | None
    has_failure_policy: bool
    location: Location


class Overlay(NamedTuple):
    """A kustomization that builds another thing of an object than others do: where it says what it builds on, and how many different
    things they build of the object together."""

    location: Location
    forms: int


class PodClaim(NamedTuple):
    """A claim of devices that a pod declares: the name for its containers, and the ResourceClaim or ResourceClaimTemplate it stands for."""

    name: Text
    source: Value | None


@dataclass(frozen=True, eq=False)
class Pod:
    """What is the pod's and not the container's.

    `kind`, `name`, `namespace` and `owner_labels` are its owner's; `location` is the pod spec. `rollout` is a Deployment's, `job` a
    Job's or CronJob's; None where a template may yet add to what is written. `open` is what something outside the files may still supply,
    and `overlay` what builds it, as for a Container.
    """

    kind: str
    name: Value | None
    namespace: Value | None
    location: Location
    labels: tuple[Label, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    runtime_class: Value | None = None
    host_ipc: bool = False
    host_pid: bool = False
    host_paths: tuple[Value, ...] = ()
    claims: tuple[PodClaim, ...] = ()
    owner_labels: tuple[EnvVar, ...] = ()
    tolerations_location: Location | None = None
    rollout: Rollout | None = None
    job: JobLimits | None = None
    open: frozenset[str] = frozenset()
    overlay: Overlay | None = None


@dataclass(frozen=True, eq=False)
class Service:
    """What is the Compose service's and not the container's. `run` are the Compose files of the project that it is run in."""

    name: Text
    location: Location
    profiles: tuple[Value, ...] = ()
    replicas: Value | None = None
    run: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Command:
    """A command line that starts a container, `docker run` and its kin, or a call of a library. `location` is the whole of it."""

    program: Text
    location: Location
    context: str = "shell"


@dataclass(frozen=True, eq=False)
class Container:
    """Anything that starts a container, in its effective form.

    `location` is the primary place of a finding on what is absent: the service's key, the item of the containers list, the command.
    `entrypoint` and `arguments` are what this file says, or None where the image decides; each a tuple of words. `open` names the
    aspects that something outside the files read may yet supply (see ASPECTS). `ipc` and `pid` are its namespaces where one is named
    (`host`, `service:x`); `security_options` are written as `docker run --security-opt` takes them (`seccomp=unconfined`), whatever the
    tool. `user` is whom its process runs as, and `groups` those that are added to the user's own. `processes` is how many processes on each
    machine a training job asks for beside the command. `compute` is None where it cannot be known; `liveness` and `startup` are a pod's
    probes, and `liveness` is None, too, where a template may yet add a probe for the start. `start_checks` are the commands that run in it
    as it starts, each of which ends it by failing: a pod's postStart hook and probe for the start.
    """

    dialect: Dialect
    name: Value | None
    location: Location
    image: ImageRef | None = None
    build: Build | None = None
    role: Role = Role.MAIN
    entrypoint: tuple[Value, ...] | None = None
    arguments: tuple[Value, ...] | None = None
    working_directory: Value | None = None
    env: tuple[EnvVar, ...] = ()
    requests: tuple[GpuRequest, ...] = ()
    privileged: Text | None = None
    devices: tuple[Mount, ...] = ()
    mounts: tuple[Mount, ...] = ()
    shared_memory: SharedMemory | None = None
    ipc: Value | None = None
    pid: Value | None = None
    security_options: tuple[Value, ...] = ()
    user: Value | None = None
    groups: tuple[Value, ...] = ()
    processes: Value | None = None
    compute: Compute | None = None
    liveness: Probe | None = None
    startup: Probe | None = None
    start_checks: tuple[tuple[Value, ...], ...] = ()
    open: frozenset[str] = frozenset()
    pod: Pod | None = None
    service: Service | None = None
    command: Command | None = None
    overlay: Overlay | None = None
    siblings: tuple[Container, ...] = field(default=(), repr=False)

    @property
    def is_main(self) -> bool:
        """Whether it is what its pod is there for; outside pods every container is."""
        return self.role is Role.MAIN

    @property
    def is_init(self) -> bool:
        """Whether it runs to its end before the main containers of its pod start."""
        return self.role is Role.INIT

    @property
    def is_in_pod(self) -> bool:
        return self.dialect is Dialect.KUBERNETES

    @property
    def is_ci_job(self) -> bool:
        """Whether it is the container that a CI job runs in."""
        return self.dialect is Dialect.CI

    @property
    def is_dev_container(self) -> bool:
        """Whether an editor works in it."""
        return self.dialect is Dialect.DEVCONTAINER

    def variable(self, name: str) -> EnvVar | None:
        """The environment variable of that name: the last one, as the tools take it."""
        return next((variable for variable in reversed(self.env) if variable.name == name), None)
