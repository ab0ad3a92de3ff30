"""Which files are found, of which kind, and what cannot be read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gpulint.config import glob_pattern
from gpulint.discover import Kind, Unreadable, kind_by_name, list_files, read_file
from gpulint.project.tree import Tree


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("Dockerfile", Kind.DOCKERFILE),
        ("Dockerfile.gpu", Kind.DOCKERFILE),
        ("Dockerfile-gpu", Kind.DOCKERFILE),
        ("dockerfile_gpu", Kind.DOCKERFILE),
        ("gpu.Dockerfile", Kind.DOCKERFILE),
        ("gpu.dockerfile", Kind.DOCKERFILE),
        ("Containerfile", Kind.DOCKERFILE),
        ("docker/train.Dockerfile", Kind.DOCKERFILE),
        ("Dockerfile.cu12.6", Kind.DOCKERFILE),
        ("Dockerfile.dockerignore", None),
        ("Dockerfile.md", None),
        ("Dockerfile.py", Kind.PYTHON),
        ("mydockerfile", None),
        ("compose.yaml", Kind.COMPOSE),
        ("docker-compose.yml", Kind.COMPOSE),
        ("docker-compose.gpu.yml", Kind.COMPOSE),
        ("compose.override.yaml", Kind.COMPOSE),
        ("gpu-compose.yml", Kind.COMPOSE),
        ("app.compose.yaml", Kind.COMPOSE),
        ("decompose.yaml", None),
        ("overlays/gpu/kustomization.yaml", Kind.KUSTOMIZATION),
        ("Kustomization", Kind.KUSTOMIZATION),
        ("Chart.yaml", Kind.CHART),
        (".github/workflows/ci.yml", Kind.GITHUB),
        ("action.yml", Kind.GITHUB),
        (".gitlab-ci.yml", Kind.GITLAB),
        (".devcontainer/devcontainer.json", Kind.DEVCONTAINER),
        ("requirements-gpu.txt", Kind.REQUIREMENTS),
        ("requirements/base.in", Kind.REQUIREMENTS),
        ("pyproject.toml", Kind.PYPROJECT),
        ("Makefile", Kind.MAKEFILE),
        ("justfile", Kind.MAKEFILE),
        ("scripts/run.sh", Kind.SHELL),
        ("train.slurm", Kind.SHELL),
        ("train.py", Kind.PYTHON),
        ("notes.txt", None),
    ],
)
def test_kind_by_name(path: str, kind: Kind | None) -> None:
    assert kind_by_name(path) is kind


def _tree(root: Path, files: dict[str, str]) -> Tree:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return Tree(root, list_files(root, None))


def test_kinds_that_the_bytes_tell(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "a.yaml": "apiVersion: v1\nkind: Pod\n",
            "b.json": '{"apiVersion": "v1", "kind": "Pod"}',
            "c.yaml": "services:\n  a:\n    image: b\n",
            "d.yaml": "key: value\n",
            "environment.yml": "name: x\ndependencies:\n  - pytorch\n",
            "run": "#!/bin/bash\nls\n",
            "tool": "#!/usr/bin/env python3\n",
            "component/x.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
            "chart/Chart.yaml": "name: c\n",
            "chart/values.yaml": "a: 1\n",
            "chart/values-gpu.yaml": "a: 1\n",
            "chart/templates/pod.yaml": "apiVersion: v1\nkind: Pod\n",
        },
    )
    kinds = {path: tree.kind(path) for path in tree.all_paths}
    assert kinds == {
        "a.yaml": Kind.MANIFEST,
        "b.json": Kind.MANIFEST,
        "c.yaml": Kind.COMPOSE,
        "d.yaml": None,
        "environment.yml": Kind.ENVIRONMENT,
        "run": Kind.SHELL,
        "tool": Kind.PYTHON,
        "component/x.yaml": Kind.KUSTOMIZATION,
        "chart/Chart.yaml": Kind.CHART,
        "chart/values.yaml": Kind.VALUES,
        "chart/values-gpu.yaml": Kind.VALUES,
        "chart/templates/pod.yaml": Kind.TEMPLATE,
    }


def test_git_lists_tracked_and_untracked_files_but_no_ignored_ones(tmp_path: Path) -> None:
    for path in ("tracked.py", "untracked.py", "ignored.py", "vendor/x.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "tracked.py"], check=True)
    assert list_files(tmp_path, glob_pattern(["vendor"])) == [".gitignore", "tracked.py", "untracked.py"]


def test_walking_lists_the_same_without_git(tmp_path: Path) -> None:
    for path in ("a/b.py", "ignored.py", "out/x.py", "node_modules/x.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("ignored.py\nout/\n")
    assert list_files(tmp_path, glob_pattern(["node_modules"])) == [".gitignore", "a/b.py"]


def test_git_runs_no_hook_that_the_repository_brings(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    subprocess.run(["git", "-C", str(tmp_path), "config", "core.fsmonitor", str(hook)], check=True)
    list_files(tmp_path, None)
    assert not (tmp_path / "ran").exists()


def test_links_pipes_folders_and_missing_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "Dockerfile").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    assert [read_file(tmp_path, name) for name in ("link", "loop", "Dockerfile", "pipe.py", "absent")] == [None] * 5


@pytest.mark.parametrize(
    ("data", "reason"), [(b"FROM a\0", "is not text: it holds NUL bytes"), (b"#" * 6 * 1024 * 1024, "has 6 MiB, over the limit of 5 MiB")]
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "Dockerfile").write_bytes(data)
    with pytest.raises(Unreadable, match=reason):
        read_file(tmp_path, "Dockerfile")


@pytest.mark.parametrize(
    ("base", "reference", "path"),
    [
        ("a/compose.yaml", "../Dockerfile", "Dockerfile"),
        ("a/compose.yaml", ".", "a"),
        ("a/compose.yaml", "../../etc/passwd", None),
        ("a/compose.yaml", "/etc/passwd", None),
        ("a/compose.yaml", "https://example.com/x", None),
        ("compose.yaml", "./b/c", "b/c"),
        ("a/", "b", "a/b"),
    ],
)
def test_references_do_not_leave_the_root(tmp_path: Path, base: str, reference: str, path: str | None) -> None:
    assert Tree(tmp_path, []).resolve(base, reference) == path
