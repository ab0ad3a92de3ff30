"""Image references taken apart: names, tags and digests with their places, and what is known of half-unknown ones."""

from __future__ import annotations

import pytest

from gpulint.facts.images import Need
from gpulint.model.image import ImageRef, join_image, parse_image
from gpulint.source import Location, Piece, Text, Unknown, UnknownValue, Value

COLUMN = 8


def text(written: str, line: int = 3) -> Text:
    return Text(written, Location("compose.yaml", line, COLUMN, line, COLUMN + len(written)))


def unknown(raw: str) -> Unknown:
    return Unknown(raw, Location("compose.yaml", 3, COLUMN, 3, COLUMN + len(raw)))


def shown(part: Value | None) -> tuple[str, int, int] | None:
    """A part as `?raw` or its value, with where it begins and ends in the reference."""
    if part is None:
        return None
    said = f"?{part.raw}" if isinstance(part, Unknown) else str(part)
    return said, part.location.column - COLUMN, part.location.end_column - COLUMN


@pytest.mark.parametrize(
    ("reference", "name", "tag", "digest"),
    [
        ("ubuntu", ("ubuntu", 0, 6), None, None),
        ("scratch", ("scratch", 0, 7), None, None),
        ("team/app:1.2", ("team/app", 0, 8), ("1.2", 9, 12), None),
        ("localhost:5000/team/app", ("localhost:5000/team/app", 0, 23), None, None),
        ("localhost:5000/app:1.2", ("localhost:5000/app", 0, 18), ("1.2", 19, 22), None),
        ("app@sha256:00ff", ("app", 0, 3), None, ("sha256:00ff", 4, 15)),
        ("app:1@sha256:00ff", ("app", 0, 3), ("1", 4, 5), ("sha256:00ff", 6, 17)),
        ("host:1/app:1@sha256:00ff", ("host:1/app", 0, 10), ("1", 11, 12), ("sha256:00ff", 13, 24)),
        ("app:", ("app", 0, 3), None, None),
        ("app@", ("app", 0, 3), None, None),
    ],
)
def test_a_known_reference(reference: str, name: object, tag: object, digest: object) -> None:
    image = parse_image(text(reference))
    assert (shown(image.name), shown(image.tag), shown(image.digest)) == (name, tag, digest)
    assert image.location == text(reference).location


@pytest.mark.parametrize(
    ("raw", "name", "tag", "digest"),
    [
        ("vllm/vllm-openai:${TAG}", ("vllm/vllm-openai", 0, 16), ("?${TAG}", 17, 23), None),
        ("app:1.${PATCH}-cuda", ("app", 0, 3), ("?1.${PATCH}-cuda", 4, 19), None),
        ("$REGISTRY/app:1.0", ("?$REGISTRY/app", 0, 13), ("1.0", 14, 17), None),
        ("${REGISTRY:-host:5000/team}/app:1.0", ("?${REGISTRY:-host:5000/team}/app", 0, 31), ("1.0", 32, 35), None),
        ("${A:-${B:-x:1}}/app@${DIGEST}", ("?${A:-${B:-x:1}}/app", 0, 19), None, ("?${DIGEST}", 20, 29)),
        ("app:$(git describe)", ("app", 0, 3), ("?$(git describe)", 4, 19), None),
        ("app:${{ inputs.tag || 'a:b' }}", ("app", 0, 3), ("?${{ inputs.tag || 'a:b' }}", 4, 30), None),
        ('{{ .Values.image }}:{{ .tag | default "x" }}', ("?{{ .Values.image }}", 0, 19), ('?{{ .tag | default "x" }}', 20, 44), None),
        ("${REGISTRY}/team/app", ("?${REGISTRY}/team/app", 0, 20), None, None),
        ("${IMAGE}", ("?${IMAGE}", 0, 8), ("?${IMAGE}", 0, 8), ("?${IMAGE}", 0, 8)),
        ("team/$NAME", ("?team/$NAME", 0, 10), ("?team/$NAME", 0, 10), ("?team/$NAME", 0, 10)),
        ("app:${", ("app", 0, 3), ("?${", 4, 6), None),
        ('"$R"/app:"1.0"', ('?"$R"/app', 0, 8), ("1.0", 9, 14), None),
    ],
)
def test_an_unknown_reference_keeps_what_is_known(raw: str, name: object, tag: object, digest: object) -> None:
    image = parse_image(unknown(raw))
    assert (shown(image.name), shown(image.tag), shown(image.digest)) == (name, tag, digest)


