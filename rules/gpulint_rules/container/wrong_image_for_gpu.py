"""GPU211: a GPU is given to an image that cannot use it: its CPU variant, or a build for another vendor's GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_infrastructure
from gpulint.facts.images import gpu_variant
from gpulint.facts.resources import is_gpu_vendor
from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.model.image import ImageRef
from gpulint.project import Project
from gpulint.project.container_image import base_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity

SHOWN = {"nvidia": "NVIDIA", "jetson": "NVIDIA", "amd": "AMD", "intel": "Intel"}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """An error where image and request name different vendors; a warning where the image is the CPU variant of one that has others."""
    image = base_of(container, project)
    request = next((each for each in container.requests if _gives_gpu(each)), None)
    if image is None or request is None or is_infrastructure(container):
        return
    made_for, asked = image.facts.vendor, {each.vendor for each in container.requests if _gives_gpu(each) and each.vendor}
    if made_for in SHOWN and asked and all(SHOWN.get(vendor) not in (None, SHOWN[made_for]) for vendor in asked):
        yield _other_vendor(image, request, container, project)
    elif project.build_of(container) is None:
        yield from _cpu_variant(image, request)


def _gives_gpu(request: GpuRequest) -> bool:
    """Whether a request brings a GPU for certain. Device nodes are shared by vendors, and a variable may stand there for no use."""
    aside = (RequestKind.RAW_DEVICE, RequestKind.VISIBLE_DEVICES, RequestKind.PLACEMENT)
    return request.is_asked and request.kind not in aside and is_gpu_vendor(request.vendor)


def _other_vendor(image: ImageRef, request: GpuRequest, container: Container, project: Project) -> Problem:
    made_for, asked = SHOWN[image.facts.vendor], SHOWN.get(request.vendor, request.vendor)
    message = f"{image.shown} is built for {made_for} GPUs, and the container asks for one of {asked}: the program does not see it"
    related = [Related(request.location, f"a GPU of {asked} is asked for here")]
    built = project.build_of(container)
    if built is not None and container.image is not None:
        related.append(Related(built.location, "the image is built here"))
    return Problem(
        image.location, message, Severity.ERROR, help=f"use a build for {asked}, or ask for a GPU of {made_for}", related=tuple(related)
    )


def _cpu_variant(image: ImageRef, request: GpuRequest) -> Iterator[Problem]:
    other = "" if image.digest is not None else gpu_variant(image.repository, None if image.tag is None else str(image.tag))
    if other:
        message = f"{image.shown} is a variant without GPU code, and the container asks for a GPU, which it leaves idle"
        related = (Related(request.location, "the GPU is asked for here"),)
        yield Problem(image.version_location, message, Severity.WARNING, help=f"use the variant whose tag says {other}", related=related)


RULE = Rule("GPU211", "wrong-image-for-gpu", Container, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
