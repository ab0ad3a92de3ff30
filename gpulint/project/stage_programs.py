"""The programs of the repository that an image runs: by its own command, and by those of the containers that use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.discover import Kind
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.image_files import ImageFiles
from gpulint.source import Text

if TYPE_CHECKING:
    from gpulint.project.programs import Program


def programs_of(stage: Stage, project: Project) -> tuple[Program, ...]:
    """The programs that run in the image of a stage, each once: of its containers, and where it has none of its own command."""
    if not project.tree.paths(Kind.PYTHON):
        return ()
    containers = project.containers_of(stage)
    found = map(project.program_of, containers) if containers else _own_programs(stage, project)
    return tuple({program.path: program for program in found if program is not None}.values())


def _own_programs(stage: Stage, project: Project) -> Iterator[Program | None]:
    """The programs that ENTRYPOINT and CMD start, through the scripts that are copied in. The reader of Python is imported here: many runs
    need no program of any stage."""
    from gpulint.project.starts import read_start

    dockerfile = project.dockerfile(stage.path)
    words = (*(stage.entrypoint or ()), *(stage.command or ()))
    if dockerfile is None or not words:
        return
    files = ImageFiles(dockerfile, project.context_of(dockerfile), project.tree)
    folder = str(stage.working_directory) if isinstance(stage.working_directory, Text) else "/"
    variables = {str(each.name): each.value for each in stage.env if each.value is not None}
    start = read_start(words, project.tree, folder, lambda path: files.at(path, stage), variables)
    if start.program is not None:
        yield project.program(start.program.path, start.program.function, start.program.roots)
