"""Which ways to start a program leave its assert statements out: options and variables, in commands, scripts and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_repository import gpulint, write

PROGRAM = """
    import torch

    assert torch.cuda.is_available()
    torch.nn.Linear(3, 1).sum().backward()
    """
DOCKERFILE = """
    FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
    WORKDIR /app
    COPY . /app
    """
SCRIPT = ["sh", "run.sh"]


def found(folder: Path, command: list[str], script: str, env: dict[str, str]) -> list[str]:
    service = {"build": ".", "command": command, "environment": env, "gpus": [{"count": 1}]}
    files = {"Dockerfile": DOCKERFILE, "fit.py": PROGRAM, "prepare.py": "print(1)\n", "run.sh": f"#!/bin/sh\n{script}\n"}
    write(folder, {**files, "compose.yaml": json.dumps({"services": {"fit": service}})})
    return gpulint(folder, "--select", "GPU608", "--format", "concise").stdout.splitlines()


@pytest.mark.parametrize(
    ("command", "script", "env"),
    [
        (["python", "-O", "fit.py"], "", {}),
        (["python", "-uOO", "fit.py"], "", {}),
        (["python", "fit.py"], "", {"PYTHONOPTIMIZE": "1"}),
        (["env", "PYTHONOPTIMIZE=1", "python", "fit.py"], "", {}),
        (["sh", "-c", "PYTHONOPTIMIZE=1 python fit.py"], "", {}),
        (SCRIPT, "export PYTHONOPTIMIZE=1\nexec python fit.py", {}),
        (SCRIPT, "PYTHONOPTIMIZE=2 exec torchrun --nproc_per_node=2 fit.py", {}),
        (SCRIPT, "exec python -O fit.py", {}),
    ],
)
def test_what_leaves_assertions_out(tmp_path: Path, command: list[str], script: str, env: dict[str, str]) -> None:
    (line,) = found(tmp_path, command, script, env)
    assert line.startswith("fit.py:3:1: warning: GPU608 ")


@pytest.mark.parametrize(
    ("command", "script", "env"),
    [
        (["python", "fit.py"], "", {}),
        (["python", "fit.py", "-O"], "", {}),
        (["python", "fit.py"], "", {"PYTHONOPTIMIZE": "0"}),
        (SCRIPT, "export PYTHONOPTIMIZE=\nexec python fit.py", {"PYTHONOPTIMIZE": "1"}),
        (SCRIPT, "PYTHONOPTIMIZE=1 python prepare.py\nexec python fit.py", {}),
        (SCRIPT, "PYTHONOPTIMIZE=1\nexec python fit.py", {}),
        (SCRIPT, 'if [ -n "$FAST" ]; then export PYTHONOPTIMIZE=1; fi\nexec python fit.py', {}),
        (SCRIPT, "export PYTHONOPTIMIZE=1\nnvidia-smi || exit 1\nexec python fit.py", {}),
    ],
)
def test_what_leaves_them_in_or_does_not_matter(tmp_path: Path, command: list[str], script: str, env: dict[str, str]) -> None:
    assert found(tmp_path, command, script, env) == []
