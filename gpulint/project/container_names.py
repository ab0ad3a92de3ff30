"""The names by which a person may ask for one container: of its service, itself, its pod or workload, its stage."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.container import Container
from gpulint.project import Project
from gpulint.source import Text, Value


def named(project: Project, name: str) -> tuple[Container, ...]:
    """The containers of that name, each place once: by the first kind of name that any of them has, with its file before it or without."""
    by_rank: dict[int, dict[object, Container]] = {}
    for container in project.containers:
        for rank, each in enumerate(_names(container, project)):
            if name in (each, f"{container.location.path}:{each}") and each:
                by_rank.setdefault(rank, {}).setdefault(container.location, container)
    return tuple(by_rank[min(by_rank)].values()) if by_rank else ()


def all_names(project: Project) -> tuple[str, ...]:
    """Every name that some container has, sorted."""
    return tuple(sorted({each for container in project.containers for each in _names(container, project) if each}))


def distinct_name(container: Container, project: Project) -> str:
    """A name that is this container's alone; "" where it has none."""
    own = [each for each in _names(container, project) if each]
    candidates = (each for name in own for each in (name, f"{container.location.path}:{name}"))
    return next((each for each in candidates if len(named(project, each)) == 1), "")


def _names(container: Container, project: Project) -> Iterator[str]:
    """The names of a container, the closest first; "" for one that it has not."""
    pod, built = container.pod, project.build_of(container)
    own, workload = _text(container.name), _text(pod.name) if pod is not None else ""
    yield f"{workload}/{own}" if workload and own else ""
    yield own
    yield f"{pod.kind.lower()}/{workload}" if pod is not None and workload else ""
    yield workload
    yield _text(built.stage.name) if built is not None else ""


def _text(value: Value | None) -> str:
    return str(value) if isinstance(value, Text) else ""
