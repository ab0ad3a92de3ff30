"""Ordinary wheels on a base for Jetson, whose GPU they do not use."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.frameworks import family, is_known_index
from gpulint.facts.images import is_jetson_base
from gpulint.facts.installers import python_managers
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Contents, Installed
from gpulint.project.cpu_builds import is_asked_for_cuda
from gpulint.source import Text, Unknown

_FRAMEWORKS = ("torch", "tensorflow", "tensorflow-cpu", "onnxruntime")
_COMPANION = "onnxruntime"


def stands_on_jetson(stage: Stage) -> bool:
    """Whether the base of the stage is one for Jetson without an index of wheels for it."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown):
        return False
    return is_jetson_base(base.repository, None if base.tag is None else str(base.tag))


def ordinary_wheels(stage: Stage, project: Project) -> Iterator[Installed]:
    """The frameworks that such an image takes from PyPI or from PyTorch's own index."""
    if not stands_on_jetson(stage):
        return
    contents = project.contents(stage)
    for installed in contents.packages:
        is_ordinary = installed.name in _FRAMEWORKS and installed.install.manager in python_managers() and _is_ordinary(installed, contents)
        if is_ordinary and (installed.name != _COMPANION or is_asked_for_cuda(stage, project)):
            yield installed


def _is_ordinary(installed: Installed, contents: Contents) -> bool:
    """Whether it is certain that the wheel is not one for Jetson: it has neither a label nor an address of its own, and every index is one
    that has none."""
    mine = [each for each in contents.history if family(each.name) == family(installed.name)]
    indexes = (*installed.indexes, *([installed.package.from_index] if installed.package.from_index is not None else []))
    is_known = all(isinstance(index, Text) and is_known_index(index) for index in indexes)
    is_plain = installed.package.wheel is None and "@" not in installed.package.shown and "nv" not in (installed.version or "")
    return is_known and is_plain and installed.is_settled and all(each.is_certain for each in mine)
