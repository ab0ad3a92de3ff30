"""ImageRef: an image named anywhere, taken apart as the container tools do."""

from __future__ import annotations

import re
from functools import cached_property

from gpulint.deferred import dataclass, regex
from gpulint.facts.cuda_tags import cuda_repository, tag_state
from gpulint.facts.images import ImageFacts, gpu_tag_word, has_registry, image_facts, is_moving_tag, normalised, repository_facts
from gpulint.source import Location, Text, Unknown, Value, as_written, known

LONGEST_REFERENCE = 1000
"""Characters of an image reference, and of each part that is written apart. Registries take some 400; of a longer one nothing is known."""


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
        """What the fact tables say of this image. Raises UnknownValue where its name or tag cannot be known.

        A digest without a tag may be of any tag: then only what holds for all of them is said.
        """
        tag = known(self.tag)
        if tag is None and self.digest is not None:
            return self.name_facts
        return image_facts(self.repository, None if tag is None else str(tag))

    @cached_property
    def name_facts(self) -> ImageFacts:
        """What the fact tables say of the image whatever its tag. Raises UnknownValue where its name cannot be known."""
        return repository_facts(self.repository)

    @property
    def tag_word(self) -> str:
        """The word of its tag that says GPU; "" where none does or the tag is not known."""
        return "" if self.tag is None or isinstance(self.tag, Unknown) else gpu_tag_word(self.tag)

    @cached_property
    def repository(self) -> str:
        """The name without `docker.io/`, `index.docker.io/` and `library/`. Raises UnknownValue."""
        return normalised(str(known(self.name)))

    @property
    def has_registry(self) -> bool:
        """Whether the name names a registry other than Docker Hub. Raises UnknownValue."""
        return has_registry(self.repository)

    @property
    def is_pinned(self) -> bool:
        """Whether a digest, or a tag that does not move, says which image it is. Raises UnknownValue where it cannot be known."""
        tag = known(self.tag)
        return self.digest is not None or (tag is not None and not is_moving_tag(tag))

    @property
    def is_local(self) -> bool:
        """Whether the image can only have been built on the machine: its name has no account, and the facts know none of that name."""
        return "/" not in self.repository and not self.name_facts.listed

    @property
    def version_location(self) -> Location:
        """Where its version is to be edited: its tag or digest where that stands elsewhere than the name, else the reference."""
        given = (part.location for part in (self.digest, self.tag) if part is not None)
        written = self.location
        return next((place for place in given if (place.path, place.line) != (written.path, written.line)), written)

    @property
    def is_missing(self) -> bool:
        """Whether the facts say that no such image is on its registry."""
        tag = known(self.tag)
        return self.digest is None and cuda_repository(self.repository) and tag_state(tag).verdict == "missing"

    @property
    def shown(self) -> str:
        """The reference for a message, an unknown part as it is written; a word that may bring its own tag is shown once."""
        if isinstance(self.name, Unknown) and isinstance(self.tag, Unknown) and self.tag.raw == self.name.raw:
            return self.name.raw
        tag = "" if self.tag is None else f":{as_written(self.tag)}"
        return f"{as_written(self.name)}{tag}" if self.digest is None else f"{as_written(self.name)}{tag}@{as_written(self.digest)}"


def parse_image(reference: Value) -> ImageRef:
    """Take a reference apart. One with an unknown part keeps what is known: `vllm/vllm-openai:${TAG}` has a known name and an unknown tag.

    Where an unknown part may itself bring a tag (`${IMAGE}`, `team/$NAME`), the tag is unknown too.
    """
    if _is_too_long(reference):
        return _unknown_image(reference)
    written = _Written(reference)
    name_end, tag_start, digest_start = _marks(written.masked)
    length = len(written.masked)
    tag_end = digest_start - 1 if digest_start else length
    tag = written.part(tag_start, tag_end) if 0 < tag_start < tag_end else None
    digest = written.part(digest_start, length) if 0 < digest_start < length else None
    if tag is None and digest is None and _HIDDEN in written.masked.rpartition("/")[2]:
        tag = digest = Unknown(written.raw, reference.location)
    name = written.part(0, name_end) if name_end else reference
    return ImageRef(name, tag, digest, reference.location)


