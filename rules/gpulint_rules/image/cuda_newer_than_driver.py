"""GPU122: an image or framework needs a newer driver than the machines have."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.drivers import below, driver_cuda, forward_compatible, gpu, major_floor, passes_start_check, toolkit_driver
from gpulint.model.container import Container
from gpulint.model.machines import Machines
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.cuda_uses import CudaUse, uses_of
from gpulint.rule import Impact, Problem, Rule, Severity

DATA_CENTRE = "tesla"
EVERY_BRAND = ("tesla", "quadro", "geforce")


def check(node: Container | Stage, project: Project) -> Iterator[Problem]:
    """An error below the oldest driver on which that CUDA's major runs; a note between it and the toolkit's own driver."""
    for use, machines in uses_of(node, project):
        floor, own = major_floor(use.cuda), toolkit_driver(use.cuda)
        if machines.driver is None:
            continue
        if floor is not None and below(machines.driver, floor):
            yield _below_floor(use, floor, machines)
        elif own is not None and below(machines.driver, own):
            yield _below_own(use, own, machines, project.strict)


def _below_floor(use: CudaUse, floor: str, machines: Machines) -> Problem:
    driver, brands = str(machines.driver), _brands(machines)
    message = f"{use.shown} runs CUDA {use.cuda}, which needs driver {floor} or newer, and the machines have {driver}"
    if use.brings_compat and DATA_CENTRE in brands and forward_compatible(use.cuda, driver):
        message = f"{message}: only data-centre cards run it, by the cuda-compat package of the image"
        return Problem(use.location, message, Severity.NOTE, help=_instead(driver))
    return Problem(use.location, f"{message}: CUDA does not start", Severity.ERROR, help=_instead(driver))


def _below_own(use: CudaUse, own: str, machines: Machines, strict: bool) -> Problem:
    driver = str(machines.driver)
    message = f"{use.shown} runs CUDA {use.cuda}, made for driver {own}, and the machines have {driver}: "
    if use.brings_compat and set(_brands(machines)) == {DATA_CENTRE} and forward_compatible(use.cuda, driver):
        message += "the cards run all of it only by the cuda-compat package of the image"
        return Problem(use.location, message, Severity.NOTE, help=_instead(driver))
    message += "code compiled for the GPU runs, what is compiled from PTX at run time and calls that need the newer driver fail"
    if use.image_cuda and all(passes_start_check(use.image_cuda, driver, brand) is False for brand in _brands(machines)):
        message += ", and the image's start check (NVIDIA_REQUIRE_CUDA) refuses this driver where the legacy runtime hook asks it"
    severity = Severity.WARNING if strict else Severity.NOTE
    return Problem(use.location, message + " (policy)" * strict, severity, help=_instead(driver))


def _brands(machines: Machines) -> tuple[str, ...]:
    """The brands of the cards that are stated, all of them where none is known."""
    known = [gpu(model) for model in machines.gpus or ()]
    return tuple(each.brand for each in known if each is not None) or EVERY_BRAND


def _instead(driver: str) -> str:
    cuda = driver_cuda(driver)
    return f"use a build for CUDA {cuda} or older, or install a newer driver" if cuda else "install a newer driver"


RULE = Rule(
    "GPU122",
    "cuda-newer-than-driver",
    (Container, Stage),
    (Severity.ERROR, Severity.WARNING, Severity.NOTE),
    Impact.FAILS_TO_START,
    check,
    ("driver",),
)
