"""What the claims of a pod are for, and which resources device classes stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulint.facts.images import gpu_word
from gpulint.facts.resources import device_class
from gpulint.source import Text, Value

if TYPE_CHECKING:
    from gpulint.model.container import GpuRequest, Pod
    from gpulint.project import Project


def is_for_gpu(pod: Pod, request: GpuRequest, project: Project) -> bool:
    """Whether a claim of the pod is for a GPU: by the device classes where the claim is here, else by the names of the claim."""
    claim = next((each for each in pod.claims if each.name == request.resource), None)
    if claim is None:
        return request.resource is not None and bool(gpu_word(request.resource))
    here = [each for each in project.device_claims if claim.source is not None and _same(each.name, claim.source)]
    classes = [found for each in here for asked in each.requests for found in asked.classes]
    if classes:
        return any(map(is_gpu_class, classes))
    return any(isinstance(name, Text) and bool(gpu_word(name)) for name in (claim.name, claim.source))


def is_gpu_class(found: Value) -> bool:
    """Whether a device class is known to be one of GPUs."""
    return isinstance(found, Text) and bool(device_class(found))


def _same(name: Value | None, other: Value) -> bool:
    return isinstance(name, Text) and isinstance(other, Text) and name == other
