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
from gpulint.project.torch_vendor import VendorBuild, torch_vendor
from gpulint.rule import Impact, Problem, Related, Rule, Severity

SHOWN = {"nvidia": "NVIDIA", "jetson": "NVIDIA", "amd": "AMD", "intel": "Intel"}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """An error where image and request name different vendors; a warning where the image is the CPU variant of one that has others."""
    request = next((each for each in container.requests if _gives_gpu(each)), None)
    if request is None or is_infrastructure(container):
        return
    asked = {each.vendor for each in container.requests if _gives_gpu(each) and each.vendor}
    image = base_of(container, project)
    if image is not None and _is_for_others(image.facts.vendor, asked):
        yield _other_vendor(image, request, container, project)
    elif project.build_of(container) is not None:
        torch = torch_vendor(container, project)
        if torch is not None and _is_for_others(torch.vendor, asked):
            yield _other_build(torch, request)
    elif image is not None:
        yield from _cpu_variant(image, request)


def _is_for_others(made_for: str, asked: set[str]) -> bool:
    """Whether none of the vendors that are asked for is the one that something is made for."""
    return made_for in SHOWN and bool(asked) and all(SHOWN.get(vendor) not in (None, SHOWN[made_for]) for vendor in asked)


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


def _other_build(torch: VendorBuild, request: GpuRequest) -> Problem:
    made_for, asked = SHOWN[torch.vendor], SHOWN.get(request.vendor, request.vendor)
    message = f"torch comes from {torch.source}, built for {made_for} GPUs, and the container asks for one of {asked}: it does not see it"
    related = [Related(request.location, f"a GPU of {asked} is asked for here")]
    if torch.choice is not None:
        related.append(Related(torch.choice.location, "the build is chosen here"))
    help_line = f"take the index of a build for {asked}, or ask for a GPU of {made_for}"
    return Problem(torch.installed.package.location, message, Severity.ERROR, help=help_line, related=tuple(related))


def _cpu_variant(image: ImageRef, request: GpuRequest) -> Iterator[Problem]:
    other = "" if image.digest is not None else gpu_variant(image.repository, None if image.tag is None else str(image.tag))
    if other:
        message = f"{image.shown} is a variant without GPU code, and the container asks for a GPU, which it leaves idle"
        related = (Related(request.location, "the GPU is asked for here"),)
        yield Problem(image.version_location, message, Severity.WARNING, help=f"use the variant whose tag says {other}", related=related)


RULE = Rule("GPU211", "wrong-image-for-gpu", Container, (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, check)
