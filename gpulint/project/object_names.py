"""What the objects of a manifest are called: a line of a stream that a program printed tells nobody where it comes from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from gpulint.model.manifest import text
from gpulint.model.workload import kind_of, objects
from gpulint.parse.nodes import Mapping
from gpulint.project.tree import Tree


def namer(tree: Tree, path: str) -> Callable[[int], str]:
    """What tells the object of a manifest that a line stands in, as `Deployment prod/trainer`; "" where it has no name."""
    syntax = tree.yaml(path)
    found = [owner for document in (syntax.documents if syntax else ()) for owner in objects(document.root)]
    found.sort(key=lambda owner: owner.location.line)
    lines = [owner.location.line for owner in found]

    def name(line: int) -> str:
        index = bisect_right(lines, line) - 1
        return _name(found[index]) if index >= 0 and line <= found[index].location.end_line else ""

    return name


def _name(owner: Mapping) -> str:
    metadata = owner.mapping("metadata")
    name = text(metadata, "name") or text(metadata, "generateName")
    namespace, kind = text(metadata, "namespace"), kind_of(owner)
    if not name or not kind:
        return ""
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
