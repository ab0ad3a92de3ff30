"""GPU105: the image brings the NVIDIA driver, or parts of it, which belong to the host."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.driver_parts import STAND_IN, BroughtPart, brought_parts, hosts_containers
from gpulint.project.stages import image_stages, is_build_only, is_infrastructure_image, ships
from gpulint.rule import Impact, Problem, Rule, Severity

SAYS = {
    "libcuda": "puts the NVIDIA driver into the image; the host's is added when a container starts, and a second version breaks CUDA",
    STAND_IN: "is found in place of the host's libcuda, and CUDA fails with it",
    "tools": "puts parts of one NVIDIA driver version into the image; the host brings its own, and beside another version these fail",
    "host": "belongs to the host, and does nothing for a program in the image",
}
INSTEAD = {
    "libcuda": "leave it out: the container toolkit brings the driver of the host",
    STAND_IN: "leave it in its folder, and name that in LIBRARY_PATH for the linker",
    "tools": "leave it out: the host's come by NVIDIA_DRIVER_CAPABILITIES, nvidia-smi with utility, the rest with graphics and video",
    "host": "install it on the host",
}


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error at what brings libcuda into an image that ships, a warning at tools, graphics libraries and parts of the host."""
    if not ships(stage, project) or is_build_only(stage) or is_infrastructure_image(stage, project):
        return
    stages = image_stages(stage, project)
    brought = list(brought_parts(stages))
    if brought and not hosts_containers(stages):
        yield from map(_problem, brought)


def _problem(brought: BroughtPart) -> Problem:
    part = brought.part
    severity = Severity.ERROR if part.brings in ("libcuda", STAND_IN) and part.sourced else Severity.WARNING
    instead = f"install {part.instead}, which has no driver" if part.instead else INSTEAD[part.brings]
    return Problem(brought.location, f"{brought.shown} {SAYS[part.brings]}", severity, help=instead)


RULE = Rule("GPU105", "driver-in-image", Stage, (Severity.ERROR, Severity.WARNING), Impact.FAILS_TO_START, check)
