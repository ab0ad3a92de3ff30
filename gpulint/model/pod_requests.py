"""GPU requests in Kubernetes: resources of a container, claims, what a pod asks for its containers, and settings in the wrong place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpulint.deferred import regex
from gpulint.facts.requests import gpu_annotation, runtime_vendor
from gpulint.facts.resources import gpu_label, gpu_resource, gpu_taint, legacy_resource, looks_like_gpu, nearest_resource
from gpulint.model.container import GpuRequest, Pod, RequestFault, RequestKind, RequestState
from gpulint.model.manifest import read, text, value
from gpulint.model.pod import metadatas
from gpulint.model.requests import cdi_request, runtime_request
from gpulint.model.workload import Site
from gpulint.parse.nodes import Entry, Mapping, Sequence
from gpulint.source import Text, Value

_QUALIFIED = regex(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?")
_ZERO = regex(r"\+?0*(?:\.0*)?(e[+-]?\d+|[numkMGTPE]|[KMGTPE]i)?", re.IGNORECASE)
_CDI_ANNOTATION = "cdi.k8s.io/"
_QUOTA_PREFIX = "requests."
_RAY_START_RESOURCES = ("num-cpus", "num-gpus", "memory", "resources")
_REFUSED = ": the API server refuses the pod"
_PENDING = ": the pod is never scheduled"
_BESIDE_CONTAINERS = (("resources", "limits"), ("resources", "requests"), ("resources",), ("limits",), ("requests",), ())
_INSIDE_CONTAINER = (("resources",), ("limits",), ("requests",), ())


def resource_requests(resources: Mapping) -> Iterator[GpuRequest]:
    """One request for each accelerator among the limits and requests of a container's resources.

    A zero is ZERO; a name that no plugin can advertise is BROKEN; a fraction or what is no quantity still asks.
    """
    limits, requests = resources.mapping("limits"), resources.mapping("requests")
    names = {str(key): key for key, _, _ in (*requests, *limits) if looks_like_gpu(key)}
    for name in names.values():
        limit, request = value(limits, name), value(requests, name)
        place = next(entry for entry in (limits.entry(name), requests.entry(name)) if entry)
        faults = tuple(_name_faults(name))
        yield GpuRequest(
            RequestKind.LIMIT,
            RequestState.BROKEN if faults else RequestState.ZERO if _is_zero(limit, request) else RequestState.ASKED,
            place.key.location.to(place.value.location),
            _vendor(name),
            limit if limit is not None else request,
            resource=place.key,
            limit=limit,
            request=request,
            faults=faults,
        )


def _vendor(name: str) -> str:
    resource = gpu_resource(name) or gpu_resource(nearest_resource(name) or "")
    return resource.vendor if resource else ""


def _name_faults(name: Text) -> Iterator[RequestFault]:
    near = nearest_resource(name) or ""
    if "/" not in name:
        yield RequestFault(f"`{name}` has no domain, which an extended resource must have{_REFUSED}", name.location, remedy=near)
    elif name.startswith(_QUOTA_PREFIX):
        yield RequestFault(f"`{name}` is a quota's name of a resource, not a container's{_REFUSED}", name.location, remedy=near)
    elif not _QUALIFIED.fullmatch(name):
        yield RequestFault(f"`{name}` is no well-formed resource name{_REFUSED}", name.location, remedy=near)
    elif legacy_resource(name):
        yield RequestFault(f"nothing advertises `{name}` any more{_PENDING}", name.location, remedy=near)
    elif near:
        yield RequestFault(f"no device plugin advertises `{name}`{_PENDING}", name.location, remedy=near, likely=True)


def _is_zero(limit: Value | None, request: Value | None) -> bool:
    given = [each for each in (limit, request) if each is not None]
    return bool(given) and all(isinstance(each, Text) and bool(each) and _ZERO.fullmatch(each) is not None for each in given)


def claim_requests(resources: Mapping, pod: Pod) -> Iterator[GpuRequest]:
    """The claims that a container uses; BROKEN where the pod declares no claim of that name."""
    for claim in resources.sequence("claims").mappings():
        name = value(claim, "name")
        if name is None:
            continue
        known = not isinstance(name, Text) or any(name == declared.name for declared in pod.claims)
        faults = () if known else (RequestFault(f"the pod declares no claim `{name}`", name.location),)
        state = RequestState.ASKED if known else RequestState.BROKEN
        yield GpuRequest(RequestKind.CLAIM, state, name.location, resource=name if isinstance(name, Text) else None, faults=faults)


def pod_level_requests(site: Site, pod: Pod, used_claims: frozenset[str]) -> Iterator[GpuRequest]:
    """What is asked for all containers of a pod: by its runtime class, by annotations, by settings in the wrong place, by unused claims."""
    by_runtime = runtime_request(pod.runtime_class)
    if by_runtime:
        yield by_runtime
    for metadata in metadatas(site):
        yield from _annotation_requests(metadata)
    yield from _misplaced_on_pod(site)
    for name, _ in pod.claims if site.form == "pod" else ():
        if name not in used_claims:
            fault = RequestFault(f"no container uses the claim `{name}`", name.location, likely=True)
            yield GpuRequest(RequestKind.CLAIM, RequestState.BROKEN, name.location, resource=name, faults=(fault,))


def _annotation_requests(metadata: Mapping) -> Iterator[GpuRequest]:
    for key, node, _ in metadata.mapping("annotations"):
        count = read(node)
        if gpu_annotation(key):
            yield GpuRequest(RequestKind.PRODUCT, RequestState.ASKED, key.location, count=count, resource=key)
        elif key.startswith(_CDI_ANNOTATION) and isinstance(count, Text):
            request = cdi_request(count)
            if request:
                yield request


def _misplaced_on_pod(site: Site) -> Iterator[GpuRequest]:
    """GPU resources beside the containers, in the pod's template, its metadata, or the owner's spec; and those of ephemeral containers.

    Beside the containers of a kind that is not listed they are a field of its own, and may well be right.
    """
    around = [*metadatas(site)]
    if site.listed:
        around += [site.holder, *site.above[:1], site.owner.mapping("spec"), site.owner]
    else:
        yield from (_product_request(entry.key, read(entry.value)) for entry in _resources_at(site.holder, _BESIDE_CONTAINERS))
    for mapping in {id(each): each for each in around}.values():
        yield from _misplaced_resources(mapping, _BESIDE_CONTAINERS, "outside of a container")
    for container in site.holder.sequence("ephemeralContainers").mappings():
        yield from _misplaced_resources(container, _BESIDE_CONTAINERS, "in an ephemeral container, which may ask for no resources")


def misplaced_in_container(container: Mapping) -> Iterator[GpuRequest]:
    """GPU resources that miss `limits`, and what only a pod may say: a runtime class, tolerations, a selector."""
    yield from _misplaced_resources(container, _INSIDE_CONTAINER, "outside of `resources.limits`")
    runtime = container.entry("runtimeClassName")
    if runtime and isinstance(runtime.value, Text) and runtime_vendor(runtime.value) is not None:
        yield _misplaced(RequestKind.RUNTIME, runtime, "inside a container")
    for entry in (container.entry("tolerations"), container.entry("nodeSelector")):
        if entry and _places_on_gpu(entry):
            yield _misplaced(RequestKind.PLACEMENT, entry, "inside a container")


def _misplaced_resources(mapping: Mapping, paths: tuple[tuple[str, ...], ...], where: str) -> Iterator[GpuRequest]:
    return (_misplaced(RequestKind.LIMIT, entry, where) for entry in _resources_at(mapping, paths))


def _resources_at(mapping: Mapping, paths: tuple[tuple[str, ...], ...]) -> Iterator[Entry]:
    """The entries of accelerators' resources at these paths."""
    for path in paths:
        for entry in mapping.mapping(*path) if not path or path[0] in mapping else ():
            if gpu_resource(entry.key):
                yield entry


