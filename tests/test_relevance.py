"""Anchors: a file without one is not parsed, which costs no finding in a whole repository. tests/test_anchors.py asks each example."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_repository import write

from gpulint import engine
from gpulint.config import Config
from gpulint.discover import list_files
from gpulint.engine import Selection
from gpulint.model.machines import Machines
from gpulint.project import Project
from gpulint.project.tree import Tree
from gpulint.rule import Finding, Severity

FIXTURES = sorted(folder for folder in (Path(__file__).parent / "fixtures").iterdir() if folder.is_dir())


def findings(folder: Path, everything: bool) -> list[Finding]:
    """All findings of the rules in a folder, notes too. Those of the engine itself say what was read, and are left out."""
    project = Project(Tree(folder, list_files(folder, None)), Machines(), wants_notes=True, everything=everything)
    outcome = engine.check(project, Config(min_severity=Severity.NOTE), Selection())
    return [finding for finding in outcome.findings if finding.rule not in (engine.SYNTAX_ERROR, engine.UNREADABLE_FILE)]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda folder: folder.name)
def test_anchors_cost_no_finding_in_a_repository(fixture: Path, tmp_path: Path) -> None:
    shutil.copytree(fixture, tmp_path / "copy", ignore=shutil.ignore_patterns("expected.txt"))
    assert findings(tmp_path / "copy", everything=False) == findings(tmp_path / "copy", everything=True)


def test_a_file_without_an_anchor_is_not_parsed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pod.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: web, image: nginx:1.27}]}\n",
            "broken.yaml": "apiVersion: v1\nkind: [\n",
            "Dockerfile": "FROM nginx:1.27\nNONSENSE\n",
        },
    )
    project = Project(Tree(tmp_path, list_files(tmp_path, None)), Machines())
    engine.check(project, Config(), Selection())
    assert not project.containers
    assert not list(project.tree.problems())


def test_a_line_that_names_a_gpu_tells_of_each_file_that_holds_it(tmp_path: Path) -> None:
    gpu, plain = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN true\n", "FROM nginx:1.27\nRUN true\n"
    write(tmp_path, {"a/Dockerfile": plain, "b/Dockerfile": gpu, "c/Dockerfile": gpu, "d/Dockerfile": plain})
    tree = Tree(tmp_path, list_files(tmp_path, None))
    assert Project(tree, Machines()).relevance.dockerfiles == ("b/Dockerfile", "c/Dockerfile")


def test_a_dockerfile_matters_that_installs_from_a_file_which_names_a_gpu(tmp_path: Path) -> None:
    dockerfile = "FROM python:3.11\nCOPY requirements.txt /\nRUN pip install -r /requirements.txt\n"
    write(tmp_path, {"gpu/Dockerfile": dockerfile, "gpu/requirements.txt": "onnxruntime-gpu\n", "plain/Dockerfile": "FROM nginx:1.27\n"})
    project = Project(Tree(tmp_path, list_files(tmp_path, None)), Machines())
    assert [stage.path for stage in project.stages] == ["gpu/Dockerfile"]
