"""Which build of PyTorch an install brings."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.project.frameworks import torch_build_of

CU118 = "https://download.pytorch.org/whl/cu118"
CPU = "https://download.pytorch.org/whl/cpu"


@pytest.mark.parametrize(
    ("start", "command", "build"),
    [
        ("FROM python:3.11", "pip install torch==2.4.1", "cuda 12.1"),
        ("FROM --platform=linux/arm64 python:3.11", "pip install torch==2.4.1", "cpu"),
        ("FROM --platform=linux/arm64 python:3.11", "pip install torch==2.11.0", "cuda 13.0"),
        ("FROM --platform=$BUILDPLATFORM python:3.11", "pip install torch==2.4.1", ""),
        ("FROM python:3.11", "pip install torch==2.4.1+cu118", "cuda 11.8"),
        ("FROM python:3.11", f"pip install torch==2.4.1 --index-url {CU118}", "cuda 11.8"),
        ("FROM python:3.11", f"pip install torch --index-url {CPU}", "cpu"),
        ("FROM python:3.11", "pip install torch --index-url $INDEX", ""),
        ("FROM python:3.11", f"pip install torch==2.4.1 --extra-index-url {CU118}", "cuda 11.8"),
        ("FROM python:3.11", f"pip install torch==2.9.1 --extra-index-url {CU118}", "cuda 12.8"),
        ("FROM python:3.11", f"pip install torch --extra-index-url {CU118}", ""),
        ("FROM python:3.11", f"pip install torch --extra-index-url {CPU}", "cpu"),
        ("FROM python:3.11", f"pip install torch==2.4.1 --extra-index-url {CPU}", "cpu"),
        ("FROM python:3.11", f"pip install torch --extra-index-url {CPU} --extra-index-url {CU118}", ""),
        ("FROM python:3.11", f"uv pip install torch --extra-index-url {CU118}", "cuda 11.8"),
        ("FROM python:3.11", "pip install torch -c $PINS", ""),
        (f"FROM python:3.11\nENV PIP_INDEX_URL={CPU}", "pip install torch", "cpu"),
    ],
)
def test_builds(tmp_path: Path, start: str, command: str, build: str) -> None:
    whole = project(tmp_path, {"Dockerfile": f"{start}\nRUN {command}  # cuda\n"})
    (installed,) = whole.contents(whole.stages[0]).named("torch")
    found = torch_build_of(installed, whole)
    assert f"{found.kind} {found.cuda or ''}".strip() == build
