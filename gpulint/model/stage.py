"""Stages: what each FROM of a Dockerfile builds, with ARG and ENV as they stand at each instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpulint.model.container import EnvVar
from gpulint.model.image import ImageRef
from gpulint.parse.dockerfile import DockerfileSyntax, Instruction
from gpulint.parse.shell import Script
from gpulint.source import Location, Text, Value


class Run(NamedTuple):
    """One RUN: its instruction, its script with the stage's ENV and ARG known, and the mounts it names as (type, from, source, target)."""

    instruction: Instruction
    script: Script


class Copy(NamedTuple):
    """One COPY or ADD: what from where to where. `from_` is a stage's name or number, an image, or None for the build context."""

    instruction: Instruction
    sources: tuple[Value, ...]
    target: Value
    from_: Value | None


class Package(NamedTuple):
    """A package that a step installs: its name without extras and version in lower case with `-`, as written `text`, and its version
    specifier (`==2.4.1`, `>=2`, "" for none; conda's and apt's `=` as written)."""

    name: str
    text: Value
    extras: tuple[str, ...]
    specifier: str
    location: Location


@dataclass(frozen=True, eq=False)
class Install:
    """One command that installs packages: manager is pip, uv, conda, apt, yum, apk, poetry, pipenv, npm, or pixi."""

    manager: str
    packages: tuple[Package, ...]
    requirement_files: tuple[Value, ...]
    constraint_files: tuple[Value, ...]
    indexes: tuple[Value, ...]
    location: Location


@dataclass(frozen=True, eq=False)
class Stage:
    """One build stage. `base` is the image of its FROM after ARG resolution, None where FROM names an earlier stage (`parent`)."""

    path: str
    index: int
    name: Text | None
    base: ImageRef | None
    parent: Stage | None
    from_location: Location
    instructions: tuple[Instruction, ...]
    env: tuple[EnvVar, ...]
    arguments: tuple[EnvVar, ...]
    runs: tuple[Run, ...]
    copies: tuple[Copy, ...]
    installs: tuple[Install, ...]
    entrypoint: tuple[Value, ...] | None
    command: tuple[Value, ...] | None
    working_directory: Value | None
    user: Value | None
    is_last: bool

    def chain(self) -> tuple[Stage, ...]:
        """This stage and those it builds on, nearest first."""
        stages, stage = [], self
        while stage is not None:
            stages.append(stage)
            stage = stage.parent  # type: ignore[assignment]
        return tuple(stages)


@dataclass(frozen=True, eq=False)
class Dockerfile:
    """A Dockerfile's meaning: its stages in order. `dev_container` where only an editor starts it."""

    path: str
    syntax: DockerfileSyntax
    stages: tuple[Stage, ...]


def read_dockerfile(path: str, syntax: DockerfileSyntax, build_arguments: dict[str, Value] | None = None) -> Dockerfile:
    """The stages of a Dockerfile, with ARG and ENV resolved as BuildKit does; `build_arguments` override ARG defaults."""
    raise NotImplementedError
