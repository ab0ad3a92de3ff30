"""How kustomize changes objects: lists that it merges by a key, kinds with replicas, transformers that leave containers alone."""

from __future__ import annotations

from functools import cache

from gpulint.facts import table, words


def merge_key(field: str) -> str | None:
    """The key by which the items of a list are merged in objects whose schema kustomize knows; None for lists that are replaced."""
    return _merge_keys().get(field)


@cache
def _merge_keys() -> dict[str, str]:
    return {word: row["key"] for row in table("kustomize")["merge_keys"] for word in row["words"]}


def has_schema(api_version: str) -> bool:
    """Whether kustomize knows the schema of the workloads of an API version, and so which of their lists have a merge key."""
    return api_version in words("kustomize", "with_schema")


def has_replicas(kind: str) -> bool:
    """Whether an entry of `replicas` sets the replicas of such an object."""
    return kind in words("kustomize", "with_replicas")


def leaves_containers_alone(transformer: str) -> bool:
    """Whether a transformer of that kind changes nothing that a container is given."""
    return transformer in words("kustomize", "harmless_transformers")
