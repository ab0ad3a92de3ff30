"""GPU605: a process is forked after it has touched CUDA, so that what is forked cannot use it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.module import Module
from gpulint.project import Project
from gpulint.project.forks import config_touches, dataset_forks, late_forks, preloads
from gpulint.project.links import EntryPoint
from gpulint.project.relevance import is_aside
from gpulint.rule import Impact, Problem, Related, Rule, Severity

FAILS = "and CUDA cannot be used in a process that is forked after that"
OF_SERVER = "touch CUDA in the workers alone: load the model in a post_fork hook or at the first request"
OF_DATASET = "give CPU tensors back, and move the batch in the training loop; pin_memory=True makes that fast"
OF_PROCESS = 'start the processes by multiprocessing.get_context("spawn"), or before anything touches CUDA'


def check(node: Module | EntryPoint, project: Project) -> Iterator[Problem]:
    """An error for servers that fork workers and for loaders of datasets, a warning for processes that are started by hand."""
    if isinstance(node, EntryPoint):
        yield from _of_preloaded(node, project)
    elif not is_aside(node.path):
        yield from _of_module(node, project)


def _of_preloaded(entry: EntryPoint, project: Project) -> Iterator[Problem]:
    """The first touch while the application is imported, where a server imports it before it forks."""
    touch = next(iter(entry.program.import_touches), None) if entry.program is not None else None
    links = (start.program for _, start in entry.containers if start.program is not None)
    link = next((each for each in links if preloads(each, project)), None) if touch is not None else None
    if touch is not None and link is not None:
        message = f"{touch.name} touches CUDA as the server imports the application, before it forks its workers, {FAILS}"
        related = (Related(link.location, "the server that preloads it is started here"),)
        yield Problem(touch.location, message, Severity.ERROR, help=OF_SERVER, related=related)


def _of_module(module: Module, project: Project) -> Iterator[Problem]:
    touch = next(config_touches(module), None)
    if touch is not None:
        message = f"{touch.name} touches CUDA in the server's first process, which forks the workers, {FAILS}"
        yield Problem(touch.location, message, Severity.ERROR, help=OF_SERVER)
    for fork in dataset_forks(module, project):
        message = f"{fork.name} puts an item on the GPU in a process that the loader has forked: CUDA cannot be used there"
        related = (Related(fork.origin, "its loader has processes of its own"),)
        yield Problem(fork.touch, message, Severity.ERROR, help=OF_DATASET, related=related)
    for fork in late_forks(module, project):
        message = f"a process is forked here after {fork.name} has touched CUDA, {FAILS}"
        uses = (Related(use, "the process uses CUDA here") for use in (fork.use,) if use is not None)
        places = (Related(fork.touch, "CUDA is touched here"), *uses)
        yield Problem(fork.origin, message, Severity.WARNING, help=OF_PROCESS, related=places)


RULE = Rule("GPU605", "cuda-before-fork", (Module, EntryPoint), (Severity.ERROR, Severity.WARNING), Impact.FAILS_TO_START, check)
