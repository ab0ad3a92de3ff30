"""Twins: what counts as the same image or build."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulint.project.compose import compose_containers
from gpulint.project.tree import Tree
from gpulint.project.twins import bare_name, is_beside, twin_key


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


@pytest.mark.parametrize(
    ("name", "bare"),
    [("asr-gpu", "asr"), ("asr_cpu", "asr"), ("asr", "asr"), ("cuda-worker", "worker"), ("gpu", "gpu"), ("api.cpu", "api")],
)
def test_bare_names(name: str, bare: str) -> None:
    assert bare_name(name) == bare


@pytest.mark.parametrize(
    ("files", "beside"),
    [
        ({"compose.yaml": "a-gpu: {build: gpu}\n  a: {build: cpu}"}, True),
        ({"compose.gpu.yaml": "a: {build: .}", "compose.cpu.yaml": "a: {build: .}"}, True),
        ({"one/compose.yaml": "a-gpu: {image: 'acme/a:1'}", "two/compose.yaml": "a: {image: 'acme/a:1'}"}, True),
        ({"one/compose.yaml": "a-gpu: {image: 'acme/a:1'}", "two/compose.yaml": "a: {image: 'acme/a:2'}"}, False),
        ({"compose.yaml": "a-gpu: {build: .}\n  b: {build: .}"}, False),
    ],
)
def test_forms_of_one(files: dict[str, str], beside: bool) -> None:
    tree = Tree(Path(), (), {path: f"services:\n  {text}\n".encode() for path, text in files.items()})
    first, second = compose_containers(tree)
    assert is_beside(first, second) is is_beside(second, first) is beside
