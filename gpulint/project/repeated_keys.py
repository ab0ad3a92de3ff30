"""Keys that stand twice in one mapping of a Compose file: every other reader of YAML takes the last, Compose refuses the file."""

from __future__ import annotations

from collections.abc import Container as Collection
from collections.abc import Iterable, Iterator

from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml_problems import looks_templated
from gpulint.project.tree import Tree
from gpulint.source import Location


def repeated_keys(tree: Tree, paths: Iterable[str], told: Collection[Location]) -> Iterator[Scalar]:
    """The first such key of each of these files where it is written the second time; none of which a rule tells by its place. The
    branches of a template may hold a key each."""
    for path in paths:
        source, syntax = tree.source(path), tree.yaml(path)
        roots = [document.root for document in syntax.documents] if source and syntax and not looks_templated(source.text) else []
        keys = [key for root in roots for key in _repeated(root) if key.location not in told]
        yield from sorted(keys, key=lambda key: key.location)[:1]


def _repeated(root: Node | None) -> Iterator[Scalar]:
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Mapping):
            yield from node.repeated
            waiting += (entry.value for entry in node.entries if not entry.merged)
        elif isinstance(node, Sequence):
            waiting += node.items
