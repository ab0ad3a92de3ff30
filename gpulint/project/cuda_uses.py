"""What of an image uses CUDA on the machines that run it: the framework that is installed in it, else the CUDA of the image itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts import version_key
from gpulint.facts.cuda_tags import cuda_repository
from gpulint.facts.frameworks import newest, torch_architectures
from gpulint.model.image import ImageRef
from gpulint.model.machines import Machines
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.frameworks import torch_build_of
from gpulint.project.stages import is_infrastructure_image, ships
from gpulint.source import Location, Unknown

if TYPE_CHECKING:
    from gpulint.model.container import Container


class CudaUse(NamedTuple):
    """Something that runs CUDA code: its name for a message, where that is written, and the CUDA version it is built with or holds.

    `architectures` are the compute capabilities that it has machine code for, with "+PTX" where code for newer ones is too; None where not
    known. `brings_compat` says that cuda-compat is in the image, with which data-centre cards run it on some older drivers.
    """

    shown: str
    location: Location
    cuda: str
    architectures: tuple[str, ...] | None
    brings_compat: bool
    image_cuda: str | None


def uses_of(node: Container | Stage, project: Project) -> Iterator[tuple[CudaUse, Machines]]:
    """What a container or a stage runs with CUDA, with what the user says of each kind of machines that it runs on.

    A container whose image is built here is judged by its stage, and a stage that no container here runs by the general facts. Where no
    GPU is asked for, no GPU is used.
    """
    if not isinstance(node, Stage):
        if _asks_for_gpu(node) and project.build_of(node) is None:
            yield from ((use, project.machines_of(node)) for use in _of_image(node.image))
        return
    if not ships(node, project) or is_infrastructure_image(node, project):
        return
    containers = project.containers_of(node)
    machines = [project.machines_of(container) for container in containers if _asks_for_gpu(container)]
    for use in _of_stage(node, project):
        yield from ((use, each) for each in (machines if containers else [project.machines]))


def _of_stage(stage: Stage, project: Project) -> Iterator[CudaUse]:
    base = stage.chain()[-1].base
    image = next(_of_image(base), None)
    frameworks = tuple(_of_torch(stage, image, project))
    yield from frameworks or filter(None, (image,))


def _of_torch(stage: Stage, image: CudaUse | None, project: Project) -> Iterator[CudaUse]:
    for installed in project.contents(stage).named("torch"):
        build = torch_build_of(installed, project)
        if build.kind == "cuda" and build.cuda is not None:
            version = installed.version or newest("torch") or ""
            architectures = torch_architectures(version, build.cuda) or None
            compat = image is not None and image.brings_compat and version_key(image.cuda) >= version_key(build.cuda)
            shown = f"torch {version.partition('+')[0]}" if installed.version else f"torch, in its newest release {version},"
            yield CudaUse(shown, installed.package.location, build.cuda, architectures, compat, image.image_cuda if image else None)


def _of_image(image: ImageRef | None) -> Iterator[CudaUse]:
    """The CUDA of an image that is made for NVIDIA's GPUs and can be pulled."""
    if image is None or isinstance(image.name, Unknown) or isinstance(image.tag, Unknown) or image.is_missing:
        return
    facts = image.facts
    if facts.cuda is not None and facts.vendor == _VENDOR:
        checked = facts.cuda if cuda_repository(image.repository) else None
        yield CudaUse(image.shown, image.location, facts.cuda, None, facts.cuda_compat, checked)


_VENDOR = "nvidia"


def _asks_for_gpu(container: Container) -> bool:
    return any(request.is_meant and request.vendor in ("", _VENDOR) for request in container.requests)