def test_parts_of_a_value_on_several_lines_stand_where_they_are() -> None:
    reference = Text("team/app:1.0", Location("f", 1, 5, 2, 9), (Piece(0, 1, 5), Piece(5, 2, 1)))
    tag = parse_image(reference).tag
    assert isinstance(tag, Text) and tag.location == Location("f", 2, 5, 2, 8)


def test_an_unknown_value_that_is_not_written_as_it_reads_keeps_its_place() -> None:
    place = Location("f", 1, 1, 4, 2)
    tag = parse_image(Unknown("app:${TAG}", place)).tag
    assert isinstance(tag, Unknown) and tag.location == place


def test_what_is_known_of_an_image() -> None:
    assert parse_image(text("docker.io/library/ubuntu:24.04")).repository == "ubuntu"
    assert parse_image(text("nvidia/cuda:12.4.1-base-ubuntu22.04")).facts.cuda == "12.4.1"


def test_a_digest_without_a_tag_may_be_of_any_tag() -> None:
    assert parse_image(text("tensorflow/tensorflow@sha256:00ff")).facts.need is Need.UNKNOWN
    assert parse_image(text("nvidia/cuda@sha256:00ff")).facts.need is Need.CERTAIN


def test_facts_of_what_cannot_be_known() -> None:
    image = parse_image(unknown("vllm/vllm-openai:${TAG}"))
    with pytest.raises(UnknownValue):
        _ = image.facts
    assert image.name_facts.need is Need.CERTAIN
    with pytest.raises(UnknownValue):
        _ = parse_image(unknown("${IMAGE}")).name_facts


def joined(image: ImageRef) -> tuple[str | None, str | None, str | None]:
    parts = (image.name, image.tag, image.digest)
    name, tag, digest = (part if part is None else f"?{part.raw}" if isinstance(part, Unknown) else str(part) for part in parts)
    return name, tag, digest


@pytest.mark.parametrize(
    ("repository", "tag", "registry", "digest", "expected"),
    [
        ("team/app", "1.0", None, None, ("team/app", "1.0", None)),
        ("team/app", None, None, None, ("team/app", None, None)),
        ("team/app", "", "", "", ("team/app", None, None)),
        ("team/app", "1.0", "ghcr.io", None, ("ghcr.io/team/app", "1.0", None)),
        ("team/app", "1.0", "ghcr.io/", None, ("ghcr.io/team/app", "1.0", None)),
        ("team/app", "1.0@sha256:00ff", None, None, ("team/app", "1.0", "sha256:00ff")),
        ("team/app", "1.0", None, "sha256:00ff", ("team/app", "1.0", "sha256:00ff")),
        ("team/app:0.9", None, None, None, ("team/app", "0.9", None)),
        ("team/app:0.9", "1.0", None, None, ("team/app", "1.0", None)),
        ("team/app", "?${TAG}", None, None, ("team/app", "?${TAG}", None)),
        ("team/app", "1.0", "?${REGISTRY}", None, ("?${REGISTRY}/team/app", "1.0", None)),
        ("?${REPOSITORY}", "1.0", None, None, ("?${REPOSITORY}", "1.0", "?${REPOSITORY}")),
    ],
)
def test_parts_written_apart(repository: str, tag: str | None, registry: str | None, digest: str | None, expected: object) -> None:
    written = value(repository)
    image = join_image(written, optional(tag), optional(registry), optional(digest))
    assert joined(image) == expected
    assert image.location == written.location


def value(written: str) -> Value:
    """A part of a test's table: unknown where it begins with `?`."""
    return unknown(written[1:]) if written.startswith("?") else text(written)


def optional(written: str | None) -> Value | None:
    return None if written is None else value(written)


def test_a_tag_of_its_own_key_keeps_its_place() -> None:
    tag = join_image(text("team/app", line=1), text("1.0", line=2)).tag
    assert isinstance(tag, Text) and tag.location.line == 2


@pytest.mark.parametrize("raw", ["$IMAGE", "team/$NAME", "app:1.${PATCH}-cuda", "$REGISTRY/app:1.0", "app@${DIGEST}"])
def test_an_unknown_reference_is_shown_as_it_is_written(raw: str) -> None:
    assert parse_image(unknown(raw)).shown == raw
