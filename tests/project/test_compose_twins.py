"""Twins: what counts as the same image or build."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulint.project.compose import compose_containers
from gpulint.project.tree import Tree
from gpulint.project.twins import twin_key


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("image: example/app:1.0", "image: example/app:1.0", True),
        ("image: example/app:1.0", "image: example/app:2.0", False),
        ("image: example/app", "image: example/app", True),
        ("image: 'example/app:${TAG}'", "image: 'example/app:${TAG}'", False),
        ("image: example/app:1.0", "image: example/other:1.0", False),
        ("build: .", "build: {context: .}", True),
        ("build: .", "build: {context: ., target: cpu}", False),
        ("build: .", "build: {context: ., dockerfile: gpu.Dockerfile}", False),
        ("build: '${DIR}'", "build: '${DIR}'", False),
        ("build: .", "image: example/app:1.0", False),
        ("build: .\n    image: a", "build: .\n    image: b", True),
    ],
)
def test_the_same(left: str, right: str, same: bool) -> None:
    text = f"services:\n  a:\n    {left}\n  b:\n    {right}\n"
    first, second = compose_containers(Tree(Path(), (), {"compose.yaml": text.encode()}))
    key = twin_key(first)
    assert (key is not None and key == twin_key(second)) is same
