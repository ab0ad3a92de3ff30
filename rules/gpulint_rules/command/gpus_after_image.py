"""GPU502: an option of docker stands behind the image's name, so that docker never sees it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu
from gpulint.model.command import RunCommand
from gpulint.model.container import Container
from gpulint.model.options import Option
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Related, Rule, Severity


def check(container: Container, project: Project) -> Iterator[Problem]:
    """A problem for each such option of a GPU container, unless the program inside has one of that name; of two of a kind the first."""
    late = container.command.late if isinstance(container.command, RunCommand) and has_gpu(container) else ()
    for option in {each.name: each for each in reversed(late)}.values():
        if not _is_of_program(option, container, project):
            severity = Severity.ERROR if _is_known(container, project) else Severity.NOTE
            yield _problem(option, container, severity)


def _is_known(container: Container, project: Project) -> bool:
    """Whether it is known what takes the words: an image from elsewhere has no such option, and of one that is built here it is known
    where there is no entry point, or that leads to a program of this repository."""
    built = project.build_of(container)
    return built is None or not built.stage.entrypoint or project.start_of(container).program is not None


def _is_of_program(option: Option, container: Container, project: Project) -> bool:
    """Whether a program or entry script of this repository that the container runs speaks of such an option itself."""
    start = project.start_of(container)
    sources = map(project.tree.source, (*(program.path for program in start.programs), *start.scripts))
    spellings = (f"--{option.name}", f"--{option.name.replace('-', '_')}")
    return any(source is not None and any(each in source.text for each in spellings) for source in sources)


def _problem(option: Option, container: Container, severity: Severity) -> Problem:
    shown = f"--{option.name} {option.value}"
    related = (Related(container.image.location, "the image"),) if container.image is not None else ()
    message = f"{shown} stands behind the image, so that it is a word for the program inside and docker never sees it"
    return Problem(option.location, message, severity, help=f"move {shown} in front of the image", related=related)


RULE = Rule("GPU502", "gpus-after-image", Container, (Severity.ERROR, Severity.NOTE), Impact.CPU_FALLBACK, check)
