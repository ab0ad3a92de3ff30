"""Which build of PyTorch an install brings, by its version, its indexes and the platform of its stage."""

from __future__ import annotations

from gpulint.facts.frameworks import Build, backend_index, index_variant, newest, torch_build, torch_indexes, torch_versions
from gpulint.facts.installers import backend_setting
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Installed, fits
from gpulint.source import Text, Unknown, Value

TORCH = ("torch", "torchvision", "torchaudio")
"""PyTorch's own packages, which come from the same index."""

_DEFAULT_PLATFORM = "linux/amd64"
_CPU = "cpu"


def platform_of(stage: Stage, project: Project) -> str:
    """The platform that a stage is built for: its own, else the user's, else the common one. "" where it is chosen from outside."""
    if isinstance(stage.platform, Unknown):
        return ""
    return str(stage.platform or project.machines.platform or _DEFAULT_PLATFORM)


def torch_build_of(installed: Installed, project: Project) -> Build:
    """The build that an install of torch brings; of kind "" where it cannot be told.

    pip takes the highest version of all indexes, and of two equal ones that with a local label; uv the first index that has the package.
    The index of CPU builds has every version.
    """
    platform = platform_of(installed.stage, project)
    unknown = Build("")
    backend = torch_backend(installed)
    if backend is not None and platform:
        return unknown if isinstance(backend, Unknown) else torch_build(_version(installed), backend_index(backend), platform)
    if not platform or not installed.is_settled or any(isinstance(index, Unknown) for index in installed.indexes):
        return unknown
    index, version = installed.index, _version(installed)
    if isinstance(index, Text) or not installed.extra_indexes:
        return torch_build(version, str(index) if index is not None else None, platform)
    added = [str(extra) for extra in installed.extra_indexes if _offers(str(extra), version)]
    variants = {index_variant(extra) for extra in added}
    if len(variants) > 1 or (version is None and variants != {_CPU}):
        return unknown
    return torch_build(version, added[0] if added else None, platform)


def torch_backend(installed: Installed) -> Value | None:
    """The backend that `uv pip` is told to choose PyTorch's index by: cpu, cu128, or auto, which looks for a driver; None for none."""
    setting = backend_setting(installed.install.manager)
    if setting is None:
        return None
    option, variable = installed.install.option(setting[0]), installed.stage.variable(setting[1])
    return option.value if option is not None else variable.value if variable is not None else None


def _version(installed: Installed) -> str | None:
    """The version that is installed: the chosen one, else the newest that its specifier admits, None where that is the newest of all."""
    specifier = installed.package.specifier
    if installed.version is not None or installed.name != "torch" or not specifier or fits(newest("torch") or "", specifier):
        return installed.version
    return next((version for version in torch_versions() if fits(version, specifier)), "")


def _offers(index: str, version: str | None) -> bool:
    """Whether an index of PyTorch has that version, or may have one where none is chosen."""
    variant = index_variant(index)
    return version is None or variant == _CPU or variant in torch_indexes(version)
