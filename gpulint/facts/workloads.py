"""Kubernetes kinds: where their pods stand, what their controllers add, and which objects are infrastructure."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from gpulint.deferred import NamedTuple
from gpulint.facts import LONGEST_WORD, Row, fullmatch, table, words


class PodPath(NamedTuple):
    """Where a kind keeps what a pod is made of.

    `path` holds keys from the root; "*" is each item of a list or each value of a mapping. `role` is main, worker, head, launcher,
    helper, init or sidecar; a head, launcher or helper (transformer, explainer) normally has no GPU. `form` says what stands there:
    "pod" a pod spec, "container" one container, "resources" the resources of one (its parent holds image, command, args and env),
    "gpu" Spark's mapping of name and quantity. `resources` is the key of a container's resources, where it is not the usual one.
    """

    path: tuple[str, ...]
    role: str
    form: str
    resources: str = ""


class Assembly(NamedTuple):
    """How the pods of a kind are made of two objects: by which `maker`, where the object names the other one, and of which kinds that is.

    `container` is the one of the other object's that the object's own settings are for, `launcher` a job of it that starts others, and
    `overrides` are keys of the object's spec that change the pods in yet another way.
    """

    maker: str
    named_at: tuple[str, ...]
    parts: tuple[str, ...]
    container: str
    launcher: str
    overrides: tuple[str, ...]


@cache
def assembly(kind: str) -> Assembly | None:
    """How the pods of a kind are put together; None for a kind that holds all of its pods itself."""
    row = next((row for row in table("workloads")["assemblies"] if row["kind"] == kind), None)
    if row is None:
        return None
    named_at, parts, overrides = (tuple(row.get(key, ())) for key in ("named_at", "parts", "overrides"))
    return Assembly(row["maker"], named_at, parts, row.get("container", ""), row.get("launcher", ""), overrides)


def is_part(kind: str) -> bool:
    """Whether objects of this kind are a part of others, which name them."""
    return kind in _part_kinds()


@cache
def _part_kinds() -> frozenset[str]:
    return frozenset(part for row in table("workloads")["assemblies"] for part in row["parts"])


def pod_paths(api_version: str | None, kind: str) -> tuple[PodPath, ...] | None:
    """Where the pods of a kind stand; None for a kind that is not listed. Without an API version the kind's name decides."""
    group = None if api_version is None else api_version.rpartition("/")[0]
    return _paths_by_kind().get((group, kind))


@cache
def _paths_by_kind() -> dict[tuple[str | None, str], tuple[PodPath, ...]]:
    paths: dict[tuple[str | None, str], list[PodPath]] = {}
    first_group: dict[str, str] = {}
    for row in table("workloads")["kinds"]:
        path = PodPath(tuple(row["path"]), row.get("role", "main"), row.get("form", "pod"), row.get("resources", ""))
        paths.setdefault((row["group"], row["kind"]), []).append(path)
        if first_group.setdefault(row["kind"], row["group"]) == row["group"]:
            paths.setdefault((None, row["kind"]), []).append(path)
    return {key: tuple(found) for key, found in paths.items()}


@cache
def _kinds_with(trait: str) -> frozenset[str]:
    return frozenset(kind for row in table("workloads")["kind_traits"] if row["trait"] == trait for kind in row["kinds"])


def resources_from_elsewhere(kind: str) -> bool:
    """Whether another object brings the resources of this kind's containers, as an InferenceService does for its ServingRuntime."""
    return kind in _kinds_with("resources_from_elsewhere")


def adds_shm(kind: str) -> bool:
    """Whether the kind's controller mounts a memory volume at /dev/shm itself."""
    return kind in _kinds_with("adds_shm")


def spreads_over_pods(kind: str) -> bool:
    """Whether one program of this kind's containers runs its processes in several pods, so that they share the GPUs of all."""
    return kind in _kinds_with("spreads_over_pods")


def adds_tolerations(kind: str) -> bool:
    """Whether the kind's controller or template brings tolerations and selectors that its manifest does not show."""
    return kind in _kinds_with("adds_tolerations")


def is_ray(kind: str) -> bool:
    """Whether the kind is one of KubeRay's, whose groups tell Ray of their GPUs beside what their pods ask for."""
    return kind in _kinds_with("ray")


def not_workload(kind: str) -> bool:
    """Whether objects of this kind start no container, though they may hold what looks like one: schemas, node pools, claims, policies."""
    return kind in _kinds_with("not_workload")


def labelled_role(key: str, value: str) -> str:
    """The role, as a PodPath has it, that a controller writes on its pods by a label; "" for any other label."""
    rows = table("workloads")["role_labels"]
    return next((str(row["role"]) for row in rows if row["label"] == key and fullmatch(row["value"], value)), "")


def queue_label(key: str) -> bool:
    """Whether a label hands the workload to a queue that adds selectors and tolerations of its own."""
    return key in words("workloads", "queue_labels")


def stack_chart(chart: str) -> bool:
    """Whether a Helm chart, as `helm install` names it, is a part of the GPU stack: an operator, device plugin or exporter."""
    return any(fullmatch(row["pattern"], chart) for row in table("workloads")["stack_charts"])


def says_nothing_of_workloads(kind: str) -> bool:
    """Whether objects of this kind start no container, hold nothing that becomes one and bear on none, so that they need not be read."""
    return not_workload(kind) and kind not in _kinds_with("holds_values") | _kinds_with("bears_on_workloads")


@lru_cache(maxsize=10_000)
def infrastructure(name: str, namespace: str, image_repository: str, kind: str) -> bool:
    """Whether a workload is part of the cluster's or host's own works: device plugins, drivers, exporters, runners, managers.

    Give "" for what is not known; the image's name is the normalised one.
    """
    return (
        kind in words("workloads", "infrastructure_kinds")
        or (namespace != "" and any(fullmatch(row["pattern"], namespace) for row in table("workloads")["namespaces"]))
        or _infrastructure_name(name)
        or any(_matches(row, image_repository) for row in table("workloads")["infrastructure_images"])
    )


def _infrastructure_name(name: str) -> bool:
    """Whether some words of a name, side by side, are those of infrastructure: `nvidia-device-plugin-daemonset`."""
    if len(name) > LONGEST_WORD:
        return False
    known, parts = words("workloads", "infrastructure_words"), re.split(r"[^a-z0-9]+", name.lower())
    spans = ("-".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, min(start + 5, len(parts) + 1)))
    return any(span in known or span.removesuffix("s") in known for span in spans)


def _matches(row: Row, image: str) -> bool:
    """Whether a row names the image: by its whole name, or by the beginning and the last part that the row gives."""
    if image in row.get("names", ()):
        return True
    begins = "starts" not in row or image.startswith(tuple(row["starts"]))
    ends = "last" not in row or image.rpartition("/")[2] in row["last"]
    return begins and ends and ("starts" in row or "last" in row)
