"""The tree of a YAML or JSON document: Mapping, Sequence and Scalar, each with its place, and Unknown where a template is not rendered.

No value is converted, so that each consumer reads quantities and booleans as its own tool does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Union

from gpulint.source import Location, Piece, Text, Unknown


class Scalar(Text):
    """A scalar without its quotes; `plain` where it had none, so that `null`, `true` and `1` can be told from strings.

    `tag` is an explicit tag such as `!reset`, or None. A scalar that `!!str` or `!` makes a string is not plain.
    """

    __slots__ = ("plain", "tag")
    plain: bool
    tag: str | None

    def __new__(
        cls, value: str, location: Location, pieces: tuple[Piece, ...] | None = None, plain: bool = True, tag: str | None = None
    ) -> Scalar:
        scalar = str.__new__(cls, value)
        scalar.location = location
        scalar.pieces = pieces
        scalar.plain = plain
        scalar.tag = tag
        return scalar

    @property
    def is_null(self) -> bool:
        """Whether the scalar is YAML's null: nothing, `~` or `null` without quotes."""
        return self.plain and str(self) in ("", "~", "null", "Null", "NULL")


class JoinedScalar(Scalar):
    """A scalar that is put together of parts from several places, such as an image whose tag stands elsewhere than its name.

    `parts` are offsets in the value, each with the text that stands there; what is cut out of one of them keeps its place.
    """

    __slots__ = ("parts",)
    parts: tuple[tuple[int, Text], ...]

    @classmethod
    def of(cls, location: Location, *pieces: str) -> JoinedScalar:
        """The pieces as one scalar that stands at a location; those that are Texts keep their own beside it."""
        scalar = cls("".join(pieces), location, ())
        offsets = (sum(map(len, pieces[:index])) for index in range(len(pieces)))
        scalar.parts = tuple((offset, piece) for offset, piece in zip(offsets, pieces, strict=True) if isinstance(piece, Text))
        return scalar

    def cut(self, start: int, end: int) -> Text:
        for offset, part in self.parts:
            if offset <= start and end <= offset + len(part) and start < end:
                return part.cut(start - offset, end - offset)
        return super().cut(start, end)


class Entry(NamedTuple):
    """One key of a mapping with its value; `merged` where `<<` brought it in."""

    key: Scalar
    value: Node
    merged: bool = False


class Mapping:
    """A mapping: its entries in file order with duplicate keys kept, merged ones last.

    A look-up takes the last own entry of a key, else the first merged one. The location runs from the first key or the brace to the
    end of the last value. `tag` is an explicit tag, or None. `open` says that a part of a template that is not rendered may add keys
    or drop some.
    """

    __slots__ = ("_index", "entries", "location", "open", "tag")

    def __init__(self, entries: tuple[Entry, ...], location: Location, tag: str | None = None, open: bool = False) -> None:
        self.entries = entries
        self.location = location
        self.tag = tag
        self.open = open
        self._index: dict[str, Entry] | None = None

    @property
    def _counting(self) -> dict[str, Entry]:
        """The entries that count by their keys. Most mappings of a file are never asked, so it is made at the first question."""
        index = self._index
        if index is None:
            index = {}
            for entry in self.entries:
                if not (entry.merged and entry.key in index):
                    index[entry.key] = entry
            self._index = index
        return index

    def entry(self, key: str) -> Entry | None:
        """The entry that counts for a key."""
        return self._counting.get(key)

    @property
    def repeated(self) -> tuple[Scalar, ...]:
        """The keys that stand here once more, as they are written the second time; one over a merged entry is none."""
        own = [entry.key for entry in self.entries if not entry.merged]
        if len(own) == len(set(own)):
            return ()
        return tuple(key for index, key in enumerate(own) if key in own[:index])

    def get(self, *path: str) -> Node | None:
        """The value at a path of keys; None where a key is absent or what holds it is no mapping."""
        node: Node | None = self
        for key in path:
            if not isinstance(node, Mapping):
                return None
            entry = node._counting.get(key)
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
        return iter(self._counting.values())

    def __contains__(self, key: str) -> bool:
        return key in self._counting

    def __len__(self) -> int:
        return len(self._counting)


class Sequence:
    """A sequence; its location runs from the first dash or the bracket to the end of the last item. `tag` and `open` as a Mapping's."""

    __slots__ = ("items", "location", "open", "tag")

    def __init__(self, items: tuple[Node, ...], location: Location, tag: str | None = None, open: bool = False) -> None:
        self.items = items
        self.location = location
        self.tag = tag
        self.open = open

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
