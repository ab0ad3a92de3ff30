"""Batch scripts as their schedulers take them: the directives, and the containers whose job asks for no GPU."""

from __future__ import annotations

from functools import lru_cache
from posixpath import basename, splitext
from typing import TYPE_CHECKING

from gpulint.facts.batch import demands_gpu, directive_pattern, submits
from gpulint.facts.images import Need, cpu_word, gpu_word
from gpulint.model.batch_job import BatchRun, container_of_directive, definition_of, read_definition, slurm_container, slurm_step
from gpulint.project.tree import paths_named
from gpulint.source import Unknown, as_written

if TYPE_CHECKING:
    from gpulint.model.command import CommandLine
    from gpulint.parse.shell import Assignment, Script
    from gpulint.project import Project


@lru_cache(maxsize=1000)
def directives(path: str, project: Project) -> tuple[str, ...]:
    """The lines of a file by which it tells a scheduler what its job needs."""
    source = project.tree.source(path)
    return tuple(directive_pattern().findall(source.text)) if source is not None else ()


@lru_cache(maxsize=1000)
def assignments(script: Script) -> tuple[Assignment, ...]:
    """What a script sets, anywhere in it."""
    return tuple(each for command in script.commands for each in command.assignments)


def asks_for_gpu(told: tuple[str, ...]) -> bool:
    """Whether such a line names a GPU, or asks for all that a machine has."""
    return any("gpu" in line.lower() or any(map(demands_gpu, line.split())) for line in told)


def unasked_step(line: CommandLine, project: Project) -> BatchRun | None:
    """The container of a Slurm step whose job asks for no GPU: neither the step, nor the batch script, nor who submits it."""
    told = directives(line.location.path, project)
    step = slurm_step(line.command) or _of_directive(line, told)
    if step is None or step.gets_gpu or not told or asks_for_gpu(told) or _is_submitted(line, project):
        return None
    return step


def _of_directive(line: CommandLine, told: tuple[str, ...]) -> BatchRun | None:
    """The container that the directives name for the whole job; it is reported with the first command."""
    if line.script.commands[0] is not line.command:
        return None
    image = next(filter(None, map(container_of_directive, told)), "")
    return slurm_container(image, False, (), line.location) if image else None


def _is_submitted(line: CommandLine, project: Project) -> bool:
    """Whether a command of the repository submits that script, which may bring options of its own, or allocates machines in it."""
    scripts, names = _submitted(project)
    return id(line.script) in scripts or basename(line.location.path) in names


@lru_cache(maxsize=1)
def _submitted(project: Project) -> tuple[frozenset[int], frozenset[str]]:
    """The ids of the scripts that submit jobs or allocate machines, and the names of the files that they may submit."""
    commands = ((line, [as_written(word) for word in line.command.words]) for line in project.command_lines)
    submitting = [(line, words) for line, words in commands if any(map(submits, words))]
    return frozenset(id(line.script) for line, _ in submitting), frozenset(basename(word) for _, words in submitting for word in words)


def defined(run: BatchRun, line: CommandLine, project: Project) -> BatchRun:
    """The container with the image that its file is built from by a definition: the one that the script names, or the only one of the
    repository that is called as the file is."""
    if run.image is not None or run.file is None:
        return run
    named = definition_of(run.file, line.script) or f"{splitext(basename(run.file))[0]}.def"
    paths = paths_named(project.tree.all_paths, basename(named))
    source = project.tree.source(paths[0]) if len(paths) == 1 else None
    return run if source is None else run._replace(image=read_definition(source))


def names_gpu(run: BatchRun) -> str:
    """What says that the container's image is made for a GPU, as a clause; "" where nothing does."""
    image = run.image
    if image is not None and not isinstance(image.name, Unknown):
        facts = image.name_facts if isinstance(image.tag, Unknown) else image.facts
        if facts.optional_gpu or facts.need is Need.NONE:
            return ""
        if facts.need is Need.CERTAIN:
            return f"the image {image.shown} needs one"
        return f"the image {image.shown} says {image.tag_word}" if image.tag_word else ""
    if run.file is not None and not cpu_word(basename(run.file)):
        word = gpu_word(basename(run.file))
        return f"the image {run.file} says {word}" if word else ""
    return ""
