"""What stops a container without a GPU beside its own program: init containers, hooks and probes, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import gpulint, write

PROGRAM = """
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.nn.Linear(3, 1).to(device)(torch.ones(3)).sum().backward()
    """
CHECK = "import torch\nassert torch.cuda.is_available()\n"
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: fit}}
spec:
  restartPolicy: Never
  initContainers: {init}
  containers:
    - name: fit
      image: registry.acme.example/fit:1.4.0
      command: ["python", "fit.py"]
      resources: {{limits: {{nvidia.com/gpu: 1}}}}
      {more}
"""


def init(command: str, more: str = "") -> tuple[str, str]:
    limits = "resources: {limits: {nvidia.com/gpu: 1}}"
    return f"[{{name: gpu, image: nvidia/cuda:12.4.1-base-ubuntu22.04, {limits}, command: {command}{more}}}]", ""


def beside(more: str) -> tuple[str, str]:
    return "[]", more


STOPS = {
    "init": init('["nvidia-smi", "-L"]'),
    "init, a shell": init('["sh", "-c", "nvidia-smi -L || exit 1"]'),
    "init, arguments": init('["sh", "-c"]', ', args: ["set -e; nvidia-smi; echo ready"]'),
    "init, waits": init('["sh", "-c", "until nvidia-smi; do sleep 2; done"]'),
    "init, Python": init('["python", "-c", "import torch; assert torch.cuda.is_available()"]'),
    "init, a program": init('["python", "check.py"]'),
    "hook": beside('lifecycle: {postStart: {exec: {command: ["nvidia-smi"]}}}'),
    "hook, a shell": beside('lifecycle: {postStart: {exec: {command: ["sh", "-c", "nvidia-smi > /dev/null || exit 1"]}}}'),
    "probe for the start": beside('startupProbe: {exec: {command: ["nvidia-smi"]}}'),
    "probe for the start, Python": beside(
        'startupProbe: {exec: {command: ["python", "-c", "import torch; torch.zeros(1).cuda()"]}}',
    ),
}
GOES_ON = {
    "nothing": beside("tty: true"),
    "init, or true": init('["sh", "-c", "nvidia-smi || true"]'),
    "init, goes on": init('["sh", "-c", "nvidia-smi; echo done"]'),
    "init, prints": init('["echo", "nvidia-smi"]'),
    "init, Python prints": init('["python", "-c", "import torch; print(torch.cuda.is_available())"]'),
    "init, something else": init('["sh", "-c", "until nc -z db 5432; do sleep 1; done"]'),
    "hook, or true": beside('lifecycle: {postStart: {exec: {command: ["sh", "-c", "nvidia-smi || true"]}}}'),
    "hook at the end": beside('lifecycle: {preStop: {exec: {command: ["nvidia-smi"]}}}'),
    "probe of health": beside('livenessProbe: {exec: {command: ["nvidia-smi"]}}'),
    "probe of readiness": beside('readinessProbe: {exec: {command: ["nvidia-smi"]}}'),
    "probe for the start, a port": beside("startupProbe: {tcpSocket: {port: 8000}}"),
}


def silent_fallbacks(folder: Path, init_containers: str, more: str) -> list[str]:
    write(folder, {"pod.yaml": POD.format(init=init_containers, more=more), "fit.py": PROGRAM, "check.py": CHECK})
    return gpulint(folder, "--select", "GPU601", "--format", "concise").stdout.splitlines()


@pytest.mark.parametrize(("init_containers", "more"), STOPS.values(), ids=STOPS)
def test_what_stops_the_container(tmp_path: Path, init_containers: str, more: str) -> None:
    assert silent_fallbacks(tmp_path, init_containers, more) == []


@pytest.mark.parametrize(("init_containers", "more"), GOES_ON.values(), ids=GOES_ON)
def test_what_does_not(tmp_path: Path, init_containers: str, more: str) -> None:
    (line,) = silent_fallbacks(tmp_path, init_containers, more)
    assert line.startswith("fit.py:3:10: warning: GPU601 ")


def test_a_check_of_health_in_the_image_stops_nothing(tmp_path: Path) -> None:
    dockerfile = """
        FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
        WORKDIR /app
        COPY fit.py .
        HEALTHCHECK CMD nvidia-smi
        CMD ["python", "fit.py"]
        """
    compose = "services:\n  fit:\n    build: .\n    gpus: [{count: 1}]\n"
    write(tmp_path, {"Dockerfile": dockerfile, "compose.yaml": compose, "fit.py": PROGRAM})
    assert "GPU601" in gpulint(tmp_path, "--select", "GPU601", "--format", "concise").stdout
