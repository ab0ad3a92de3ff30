"""What the owner of a pod says of its life: what made it, how a Deployment replaces it, and when a Job gives up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

from gpulint.facts.workloads import labelled_role
from gpulint.model.container import JobLimits, Rollout
from gpulint.model.manifest import flag, text, value
from gpulint.model.workload import Site, kind_of
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Node, Scalar
from gpulint.parse.quantity import parse_natural
from gpulint.source import Location, Unknown, Value, known

_ROLLING = "RollingUpdate"
_DEFAULT_SHARE = "25%"
_DEFAULT_REPETITIONS = "6"
_MOST_REPLICAS = 1_000_000
_JOB_SPECS = {"Job": ("spec",), "CronJob": ("spec", "jobTemplate", "spec")}


def read_rollout(site: Site) -> Rollout | None:
    """How a Deployment replaces the pod; None for other kinds, and where a template may add to its spec."""
    spec = site.owner.mapping("spec")
    if site.kind != "Deployment" or not site.listed or spec.open:
        return None
    strategy = spec.get("strategy")
    if isinstance(strategy, Unknown):
        return Rollout(strategy, None, None, None, strategy.location)
    rolling = spec.mapping("strategy", "rollingUpdate")
    if spec.mapping("strategy").open or rolling.open:
        return None
    place = strategy.location if isinstance(strategy, Mapping) else _kind_location(site.owner)
    return Rollout(
        value(spec, "strategy", "type"), value(rolling, "maxSurge"), value(rolling, "maxUnavailable"), value(spec, "replicas"), place
    )


def must_surge(rollout: Rollout) -> bool:
    """Whether a rolling update keeps all pods until a new one is ready. Raises UnknownValue where that cannot be known."""
    strategy = known(rollout.strategy)
    if strategy is not None and strategy != _ROLLING:
        return False
    replicas = replicas_of(rollout)
    return _pods(rollout.max_surge, replicas, ceil) > 0 and _pods(rollout.max_unavailable, replicas, floor) == 0


def replicas_of(rollout: Rollout) -> int:
    """How many pods the Deployment has; none where that is no number."""
    written = known(rollout.replicas)
    number = 1 if written is None else parse_natural(written)
    return 0 if number is None else min(number, _MOST_REPLICAS)


def _pods(written: Value | None, replicas: int, rounded: Callable[[Fraction], int]) -> int:
    """A number of pods, or a share of the replicas in percent, which the Deployment's controller rounds."""
    found = str(known(written) or _DEFAULT_SHARE)
    number = parse_natural(found.removesuffix("%")) or 0
    return rounded(Fraction(number * replicas, 100)) if found.endswith("%") else number


def _kind_location(owner: Mapping) -> Location:
    kind: Node | None = owner.get("kind")
    return owner.location if kind is None else kind.location


def read_job(site: Site) -> JobLimits | None:
    """What ends the Job whose pod it is; None for other kinds, and where a template may add to its spec."""
    path = _JOB_SPECS.get(site.kind)
    spec = site.owner.mapping(*path) if path and _is_batch(site.owner) else None
    if spec is None or spec.open:
        return None
    of_pod: Value | None = value(site.node, "activeDeadlineSeconds")
    deadline, repetitions = value(spec, "activeDeadlineSeconds"), value(spec, "backoffLimit")
    if is_from_cluster(site.owner) and not isinstance(repetitions, Unknown) and repetitions == _DEFAULT_REPETITIONS:
        repetitions = None
    return JobLimits(deadline if deadline is not None else of_pod, repetitions, "podFailurePolicy" in spec, spec.location)


def is_from_cluster(owner: Mapping) -> bool:
    """Whether an object is as an API server gives it back, with its defaults filled in: nobody else knows its unique id."""
    return value(owner, "metadata", "uid") is not None


def pod_role(owner: Mapping) -> str:
    """The role, as a PodPath has it, that the labels of a pod itself tell, which its controller wrote; "" for none and other objects."""
    labels = owner.mapping("metadata", "labels") if kind_of(owner) == "Pod" else EMPTY_MAPPING
    return next((role for key, node, _ in labels if isinstance(node, Scalar) and (role := labelled_role(key, node))), "")


def owner_kind(owner: Mapping) -> str:
    """The kind of what made an object, such as the DaemonSet of a pod; "" where nothing did."""
    references = list(owner.sequence("metadata", "ownerReferences").mappings())
    controller = next((each for each in references if flag(each, "controller") is not None), None)
    kind = text(controller, "kind") if controller else None
    return str(kind) if kind else ""


def _is_batch(owner: Mapping) -> bool:
    version = value(owner, "apiVersion")
    return version is None or (not isinstance(version, Unknown) and version.rpartition("/")[0] == "batch")
