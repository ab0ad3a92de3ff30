"""A Compose service as the files write it: the mappings that Compose merges into it, and look-ups over them that keep each value's place.

Merging is left to the look-ups: the last mapping that gives a scalar wins, sequences are appended, mappings are searched key by key,
and Compose's tags `!reset` and `!override` hide what lies below them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field, replace

from gpulint.deferred import dataclass
from gpulint.model.interpolation import Interpolated, Variables, interpolate
from gpulint.parse.boolean import compose_boolean
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.source import Text, Unknown, Value


@dataclass(frozen=True, eq=False)
class RawService:
    """`key` is the service's name in the file that a finding points at. `layers` are the mappings that make it up, those that others
    override first; `steps` how many of them the files before each later one bring. `open` names the aspects that a file which could not be
    read may supply. `stray` are keys of GPU blocks beside the service that belong into it."""

    key: Scalar
    layers: tuple[Mapping, ...]
    variables: Variables = field(default_factory=dict)
    open: frozenset[str] = frozenset()
    stray: tuple[Text, ...] = ()
    steps: tuple[int, ...] = ()

    def extending(self, base: RawService) -> RawService:
        """This service on top of the one that its `extends` names."""
        variables = self.variables if self.variables is base.variables else {**base.variables, **self.variables}
        layers, stray = base.layers + self.layers, base.stray + self.stray
        return replace(self, layers=layers, variables=variables, open=self.open | base.open, stray=stray)

    def overriding(self, base: RawService) -> RawService:
        """This service on top of the one of the same name in a file before it."""
        key = base.key if base.has_image else self.key
        return replace(self.extending(base), key=key, steps=(*base.steps, len(base.layers)))

    def parts(self) -> Iterator[RawService]:
        """The service as each of its files but the last leaves it."""
        return (replace(self, layers=self.layers[:step], steps=()) for step in self.steps)

    @property
    def has_image(self) -> bool:
        """Whether it names what to run. One that does not is a fragment: no container of its own."""
        return self.node("image") is not None or self.node("build") is not None

    def every(self, *path: str) -> Iterator[Node]:
        """What each layer has at a path, the overridden first; nulls are as absent, as Compose takes them."""
        return (node for node, _ in self.every_by_step(*path))

    def every_by_step(self, *path: str) -> Iterator[tuple[Node, int]]:
        """What each layer has at a path, each with the number of files before its own."""
        nodes = [layer.get(*path) for layer in self.layers]
        first = len(nodes) if nodes.count(None) == len(nodes) else self._first_visible(path)
        for index in range(first, len(nodes)):
            node = nodes[index]
            if node is not None and not is_null(node):
                yield node, bisect_right(self.steps, index)

    def _first_visible(self, path: tuple[str, ...]) -> int:
        """The first layer that has a say at a path: the one above the last `!reset` on the way there, or the last `!override`."""
        for index in range(len(self.layers) - 1, -1, -1):
            node: Node | None = self.layers[index]
            for key in path:
                node = node.get(key) if isinstance(node, Mapping) else None
                tag = tag_of(node)
                if tag in ("!reset", "!override"):
                    return index + (tag == "!reset")
        return 0

    def node(self, *path: str) -> Node | None:
        """What the last layer that has the path says."""
        return next(reversed(tuple(self.every(*path))), None)

    def items(self, *path: str) -> Iterator[Node]:
        """The items of the sequences at a path, appended; a lone scalar counts as one item."""
        for node in self.every(*path):
            if isinstance(node, Sequence):
                yield from kept(node)
            elif isinstance(node, (Scalar, Unknown)):
                yield node

    def value(self, *path: str) -> Value | None:
        """The scalar at a path after interpolation; None where there is none."""
        node = self.node(*path)
        return self.read(node).value() if isinstance(node, (Scalar, Unknown)) else None

    def values(self, *path: str) -> tuple[Value, ...]:
        """The scalars among the items at a path, after interpolation."""
        return tuple(self.read(item).value() for item in self.items(*path) if isinstance(item, (Scalar, Unknown)))

    def flag(self, *path: str) -> Text | None:
        """The scalar at a path where it says yes."""
        value = self.value(*path)
        return value if isinstance(value, Text) and compose_boolean(value) else None

    def read(self, scalar: Value) -> Interpolated:
        """A scalar of this service after interpolation."""
        return interpolate(scalar, self.variables)


def kept(items: Sequence) -> Iterator[Node]:
    """The items that no `!reset` takes away."""
    return (item for item in items if tag_of(item) != "!reset")


def tag_of(node: Node | None) -> str | None:
    """The explicit tag of a node."""
    return None if node is None or isinstance(node, Unknown) else node.tag


def is_null(node: Node) -> bool:
    """Whether nothing is written there."""
    return isinstance(node, Scalar) and node.is_null
