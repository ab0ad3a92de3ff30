"""Frameworks in an image that are built without GPU code, although the image has a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.facts import words
from gpulint.facts.cuda_tags import cuda_repository
from gpulint.facts.frameworks import (
    computes_by_itself,
    conda_build_meaning,
    conda_meaning,
    cpu_build,
    family,
    has_cuda_builds,
    index_variant,
    is_conda_override,
    is_known_index,
    jax_build,
    same_module,
)
from gpulint.facts.images import Need
from gpulint.facts.installers import python_managers
from gpulint.facts.packages import package_facts
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Contents, Installed
from gpulint.project.frameworks import TORCH, torch_backend, torch_build_of
from gpulint.project.stages import image_stages, origins_of
from gpulint.source import Text, Unknown, as_written

_CONDA = ("conda", "pixi")
_JAX = ("jax", "jaxlib")
_NVCC = "nvcc"
_BUILDERS = frozenset({_NVCC, "cmake", "make", "ninja", "meson", "bazel", "cargo", "go", "scons"})


class CpuBuild(NamedTuple):
    """A framework without GPU code: the package, why it is one, what to write instead, and whether that is certain."""

    installed: Installed
    why: str
    instead: str
    is_certain: bool

    @property
    def family(self) -> str:
        """The framework."""
        return family(self.installed.name)

    @property
    def is_only_where_asked(self) -> bool:
        """Whether the framework is a common companion of others, so that it is meant for a GPU only where the code says so."""
        return self.family == "onnxruntime"


def cpu_builds(stage: Stage, project: Project) -> Iterator[CpuBuild]:
    """The CPU builds among the frameworks of an image, each framework once an environment; none where a condition decides about it."""
    contents = project.contents(stage)
    undecided = {family(each.name) for each in contents.history if not each.is_certain}
    seen: set[tuple[str, str]] = set()
    for installed in contents.packages:
        key = (installed.environment, family(installed.name))
        if key in seen or key[1] in undecided or _is_shadowing(installed, contents):
            continue
        found = _cpu_build(installed, contents, stage, project)
        if found is not None:
            seen.add(key)
            yield found


def _is_shadowing(installed: Installed, contents: Contents) -> bool:
    """Whether the GPU package of the same module is there too: then the two are in conflict."""
    _, names = same_module(installed.name) or ("", ())
    return any(each.environment == installed.environment for each in contents.named(*names))


def _cpu_build(installed: Installed, contents: Contents, stage: Stage, project: Project) -> CpuBuild | None:
    if installed.install.manager in _CONDA and installed.asked.manager in _CONDA:
        return _of_conda(installed, contents, stage)
    if installed.install.manager not in (*python_managers(), *_CONDA):
        return None
    if installed.name in TORCH:
        return None if _comes_with_torch(installed, contents) else _of_torch(installed, project)
    if not all(isinstance(index, Text) and is_known_index(index) for index in installed.indexes) or installed.package.wheel:
        return None
    if installed.name in _JAX:
        return _of_jax(installed, contents)
    known = cpu_build(installed.name, installed.version)
    return CpuBuild(installed, "has no GPU code", f"install {known.instead}", True) if known else None


# --- PyTorch --------------------------------------------------------------------------------------------------------------------


def _of_torch(installed: Installed, project: Project) -> CpuBuild | None:
    """torch, or a companion that brings it, from where only CPU builds are, or for a platform that has no other."""
    if torch_build_of(installed, project).kind != "cpu":
        return None
    label = (installed.version or "").partition("+")[2]
    if label:
        return CpuBuild(installed, f"is the CPU build by its label +{label}", "leave the label out, or write cu and the base's CUDA", True)
    index = next((each for each in (installed.index, *installed.indexes) if isinstance(each, Text) and index_variant(each) == "cpu"), None)
    if index is not None:
        return CpuBuild(installed, f"comes from the CPU index {index}", "leave the CPU index out, or take the one of the base's CUDA", True)
    backend = torch_backend(installed)
    if backend is not None:
        looks = as_written(backend) == "auto"
        why = "is the CPU build, since uv sees no driver when an image is built" if looks else "is the CPU build by the backend of uv"
        return CpuBuild(installed, why, "name the backend of the base's CUDA, such as cu128", not looks)
    if installed.name != "torch":
        return None
    instead = "take torch 2.11 or newer, or an index of PyTorch such as .../whl/cu128"
    return CpuBuild(installed, "has no CUDA build for linux/arm64 on PyPI", instead, True)


def _comes_with_torch(installed: Installed, contents: Contents) -> bool:
    """Whether the package is a companion of torch, which is there under its own name."""
    return installed.name != "torch" and (bool(contents.named("torch")) or any(each.name == "torch" for each in contents.of_base))


# --- JAX ------------------------------------------------------------------------------------------------------------------------


def _of_jax(installed: Installed, contents: Contents) -> CpuBuild | None:
    """jax or jaxlib, unless an extra, a label or a plug-in beside it brings the GPU."""
    beside = [each for each in contents.history if family(each.name) == family(installed.name)]
    if any(each.name not in _JAX or jax_build(each.package.extras) != "cpu" or "+" in (each.version or "") for each in beside):
        return None
    return CpuBuild(installed, "is the CPU build without an extra", "install jax[cuda12] or jax[cuda13]", True)


# --- Conda ----------------------------------------------------------------------------------------------------------------------


def _of_conda(installed: Installed, contents: Contents, stage: Stage) -> CpuBuild | None:
    """A package that is named as the CPU one, or that the solver takes for the CPU where it sees no driver, as in a build."""
    meaning = conda_meaning(installed.name)
    if meaning == "cpu":
        return CpuBuild(installed, "asks for the CPU build", "leave it out, and ask for a CUDA build, such as pytorch-gpu", True)
    if meaning != "solver" or any(is_conda_override(str(each.name)) for each in stage.env) or _sets_override(installed):
        return None
    build = conda_build_meaning(installed.package.specifier)
    if build == "cpu":
        return CpuBuild(installed, "asks for the CPU build by its build string", "ask for a CUDA build: =*=cuda*", True)
    if installed.asked.manager == "pixi" and installed.asked is not installed.install:
        return None  # its lock file was solved elsewhere
    beside = [each for each in contents.packages if each.environment == installed.environment]
    is_chosen = build == "cuda" or any(conda_meaning(each.name) in ("cuda", "cpu") or "cuda" in each.name for each in beside)
    if is_chosen or any(isinstance(index, Unknown) or has_cuda_builds(index) for index in installed.indexes):
        return None
    return CpuBuild(
        installed,
        "is the CPU build, since conda sees no driver when an image is built",
        "ask for a CUDA build, such as pytorch-gpu or pytorch=*=cuda*, or set CONDA_OVERRIDE_CUDA in that RUN",
        False,
    )


def _sets_override(installed: Installed) -> bool:
    commands = (installed.install.command, *installed.run.script.commands)
    return any(is_conda_override(str(each.name)) for command in commands for each in command.assignments)


# --- Something else computes ----------------------------------------------------------------------------------------------------


def computes_elsewhere(stage: Stage, project: Project, but: str) -> bool:
    """Whether something else than that framework may use the GPU: another framework, the base image's program, or compiled code."""
    contents = project.contents(stage)
    if any(family(each.name) != but and _may_compute(each, contents, stage, project) for each in contents.history):
        return True
    if any(family(each.name) != but and computes_by_itself(each.name) for each in contents.of_base):
        return True
    return _is_of_another_kind(stage, but, contents) or _compiles(stage, project)


