"""GPU109: a GPU image installs a framework in whatever version is the newest."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts import facts_date
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import cannot_be_pulled, gpu_claim
from gpulint.project.stages import is_infrastructure_image, ships
from gpulint.project.unpinned import Unpinned, searched, unpinned_frameworks
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """A note at each framework without an exact version or an upper bound, in an image that is for a GPU."""
    base = stage.chain()[-1].base
    if not ships(stage, project) or is_infrastructure_image(stage, project) or (base is not None and cannot_be_pulled(base)):
        return
    found = tuple(unpinned_frameworks(stage, project))
    if found and gpu_claim(stage, project) is not None:
        yield from map(_problem, found)


def _problem(found: Unpinned) -> Problem:
    installed = found.installed
    message = (
        f"{installed.package.shown} is not pinned, so that each build takes the newest release of {searched(installed)}{_needs(found)}"
    )
    instead = f"write {installed.name}== and a version, or keep a lock or constraint file"
    is_elsewhere = installed.package.location.path != installed.run.instruction.location.path
    related = (Related(installed.run.instruction.location, "it is installed here"),) if is_elsewhere else ()
    return Problem(installed.package.location, message, Severity.NOTE, help=instead, related=related)


def _needs(found: Unpinned) -> str:
    """What the newest release needs, with the date of the facts; "" where they do not tell."""
    if found.cuda is None:
        return ""
    release = f": {found.version}" if found.version is not None else ": it"
    driver = f", which needs driver {found.driver} or newer" if found.driver is not None else ""
    return f"{release} runs CUDA {found.cuda}{driver} (as of {facts_date()})"


RULE = Rule("GPU109", "unpinned-framework", Stage, (Severity.NOTE,), Impact.UNREPRODUCIBLE, check)
