"""Frameworks of a GPU image that are installed in whatever version is the newest."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.drivers import below, major_floor
from gpulint.facts.frameworks import index_variant, is_known_index, jax_build, newest, system_cuda, torch_build, torch_requirement
from gpulint.facts.installers import python_managers
from gpulint.model.image import ImageRef
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Contents, Installed
from gpulint.project.frameworks import TORCH, platform_of, torch_build_of
from gpulint.source import Text, Unknown, Value

_BOUNDS = ("<", "==", "~=")


class Unpinned(NamedTuple):
    """A framework without an upper bound. `version` is the newest release on the index used, `cuda` what it runs, `driver` the oldest one
    for that; None where the facts do not tell."""

    installed: Installed
    version: str | None
    cuda: str | None
    driver: str | None


def unpinned_frameworks(stage: Stage, project: Project) -> Iterator[Unpinned]:
    """The frameworks that the facts follow, unless something else in the image ties their version."""
    base = stage.chain()[-1].base
    if base is None or not _is_known(base):
        return
    contents = project.contents(stage)
    for installed in contents.packages:
        if newest(installed.name) is not None and _is_open(installed) and not _is_tied(installed, contents):
            found = _newest_of(installed, project)
            if found is not None and not _is_refused(found, project):
                yield found


def _is_known(base: ImageRef) -> bool:
    """Whether the facts tell what the base brings: another may hold the framework, which is then left as it is."""
    return not isinstance(base.name, Unknown) and base.name_facts.listed


def _is_open(installed: Installed) -> bool:
    """Whether the next build may bring any newer release."""
    package = installed.package
    has_address = package.wheel is not None or "@" in package.shown or "://" in package.shown
    has_bound = any(mark in package.specifier for mark in _BOUNDS)
    is_chosen = installed.version is not None or not installed.is_settled or not installed.is_certain
    return installed.install.manager in python_managers() and not (has_address or has_bound or is_chosen)


def _is_tied(installed: Installed, contents: Contents) -> bool:
    """Whether a pinned package of the same environment goes with one version of it alone."""
    beside = [each for each in contents.packages if each.environment == installed.environment and each is not installed]
    if installed.name != "torch":
        return torch_requirement(installed.name, None) is not None and any(each.name == "torch" and not _is_open(each) for each in beside)
    return any(each.version is not None and (each.name in TORCH or torch_requirement(each.name, None) is not None) for each in beside)


def _newest_of(installed: Installed, project: Project) -> Unpinned | None:
    """What the newest release is and needs; None where the package is no GPU build."""
    platform = platform_of(installed.stage, project)
    if installed.name == "torch":
        build = torch_build_of(installed, project)
        version = newest("torch") if not installed.indexes else None
        kind, cuda = build.kind, build.cuda
    elif installed.name == "jax":
        kind, version = jax_build(installed.package.extras), newest("jax")
        cuda = f"{kind.removeprefix('cuda')}.0" if kind.startswith("cuda") else None
    else:
        kind, version, cuda = "", newest(installed.name), _cuda_of(installed.name, platform)
    if kind == "cpu":
        return None
    if any(isinstance(index, Unknown) or (installed.name != "torch" and not is_known_index(index)) for index in installed.indexes):
        version = cuda = None
    return Unpinned(installed, version, cuda, major_floor(cuda) if cuda is not None else None)


def _cuda_of(name: str, platform: str) -> str | None:
    """The CUDA of the newest release: that of the torch it needs, or that which it takes from the image."""
    requirement = torch_requirement(name, None)
    if requirement:
        return torch_build(requirement.removeprefix("=="), None, platform or "linux/amd64").cuda
    needs = system_cuda(name, None)
    return needs.cuda if needs is not None else None


def _is_refused(found: Unpinned, project: Project) -> bool:
    """Whether the machines' driver is declared, and too old for it: then the driver is what to speak of."""
    driver = project.machines.driver
    return driver is not None and found.driver is not None and below(driver, found.driver)


def searched(installed: Installed) -> str:
    """Where the package comes from, for a message. PyTorch's own indexes have no others than its own packages."""
    indexes = [index for index in installed.indexes if installed.name in TORCH or not _is_of_torch(index)]
    if any(isinstance(index, Unknown) for index in indexes):
        return "its index"
    return str(indexes[0]) if indexes else "PyPI"


def _is_of_torch(index: Value) -> bool:
    return isinstance(index, Text) and index_variant(index) != ""
