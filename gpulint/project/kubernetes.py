"""Kubernetes containers as they are applied: manifests, what kustomizations build of them, charts and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpulint.discover import Kind
from gpulint.model.container import Container
from gpulint.model.kubernetes import read_containers
from gpulint.model.workload import objects
from gpulint.parse.nodes import Mapping
from gpulint.project.assembled import Parts, whole
from gpulint.project.helm import chart_containers, release_containers
from gpulint.project.kustomize import Kustomizations
from gpulint.project.limit_ranges import LimitRanges
from gpulint.project.overlays import as_built, variants
from gpulint.project.owned import without_owned
from gpulint.project.tree import Tree
from gpulint.project.variants import open_to_variants, opened, with_siblings


def kubernetes_containers(tree: Tree, matters: Callable[[str], bool] = lambda _path: True) -> tuple[Container, ...]:
    """The containers of all manifests, charts and values of a tree. `matters` tells which files are worth reading.

    A manifest that kustomizations build gives what is built of it, once for each that makes something else of it, all at the same place;
    patches are never read alone.
    """
    kustomizations = Kustomizations(tree, matters)
    built = variants(kustomizations.built())
    alone = tuple(_alone(tree, kustomizations.files, matters))
    roots = (*(variant.resource.root for variant in built), *(owner for owner, _ in alone))
    parts, limits = Parts(roots), LimitRanges(roots)
    plain = (container for owner, template in alone for container in opened(_containers(owner, template, parts), limits.opens(owner)))
    built_ones = (
        (opened(_containers(each.resource.root, each.resource.template, parts), limits.opens(each.resource.root)), each) for each in built
    )
    overlays = (container for containers, variant in built_ones for container in as_built(containers, variant))
    return with_siblings(open_to_variants((*overlays, *plain, *chart_containers(tree, matters))))


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
