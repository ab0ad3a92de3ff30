"""GPU701: files that are deployed together name one GPU image with different tags."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_container
from gpulint.facts.images import Need
from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.project.deployments import Drift, deployed_together, drifts
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown


def check(project: Project, _project: Project) -> Iterator[Problem]:
    """A note at the tag that the fewest use, for each image of each set of files."""
    for containers in deployed_together(project):
        for drift in drifts(container for container in containers if _is_for_gpu(container, project)):
            yield _problem(drift)


def _is_for_gpu(container: Container, project: Project) -> bool:
    image = container.image
    if image is None or isinstance(image.name, Unknown) or isinstance(image.tag, Unknown):
        return False
    return image.facts.need is not Need.NONE or is_gpu_container(container, project)


def _problem(drift: Drift) -> Problem:
    image, others = drift.image, drift.others
    tags = sorted({str(other.tag) for other in others})
    message = f"{image.repository} is deployed as {image.tag} here and as {' and '.join(tags)} beside it"
    related = tuple(Related(other.version_location, f"here it is {other.tag}") for other in others[:3])
    return Problem(image.version_location, message, Severity.NOTE, help="give both one version, in one place", related=related)


RULE = Rule("GPU701", "version-drift", Project, (Severity.NOTE,), Impact.UNREPRODUCIBLE, check)
