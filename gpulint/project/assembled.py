"""Workloads that the cluster puts together from two objects: a TrainJob with its runtime, an InferenceService with its serving runtime, a
workflow with its template and defaults.

What is read is the whole, as the object's controller makes it. Each value keeps its place, and what is asked for by the object that names
the other stands at that object. Where the other is not here, or more than one could be meant, the object stays as it is written.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpulint.deferred import NamedTuple
from gpulint.facts.workloads import Assembly, assembly, is_part
from gpulint.model.manifest import text
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import EMPTY_MAPPING, Entry, Mapping, Node, Scalar, Sequence
from gpulint.project.embedded import embedded
from gpulint.project.patch import PatchError, merge
from gpulint.source import Location

_DEFAULTS, _PATCH = "templateDefaults", "podSpecPatch"
_OF_A_TEMPLATE = ("container", "script", "containerSet")
_MAIN = "main"
_MOST_VALUES = 1_000_000
"""Values of parts in all, counted for each object that has them: a bound for a thousand objects that name a large one."""
_MOST_PATCHED = 1_000_000
"""Characters of a workflow's patch, counted for each template that it is for."""


class Whole(NamedTuple):
    """A workload as its controller makes it. `complete` where all that another object brings is in it."""

    root: Mapping
    complete: bool


class Parts:
    """The objects that others name as a part of themselves, by kind and name."""

    def __init__(self, objects: Iterable[Mapping]) -> None:
        self._found: dict[tuple[str, str], dict[int, Mapping]] = {}
        self._sizes: dict[int, int] = {}
        self._left = _MOST_VALUES
        for owner in objects:
            kind = kind_of(owner)
            name = text(owner, "metadata", "name") if is_part(kind) else None
            if name is not None:
                self._found.setdefault((kind, str(name)), {})[id(owner)] = owner

    def named(self, owner: Mapping, how: Assembly) -> Mapping | None:
        """The one object that `owner` names as its part; None where none is here, or several are."""
        reference = owner.get(*how.named_at)
        name = text(reference, "name") if isinstance(reference, Mapping) else text(owner, *how.named_at)
        kind = text(reference, "kind") if isinstance(reference, Mapping) else None
        if name is None:
            return None
        kinds = (str(kind),) if kind is not None else how.parts
        found = [each for part in kinds for each in self._found.get((part, str(name)), {}).values() if _in_reach(owner, each)]
        return found[0] if len(found) == 1 and self._affords(found[0]) else None

    def _affords(self, part: Mapping) -> bool:
        """Whether one more object may have this part."""
        if id(part) not in self._sizes:
            self._sizes[id(part)] = _size(part)
        self._left -= self._sizes[id(part)]
        return self._left >= 0


def _size(root: Node) -> int:
    """How many values a tree holds."""
    waiting, count = [root], 0
    while waiting:
        node = waiting.pop()
        count += 1
        if isinstance(node, Sequence):
            waiting += node.items
        elif isinstance(node, Mapping):
            waiting += [value for _, value, _ in node]
    return count


def _in_reach(owner: Mapping, part: Mapping) -> bool:
    """Whether both may be in one namespace: a part of the whole cluster has none."""
    own, other = text(owner, "metadata", "namespace"), text(part, "metadata", "namespace")
    return own is None or other is None or own == other


def whole(owner: Mapping, parts: Parts) -> Whole:
    """The object as its controller makes it: the object itself where it is made of nothing else."""
    how = assembly(kind_of(owner))
    if how is None:
        return Whole(owner, False)
    try:
        return _MAKERS[how.maker](owner, parts.named(owner, how), how)
    except PatchError:
        return Whole(owner, False)


# --- Mappings -------------------------------------------------------------------------------------------------------------------


def _with(mapping: Mapping, values: dict[str, Node | None], location: Location | None = None) -> Mapping:
    """The mapping with other values for some keys; None takes a key away."""
    kept = [entry for entry in mapping if entry.key not in values]
    new = [Entry(_key(mapping, key, value), value) for key, value in values.items() if value is not None]
    return Mapping((*kept, *new), location or mapping.location, mapping.tag, mapping.open)


def _key(mapping: Mapping, key: str, value: Node) -> Scalar:
    """The key as the mapping has it, else one that stands where its value does."""
    entry = mapping.entry(key)
    return entry.key if entry else Scalar(key, value.location)


def _put(mapping: Mapping, path: tuple[str, ...], value: Mapping) -> Mapping:
    """The mapping with another one at a path of keys."""
    first, *rest = path
    return _with(mapping, {first: _put(mapping.mapping(first), tuple(rest), value) if rest else value})


def _without(mapping: Mapping, *keys: str) -> Mapping:
    return _with(mapping, dict.fromkeys(keys))


def _container(spec: Mapping, name: str) -> Mapping | None:
    """The container of that name, or the only one."""
    found = list(spec.sequence("containers").mappings())
    return next((each for each in found if text(each, "name") == name), found[0] if len(found) == 1 else None)


# --- TrainJob and its runtime ---------------------------------------------------------------------------------------------------


