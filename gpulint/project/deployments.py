"""Containers that are deployed together: of one kustomization, of Compose files that run together, of one chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.parse.yaml import Mapping, Scalar
from gpulint.source import Text

if TYPE_CHECKING:
    from gpulint.model.container import Container
    from gpulint.model.image import ImageRef
    from gpulint.project import Project

_NUMBER = regex(r"\d+")


class Drift(NamedTuple):
    """An image that is deployed with different tags: the reference with the tag that the fewest use, and those with others."""

    image: ImageRef
    others: tuple[ImageRef, ...]


def drifts(containers: Iterable[Container]) -> Iterator[Drift]:
    """The images that these containers name with tags of one form but of different versions. A place that means several images, as
    overlays make them of one base, is left out."""
    groups: dict[tuple[str, str], dict[str, list[ImageRef]]] = {}
    for image in _images(containers):
        key = (image.repository, _NUMBER.sub("0", str(image.tag)))
        groups.setdefault(key, {}).setdefault(str(image.tag), []).append(image)
    for tags in groups.values():
        if len(tags) > 1:
            odd = min(tags.values(), key=lambda images: (len(images), [-ord(letter) for letter in images[-1].location.path]))
            others = tuple(image for images in tags.values() if images is not odd for image in images)
            yield Drift(odd[-1], others)


def _images(containers: Iterable[Container]) -> list[ImageRef]:
    """The images with known names and tags, in the order of their places, each place once."""
    found: dict[object, ImageRef] = {}
    seen: Counter[object] = Counter()
    for container in containers:
        image = container.image
        if image is not None and isinstance(image.name, Text) and isinstance(image.tag, Text) and image.digest is None:
            before = found.setdefault(image.location, image)
            seen[image.location] += str(before.tag) != str(image.tag)
    return sorted((image for place, image in found.items() if not seen[place]), key=lambda image: image.location)


def deployed_together(project: Project) -> Iterator[tuple[Container, ...]]:
    """The containers of each kustomization's own files, each run of Compose files, and each chart, where there are several."""
    for paths in _sets_of_files(project):
        containers = tuple(each for each in project.containers if each.location.path in paths)
        if len(containers) > 1:
            yield containers


def _sets_of_files(project: Project) -> Iterator[frozenset[str]]:
    tree = project.tree
    for path in tree.paths(Kind.KUSTOMIZATION):
        yield frozenset(_resources(project, path))
    stated = [frozenset(paths) for paths in project.together]
    yield from stated
    yield from (frozenset({path}) for path in tree.paths(Kind.COMPOSE) if not any(path in paths for paths in stated))
    charts = sorted((dirname(path) for path in tree.all_paths if path.rpartition("/")[2] == "Chart.yaml"), key=len, reverse=True)
    members: dict[str, set[str]] = {}
    for path in tree.paths(Kind.TEMPLATE, Kind.VALUES):
        folder = next((each for each in charts if path.startswith(f"{each}/" if each else "")), None)
        if folder is not None:
            members.setdefault(folder, set()).add(path)
    yield from map(frozenset, members.values())


def _resources(project: Project, path: str) -> Iterator[str]:
    """The files that a kustomization names as its resources; what it includes of others is theirs."""
    syntax = project.tree.yaml(path)
    root = syntax.documents[0].root if syntax and syntax.documents else None
    for item in root.sequence("resources") if isinstance(root, Mapping) else ():
        resolved = project.tree.resolve(path, item) if isinstance(item, Scalar) else None
        if resolved is not None and resolved in project.tree:
            yield resolved
