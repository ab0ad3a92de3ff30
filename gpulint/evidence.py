"""What speaks for a container wanting a GPU, each piece with its place, and what follows from the pieces together.

Explicit and strong pieces speak alone; a supporting one only beside a piece of another origin, or where it is a linked program that
trains and prefers CUDA. Pieces of one origin count once.
"""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import (
    cpu_argument,
    gpu_argument,
    gpu_program,
    gpu_variable,
    hides_gpu,
    idles,
    launched,
    plain_tool,
    program_index,
)
from gpulint.facts.images import Need, cpu_word, gpu_word
from gpulint.facts.requests import is_driver_path
from gpulint.facts.resources import gpu_label, gpu_taint, is_gpu_vendor
from gpulint.facts.workloads import infrastructure
from gpulint.model.container import RequestKind
from gpulint.project import Project
from gpulint.project.entrypoint import own_commands
from gpulint.project.stages import gpu_base
from gpulint.rule import Severity
from gpulint.source import Location, Text, Unknown, Value, as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container, GpuRequest, Label, Pod
    from gpulint.project.links import EntryPoint

_DEVELOPERS = regex(r"\.?devcontainers?|dev|devel|develop|development|workspace", re.IGNORECASE)

_TESTS = regex(r"(?:^|[-_.])(?:tests?|testing|unittests?|unit|pytest)(?:[-_.]|$)", re.IGNORECASE)

_IMPORTED = regex(r"(?:^|[;\n])\s*(?:from|import)\s+(\w+)")
"""What Python code imports, without the dots behind it."""

CI_CONTEXTS = ("github", "gitlab")
"""Where a command stands that a CI job runs."""


class Origin(enum.Enum):
    """Where a piece of evidence comes from; pieces of one origin count once."""

    IMAGE = "image"
    COMMAND = "command, arguments and environment"
    PROGRAM = "program"
    PLACEMENT = "placement"


class Strength(enum.IntEnum):
    SUPPORTING = 1
    TRAINING = 2
    STRONG = 3
    EXPLICIT = 4


class Evidence(NamedTuple):
    """One piece: `says` is a clause for a message, such as "its image pytorch/pytorch needs a GPU"."""

    strength: Strength
    origin: Origin
    location: Location
    says: str


def asks_for_accelerator(container: Container) -> bool:
    """Whether anything in the container's pod, service or command asks for an accelerator, rightly or wrongly: a failed attempt counts."""
    return any(each.requests for each in (container, *container.siblings))


def has_gpu(container: Container) -> bool:
    """Whether the container itself asks for a GPU in a way that counts. A RuntimeClass is its pod's, and says nothing of one of several."""
    shared = container.is_in_pod and any(sibling.is_main for sibling in container.siblings)
    own = (request for request in container.requests if not (shared and request.is_of_pod))
    return any(request.is_meant and is_gpu_vendor(request.vendor) for request in own)


def surely_has_gpu(container: Container, project: Project) -> bool:
    """Whether the container asks for what is known to be a GPU: a claim may be for any device."""
    if not has_gpu(container):
        return False
    meant = (request for request in container.requests if request.is_meant and is_gpu_vendor(request.vendor))
    return any(request.kind is not RequestKind.CLAIM or _claims_gpu(container, request, project) for request in meant)


def _claims_gpu(container: Container, request: GpuRequest, project: Project) -> bool:
    from gpulint.project.device_claims import is_for_gpu

    return container.pod is not None and is_for_gpu(container.pod, request, project)


def is_given_gpu(container: Container, project: Project) -> bool:
    """Whether the container asks for a GPU in a way that brings one. A RuntimeClass alone does so only for an image that sets
    NVIDIA_VISIBLE_DEVICES itself, so that it takes another piece of evidence."""
    by_itself = any(request.is_meant and not (container.is_in_pod and request.is_of_pod) for request in container.requests)
    return has_gpu(container) and (by_itself or next(evidence(container, project), None) is not None)


@lru_cache(maxsize=10_000)
def wanted(container: Container, project: Project) -> tuple[Severity | None, tuple[Evidence, ...]]:
    """How surely the container wants a GPU that nothing asks for: error, warning, or None; and the evidence, the strongest first."""
    if asks_for_accelerator(container) or _is_exempt(container, project):
        return None, ()
    pieces = tuple(sorted(evidence(container, project), key=lambda piece: -piece.strength))
    return _verdict(pieces), pieces


