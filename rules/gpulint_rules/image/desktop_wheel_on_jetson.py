"""GPU118: an image for Jetson takes a framework from where only builds for other machines are."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.jetson import ordinary_wheels
from gpulint.project.stages import is_infrastructure_image, ships
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error at each framework of an image for Jetson that is an ordinary wheel."""
    base = stage.chain()[-1].base
    if base is None or not ships(stage, project) or is_infrastructure_image(stage, project):
        return
    for installed in ordinary_wheels(stage, project):
        message = f"{installed.package.shown} is the wheel for other machines: on {base.shown} it does not use the GPU of the Jetson"
        related = [Related(base.location, "the base is one for Jetson")]
        if installed.package.location.path != stage.path:
            related.insert(0, Related(installed.run.instruction.location, "it is installed here"))
        instead = "take the wheel for this JetPack from NVIDIA's index for Jetson, or a base that has the framework"
        yield Problem(installed.package.location, message, Severity.ERROR, help=instead, related=tuple(related))


RULE = Rule("GPU118", "desktop-wheel-on-jetson", Stage, (Severity.ERROR,), Impact.CPU_FALLBACK, check)