def _places_on_gpu(entry: Entry) -> bool:
    """Whether tolerations or a selector are about GPU nodes."""
    if isinstance(entry.value, Mapping):
        return any(gpu_label(key, node if isinstance(node, Text) else None) for key, node, _ in entry.value)
    if isinstance(entry.value, Sequence):
        return any(gpu_taint(key) for item in entry.value.mappings() if (key := text(item, "key")) is not None)
    return False


def _misplaced(kind: RequestKind, entry: Entry, where: str) -> GpuRequest:
    fault = RequestFault(f"`{entry.key}` stands {where}", entry.key.location, misplaced=True)
    limit = read(entry.value) if kind is RequestKind.LIMIT else None
    return GpuRequest(kind, RequestState.BROKEN, entry.key.location, _vendor(entry.key), resource=entry.key, limit=limit, faults=(fault,))


def ray_requests(site: Site) -> Iterator[GpuRequest]:
    """What a Ray group tells Ray of its GPUs, beside what its pod asks for: `num-gpus` of `ray start`, or the group's own resources."""
    for group in site.above:
        start, own = group.mapping("rayStartParams"), group.mapping("resources")
        told_twice = len(own) > 0 and any(key in start for key in _RAY_START_RESOURCES)
        for entry in (start.entry("num-gpus"), own.entry("GPU")):
            if entry:
                fault = RequestFault("`rayStartParams` and `resources` of the group both say what Ray has", entry.key.location)
                yield replace(_product_request(entry.key, read(entry.value)), faults=(fault,) if told_twice else ())


def spark_requests(holder: Mapping) -> Iterator[GpuRequest]:
    """The `gpu` of a Spark driver or executor: a resource name and a quantity; without a name or with none of them nothing is asked."""
    gpu = holder.get("gpu")
    if isinstance(gpu, Mapping):
        name, quantity = text(gpu, "name"), value(gpu, "quantity")
        request = _product_request(name or Text("gpu", gpu.location, ()), quantity)
        fault = RequestFault("`gpu` names no resource", gpu.location)
        yield request if name or "name" in gpu else replace(request, state=RequestState.BROKEN, faults=(fault,))


def _product_request(key: Text, count: Value | None) -> GpuRequest:
    state = RequestState.ZERO if _is_zero(count, None) else RequestState.ASKED
    resource = gpu_resource(key)
    return GpuRequest(RequestKind.PRODUCT, state, key.location, resource.vendor if resource else "", count, resource=key)