def evidence_of_its_own(container: Container, project: Project) -> tuple[Evidence, ...]:
    """What speaks for this container and not for its pod, the strongest first, where it suffices for a warning; whatever is asked for."""
    if _is_exempt(container, project):
        return ()
    own = (piece for piece in evidence(container, project) if piece.origin is not Origin.PLACEMENT)
    pieces = tuple(sorted(own, key=lambda piece: -piece.strength))
    return pieces if _verdict(pieces) is not None else ()


def is_gpu_container(container: Container, project: Project) -> bool:
    """Whether the container has a GPU request, or wants one by the evidence."""
    return has_gpu(container) or wanted(container, project)[0] is not None


def is_gpu_pod(pod: Pod, project: Project) -> bool:
    """Whether the pod is for GPU nodes: one of its containers has or wants a GPU, or it selects such nodes."""
    by_label = (label for label in pod.labels for value in _known_values(label) if gpu_label(label.key, value))
    return next(by_label, None) is not None or any(is_gpu_container(container, project) for container in project.containers_in(pod))


def vendors_of(pod: Pod, project: Project) -> frozenset[str]:
    """Whose GPUs the containers of a pod ask for; none where no request says."""
    requests = (request for container in project.containers_in(pod) for request in container.requests if request.is_meant)
    return frozenset(request.vendor for request in requests if request.vendor and is_gpu_vendor(request.vendor))


def gpu_programs_with(path: str, project: Project) -> tuple[EntryPoint, ...]:
    """The programs with this Python file on their path that a GPU container runs, each with those containers alone."""
    found = []
    for entry in project.entry_points:
        if entry.program is not None and path in entry.program.modules:
            users = tuple(each for each in entry.containers if is_gpu_container(each[0], project))
            found += [replace(entry, containers=users)] if users else []
    return tuple(found)


def chooses_gpu_by(container: Container, switches: tuple[str, ...]) -> bool:
    """Whether the container sets one of these options (`--device`) or variables (`$DEVICE`) to a GPU, which its program then insists on."""
    for command in own_commands(container):
        words = _words(command)
        names_switch = any(word.partition("=")[0] in switches for word in words)
        if names_switch and gpu_argument(words) is not None:
            return True
    variables = (variable for variable in container.env if f"${variable.name}" in switches and isinstance(variable.value, Text))
    return any(gpu_variable(variable.name, str(variable.value)) for variable in variables)


def _verdict(pieces: tuple[Evidence, ...]) -> Severity | None:
    strongest: dict[Origin, Strength] = {}
    for piece in pieces:
        strongest[piece.origin] = max(piece.strength, strongest.get(piece.origin, Strength.SUPPORTING))
    if len(strongest) > 1 and Strength.EXPLICIT in strongest.values():
        return Severity.ERROR
    return Severity.WARNING if any(strength >= Strength.TRAINING for strength in strongest.values()) else None


def _is_exempt(container: Container, project: Project) -> bool:
    """Whether a missing request is no fault here, whatever the evidence says."""
    return (
        "gpu" in container.open
        or not container.is_main
        or project.machines_of(container).default_runtime == "nvidia"
        or is_infrastructure(container)
        or _hides_gpu_on_purpose(container)
        or _is_given_driver_by_hand(container)
        or (runs_plain_tool(container) and not _idles(container))
        or _reaches_gpu_by_nodes(container, project)
        or project.left_out_value(container) is not None
    )


def is_infrastructure(container: Container) -> bool:
    """Whether the container is part of what makes GPUs usable (device plugins, exporters, drivers ...), by the facts' table."""
    pod, image = container.pod, container.image
    names = (container.name, pod.name if pod else None)
    namespace = str(pod.namespace) if pod and isinstance(pod.namespace, Text) else ""
    repository = image.repository if image and isinstance(image.name, Text) else ""
    kind = pod.kind if pod else ""
    return any(infrastructure(str(name) if isinstance(name, Text) else "", namespace, repository, kind) for name in names)


def is_for_developers(container: Container) -> bool:
    """Whether the container is one to develop in: an editor's, or one by its name, or by the name or folder of its file."""
    if container.is_dev_container:
        return True
    names = [str(name) for name in (container.name, container.service.name if container.service else None) if isinstance(name, Text)]
    *folders, file = container.location.path.split("/")
    return any(_DEVELOPERS.fullmatch(name) for name in (*names, *folders, *re.split(r"[._-]", file)))


def is_for_tests(container: Container) -> bool:
    """Whether the container runs tests, by its name or that of its file."""
    pod = container.pod
    names = [each for each in (container.name, pod.name if pod else None) if isinstance(each, Text)]
    return any(_TESTS.search(name) for name in (*names, container.location.path.rpartition("/")[2]))