def join_image(repository: Value, tag: Value | None, registry: Value | None = None, digest: Value | None = None) -> ImageRef:
    """An image whose parts are written under keys of their own, as in Helm values.

    An empty part counts as none. A tag or digest written into the repository, and a digest written into the tag, count where the key
    of their own says nothing.
    """
    if any(part is not None and _is_too_long(part) for part in (registry, tag, digest)):
        return _unknown_image(repository)
    inner = parse_image(repository)
    own_tag, own_digest = _split_tag(tag) if _is_given(tag) else (None, None)
    return ImageRef(
        _join_names(registry, inner.name) if _is_given(registry) else inner.name,
        own_tag if own_tag is not None else inner.tag,
        digest if _is_given(digest) else own_digest if own_digest is not None else inner.digest,
        repository.location,
    )


def _is_too_long(part: Value) -> bool:
    return len(as_written(part)) > LONGEST_REFERENCE


def _unknown_image(reference: Value) -> ImageRef:
    """An image of which nothing is known but the first of its characters."""
    unknown = Unknown(as_written(reference)[:LONGEST_REFERENCE], reference.location)
    return ImageRef(unknown, unknown, unknown, reference.location)


def _is_given(part: Value | None) -> bool:
    return isinstance(part, Unknown) or bool(part)


def _split_tag(tag: Value | None) -> tuple[Value | None, Value | None]:
    if not isinstance(tag, Text) or "@" not in tag:
        return tag, None
    at = tag.index("@")
    return tag.cut(0, at) if at else None, tag.cut(at + 1, len(tag))


def _join_names(registry: Value | None, name: Value) -> Value:
    if isinstance(registry, Text) and isinstance(name, Text):
        return Text(f"{registry.rstrip('/')}/{name}", name.location, ())
    return Unknown("/".join(part.raw if isinstance(part, Unknown) else str(part) for part in (registry, name)), name.location)


def _marks(masked: str) -> tuple[int, int, int]:
    """Where the name ends, the tag begins and the digest begins; 0 for a part that is not there."""
    body, at, _ = masked.partition("@")
    colon = body.find(":", body.rfind("/") + 1)
    return (colon if colon >= 0 else len(body)), colon + 1, len(body) + 1 if at else 0


_HIDDEN = "\0"
"""Stands for each character of an expression, so that the marks in it (`${A:-b/c}`) are not taken for the reference's own."""

_EXPRESSION = regex(r"\$?\{\{.*?\}\}|\$\{|\$\(|\$[A-Za-z_]\w*|\$\d|`[^`]*`", re.S)
_CLOSERS = {"{": "}", "(": ")"}


class _Written:
    """A reference as it is written, and the same with its expressions hidden."""

    def __init__(self, reference: Value) -> None:
        self.reference = reference
        self.raw = reference.raw if isinstance(reference, Unknown) else str(reference)
        self.masked = _mask(self.raw) if isinstance(reference, Unknown) else self.raw

    def part(self, start: int, end: int) -> Value:
        """The characters from `start` up to `end`, without a shell's quotes: known unless an expression is among them."""
        part = self._text.cut(start, end)
        if _HIDDEN in self.masked[start:end]:
            return Unknown(str(part), part.location)
        unquoted = part.replace('"', "").replace("'", "")
        return part if unquoted == part else Text(unquoted, part.location, ())

    @property
    def _text(self) -> Text:
        """The raw characters in their place: exactly where they fill it on one line, else each in the place of all."""
        if isinstance(self.reference, Text):
            return self.reference
        place = self.reference.location
        exact = place.line == place.end_line and place.end_column - place.column == len(self.raw)
        return Text(self.raw, place, None if exact else ())


def _mask(raw: str) -> str:
    """The text with every character of its expressions hidden."""
    masked, at = [], 0
    while match := _EXPRESSION.search(raw, at):
        end = _end_of_expression(raw, match)
        masked += [raw[at : match.start()], _HIDDEN * (end - match.start())]
        at = end
    return "".join((*masked, raw[at:]))


def _end_of_expression(raw: str, match: re.Match[str]) -> int:
    """Behind the bracket that closes `${` or `$(`, with nested ones counted; the end of the text where none does."""
    opener = match.group()[-1]
    if match.group() not in ("${", "$("):
        return match.end()
    depth = 0
    for at in range(match.end() - 1, len(raw)):
        depth += (raw[at] == opener) - (raw[at] == _CLOSERS[opener])
        if depth == 0:
            return at + 1
    return len(raw)
