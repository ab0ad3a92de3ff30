"""Containers that neither Compose, Kubernetes nor a command line starts: dev containers, and tasks of Amazon ECS and AWS Batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpulint.discover import Kind
from gpulint.model.container import Container
from gpulint.model.devcontainer import read_devcontainer
from gpulint.model.task_definition import read_task_definitions
from gpulint.project.tree import Tree


def other_containers(tree: Tree, paths: Iterable[str]) -> Iterator[Container]:
    """The containers of these files."""
    for path in paths:
        syntax = tree.yaml(path)
        if syntax is None:
            continue
        if tree.kind(path) is Kind.DEVCONTAINER:
            container = read_devcontainer(syntax)
            yield from (container,) if container else ()
        else:
            yield from read_task_definitions(syntax)
