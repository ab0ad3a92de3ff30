"""The pre-commit hooks: which files they wake up for, and that the real pre-commit runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from gpulint.discover import is_candidate, kind_by_name

ROOT = Path(__file__).parent.parent
PRE_COMMIT = [sys.executable, "-m", "pre_commit"]
WHOLE, CHANGED = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

Hook = Callable[..., subprocess.CompletedProcess[str]]
READ = (
    "Dockerfile Dockerfile.gpu Dockerfile-gpu Dockerfile_gpu gpu.Dockerfile gpu.dockerfile train-dockerfile images/dockerfile",
    "Containerfile Containerfile.cuda compose.yaml docker-compose.override.yml k8s/job.yaml task-definition.json",
    "chart/templates/_helpers.tpl .github/workflows/ci.yml .gitlab-ci.yml .devcontainer/devcontainer.json src/train.py src/train.pyi",
    "run.sh run.slurm job.sbatch .envrc Makefile GNUmakefile Makefile.gpu rules.mk justfile .justfile tasks.just bin/entrypoint",
    "quadlets/vllm.container systemd/llm.service train.sub train.job run.pbs run.lsf run.qsub",
    "requirements.txt requirements-gpu.txt dev_requirements.in requirements/base.txt constraints.txt environment.yml",
    "pyproject.toml gpulint.toml",
)
READ_PATHS = [path for names in READ for path in names.split()]
READ_WHERE_NAMED = [
    ".env",
    "deploy/prod.env",
    ".env.production",
    "poetry.lock",
    "uv.lock",
    "pip.conf",
    "setup.cfg",
    "pixi.toml",
    "Pipfile",
    "train.def",
]
OTHER_PATHS = ["README.md", "notes.txt", "image.png", "package.lock", "data.csv", ".gitignore", "Cargo.toml", "templates/NOTES.html"]


@pytest.mark.parametrize("hook", [WHOLE, CHANGED], ids=["gpulint", "gpulint-changed"])
def test_hook_wakes_up_for_what_gpulint_reads(hook: dict[str, str]) -> None:
    assert [path for path in (*READ_PATHS, *READ_WHERE_NAMED) if not re.search(hook["files"], path)] == []
    assert [path for path in OTHER_PATHS if re.search(hook["files"], path)] == []


@pytest.mark.parametrize("path", READ_PATHS)
def test_the_sample_holds_every_name_that_gpulint_reads(path: str) -> None:
    assert kind_by_name(path) or is_candidate(path) or path.endswith((".tpl", "gpulint.toml"))


def test_manifest_is_valid() -> None:
    subprocess.run([*PRE_COMMIT, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")], check=True)


def test_whole_repository_is_one_call() -> None:
    assert WHOLE["pass_filenames"] is False
    assert CHANGED["require_serial"] is True


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.invalid", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit_all(folder: Path) -> str:
    """Make the folder a repository with everything in one commit, and give its hash."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def hook_repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository with what lies here, committed or not, and its revision."""
    clone = tmp_path_factory.mktemp("hook") / "gpulint"
    shutil.copytree(ROOT, clone, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__"))
    return clone, commit_all(clone)


@pytest.fixture(scope="module")
def pre_commit(hook_repository: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Hook:
    """A function that runs a hook in a folder, with an environment of hooks that the tests of this module share."""
    repository, revision = hook_repository
    home = tmp_path_factory.mktemp("home")

    def run(folder: Path, hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        config = {"repos": [{"repo": str(repository), "rev": revision, "hooks": [{"id": hook}]}]}
        (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        environment = {**os.environ, "HOME": str(home), "PRE_COMMIT_HOME": str(home / "pre-commit")}
        return subprocess.run(
            [*PRE_COMMIT, "run", hook, *arguments], cwd=folder, env=environment, check=False, capture_output=True, text=True
        )

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a fault in its Dockerfile and a harmless script beside it."""
    (tmp_path / "Dockerfile-gpu").write_text("FROM nvidia/cuda\n", encoding="utf-8")
    (tmp_path / "tool.sh").write_text("echo hello\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("# A project\n", encoding="utf-8")
    commit_all(tmp_path)
    return tmp_path


@pytest.mark.install
def test_whole_repository_is_reported(project: Path, pre_commit: Hook) -> None:
    outcome = pre_commit(project, "gpulint", "--files", "tool.sh")
    assert outcome.returncode == 1
    assert outcome.stdout.count("Dockerfile-gpu:1:6: error GPU101") == 1


@pytest.mark.install
def test_only_changed_files_are_reported(project: Path, pre_commit: Hook) -> None:
    assert pre_commit(project, "gpulint-changed", "--files", "tool.sh").returncode == 0
    assert "Dockerfile-gpu:1:6: error GPU101" in pre_commit(project, "gpulint-changed", "--files", "Dockerfile-gpu", "tool.sh").stdout


@pytest.mark.install
def test_hook_sleeps_where_nothing_of_its_kind_changed(project: Path, pre_commit: Hook) -> None:
    outcome = pre_commit(project, "gpulint", "--files", "README.md")
    assert outcome.returncode == 0
    assert "no files to check" in outcome.stdout
