"""What a kustomization makes of one object: patches, names, labels, replicas, images and replacements, in kustomize's own order."""

from __future__ import annotations

from dataclasses import replace

from gpulint.deferred import dataclass
from gpulint.facts.kustomize import has_replicas, has_schema
from gpulint.model.container import ASPECTS
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.project.image_pins import with_images
from gpulint.project.kustomization import Kustomization, Patch
from gpulint.project.patch import PatchError, apply_operations, merge, removes
from gpulint.project.patch_target import Name, is_selected, names_itself, text_at, without_identity
from gpulint.project.replacement import with_unknown, with_unknown_variables


@dataclass(frozen=True, eq=False)
class Resource:
    """One object as a kustomization builds it.

    `names` are those it had and, last, has; its root keeps the one it is written with. `open` names the aspects that a patch which could
    not be read or applied may supply.
    """

    root: Mapping
    names: tuple[Name, ...]
    template: bool = False
    open: frozenset[str] = frozenset()


def read_resource(root: Mapping, template: bool) -> Resource:
    """An object as it is written."""
    return Resource(root, (Name(text_at(root, "metadata", "namespace"), text_at(root, "metadata", "name")),), template)


def transformed(resource: Resource, by: Kustomization) -> Resource | None:
    """The object as the kustomization builds it; None where a patch takes it away."""
    for patch in by.first_patches:
        patched = _patched(resource, patch)
        if patched is None:
            return None
        resource = patched
    for change in (_with_namespace, _with_affixes, _with_labels):
        resource = change(resource, by.root)
    for patch in by.late_patches:
        resource = _patched(resource, patch) or resource
    for change in (_with_replicas, _with_images):
        resource = change(resource, by.root)
    resource = _without_variables(_with_replacements(resource, by), by.root)
    return replace(resource, open=resource.open | by.opens) if by.opens else resource


# --- Patches --------------------------------------------------------------------------------------------------------------------


def _patched(resource: Resource, patch: Patch) -> Resource | None:
    """The resource with a patch on it where the patch is for it; None where the patch takes it away."""
    is_meant = _is_for(patch, resource)
    if is_meant is False:
        return resource
    if is_meant and isinstance(patch.body, Mapping) and removes(patch.body):
        return None
    try:
        if is_meant:
            return _applied(resource, patch)
    except PatchError:
        pass
    return replace(resource, open=ASPECTS)


def _is_for(patch: Patch, resource: Resource) -> bool | None:
    """Whether a patch is for the object; None where that cannot be told."""
    if patch.target is not None:
        return is_selected(patch.target, resource.root, resource.names)
    return names_itself(patch.body, resource.root, resource.names) if isinstance(patch.body, Mapping) else patch.body is None


def _applied(resource: Resource, patch: Patch) -> Resource:
    root, body = resource.root, patch.body
    if isinstance(body, Sequence):
        return _renamed(replace(resource, root=apply_operations(root, body)), text_at(root, "metadata", "name"))
    if isinstance(body, Mapping):
        return replace(resource, root=merge(root, without_identity(body), has_schema(text_at(root, "apiVersion"))))
    raise PatchError


def _renamed(resource: Resource, before: str) -> Resource:
    """The resource with the name that an operation has given it; patches go on finding it under the old one too."""
    name = text_at(resource.root, "metadata", "name")
    return resource if name == before else _named(resource, name=name)


# --- Names and labels -----------------------------------------------------------------------------------------------------------


def _named(resource: Resource, **change: str) -> Resource:
    return replace(resource, names=(*resource.names, resource.names[-1]._replace(**change)))


def _with_namespace(resource: Resource, root: Mapping) -> Resource:
    namespace = root.scalar("namespace")
    if not isinstance(namespace, Scalar):
        return resource
    return _named(_with(resource, namespace, "metadata", "namespace"), namespace=str(namespace))


def _with_affixes(resource: Resource, root: Mapping) -> Resource:
    prefix, suffix = text_at(root, "namePrefix"), text_at(root, "nameSuffix")
    return _named(resource, name=f"{prefix}{resource.names[-1].name}{suffix}") if prefix or suffix else resource


def _with_labels(resource: Resource, root: Mapping) -> Resource:
    """The resource with labels and annotations, by which later patches may select it."""
    labels = (root.get("commonLabels"), *(each.get("pairs") for each in root.sequence("labels").mappings()))
    for field, notes in (*(("labels", each) for each in labels), ("annotations", root.get("commonAnnotations"))):
        if isinstance(notes, Mapping):
            resource = _with(resource, notes, "metadata", field)
    return resource


def _with(resource: Resource, value: Node, *path: str) -> Resource:
    """The resource with a value at a path of keys."""
    for key in reversed(path):
        value = Mapping((Entry(Scalar(key, value.location, ()), value),), value.location)
    assert isinstance(value, Mapping)
    try:
        return replace(resource, root=merge(resource.root, value, False))
    except PatchError:
        return replace(resource, open=ASPECTS)


# --- Replicas and images --------------------------------------------------------------------------------------------------------


def _with_replicas(resource: Resource, root: Mapping) -> Resource:
    for entry in root.sequence("replicas").mappings():
        count = entry.get("count")
        is_meant = text_at(entry, "name") in {each.name for each in resource.names}
        if isinstance(count, Scalar) and is_meant and has_replicas(kind_of(resource.root)):
            resource = _with(resource, count, "spec", "replicas")
    return resource


def _with_images(resource: Resource, root: Mapping) -> Resource:
    pins = tuple(root.sequence("images").mappings())
    return replace(resource, root=with_images(resource.root, pins)) if pins else resource


def _without_variables(resource: Resource, root: Mapping) -> Resource:
    names = frozenset(text_at(each, "name") for each in root.sequence("vars").mappings())
    changed = with_unknown_variables(resource.root, names) if names else resource.root
    return replace(resource, root=changed) if isinstance(changed, Mapping) else resource


def _with_replacements(resource: Resource, by: Kustomization) -> Resource:
    """The resource with the fields unknown that replacements write; with everything open where it is not clear which these are."""
    replacements = by.replacements
    if replacements is None:
        return replace(resource, open=ASPECTS)
    root = resource.root
    if not replacements:
        return resource
    try:
        for replacement in replacements:
            root = with_unknown(root, resource.names, replacement)
    except PatchError:
        return replace(resource, open=ASPECTS)
    return replace(resource, root=root)
