"""GPU106: a step of the build needs a GPU, and a build has none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.build_probes import BuildProbe, BuiltScript, build_probes, built_scripts
from gpulint.project.claims import cannot_be_pulled
from gpulint.rule import Impact, Problem, Related, Rule, Severity

GIVES_GPU = re.compile(r"--(?:device|gpus|runtime)\b")
OUTCOMES = {
    "fails": "the build ends here",
    "without CUDA": "what is built has no CUDA code",
    "other architectures": "it is compiled for other architectures than those of the GPUs that run it",
}


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error where the build ends or leaves CUDA out, a warning where it takes something else than the GPU would say."""
    base = stage.chain()[-1].base
    if (base is not None and cannot_be_pulled(base)) or _is_given_gpu(stage, project):
        return
    yield from map(_of_command, build_probes(stage, project))
    yield from map(_of_script, built_scripts(stage, project))


def _is_given_gpu(stage: Stage, project: Project) -> bool:
    """Whether the build may have a GPU: by the engine's default, or by an option of the command that builds the image."""
    if project.machines.default_runtime == "nvidia":
        return True
    for recipe in project.builds.recipes:
        source = project.tree.source(recipe.location.path) if recipe.dockerfile == stage.path else None
        if source is not None and GIVES_GPU.search(source.written(recipe.location)):
            return True
    return False


def _of_command(probe: BuildProbe) -> Problem:
    related = (Related(probe.program, "it ends here without a GPU"),) if probe.program is not None else ()
    if probe.is_read:
        message = f"{probe.shown} prints nothing while an image is built, where no GPU is: the value that is made of it is empty"
        return Problem(probe.location, message, Severity.WARNING, help="give the value by an ARG", related=related)
    message = f"{probe.shown} needs a GPU, and none is there while an image is built: the build ends here"
    return Problem(probe.location, message, Severity.ERROR, help="move it to the start of the container", related=related)


def _of_script(built: BuiltScript) -> Problem:
    probe = built.probe
    message = f"{probe.name}() sees no GPU while an image is built, so that {OUTCOMES[probe.outcome]}"
    severity = Severity.WARNING if probe.outcome == "other architectures" else Severity.ERROR
    instead = "let an environment variable decide first, such as FORCE_CUDA or TORCH_CUDA_ARCH_LIST"
    return Problem(probe.location, message, severity, help=instead, related=(Related(built.built_at, "the image builds it here"),))


RULE = Rule("GPU106", "gpu-probe-at-build", Stage, (Severity.ERROR, Severity.WARNING), Impact.BUILD_FAILS, check)
