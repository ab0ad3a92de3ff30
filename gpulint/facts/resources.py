"""Kubernetes resource names, node labels and taints of accelerators."""

from __future__ import annotations

from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table, words
from gpulint.facts.images import cpu_word, gpu_word

ANY_VENDOR = "gpu"
"""What `gpu_label` and `gpu_taint` answer where a key says GPU and not whose."""


class Resource(NamedTuple):
    """An accelerator's resource name: `whole` where its count is a count of cards or slices, not of memory, cores or shares."""

    vendor: str
    shared: bool
    mig: bool
    whole: bool


@cache
def gpu_resource(name: str) -> Resource | None:
    """The accelerator of a well-formed, known resource name (TPU, Neuron and Gaudi too); None for any other name."""
    if "/" not in name:
        return None
    for row in table("resources")["resources"]:
        if row["name"] == name if "name" in row else fullmatch(row["pattern"], name):
            return Resource(row["vendor"], row.get("shared", False), row.get("mig", False), row["whole"])
    return None


def mig_profile(name: str) -> str:
    """The profile of the MIG slice that a resource's name asks for, such as `1g.10gb`; "" for any other name."""
    resource = gpu_resource(name)
    return name.partition("/mig-")[2].removesuffix(".shared") if resource is not None and resource.mig else ""


def is_gpu_vendor(vendor: str) -> bool:
    """Whether a vendor's accelerators are GPUs; "" stands for a form that does not say whose. TPUs, Neuron and Gaudi cards are none."""
    return not vendor or vendor in words("resources", "gpu_vendors")


def task_resource(kind: str) -> str | None:
    """The vendor of an accelerator by its type in the resource requirements of Amazon ECS and AWS Batch; None for any other type."""
    return next((str(row["vendor"]) for row in table("resources")["task_resources"] if row["type"] == kind), None)


def legacy_resource(name: str) -> bool:
    """Whether a name was a GPU's once, or is a GPU's without the domain that an extended resource must have: `gpu`, `nvidia-gpu`."""
    if "/" not in name:
        return bool(gpu_word(name))
    return any(row["name"] == name for row in table("resources")["legacy_resources"])


def looks_like_gpu(name: str) -> bool:
    """Whether a resource name means a GPU, rightly written or not: a failed attempt at a request is a request too."""
    if gpu_resource(name) or legacy_resource(name) or nearest_resource(name):
        return True
    if any(fullmatch(row["pattern"], name) for row in table("resources")["other_devices"]):
        return False
    domain, _, rest = name.partition("/")
    return bool(rest) and any(gpu_word(part.replace(".", "-")) for part in (domain, rest))


@cache
def nearest_resource(name: str) -> str | None:
    """The known GPU resource that an unknown name lies within two edits of (case apart), or is known to be meant for; None if none."""
    if gpu_resource(name):
        return None
    for row in table("resources")["near_resources"]:
        if match := fullmatch(row["pattern"], name):
            return match.expand(row["instead"])
    known = (str(row["name"]) for row in table("resources")["resources"] if "name" in row)
    near = [(_distance(name.lower(), candidate), candidate) for candidate in known if abs(len(candidate) - len(name)) <= 2]
    distance, candidate = min(near, default=(3, ""))
    return candidate if distance <= 2 else None


def _distance(left: str, right: str) -> int:
    """Levenshtein's distance: the fewest letters to add, drop or change."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def ray_counts(name: str) -> bool:
    """Whether KubeRay counts a limit of that name as GPUs for Ray; `nvidia.com/gpu.shared` and MIG slices with a suffix it does not."""
    return any(fullmatch(row["pattern"], name) for row in table("resources")["ray_counted"])


def device_class(name: str) -> str:
    """The vendor whose GPUs a DRA device class of that name stands for, "" where it is not known to be a GPU's."""
    return next((str(row["vendor"]) for row in table("resources")["device_classes"] if fullmatch(row["pattern"], name)), "")


def claim_form(version: str) -> str:
    """How an API version of resource.k8s.io writes the class of a device: `exactly`, `flat`, "" where that is not known."""
    return next((str(row["form"]) for row in table("resources")["claim_forms"] if version in row["words"]), "")


def gpu_label(key: str, value: str | None) -> str:
    """The vendor whose nodes a node label picks, ANY_VENDOR where the label says GPU and not whose, "" where it picks no such nodes.

    `value` is None where the key alone is asked for (`Exists`).
    """
    if value is not None and value.lower() in words("resources", "off_values"):
        return ""
    row = next((row for row in table("resources")["labels"] if _matches(row, key, value)), None)
    return str(row["vendor"]) if row else _by_words(key, value)


def gpu_taint(key: str, value: str | None = None) -> str:
    """The vendor whose nodes a taint or toleration of that key guards, ANY_VENDOR where it says GPU and not whose, "" for any other."""
    row = next((row for row in table("resources")["taints"] if fullmatch(row["key"], key)), None)
    return str(row["vendor"]) if row else _by_words(key, value)


def _matches(row: Row, key: str, value: str | None) -> bool:
    if not fullmatch(row["key"], key):
        return False
    return "value" not in row or (value is not None and bool(fullmatch(row["value"], value)))


def _by_words(key: str, value: str | None) -> str:
    """What a key or value of the user's own says: `gpu: "true"`, `pool: gpu-a100`."""
    name = key.rpartition("/")[2]
    if cpu_word(name) or cpu_word(value or ""):
        return ""
    return ANY_VENDOR if gpu_word(name.replace(".", "-")) or gpu_word(value or "") else ""
