"""Pods: what a pod spec says for all of its containers, and whose pod it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from gpulint.facts.workloads import adds_shm, adds_tolerations, queue_label, resources_from_elsewhere
from gpulint.model.container import Label, Pod, PodClaim, Toleration
from gpulint.model.manifest import flag, read, text, value, values
from gpulint.model.pod_owner import owner_kind, read_job, read_rollout
from gpulint.model.variable import EnvVar
from gpulint.model.workload import Site
from gpulint.parse.nodes import EMPTY_MAPPING, Mapping, Sequence
from gpulint.source import Text, Unknown

_REQUIRED_TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")

_OF_ALL_PODS = ("templateDefaults", "podTemplate")
"""Under which Argo and Tekton keep what holds for each pod that is made of single containers."""


def read_pod(site: Site) -> Pod:
    """The pod of the containers that stand in one holder."""
    tolerations = _nearest(site, "tolerations").get("tolerations")
    metadata = site.owner.mapping("metadata")
    name = value(metadata, "name")
    return Pod(
        kind=owner_kind(site.owner) or site.kind,
        name=name if name is not None else value(metadata, "generateName"),
        namespace=value(metadata, "namespace"),
        location=site.holder.location,
        labels=(*_selected(_nearest(site, "nodeSelector")), *_required(_nearest(site, "affinity"))),
        tolerations=tuple(map(_toleration, tolerations.mappings())) if isinstance(tolerations, Sequence) else (),
        runtime_class=value(_nearest(site, "runtimeClassName"), "runtimeClassName"),
        host_ipc=flag(site.holder, "hostIPC") is not None,
        host_pid=flag(site.holder, "hostPID") is not None,
        host_paths=tuple(path for volume in volumes(site) if (path := value(volume, "hostPath", "path")) is not None),
        claims=tuple(_claims(_nearest(site, "resourceClaims"))),
        owner_labels=tuple(chain.from_iterable(map(_labels, metadatas(site)))),
        tolerations_location=tolerations.location if isinstance(tolerations, Sequence) else None,
        rollout=read_rollout(site),
        job=read_job(site),
        open=frozenset(_open_aspects(site)),
    )


def volumes(site: Site) -> Iterator[Mapping]:
    """The volumes that the containers of a site may mount."""
    return _nearest(site, "volumes").sequence("volumes").mappings()


def metadatas(site: Site) -> Iterator[Mapping]:
    """The metadata of the owner and, where it has its own, of the pod's template."""
    around = [site.owner, *site.above[:1]] if site.form == "pod" else [site.owner, site.holder]
    found = {id(metadata): metadata for metadata in (each.mapping("metadata") for each in around)}
    return iter(found.values())


def _claims(spec: Mapping) -> Iterator[PodClaim]:
    for claim in spec.sequence("resourceClaims").mappings():
        name, template = text(claim, "name"), value(claim, "resourceClaimTemplateName")
        if name is not None:
            yield PodClaim(name, template if template is not None else value(claim, "resourceClaimName"))


def _labels(metadata: Mapping) -> Iterator[EnvVar]:
    return (EnvVar(key, read(node)) for key, node, _ in metadata.mapping("labels"))


def _nearest(site: Site, key: str) -> Mapping:
    """Where a pod's field stands: in the pod spec, or for a single container in the nearest mapping around it that has the field."""
    if site.form == "pod":
        return site.node
    own = (site.node,) if site.form == "gpu" else ()
    around = (each for outer in site.above[:-1] for each in (outer, *(outer.mapping(name) for name in _OF_ALL_PODS)))
    return next((each for each in (*own, *around) if key in each), EMPTY_MAPPING)


def _selected(spec: Mapping) -> Iterator[Label]:
    for key, node, _ in spec.mapping("nodeSelector"):
        found = read(node)
        yield Label(key, () if found is None else (found,))


def _required(spec: Mapping) -> Iterator[Label]:
    """The labels of required node affinity. Terms are alternatives, so only a key that all of them ask for counts."""
    terms = [tuple(_expressions(term)) for term in spec.sequence(*_REQUIRED_TERMS).mappings()]
    for label in terms[0] if terms else ():
        alike = [other for term in terms[1:] for other in term if other.key == label.key]
        if len(alike) >= len(terms) - 1:
            yield Label(label.key, (*label.values, *(found for other in alike for found in other.values)))


def _expressions(term: Mapping) -> Iterator[Label]:
    for expression in term.sequence("matchExpressions").mappings():
        key, operator = text(expression, "key"), value(expression, "operator")
        if key is not None and isinstance(operator, Text) and operator in ("In", "Exists"):
            yield Label(key, tuple(values(expression, "values")))


def _toleration(item: Mapping) -> Toleration:
    return Toleration(value(item, "key"), value(item, "operator"), value(item, "value"), value(item, "effect"), item.location)


def _open_aspects(site: Site) -> Iterator[str]:
    """What another object or the controller may bring."""
    patched = any("podSpecPatch" in each for each in site.above)
    if not site.listed or patched or resources_from_elsewhere(site.kind):
        yield "gpu"
    if not site.listed or patched or adds_shm(site.kind):
        yield "shm"
    if not site.listed or patched or (adds_tolerations(site.kind) and not site.complete):
        yield from ("toleration", "runtime-class")
    if any(queue_label(name) for metadata in metadatas(site) for name, _ in _labels(metadata)):
        yield "toleration"
    if "nodeName" in site.holder:  # it has its node, whose taints nobody asks about any more
        yield "toleration"
    if site.holder.open:  # a part of a template that is not rendered may add any field
        yield from ("toleration", "runtime-class")
    if isinstance(_nearest(site, "tolerations").get("tolerations"), Unknown):
        yield "toleration"
    if isinstance(value(_nearest(site, "runtimeClassName"), "runtimeClassName"), Unknown):
        yield "gpu"
