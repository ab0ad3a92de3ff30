"""What gpulint builds of kustomizations is what kubectl renders of them, as far as rules read it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from kustomize_rendering import SNAPSHOTS, by_gpulint, differences, rendered_tree
from kustomize_trees import FOLDER, TREES, Files

from gpulint.project.tree import Tree

RENDERED = json.loads(SNAPSHOTS.read_bytes())
REPLACED = frozenset({"replacements", "a replacement that rejects", "a tag's suffix", "vars"})
"""The trees in which something is unknown to gpulint."""


def tree_of(files: Files) -> Tree:
    return Tree(Path(), (), {path: text.encode() for path, text in files.items()})


def kustomization_of(files: Files) -> str:
    return next(path for path in files if path.lower().startswith(f"{FOLDER}/kustomization"))


@pytest.mark.parametrize("name", TREES)
def test_a_kustomization_is_built_as_kubectl_has_rendered_it(name: str) -> None:
    files = TREES[name]
    found, resources = by_gpulint(tree_of(files), kustomization_of(files))

    assert list(differences(RENDERED[name], found)) == []
    assert not any(resource.open for resource in resources)
    assert ("<unknown>" in json.dumps(found)) is (name in REPLACED)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on the PATH; what it rendered before is compared above")
@pytest.mark.parametrize("name", TREES)
def test_kubectl_renders_as_before(name: str, tmp_path: Path) -> None:
    assert rendered_tree(TREES[name], tmp_path) == RENDERED[name]
