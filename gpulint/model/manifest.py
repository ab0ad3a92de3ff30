"""Look-ups in Kubernetes manifests that tell what is written from what a tool will yet put there."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import regex
from gpulint.parse.boolean import kubernetes_boolean
from gpulint.parse.nodes import Mapping, Node, Scalar
from gpulint.source import Text, Unknown, Value

_PLACEHOLDER = regex(r"\$\{|\$\(|\$[A-Za-z_]|\{\{|\{%|<[^<>]+>|%[A-Za-z_]+%|@[A-Za-z_]+@|__[A-Za-z_]+__")
"""What envsubst, Flux, sed scripts and people leave for later."""


def read(node: Node | None) -> Value | None:
    """A scalar; Unknown where it holds a placeholder, None for null and for what is no scalar."""
    if isinstance(node, Scalar) and not node.is_null:
        return Unknown(str(node), node.location) if _PLACEHOLDER.search(node) else node
    return node if isinstance(node, Unknown) else None


def value(mapping: Mapping, *path: str) -> Value | None:
    """The scalar at a path of keys."""
    return read(mapping.get(*path))


def text(mapping: Mapping, *path: str) -> Text | None:
    """The scalar at a path where it is known."""
    found = value(mapping, *path)
    return found if isinstance(found, Text) else None


def flag(mapping: Mapping, *path: str) -> Text | None:
    """The scalar at a path where it says true."""
    found = value(mapping, *path)
    return found if isinstance(found, Scalar) and kubernetes_boolean(found) else None


def values(mapping: Mapping, *path: str) -> Iterator[Value]:
    """The scalars of the sequence at a path."""
    return (found for found in map(read, mapping.sequence(*path)) if found is not None)
