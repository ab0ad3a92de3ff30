"""Whose GPUs the PyTorch is for that an image is built with."""

from __future__ import annotations

from gpulint.deferred import NamedTuple
from gpulint.facts.frameworks import index_variant
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.project.claims import deciding_arguments
from gpulint.project.contents import Installed
from gpulint.project.frameworks import torch_build_of
from gpulint.source import Text

_VENDORS = {"cuda": "nvidia", "rocm": "amd", "xpu": "intel"}


class VendorBuild(NamedTuple):
    """An install of torch: `source` is the index, of one vendor's builds, and `choice` the default of the ARG that names it."""

    installed: Installed
    source: Text
    vendor: str
    choice: Text | None


def torch_vendor(container: Container, project: Project) -> VendorBuild | None:
    """The build of torch that the container's image gets for certain, by the index that it comes from; None where several may be there,
    none says so, or the build may be given another ARG."""
    built = project.build_of(container)
    installs = [each for each in project.contents(built.stage).history if each.name == "torch"] if built is not None else []
    found = installs[0] if len(installs) == 1 and installs[0].is_certain else None
    if found is None or not isinstance(found.index, Text) or not index_variant(found.index):
        return None
    vendor = _VENDORS.get(torch_build_of(found, project).kind)
    names = deciding_arguments(found.stage, project, found.index, found.run.instruction.location)
    given = {str(each.name) for each in container.build.arguments} if container.build is not None else names
    if vendor is None or names & given:
        return None
    choices = (argument.value for argument in found.stage.arguments if argument.name in names)
    return VendorBuild(found, found.index, vendor, next((each for each in choices if isinstance(each, Text)), None))
