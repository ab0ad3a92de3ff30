"""GPU124: a framework has only wheels for a newer C library than the base image has."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import cannot_be_pulled
from gpulint.project.wheels import wheels_for_newer_glibc
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error at each package that pip finds no wheel of, on the system of the base image."""
    for found in wheels_for_newer_glibc(stage, project):
        if cannot_be_pulled(found.base):
            return
        installed = found.installed
        whose = f"needs {found.because}, whose wheels are" if found.because else "has only wheels"
        shown = f"{installed.name} {installed.version}" if installed.version is not None else installed.package.shown
        message = f"{shown} {whose} for glibc {found.needs} and newer, and {found.base.shown} has {found.has}"
        related = [Related(found.base.location, f"this system has glibc {found.has}")]
        if installed.package.location.path != stage.path:
            related.insert(0, Related(installed.run.instruction.location, "it is installed here"))
        instead = f"take a base with glibc {found.needs} or newer, such as ubuntu22.04 or debian 12, or an older version"
        yield Problem(installed.package.location, message, Severity.ERROR, help=instead, related=tuple(related))


RULE = Rule("GPU124", "glibc-too-old", Stage, (Severity.ERROR,), Impact.BUILD_FAILS, check)
