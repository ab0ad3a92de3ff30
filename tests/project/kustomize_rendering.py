"""What a kustomization renders, as far as rules read it: by kubectl and by gpulint, in one form that can be compared."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from gpulint.model.workload import find_sites, kind_of, objects
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.project.kustomize import Kustomizations
from gpulint.project.patch_target import text_at
from gpulint.project.transform import Resource
from gpulint.project.tree import Tree
from gpulint.source import Unknown

Plain = object
Rendering = dict[str, Plain]

SNAPSHOTS = Path(__file__).parent / "kustomize_rendered.json"
"""What kubectl renders of the trees that the tests make; tools/render_kustomizations.py writes it."""

UNKNOWN = "<unknown>"
KUBECTL = ("kubectl", "kustomize", "--load-restrictor=LoadRestrictionsNone")
_POD_KEYS = ("nodeSelector", "tolerations", "runtimeClassName", "volumes", "hostIPC", "affinity", "resourceClaims")
_CONTAINER_KEYS = ("name", "image", "command", "args", "env", "envFrom", "resources", "volumeMounts", "securityContext")
_REFERENCES = {"configMap", "secret", "configMapKeyRef", "secretKeyRef", "configMapRef", "secretRef", "persistentVolumeClaim"}
"""What names another object, which kustomize may have renamed; modes are numbers there, which it writes anew."""


def by_kubectl(folder: Path) -> Rendering | None:
    """What kubectl renders of a folder; None where it refuses it."""
    try:
        run = subprocess.run([*KUBECTL, str(folder)], capture_output=True, timeout=10, check=True)
    except subprocess.SubprocessError:  # also where it waits for a remote base
        return None
    syntax = Tree(Path(), (), {"rendered.yaml": run.stdout}).yaml("rendered.yaml")
    roots = [document.root for document in syntax.documents] if syntax else []
    return rendering((owner, text_at(owner, "metadata", "name")) for root in roots for owner in objects(root))


def rendered_tree(files: dict[str, str], folder: Path) -> Rendering | None:
    """What kubectl renders of a tree of the tests; None where it refuses it."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return by_kubectl(folder / "overlay")


def by_gpulint(tree: Tree, path: str) -> tuple[Rendering, tuple[Resource, ...]]:
    """What gpulint builds of the kustomization in a file, and the resources themselves."""
    found = Kustomizations(tree, lambda _path: True).built_by(path)
    return rendering((resource.root, resource.names[-1].name) for resource in found), found


def rendering(named: Iterable[tuple[Mapping, str]]) -> Rendering:
    """The workloads among objects by kind, namespace and name, each with what rules read of it."""
    found: Rendering = {}
    for owner, name in named:
        pods = [_pod(site.node) if site.form == "pod" else plain(site.node) for site in find_sites(owner)]
        if pods:
            key = f"{kind_of(owner)}/{text_at(owner, 'metadata', 'namespace')}/{name}"
            replicas = owner.get("spec", "replicas")
            found[key] = {"replicas": None if replicas is None else plain(replicas), "pods": pods}
    return found


def _pod(node: Mapping) -> Plain:
    kept = {key: plain(node.get(key)) for key in _POD_KEYS}
    lists = {key: [_container(item) for item in node.sequence(key).mappings()] for key in ("containers", "initContainers")}
    return without_nothing({**kept, **lists})


def _container(item: Mapping) -> Plain:
    return {key: plain(item.get(key)) for key in _CONTAINER_KEYS}


def plain(node: Node | None, is_reference: bool = False) -> Plain:
    """A node as strings, lists and dictionaries; None for null."""
    if isinstance(node, Mapping):
        hidden = ("name", "secretName", "claimName", "defaultMode") if is_reference else ()
        return {str(key): plain(value, key in _REFERENCES) for key, value, _ in node if key not in hidden}
    if isinstance(node, Sequence):
        return [plain(item) for item in node]
    if isinstance(node, Unknown):
        return UNKNOWN
    return None if node is None or (isinstance(node, Scalar) and node.is_null) else str(node)


def without_nothing(value: Plain) -> Plain:
    """The value without empty parts, which say the same as absent ones."""
    if isinstance(value, dict):
        kept = {key: without_nothing(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in (None, {}, [])}
    return [without_nothing(each) for each in value] if isinstance(value, list) else value


def differences(wanted: Plain, found: Plain, at: str = "") -> Iterator[str]:
    """Where two renderings differ; what is unknown agrees with everything."""
    if found == UNKNOWN or wanted == found:
        return
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted({*wanted, *found}):
            yield from differences(wanted.get(key), found.get(key), f"{at}/{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (left, right) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(left, right, f"{at}/{index}")
    else:
        yield f"{at}: kubectl has {wanted!r}, gpulint {found!r}"
