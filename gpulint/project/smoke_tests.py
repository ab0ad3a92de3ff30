"""CI steps that push a GPU image, and whether anything in the repository ever checks a GPU in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.facts import words
from gpulint.facts.commands import program_name
from gpulint.facts.images import gpu_word
from gpulint.model.image import parse_image
from gpulint.model.stage import Stage
from gpulint.project.claims import gpu_claim
from gpulint.project.relevance import anchors
from gpulint.project.stage_programs import programs_of
from gpulint.source import Location, Text, as_written

if TYPE_CHECKING:
    from gpulint.project import Project

_PIPELINES = (Kind.GITHUB, Kind.GITLAB)
_CHECKED = (*_PIPELINES, Kind.DOCKERFILE, Kind.COMPOSE, Kind.MANIFEST, Kind.TEMPLATE, Kind.SHELL, Kind.MAKEFILE)


class Push(NamedTuple):
    """A step that pushes an image that is built here, and the stage of that."""

    location: Location
    stage: Stage


def pushes(project: Project) -> Iterator[Push]:
    """What CI jobs push: by a build that pushes too, or by a command of its own."""
    for build in project.started.builds:
        built = project.builds.built_at(build.location) if build.pushed and _is_in_pipeline(build.location, project) else None
        if built is not None:
            yield Push(build.location, built.stage)
    for line in project.command_lines:
        said = line.command.words
        is_push = len(said) > 2 and [as_written(word) for word in said[1:2]] == ["push"] and _is_engine(as_written(said[0]))
        built = project.builds.of_image(parse_image(said[-1])) if is_push and _is_in_pipeline(line.location, project) else None
        if built is not None:
            yield Push(line.location, built.stage)


def _is_engine(word: str) -> bool:
    return program_name(word) in words("anchors", "engines")


def _is_in_pipeline(place: Location, project: Project) -> bool:
    return project.tree.kind(place.path) in _PIPELINES


def is_for_gpu(stage: Stage, project: Project) -> bool:
    """Whether anything says that the image of a stage is for a GPU."""
    return gpu_claim(stage, project) is not None


def checks_a_gpu(stage: Stage, project: Project) -> bool:
    """Whether anything may check a GPU: a script, CI file, manifest or Dockerfile that names one of the ways to, a job that takes a runner
    or starts a container with a GPU, or the image's own programs."""
    if any(_speaks_of_check(path, project) for path in project.tree.paths(*_CHECKED)) or _has_gpu_in_pipeline(project):
        return True
    starts = (project.start_of(container) for container in project.containers_of(stage))
    return any(program.asserts_gpu for program in programs_of(stage, project)) or any(start.assertions for start in starts)


def _speaks_of_check(path: str, project: Project) -> bool:
    source = project.tree.source(path)
    return source is not None and any(word in source.lowered for word in anchors("gpu_checks"))


def _has_gpu_in_pipeline(project: Project) -> bool:
    runners = (line.runner for line in project.command_lines if line.runner is not None)
    if any(isinstance(label, Text) and gpu_word(label) for runner in runners for label in runner):
        return True
    return any(container.requests for container in project.containers if _is_in_pipeline(container.location, project))
