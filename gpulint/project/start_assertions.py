"""What stops a container that has no GPU as it starts, beside the code of its program: an init container of its pod, a hook, a probe, an
option."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpulint.facts.python import insists_on_gpu
from gpulint.project.links import follow_start
from gpulint.source import as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container
    from gpulint.model.module import Fallback
    from gpulint.project import Project
    from gpulint.project.starts import Start


def asserts_gpu_beside(container: Container, project: Project) -> bool:
    """Whether an init container of its pod, its postStart hook or its probe for the start fails without a GPU."""
    first = [project.start_of(sibling) for sibling in container.siblings if sibling.is_init]
    return any(_fails(start, project) for start in (*first, *_own_checks(container, project)))


def _own_checks(container: Container, project: Project) -> list[Start]:
    """What the commands start that run in the container beside its own."""
    checks = (replace(container, entrypoint=words, arguments=None) for words in container.start_checks)
    return [follow_start(check, project.build_of(container), project.tree) for check in checks]


def _fails(start: Start, project: Project) -> bool:
    link = start.program
    program = project.program(link.path, link.function, link.roots) if link is not None else None
    return bool(start.assertions) or (program is not None and program.raises_without_cuda)


def insists_by_options(start: Start, fallback: Fallback) -> bool:
    """Whether an option, of the launcher or the program, makes the program end where it else would fall back: `--nproc_per_node=gpu`."""
    link = start.program
    words = [*link.launcher, *map(as_written, link.arguments)] if link is not None else []
    for word, behind in zip(words, [*words[1:], ""], strict=False):
        option, given, value = word.partition("=")
        if insists_on_gpu(option, value if given else "" if behind.startswith("-") else behind, fallback.framework):
            return True
    return False
