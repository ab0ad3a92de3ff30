"""GPU102: a tag of nvidia/cuda that is not on the registry."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.cuda_tags import cuda_repository, tag_state
from gpulint.model.image import ImageRef
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity
from gpulint.source import known

LATEST = "latest"


def check(image: ImageRef, _project: Project) -> Iterator[Problem]:
    """An error where the tag is provably not there, a note where NVIDIA superseded or no longer supports it."""
    tag = known(image.tag)
    if tag is None or tag == LATEST or image.digest is not None or not cuda_repository(image.repository):
        return
    state = tag_state(tag)
    instead = f"use {image.name}:{state.nearest}" if state.nearest else ""
    if state.verdict == "missing":
        message = f"{image.shown} cannot be pulled: {state.reason}"
        yield Problem(tag.location, message, Severity.ERROR, help=instead)
    elif state.verdict in ("superseded", "unsupported"):
        yield Problem(tag.location, f"{image.shown} may disappear: {state.reason}", Severity.NOTE, help=instead)


RULE = Rule("GPU102", "nonexistent-cuda-tag", ImageRef, (Severity.ERROR, Severity.NOTE), Impact.BUILD_FAILS, check)
