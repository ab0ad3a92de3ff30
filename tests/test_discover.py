"""Which files are found, of which kind, and what cannot be read."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from gpulint import discover
from gpulint.config import glob_pattern
from gpulint.discover import Kind, Unreadable, kind_by_name, list_files, read_file
from gpulint.project.tree import Tree

POD = "apiVersion: v1\nkind: Pod\n"


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
        ("quadlets/vllm.container", Kind.UNIT),
        ("deploy/helmfile.yaml", Kind.HELMFILE),
        ("helmfile.d/tts.yml", Kind.HELMFILE),
        ("llm@.service", Kind.UNIT),
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
            "a-bom.yaml": "\ufeffapiVersion: v1\nkind: Pod\n",
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
        "a-bom.yaml": Kind.MANIFEST,
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
    assert list_files(tmp_path, glob_pattern(("vendor",))) == [".gitignore", "tracked.py", "untracked.py"]


def test_walking_lists_the_same_without_git(tmp_path: Path) -> None:
    for path in ("a/b.py", "ignored.py", "out/x.py", "node_modules/x.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("ignored.py\nout/\n")
    assert list_files(tmp_path, glob_pattern(("node_modules",))) == [".gitignore", "a/b.py"]


def test_git_runs_no_hook_that_the_repository_brings(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    subprocess.run(["git", "-C", str(tmp_path), "config", "core.fsmonitor", str(hook)], check=True)
    list_files(tmp_path, None)
    assert not (tmp_path / "ran").exists()


def test_git_fetches_no_missing_object_by_a_program_that_the_repository_names(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    git("add", ".gitignore")
    git("update-index", "--skip-worktree", ".gitignore")
    blob = git("rev-parse", ":.gitignore")
    (tmp_path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (tmp_path / ".gitignore").unlink()
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    settings = {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "protocol.file.allow": "always",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(program),
        "remote.origin.url": str(tmp_path / ".git"),
    }
    for key, value in settings.items():
        git("config", key, value)

    assert "program.sh" in list_files(tmp_path, None)
    assert not (tmp_path / "ran").exists()


def test_what_was_tracked_where_a_link_stands_now_is_not_listed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "a" / "b", outside / "b"):
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text("FROM scratch\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "."], check=True)
    shutil.rmtree(root / "a")
    (root / "a").symlink_to(outside)

    assert list_files(root, None) == ["a"]


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../outside"])
def test_an_index_names_nothing_outside_the_root(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").touch()
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".git" / "index").write_bytes(_index_of(path.encode()))

    assert list_files(root, None) == []


def _index_of(path: bytes) -> bytes:
    """A git index with one file of that path, which git itself would refuse to write."""
    entry = struct.pack(">10I20sH", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0, b"\1" * 20, len(path)) + path
    content = b"DIRC" + struct.pack(">II", 2, 1) + entry + b"\0" * (8 - len(entry) % 8)
    return content + hashlib.sha1(content).digest()


@pytest.mark.parametrize("has_git", [True, False])
def test_a_pipe_that_is_called_gitignore_holds_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_git: bool) -> None:
    monkeypatch.setattr(discover, "GIT_TIMEOUT", 0.2)
    if has_git:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "train.py").touch()

    assert list_files(tmp_path, None) == [".gitignore", "train.py"]


def test_a_gitignore_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "patterns").write_text("train.py\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / ".gitignore").symlink_to(tmp_path / "patterns")
    (tmp_path / "root" / "train.py").touch()

    assert list_files(tmp_path / "root", None) == [".gitignore", "train.py"]


def test_a_pattern_that_takes_for_ever_to_match_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n")
    (tmp_path / ("a" * 250)).touch()

    assert list_files(tmp_path, None) == [".gitignore", "a" * 250]


def test_links_pipes_sockets_folders_and_missing_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "Dockerfile").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "file").touch()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket.py"))
    names = ("link", "loop", "Dockerfile", "pipe.py", "socket.py", "absent", "file/below")
    assert [read_file(tmp_path, name) for name in names] == [None] * len(names)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"FROM a\0", "is not text: it holds NUL bytes"), (b"#" * 6 * 1024 * 1024, "has 6 MiB, over the limit of 5 MiB")]
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "Dockerfile").write_bytes(data)
    with pytest.raises(Unreadable, match=reason):
        read_file(tmp_path, "Dockerfile")


@pytest.mark.parametrize(
    ("path", "data", "is_told"),
    [
        ("pod.yaml", POD.encode("utf-16"), True),
        ("pod.json", b'{"apiVersion": "v1"}' + b" " * 6 * 1024 * 1024, True),
        ("chart/templates/pod.yaml", b"\0", True),
        ("data.yaml", b"a: 1\n" + b"#" * 6 * 1024 * 1024, False),
        ("data.json", "{}".encode("utf-16"), False),
        ("notes.md", b"\0", False),
    ],
)
def test_a_file_that_is_not_read_is_told_of_where_it_would_have_mattered(tmp_path: Path, path: str, data: bytes, is_told: bool) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(data)
    tree = Tree(tmp_path, [path, "chart/Chart.yaml"])

    assert tree.source(path) is None
    assert list(tree.unreadable) == [path] * is_told


def test_bytes_that_were_given_are_held_to_be_text(tmp_path: Path) -> None:
    tree = Tree(tmp_path, [], {"stdin.yaml": POD.encode("utf-16")})

    assert tree.source("stdin.yaml") is None
    assert tree.unreadable == {"stdin.yaml": "is not text: it holds NUL bytes"}


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


@pytest.mark.parametrize("size", [0, 3, 8, 20])
def test_a_file_that_is_longer_or_shorter_than_it_said_is_read_up_to_the_limit(tmp_path: Path, size: int) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    for limit, read in ((20, b"0123456789"), (10, b"0123456789"), (9, b"012345678")):
        descriptor = os.open(tmp_path / "file", os.O_RDONLY)
        assert discover._read_up_to(descriptor, limit, size) == read
        os.close(descriptor)
