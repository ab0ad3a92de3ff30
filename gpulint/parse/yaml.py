"""YAML and JSON documents as trees of Mapping, Sequence and Scalar, each with its place.

PyYAML's C parser composes the nodes; no value is converted, so that each consumer reads quantities and booleans as its own tool does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Union

from gpulint.source import Location, Source, Text, Unknown


class Scalar(Text):
    """A scalar without its quotes; `plain` where it had none, so that `null`, `true` and `1` can be told from strings."""

    __slots__ = ("plain",)
    plain: bool

    @property
    def is_null(self) -> bool:
        """Whether the scalar is YAML's null: nothing, `~` or `null` without quotes."""
        return self.plain and str(self) in ("", "~", "null", "Null", "NULL")


class Entry(NamedTuple):
    """One key of a mapping with its value; `merged` where `<<` brought it in."""

    key: Scalar
    value: Node
    merged: bool = False


class Mapping:
    """A mapping: its entries in file order with duplicate keys kept, merged ones last.

    A look-up takes the last own entry of a key, else the first merged one. The location runs from the first key or the brace to the
    end of the last value.
    """

    __slots__ = ("_index", "entries", "location")

    def __init__(self, entries: tuple[Entry, ...], location: Location) -> None:
        self.entries = entries
        self.location = location
        self._index: dict[str, Entry] = {}
        for entry in entries:
            if not (entry.merged and entry.key in self._index):
                self._index[str(entry.key)] = entry

    def entry(self, key: str) -> Entry | None:
        """The entry that counts for a key."""
        return self._index.get(key)

    def get(self, *path: str) -> Node | None:
        """The value at a path of keys; None where a key is absent or what holds it is no mapping."""
        node: Node | None = self
        for key in path:
            if not isinstance(node, Mapping):
                return None
            entry = node._index.get(key)
            node = entry.value if entry else None
        return node

    def mapping(self, *path: str) -> Mapping:
        """The mapping at a path; an empty one where there is none."""
        node = self.get(*path)
        return node if isinstance(node, Mapping) else EMPTY_MAPPING

    def sequence(self, *path: str) -> Sequence:
        """The sequence at a path; an empty one where there is none."""
        node = self.get(*path)
        return node if isinstance(node, Sequence) else EMPTY_SEQUENCE

    def scalar(self, *path: str) -> Scalar | Unknown | None:
        """The scalar at a path; None where there is none, or null."""
        node = self.get(*path)
        if isinstance(node, Unknown):
            return node
        return node if isinstance(node, Scalar) and not node.is_null else None

    def __iter__(self) -> Iterator[Entry]:
        """The entries that count, one for each key."""
        return iter(self._index.values())

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __len__(self) -> int:
        return len(self._index)


class Sequence:
    """A sequence; its location runs from the first dash or the bracket to the end of the last item."""

    __slots__ = ("items", "location")

    def __init__(self, items: tuple[Node, ...], location: Location) -> None:
        self.items = items
        self.location = location

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def mappings(self) -> Iterator[Mapping]:
        """The items that are mappings."""
        return (item for item in self.items if isinstance(item, Mapping))


Node = Union[Mapping, Sequence, Scalar, Unknown]

NOWHERE = Location("", 0, 0, 0, 0)
EMPTY_MAPPING = Mapping((), NOWHERE)
EMPTY_SEQUENCE = Sequence((), NOWHERE)


class SyntaxProblem(NamedTuple):
    """Why a document could not be read, and where."""

    message: str
    location: Location


@dataclass(frozen=True, eq=False)
class Document:
    """One YAML document. `template` says that it was a template whose actions were replaced: then what is absent may yet be rendered."""

    root: Node | None
    location: Location
    template: bool = False


@dataclass(frozen=True, eq=False)
class YamlSyntax:
    """The documents of a file, and what is wrong with those that could not be read."""

    documents: tuple[Document, ...]
    problems: tuple[SyntaxProblem, ...] = ()


def parse(source: Source) -> YamlSyntax:
    """Read a YAML or JSON file (comments allowed in JSON). Never raises."""
    raise NotImplementedError