def _hides_gpu_on_purpose(container: Container) -> bool:
    return any(isinstance(variable.value, Text) and hides_gpu(variable.name, variable.value) for variable in container.env)


def _is_given_driver_by_hand(container: Container) -> bool:
    """Whether the host's driver is mounted into the container: a way to the GPU, though a poor one."""
    places = (place for mount in container.mounts for place in (mount.source, mount.target))
    return any(is_driver_path(as_written(place)) for place in places if place is not None)


def _reaches_gpu_by_nodes(container: Container, project: Project) -> bool:
    """Whether its image is for AMD GPUs, which containers outside of pods reach by device nodes: another rule says which are missing."""
    from gpulint.project.container_image import facts_of

    facts = None if container.is_in_pod else facts_of(container, project)
    return facts is not None and facts.vendor == "amd"


def runs_plain_tool(container: Container) -> bool:
    """Whether every command of the container's own is a plain tool."""
    commands = [command for command in own_commands(container) if command]
    return bool(commands) and all(
        not any(isinstance(word, Unknown) for word in command[:1]) and plain_tool(_words(command)) for command in commands
    )


def _idles(container: Container) -> bool:
    """Whether the container only waits, for somebody who works in it: what image it has says nothing of that work, where it is placed
    does."""
    commands = [command for command in own_commands(container) if command]
    return bool(commands) and idles(_words(commands[-1]))


def _words(command: tuple[Value, ...]) -> tuple[str, ...]:
    """The words for a look-up: an unknown one as it is written, so that `--rank=$RANK` stays an option."""
    return tuple(as_written(word) for word in command)


def evidence(container: Container, project: Project) -> Iterator[Evidence]:
    """Every piece that speaks for this container; none where it says cpu itself."""
    if says_cpu(container):
        return
    yield from _of_command(container)
    yield from _of_environment(container)
    yield from _of_placement(container)
    if not (is_in_ci(container) or runs_plain_tool(container) or project.runs_elsewhere_with_gpu(container)):
        if not _does_other_work(container, project):
            yield from _of_image(container, project)
        yield from _of_program(container, project)


def _does_other_work(container: Container, project: Project) -> bool:
    """Whether its own command runs Python that has nothing to do with a GPU, a program of this repository or code that it holds itself: its
    image, which is for others too, then says nothing of it."""
    commands = own_commands(container)
    code = _own_code(commands[-1], container, project) if commands else None
    if code is None:
        return False
    from gpulint.facts.python import anchors

    return not any(anchor in code for anchor in anchors())


def _own_code(command: tuple[Value, ...], container: Container, project: Project) -> bytes | None:
    """The Python that a container's own command runs, in lower case; None where that is not known, or computes on a GPU."""
    launch = launched(_words(command))
    if launch is not None and launch.form == "code":
        code = command[launch.at]
        stands_alone = not isinstance(code, Unknown) and {*_IMPORTED.findall(code)} <= sys.stdlib_module_names
        return code.lower().encode(errors="replace") if stands_alone else None
    program = project.program_of(container)
    source = project.tree.source(program.path) if program and not program.does_gpu_work else None
    return source.lowered if source else None


def _of_command(container: Container) -> Iterator[Evidence]:
    for command in own_commands(container):
        words = _words(command)
        if gpu_program(words):
            program = command[program_index(words)]
            yield Evidence(Strength.EXPLICIT, Origin.COMMAND, program.location, f"its command says {words[program_index(words)]}")
        at = gpu_argument(words)
        if at is not None:
            yield Evidence(Strength.EXPLICIT, Origin.COMMAND, command[at].location, f"its command says {_with_its_option(words, at)}")


def _with_its_option(words: tuple[str, ...], at: int) -> str:
    """A word of a command for a message: an option with its value, a value with its option."""
    first = at - 1 if at and not words[at].startswith("-") and words[at - 1].startswith("-") else at
    is_open = first == at and words[at].startswith("-") and "=" not in words[at]
    has_value = is_open and at + 1 < len(words) and not words[at + 1].startswith("-")
    return " ".join(words[first : at + 1 + has_value])


def _of_environment(container: Container) -> Iterator[Evidence]:
    for variable in container.env:
        if isinstance(variable.value, Text) and gpu_variable(variable.name, variable.value):
            yield Evidence(
                Strength.EXPLICIT, Origin.COMMAND, variable.name.location, f"its environment says {variable.name}={variable.value}"
            )


