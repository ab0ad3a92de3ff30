"""How loud GPU601 is: a warning where a GPU container runs the program or the file was named, a note or nothing for all else."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import gpulint, write

PROGRAM = """
    import torch

    def main():
        device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.nn.Linear(3, 1).to(device)(torch.ones(3)).sum().backward()

    if __name__ == "__main__":
        main()
    """
LIBRARY = PROGRAM.partition("    if __name__")[0]
DOCKERFILE = """
    FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
    WORKDIR /app
    COPY . /app
    CMD ["python", "fit.py"]
    """
GPU = "services:\n  fit:\n    build: .\n    gpus: [{count: 1}]\n"
TWIN = "  fit-cpu:\n    build: .\n"


def said(folder: Path, files: dict[str, str], *arguments: str) -> str:
    """The severities of what GPU601 says, notes with the rest."""
    write(folder, files)
    lines = gpulint(folder, "--select", "GPU601", "--min-severity", "note", "--format", "concise", *arguments).stdout.splitlines()
    return " ".join(line.split()[1] for line in lines)


def test_what_a_gpu_container_runs(tmp_path: Path) -> None:
    assert said(tmp_path, {"fit.py": PROGRAM, "Dockerfile": DOCKERFILE, "compose.yaml": GPU}) == "warning:"


def test_what_was_named(tmp_path: Path) -> None:
    assert said(tmp_path, {"fit.py": PROGRAM}, "fit.py") == "warning:"


def test_what_starts_by_itself(tmp_path: Path) -> None:
    assert said(tmp_path, {"fit.py": PROGRAM}) == "note:"
    assert said(tmp_path, {"fit.py": PROGRAM, "Dockerfile": DOCKERFILE}) == "note:"


def test_what_ships_for_the_cpu_too(tmp_path: Path) -> None:
    assert said(tmp_path, {"fit.py": PROGRAM, "Dockerfile": DOCKERFILE, "compose.yaml": GPU + TWIN}) == "note:"


@pytest.mark.parametrize(
    "path",
    [
        "tests/fit.py",
        "test_fit.py",
        "fit_test.py",
        "examples/fit.py",
        "notebooks/fit.py",
        "benchmarks/fit.py",
        "bench_fit.py",
        "docs/fit.py",
        "tutorials/fit.py",
        "convert_weights.py",
        "export.py",
        "qa/fit.py",
        "hubconf.py",
    ],
)
def test_what_nobody_deploys(tmp_path: Path, path: str) -> None:
    assert said(tmp_path, {path: PROGRAM, "Dockerfile": DOCKERFILE.replace("fit.py", "other.py"), "compose.yaml": GPU}) == ""


def test_a_library(tmp_path: Path) -> None:
    assert said(tmp_path, {"kit/fit.py": LIBRARY, "kit/__init__.py": "from kit.fit import main\n", "Dockerfile": DOCKERFILE}) == ""


def test_a_notebook(tmp_path: Path) -> None:
    assert said(tmp_path, {"fit.ipynb": '{"cells": [{"cell_type": "code", "source": ["import torch"]}]}'}) == ""
