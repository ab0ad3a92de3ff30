"""GPU212: a ROCm container lacks the device nodes that it needs, or its user may not open them."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_in_ci, is_infrastructure, runs_plain_tool, says_cpu
from gpulint.facts.environment import device_nodes
from gpulint.facts.images import ImageFacts, Need
from gpulint.model.container import Container, Dialect, RequestKind
from gpulint.model.image import ImageRef
from gpulint.project import Project
from gpulint.project.container_image import base_of, facts_of
from gpulint.project.environment import user_of
from gpulint.project.twins import is_beside
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text

DEVICES = ("amd", "intel")
OPTIONS = {Dialect.RUN: "--device ", Dialect.QUADLET: "AddDevice="}
"""The vendors whose GPUs containers reach by device nodes."""

GROUP_HELP = {
    True: "set supplementalGroups to the numbers that the groups have on the nodes",
    False: "add the numbers that the groups have on the host: group_add in Compose, --group-add on the command line",
}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """An error where a ROCm image runs without its nodes; a note where its user is in none of their groups."""
    facts, image = facts_of(container, project), base_of(container, project)
    if container.privileged is not None or is_infrastructure(container) or says_cpu(container) or runs_plain_tool(container):
        return
    if facts is not None and image is not None and facts.vendor == "amd" and facts.need in (Need.CERTAIN, Need.LIKELY):
        missing = _missing(container, "amd")
        if missing and _needs_nodes(container, project):
            yield _without_nodes(container, image, missing)
            return
    vendor = _vendor(container, facts)
    if vendor is not None and (_is_asked_for(container) or not _missing(container, vendor)):
        yield from _without_group(container, project, vendor)


def _without_nodes(container: Container, image: ImageRef, missing: list[str]) -> Problem:
    message = f"{image.shown} is for AMD GPUs, which containers reach by device nodes, and it is not given {' and '.join(missing)}"
    setting = OPTIONS.get(container.dialect)
    help_line = f"add {' '.join(f'{setting}{node}' for node in missing)}" if setting else f"add {' and '.join(missing)} under devices"
    return Problem(container.location, message, Severity.ERROR, help=help_line, related=(Related(image.location, "the image is here"),))


def _vendor(container: Container, facts: ImageFacts | None) -> str | None:
    """Whose GPU the container uses, where that is one behind device nodes with groups."""
    vendors = [each.vendor for each in container.requests if each.is_sound] + [facts.vendor if facts is not None else ""]
    return next((vendor for vendor in vendors if vendor in DEVICES), None)


def _missing(container: Container, vendor: str) -> list[str]:
    """The nodes that are not passed; all of /dev brings them, and one card of `/dev/dri` is enough."""
    nodes = device_nodes(vendor)
    sources = [str(each.source) for each in (*container.devices, *container.mounts) if isinstance(each.source, Text)]
    passed = [source.rstrip("/") for source in sources]
    wanted = nodes.paths if nodes is not None else ()
    return [node for node in wanted if not any(each in (node, "/dev") or each.startswith(f"{node}/") for each in passed)]


def _needs_nodes(container: Container, project: Project) -> bool:
    """Whether nothing else brings the nodes, known or not."""
    if (
        container.dialect not in (Dialect.COMPOSE, Dialect.RUN, Dialect.QUADLET, Dialect.LIBRARY)
        or is_in_ci(container)
        or "gpu" in container.open
        or _is_asked_for(container)
    ):
        return False
    twins = (other for other in project.containers if is_beside(container, other))
    return all(_missing(other, "amd") for other in twins)


def _is_asked_for(container: Container) -> bool:
    """Whether a request brings the nodes."""
    return any(each.is_meant and each.kind not in (RequestKind.RAW_DEVICE, RequestKind.VISIBLE_DEVICES) for each in container.requests)


def _without_group(container: Container, project: Project, vendor: str) -> Iterator[Problem]:
    nodes, user = device_nodes(vendor), user_of(container, project)
    if nodes is None or container.groups or not isinstance(user, Text) or user.partition(":")[0] in ("", "0", "root"):
        return
    groups = " or ".join(nodes.groups)
    message = (
        f"the process runs as {user.partition(':')[0]}, who may not open {' and '.join(nodes.paths)} without the group {groups} of the host"
    )
    yield Problem(user.location, message, Severity.NOTE, help=GROUP_HELP[container.is_in_pod])


RULE = Rule("GPU212", "rocm-devices-missing", Container, (Severity.ERROR, Severity.NOTE), Impact.CPU_FALLBACK, check)
