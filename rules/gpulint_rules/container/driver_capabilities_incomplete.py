"""GPU207: a container is given the NVIDIA driver without the part that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu, is_infrastructure
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.project.driver_capabilities import given, work_of
from gpulint.rule import Impact, Problem, Related, Rule, Severity

LACKS = {
    "compute": "libcuda is not there, and the program runs on CPU",
    "video": "the encoder's libraries are not there",
    "graphics": "OpenGL and Vulkan find no driver, and draw on CPU",
}


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem for the first thing that it does and that its part of the driver lacks."""
    if not has_gpu(container) or is_infrastructure(container) or not _is_nvidia(container):
        return
    has = given(container, project)
    lacking = next((work for work in work_of(container, project) if has and work.capability not in has.capabilities), None)
    if has is not None and lacking is not None:
        message = f"{lacking.says} and needs the driver's {lacking.capability} part, but {has.shown}: {LACKS[lacking.capability]}"
        wanted = ",".join(sorted({*has.capabilities, lacking.capability, "utility"}))
        help_line = f"set NVIDIA_DRIVER_CAPABILITIES={wanted}, or all"
        yield Problem(has.location, message, Severity.WARNING, help=help_line, related=(Related(lacking.location, lacking.says),))


def _is_nvidia(container: Container) -> bool:
    """Whether the driver is NVIDIA's for all that is known; a request that is refused brings none at all."""
    return all(each.vendor in ("", "nvidia") and not each.faults for each in container.requests)


RULE = Rule("GPU207", "driver-capabilities-incomplete", Container, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
