"""The `replacements` and `vars` of a kustomization: what they write into an object is taken for unknown."""

from __future__ import annotations

from collections.abc import Sequence as Several

from gpulint.deferred import regex
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.project.patch import PatchError
from gpulint.project.patch_target import Name, is_selected
from gpulint.source import Text, Unknown

_STEP = regex(r"\[[^\]]*\]|(?:\\.|[^.\\\[])+")
_REFERENCE = regex(r"\$\((\w+)\)")
_LONGEST_PATH = 1000
_MOST_STEPS = 50


def with_unknown(root: Mapping, names: Several[Name], replacement: Mapping) -> Mapping:
    """An object with each field unknown that a replacement writes in it. Raises PatchError where it cannot be told which these are."""
    for target in replacement.sequence("targets").mappings():
        if _is_meant(root, names, target):
            for path in target.sequence("fieldPaths"):
                if not isinstance(path, Scalar):
                    raise PatchError
                changed = _written(root, _steps(path), Unknown(f"${{{path}}}", path.location))
                root = changed if isinstance(changed, Mapping) else root
    return root


def with_unknown_variables(node: Node, variables: frozenset[str], depth: int = 0) -> Node:
    """The node with each scalar unknown that refers to one of these variables, the `vars` of a kustomization, as `$(NAME)`."""
    if isinstance(node, Scalar):
        return Unknown(str(node), node.location) if variables.intersection(_REFERENCE.findall(node)) else node
    if depth > _MOST_STEPS or not isinstance(node, (Mapping, Sequence)):
        return node
    if isinstance(node, Sequence):
        items = tuple(with_unknown_variables(item, variables, depth + 1) for item in node)
        return Sequence(items, node.location, node.tag, node.open)
    entries = (Entry(key, with_unknown_variables(value, variables, depth + 1), merged) for key, value, merged in node.entries)
    return Mapping(tuple(entries), node.location, node.tag, node.open)


def _is_meant(root: Mapping, names: Several[Name], target: Mapping) -> bool:
    wanted = is_selected(target.mapping("select"), root, names)
    rejected = [is_selected(each, root, names) for each in target.sequence("reject").mappings()]
    if wanted is False or True in rejected:
        return False
    if wanted is None or None in rejected:
        raise PatchError
    return True


def _steps(path: Text) -> tuple[str, ...]:
    """The steps of a field's path: keys, indices, `*`, and `[key=value]` for the items of a list."""
    steps = tuple(_STEP.findall(path)) if len(path) <= _LONGEST_PATH else ()
    if not steps or len(steps) > _MOST_STEPS:
        raise PatchError
    return tuple(step.replace("\\.", ".") for step in steps)


def _written(node: Node, steps: tuple[str, ...], value: Unknown) -> Node:
    """The node with the value at the end of the steps. A step that leads nowhere is made, as the option `create` has it."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(node, Sequence):
        items = tuple(_written(item, rest, value) if _is_step(step, index, item) else item for index, item in enumerate(node))
        return Sequence(items, node.location, node.tag, node.open)
    key = step[1:-1] if step.startswith("[") else step
    if not isinstance(node, Mapping) or "=" in key:
        return value
    entries = tuple(Entry(name, _written(below, rest, value) if key in ("*", name) else below) for name, below, _ in node)
    if key != "*" and key not in node:
        entries = (*entries, Entry(Scalar(key, value.location, ()), value))
    return Mapping(entries, node.location, node.tag, node.open)


def _is_step(step: str, index: int, item: Node) -> bool:
    """Whether a step means an item of a list."""
    if not step.startswith("["):
        return step in ("*", str(index))
    key, _, wanted = step[1:-1].partition("=")
    if not key:
        return item == wanted if isinstance(item, Scalar) else False
    found = item.get(key) if isinstance(item, Mapping) else None
    return isinstance(found, Unknown) or (isinstance(found, Scalar) and found == wanted)