def _of_placement(container: Container) -> Iterator[Evidence]:
    """What the pod's selector, affinity and tolerations say; it counts once for the pod, at its first main container."""
    pod = container.pod
    if pod is None or any(sibling.is_main and sibling.location < container.location for sibling in container.siblings):
        return
    for label in pod.labels:
        values = _known_values(label)
        if any(gpu_label(label.key, value) for value in values):
            shown = str(label.key) if values[0] is None else f"{label.key}={values[0]}"
            yield Evidence(Strength.EXPLICIT, Origin.PLACEMENT, label.key.location, f"the pod selects GPU nodes by {shown}")
    for toleration in pod.tolerations:
        if isinstance(toleration.key, Text) and gpu_taint(toleration.key):
            yield Evidence(Strength.SUPPORTING, Origin.PLACEMENT, toleration.location, f"the pod tolerates the GPU taint {toleration.key}")


def _known_values(label: Label) -> list[str | None]:
    """The values of a label for a look-up: None where it is asked for whatever its value."""
    return [str(value) for value in label.values if isinstance(value, Text)] or [None]


def _of_image(container: Container, project: Project) -> Iterator[Evidence]:
    built = project.build_of(container)
    if built:
        reason = gpu_base(built.stage)
        if reason:
            yield Evidence(Strength.STRONG, Origin.IMAGE, reason.location, f"its image is built here and {reason.says}")
        return
    image = container.image
    if image is None or isinstance(image.name, Unknown):
        return
    facts = image.name_facts if isinstance(image.tag, Unknown) else image.facts
    if facts.optional_gpu:
        return
    if facts.need is Need.CERTAIN:
        yield Evidence(Strength.STRONG, Origin.IMAGE, image.location, f"its image {image.shown} needs a GPU")
    elif facts.need is not Need.NONE and image.tag_word:
        yield Evidence(Strength.STRONG, Origin.IMAGE, image.location, f"its image {image.shown} says {image.tag_word}")


def _of_program(container: Container, project: Project) -> Iterator[Evidence]:
    program = project.program_of(container)
    if program is None:
        return
    if program.raises_without_cuda:
        place = program.raising[0].location if program.raising else program.assertions[0].location
        yield Evidence(Strength.STRONG, Origin.PROGRAM, place, f"its program {program.path} fails without CUDA")
    elif program.prefers_cuda and (program.trains or program.serves):
        strength = Strength.TRAINING if program.trains and not program.on_cpu else Strength.SUPPORTING
        verb = "trains" if program.trains else "serves"
        yield Evidence(strength, Origin.PROGRAM, program.fallbacks[0].location, f"its program {program.path} {verb} and prefers CUDA")


def is_in_ci(container: Container) -> bool:
    """Whether a CI job runs the container. Most jobs build and test a GPU image on runners that have no GPU, and are right to; what brings
    the GPU to the others stands in the runner's own settings."""
    return container.is_ci_job or (container.command is not None and container.command.context in CI_CONTEXTS)


def says_cpu(container: Container) -> bool:
    """Whether a container's image, tag, name or command says cpu, or the path of its overlay. Of a command's options those do that choose
    the device: `--device cpu`, not `--cpu-offload-gb 8`."""
    image = container.image
    said: list[Value | None] = [container.name, image.name if image else None, image.tag if image else None]
    commands = own_commands(container)
    said += [word for command in commands for word in command if isinstance(word, Text) and not word.startswith("-")]
    if any(isinstance(value, Text) and cpu_word(value) for value in said) or any(_chooses_cpu(command) for command in commands):
        return True
    return container.overlay is not None and any(map(cpu_word, container.overlay.location.path.split("/")))


def has_cpu_twin(container: Container, project: Project) -> bool:
    """Whether the project runs the same without a GPU too."""
    return cpu_twin(container, project) is not None


def cpu_twin(container: Container, project: Project) -> Container | None:
    """What runs the same without a GPU, as a form of its own: one of the two says by its name or file which it is."""
    from gpulint.project.twins import is_beside

    is_gpu_form = gpu_word(_form(container)) != ""
    twins = (other for other in project.containers if not other.requests and is_beside(container, other))
    return next((other for other in twins if is_gpu_form or says_cpu(other) or cpu_word(_form(other))), None)


def _form(container: Container) -> str:
    """The names of a container, its file and its overlay, which may say for which device it is."""
    name = str(container.name) if isinstance(container.name, Text) else ""
    overlay = dirname(container.overlay.location.path).rpartition("/")[2] if container.overlay else ""
    return f"{name} {container.location.path.rpartition('/')[2]} {overlay}".rstrip()


def _chooses_cpu(command: tuple[Value, ...]) -> bool:
    return cpu_argument(_words(command)) is not None