def _may_compute(installed: Installed, contents: Contents, stage: Stage, project: Project) -> bool:
    is_companion = installed.name in TORCH and installed.name != "torch"
    if is_companion or not computes_by_itself(installed.name):
        return False
    if family(installed.name) != installed.name and _cpu_build(installed, contents, stage, project) is not None:
        return False
    facts = package_facts(installed.name, installed.package.extras, installed.package.specifier)
    implies = facts.implies if facts is not None else ""
    if family(installed.name) in ("torch", "jax", "tensorflow"):
        return implies != "cpu-only"
    return implies in ("nvidia-gpu", "gpu-capable", "amd") or conda_meaning(installed.name) == "cuda"


def _is_of_another_kind(stage: Stage, but: str, contents: Contents) -> bool:
    """Whether the base is a GPU image with programs of its own, not only CUDA and not only that framework."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown):
        return False
    facts = base.name_facts
    brings = {family(each.name) for each in contents.base}
    return facts.listed and facts.need in (Need.CERTAIN, Need.LIKELY) and not cuda_repository(base.repository) and but not in brings


def _compiles(stage: Stage, project: Project) -> bool:
    """Whether native code is compiled for the image with CUDA, which may be what uses the GPU."""
    stages = {id(each): each for own in image_stages(stage, project) for each in (own, *origins_of(own, project))}
    return any(_compiles_cuda(each) for each in stages.values())


def _compiles_cuda(stage: Stage) -> bool:
    programs = {as_written(command.words[0]).rpartition("/")[2] for run in stage.runs for command in run.script.commands if command.words}
    base = stage.chain()[-1].base
    has_nvcc = base is not None and not isinstance(base.name, Unknown) and not isinstance(base.tag, Unknown) and base.facts.nvcc is True
    return _NVCC in programs or (has_nvcc and bool(programs & _BUILDERS))


def cpu_base(stage: Stage, project: Project) -> bool:
    """Whether the base image is a CPU build, and nothing that is installed on it can use a GPU."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown):
        return False
    contents = project.contents(stage)
    if base.facts.vendor != "cpu" or contents.unread or _compiles(stage, project):
        return False
    return not any(_may_compute(each, contents, stage, project) for each in contents.history)


# --- What the code asks for -----------------------------------------------------------------------------------------------------


def is_asked_for_cuda(stage: Stage, project: Project) -> bool:
    """Whether Python code of the build context asks ONNX Runtime for CUDA, tests and examples left out."""
    dockerfile = project.dockerfile(stage.path)
    folder = project.context_of(dockerfile) if dockerfile is not None else ""
    inside = folder + "/" if folder else ""
    paths = (path for path in project.tree.paths(Kind.PYTHON) if path.startswith(inside) and not _is_aside(path[len(inside) :]))
    return any(_PROVIDER.search(source.data) for source in map(project.tree.source, paths) if source is not None)


def _is_aside(path: str) -> bool:
    aside = words("anchors", "aside")
    return any(word in aside for word in re.split(r"[^a-z]+", path.lower()))


_PROVIDER = regex(rb"(?:CUDA|Tensorrt)ExecutionProvider")
