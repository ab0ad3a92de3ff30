"""Containers that neither Compose, Kubernetes nor a command starts: dev containers, Quadlets, predictors of Cog, and tasks of
Amazon ECS and AWS Batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gpulint.discover import Kind
from gpulint.model.cog import is_cog, read_cog
from gpulint.model.container import ASPECTS, Container
from gpulint.model.devcontainer import read_devcontainer
from gpulint.model.task_definition import read_task_definitions
from gpulint.project.tree import Tree


def other_containers(tree: Tree, paths: Iterable[str]) -> Iterator[Container]:
    """The containers of these files."""
    for path in paths:
        if tree.kind(path) is Kind.UNIT:
            yield from _of_unit(tree, path)
            continue
        syntax = tree.yaml(path)
        if syntax is None:
            continue
        if tree.kind(path) is Kind.DEVCONTAINER or is_cog(path):
            container = read_cog(syntax) if is_cog(path) else read_devcontainer(syntax)
            yield from (container,) if container else ()
        else:
            yield from read_task_definitions(syntax)


def _of_unit(tree: Tree, path: str) -> Iterator[Container]:
    """The container of a Quadlet. What lies in the folder of its drop-ins may change it."""
    source = tree.source(path)
    if source is None or not path.endswith(".container"):
        return
    from gpulint.model.unit import read_quadlet
    from gpulint.parse.unit import parse_unit

    container = read_quadlet(parse_unit(source))
    if container is not None:
        yield replace(container, open=ASPECTS) if f"{path}.d" in tree.folders else container