def _train_job(owner: Mapping, runtime: Mapping | None, how: Assembly) -> Whole:
    """A TrainJob whose trainer has what the runtime's has, and whose spec has what the runtime says of the pod."""
    pod = _trainers_pod(runtime, how) if runtime else None
    container = _container(pod, how.container) if pod else None
    if pod is None or container is None:
        return Whole(owner, False)
    spec = owner.mapping("spec")
    own = spec.mapping("trainer")
    resources = next((each for each in (own.get("resourcesPerNode"), container.get("resources")) if each is not None), EMPTY_MAPPING)
    place = own.location if own.entries else container.location
    trainer = _with(
        merge(_without(container, "resources"), _without(own, "resourcesPerNode"), True), {"resourcesPerNode": resources}, place
    )
    of_pod = {str(key): value for key, value, _ in pod if key not in spec and key not in ("containers", "initContainers")}
    overridden = any(key in spec for key in how.overrides)
    return Whole(_with(owner, {"spec": _with(spec, {**of_pod, "trainer": trainer})}), not overridden)


def _trainers_pod(runtime: Mapping, how: Assembly) -> Mapping | None:
    """The pod spec of the job that trains: the only one, or the one called as the container; not where a launcher starts it."""
    jobs = list(runtime.sequence("spec", "template", "spec", "replicatedJobs").mappings())
    if len(jobs) > 1:
        jobs = [job for job in jobs if text(job, "name") == how.container and not any(text(each, "name") == how.launcher for each in jobs)]
    return jobs[0].mapping("template", "spec", "template", "spec") if len(jobs) == 1 else None


# --- InferenceService and its serving runtime -----------------------------------------------------------------------------------


def _inference_service(owner: Mapping, runtime: Mapping | None, how: Assembly) -> Whole:
    """An InferenceService whose predictor is the pod that the runtime and the model's settings make."""
    spec = runtime.mapping("spec") if runtime else EMPTY_MAPPING
    container = _container(spec, how.container)
    if container is None:
        return Whole(owner, False)
    predictor = owner.mapping("spec", "predictor")
    model = predictor.mapping("model")
    merged = merge(container, _without(model, "args"), True)
    arguments = (*container.sequence("args"), *model.sequence("args"))
    values: dict[str, Node | None] = {"args": Sequence(arguments, merged.location)} if arguments else {}
    served = _with(merged, values, model.location)
    others = (each for each in spec.sequence("containers") if each is not container)
    pod = merge(_without(spec, "containers", "workerSpec"), _without(predictor, "model", "workerSpec"), True)
    workers = merge(spec.mapping("workerSpec"), predictor.mapping("workerSpec"), True) if "workerSpec" in predictor else None
    containers = Sequence((served, *others), model.location)
    whole_pod = _with(pod, {"containers": containers, "workerSpec": workers}, predictor.location)
    return Whole(_put(owner, ("spec", "predictor"), whole_pod), True)


# --- Workflow, its template and defaults ----------------------------------------------------------------------------------------


def _workflow(owner: Mapping, template: Mapping | None, how: Assembly) -> Whole:
    """A workflow with the templates of what it refers to, and with its defaults and patches in each of them."""
    path = how.named_at[:-1]
    spec = owner.mapping(*path)
    if template is not None:
        spec = merge(template.mapping("spec"), _without(spec, how.named_at[-1]), True)
    templates, patch = spec.sequence("templates"), spec.get(_PATCH)
    if not any(key in spec or _PATCH in each for key in (_DEFAULTS, _PATCH) for each in templates.mappings()) and template is None:
        return Whole(owner, False)
    shared = _read_patch(patch, len(templates))
    items = tuple(_template(item, spec.mapping(_DEFAULTS), shared) if isinstance(item, Mapping) else item for item in templates)
    values: dict[str, Node | None] = {"templates": Sequence(items, templates.location, templates.tag, templates.open)}
    if shared is not None:
        values[_PATCH] = None
    return Whole(_put(owner, path, _with(spec, values, owner.mapping(*path).location)), True)


def _template(template: Mapping, defaults: Mapping, shared: Mapping | None) -> Mapping:
    """A template with the workflow's defaults for its own type, and the patches of workflow and template."""
    mine = _without(defaults, *(key for key in _OF_A_TEMPLATE if key not in template))
    whole_template = _keeping_place(merge(mine, template, False), template)
    own = _read_patch(template.get(_PATCH), 1)
    for patch in (shared, own):
        whole_template = whole_template if patch is None else _patched(whole_template, patch)
    return whole_template if own is None else _without(whole_template, _PATCH)


def _keeping_place(merged: Mapping, template: Mapping) -> Mapping:
    """The merged template, whose parts stand where the template has them, not its defaults."""
    values: dict[str, Node | None] = {}
    for key in _OF_A_TEMPLATE:
        own, found = template.get(key), merged.get(key)
        if isinstance(own, Mapping) and isinstance(found, Mapping):
            values[key] = _with(found, {}, own.location)
    return _with(merged, values, template.location)


def _read_patch(patch: Node | None, templates: int) -> Mapping | None:
    """The pod spec that a patch of so many templates writes as YAML or JSON; None for one that is filled in when the workflow runs."""
    if not isinstance(patch, Scalar) or "{{" in patch or len(patch) * templates > _MOST_PATCHED:
        return None
    roots = embedded(patch)
    return roots[0] if len(roots) == 1 and isinstance(roots[0], Mapping) else None


def _patched(template: Mapping, patch: Mapping) -> Mapping:
    """A template with a patch of its pod: what that says of the container `main` and of those of the pod that are named alike."""
    values: dict[str, Node | None] = {}
    for item in patch.sequence("containers").mappings():
        for key in ("container", "script"):
            own = template.get(key)
            if isinstance(own, Mapping) and text(item, "name") == _MAIN:
                values[key] = _with(merge(own, _without(item, "name"), True), {}, own.location)
    return _with(merge(template, _without(patch, "containers", "initContainers"), True), values, template.location)


_MAKERS = {"train-job": _train_job, "inference-service": _inference_service, "workflow": _workflow}
