"""ImageRef: an image named anywhere, taken apart as the container tools do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gpulint.facts.images import ImageFacts, image_facts
from gpulint.source import Location, Text, Unknown, Value


@dataclass(frozen=True, eq=False)
class ImageRef:
    """One image reference: `[registry/]repository[:tag][@digest]`.

    `name` is registry and repository together, as written. `tag` and `digest` are None where the reference has none. `location` is
    the whole reference, or its repository where tag and repository are written apart. `scratch` has the name "scratch".
    """

    name: Value
    tag: Value | None
    digest: Value | None
    location: Location

    @cached_property
    def facts(self) -> ImageFacts:
        """What the fact tables say of this image. Raises UnknownValue where its name or tag cannot be known."""
        raise NotImplementedError

    @property
    def repository(self) -> str:
        """The name without `docker.io/`, `index.docker.io/` and `library/`. Raises UnknownValue."""
        raise NotImplementedError


def parse_image(reference: Value) -> ImageRef:
    """Take a reference apart. One with an unknown part keeps what is known: `vllm/vllm-openai:${TAG}` has a known name and an unknown tag."""
    raise NotImplementedError


def join_image(repository: Value, tag: Value | None, registry: Value | None = None, digest: Value | None = None) -> ImageRef:
    """An image whose parts are written under keys of their own, as in Helm values."""
    raise NotImplementedError
