"""GPU101: a GPU image without a tag, or with one that moves."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_given_gpu, is_infrastructure
from gpulint.facts.cuda_tags import cuda_repository, tag_state
from gpulint.facts.images import Need, is_made_for_gpu
from gpulint.facts.resources import is_gpu_vendor
from gpulint.model.image import ImageRef
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import known

LATEST = "latest"


def check(image: ImageRef, project: Project) -> Iterator[Problem]:
    """An error where nvidia/cuda has no tag or latest, which does not exist; a warning for every other GPU image that is not pinned."""
    tag = known(image.tag)
    if image.digest is not None or project.is_pinned_elsewhere(image) or not _is_gpu_image(image, project):
        return
    if cuda_repository(image.repository):
        yield from _of_cuda(image, project.strict)
    elif not image.is_pinned:
        what = "has no tag" if tag is None else f"has the tag {tag}, which moves"
        message = f"{image.shown} {what}: the next pull may bring a build that asks for another driver or does without the GPU"
        yield Problem(image.version_location, message, Severity.WARNING, help="write the tag of one release, or a digest")
    elif project.strict:
        yield _without_digest(image)


def _of_cuda(image: ImageRef, strict: bool) -> Iterator[Problem]:
    tag = known(image.tag)
    if tag is None or tag == LATEST:
        message = f"{image.shown} cannot be pulled: nvidia/cuda has no tag latest, and no tag means latest"
        instead = f"use {image.name}:{tag_state(tag).nearest}, or another tag that names CUDA version, flavour and system"
        yield Problem(image.location, message, Severity.ERROR, help=instead)
    elif strict and tag_state(tag).verdict != "missing":
        yield _without_digest(image)


def _without_digest(image: ImageRef) -> Problem:
    message = f"{image.shown} has no digest, so that its tag may be pushed again (policy)"
    return Problem(image.location, message, Severity.WARNING, help="add the digest behind the tag: @sha256:...")


def _is_gpu_image(image: ImageRef, project: Project) -> bool:
    """Whether the image is one for GPUs by the facts, its name or tag, or runs where a GPU is asked for and is not known to be without."""
    facts = image.facts
    if facts.infrastructure or image.is_local or not is_gpu_vendor(facts.vendor):
        return False
    if facts.need in (Need.CERTAIN, Need.LIKELY) or image.tag_word or (not facts.listed and is_made_for_gpu(image.repository)):
        return True
    user = project.container_of(image)
    return user is not None and is_given_gpu(user, project) and not is_infrastructure(user) and not facts.without_gpu


RULE = Rule("GPU101", "unpinned-gpu-image", ImageRef, (Severity.ERROR, Severity.WARNING), Impact.UNREPRODUCIBLE, check)
