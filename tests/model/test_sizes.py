"""Sizes of memory, in the words of docker, Compose and Kubernetes."""

from __future__ import annotations

import pytest

from gpulint.model.quantity import byte_size

MIB = 1024**2


@pytest.mark.parametrize(
    ("text", "size"),
    [("8", 8), ("64m", 64 * MIB), ("64MB", 64 * MIB), ("1.5 gb", 1536 * MIB), ("2Gi", 2048 * MIB), ("128MiB", 128 * MIB)],
)
def test_a_size_in_every_form(text: str, size: float) -> None:
    assert byte_size(text) == size


@pytest.mark.parametrize("text", ["", "50%", "g", "-1", "1e", "${SIZE}"])
def test_what_is_no_size(text: str) -> None:
    assert byte_size(text) is None
