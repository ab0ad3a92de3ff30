"""GPU113: an extension is compiled without a list of GPU architectures, or for another GPU than there is."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.drivers import gpu
from gpulint.facts.source_builds import has_architecture_list
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.architectures import ArchitectureList, architecture_list, is_listed, refused_by
from gpulint.project.claims import cannot_be_pulled
from gpulint.project.compilations import Compilation, compilations
from gpulint.project.toolkits import part_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A warning at a step that would take the architectures from the GPU that the build does not see, and at a list that does not fit."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base):
        return
    compiled = [each for each in compilations(stage, project) if each.needs_nvcc]
    nvcc = part_of(stage, "nvcc", project) if compiled else None
    if nvcc is None or not nvcc.is_there:
        return
    if not has_architecture_list(base.repository):
        yield from (_unset(each) for each in compiled if each.architectures and not is_listed(each))
    lists = {found.location: (found, each) for each in compiled if (found := architecture_list(each)) is not None}
    for found, compilation in lists.values():
        yield from _refused(found, nvcc.version)
        yield from _too_narrow(found, compilation, _gpus(stage, project))


def _unset(compilation: Compilation) -> Problem:
    message = (
        f"{compilation.shown} is compiled for the GPUs that the build sees, and a build sees none: it stops, or compiles for the wrong ones"
    )
    instead = f'set {compilation.architectures} to the architectures of your GPUs, such as "8.0;8.6;9.0+PTX"'
    return Problem(compilation.location, message, Severity.WARNING, instead)


def _refused(found: ArchitectureList, cuda: str | None) -> Iterator[Problem]:
    """The entries that the compiler has no target for."""
    why = {each.capability: refused_by(each, cuda) for each in found.architectures} if cuda is not None else {}
    for reason, knows in (("dropped", "no longer compiles"), ("too new", "cannot compile yet")):
        named = " and ".join(capability for capability, found_reason in why.items() if found_reason == reason)
        if named:
            message = f"{found.variable} names {named}, which the compiler of CUDA {cuda} {knows}: the build stops"
            yield Problem(found.location, message, Severity.WARNING, "leave it out, or use another CUDA")


def _gpus(stage: Stage, project: Project) -> tuple[str, ...]:
    """The declared GPUs, with those of the pools that the containers of the image run in."""
    machines = [project.machines, *map(project.machines_of, project.containers_of(stage))]
    return tuple(dict.fromkeys(model for each in machines for model in each.gpus or ()))


def _too_narrow(found: ArchitectureList, compilation: Compilation, gpus: tuple[str, ...]) -> Iterator[Problem]:
    """The declared GPUs for which the list has neither machine code nor PTX."""
    known = ((model, gpu(model)) for model in gpus)
    left_out = {model: facts.capability for model, facts in known if facts is not None and not found.serves(facts.capability)}
    if left_out:
        cards = " and ".join(f"the {model} ({capability})" for model, capability in left_out.items())
        message = f"{found.variable} is {found.value}, which has no code for {cards} of the machines"
        instead = f"add {';'.join(dict.fromkeys(left_out.values()))}, or +PTX to the newest entry that is lower"
        related = (Related(compilation.location, f"{compilation.shown} is compiled for it"),)
        yield Problem(found.location, message, Severity.WARNING, instead, related)


RULE = Rule("GPU113", "cuda-arch-list-unset", Stage, (Severity.WARNING,), Impact.BUILD_FAILS, check)
