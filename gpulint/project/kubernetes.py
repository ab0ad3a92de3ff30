"""Kubernetes containers as they are applied: manifests, what kustomizations build of them, charts and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from gpulint.discover import Kind
from gpulint.model.container import Container, Pod
from gpulint.model.image import ImageRef
from gpulint.model.kubernetes import read_containers
from gpulint.model.workload import objects
from gpulint.parse.nodes import Mapping
from gpulint.project.assembled import Parts, whole
from gpulint.project.helm import chart_containers, release_containers
from gpulint.project.kustomize import Kustomizations, Resource
from gpulint.project.owned import without_owned
from gpulint.project.tree import Tree
from gpulint.project.variants import open_to_variants, with_siblings
from gpulint.source import Text, Value


def kubernetes_containers(tree: Tree, matters: Callable[[str], bool] = lambda _path: True) -> tuple[Container, ...]:
    """The containers of all manifests, charts and values of a tree. `matters` tells which files are worth reading.

    A manifest that kustomizations build gives what is built of it, once for each that makes something else of it, all at the same place;
    what one of them supplies is open in the others. Patches are never read alone.
    """
    kustomizations = Kustomizations(tree, matters)
    resources = tuple(kustomizations.resources())
    alone = tuple(_alone(tree, kustomizations.files, matters))
    parts = Parts((*(resource.root for resource in resources), *(owner for owner, _ in alone)))
    built = _built(resources, parts)
    plain = (container for owner, template in alone for container in _containers(owner, template, parts))
    return with_siblings(open_to_variants((*built, *plain, *chart_containers(tree, matters))))


def _alone(tree: Tree, claimed: frozenset[str], matters: Callable[[str], bool]) -> Iterator[tuple[Mapping, bool]]:
    """The objects of the manifests that no kustomization names, each with whether it stands in a template."""
    for path in tree.paths(Kind.MANIFEST):
        syntax = tree.yaml(path) if path not in claimed and matters(path) else None
        found = [(owner, document.template) for document in (syntax.documents if syntax else ()) for owner in objects(document.root)]
        kept = {id(owner) for owner in without_owned(owner for owner, _ in found)}
        yield from (each for each in found if id(each[0]) in kept)


def _containers(owner: Mapping, template: bool, parts: Parts) -> Iterator[Container]:
    assembled = whole(owner, parts)
    yield from read_containers(assembled.root, template, assembled.complete)
    yield from release_containers(owner)


def _built(resources: Iterable[Resource], parts: Parts) -> Iterator[Container]:
    """The containers of what kustomizations build; what several build alike is given once."""
    seen: set[tuple[int, tuple[int, ...], str | None, frozenset[str]]] = set()
    kept: list[Mapping] = []
    for resource in resources:
        alike = (id(resource.root), tuple(map(id, resource.images)), resource.namespace, resource.open)
        if alike not in seen:
            seen.add(alike)
            kept.append(resource.root)
            pods: dict[int, Pod] = {}
            containers = tuple(_containers(resource.root, resource.template, parts))
            yield from (_as_built(container, resource, pods) for container in containers)


def _as_built(container: Container, resource: Resource, pods: dict[int, Pod]) -> Container:
    """The container with the kustomizations' namespace and image pins. `pods` keeps one Pod for the containers of a pod."""
    pod, image = container.pod, container.image
    if pod is not None:
        namespace = pod.namespace if resource.namespace is None else resource.namespace
        pod = pods.setdefault(id(pod), replace(pod, namespace=namespace, open=pod.open | resource.open))
    for pin in resource.images:
        image = _pinned(image, pin) if image else None
    return replace(container, image=image, pod=pod, open=container.open | resource.open)


def _pinned(image: ImageRef, pin: Mapping) -> ImageRef:
    """The image with an `images` entry applied where the entry names it: a new name, and a tag or digest in place of both."""
    name = pin.scalar("name")
    if not isinstance(name, Text) or not isinstance(image.name, Text) or name != image.name:
        return image
    new_name, tag, digest = pin.scalar("newName"), pin.scalar("newTag"), pin.scalar("digest")
    own: Value = image.name if new_name is None else new_name
    if tag is None and digest is None:
        return replace(image, name=own)
    return replace(image, name=own, tag=tag, digest=digest)
