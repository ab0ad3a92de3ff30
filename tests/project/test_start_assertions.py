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


TRAINER = """
    from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

    (arguments,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    Trainer(model=AutoModelForCausalLM.from_pretrained("m"), args=arguments).train()
    """
ACCELERATED = """
    import accelerate, torch

    accelerator = accelerate.Accelerator()
    accelerator.backward(accelerator.prepare(torch.nn.Linear(3, 1))(torch.ones(3)))
    """
CLI = """
    from lightning.pytorch.cli import LightningCLI

    LightningCLI(run=True)
    """
TOLD = [
    (PROGRAM, "torchrun --nproc_per_node=gpu fit.py", True),
    (PROGRAM, "torchrun --nproc-per-node gpu fit.py", True),
    (PROGRAM, "torchrun --nproc_per_node=auto fit.py", False),
    (PROGRAM, "torchrun --nproc_per_node=2 fit.py", False),
    (PROGRAM, "python fit.py --bf16", False),
    (TRAINER, "python fit.py --output_dir out", False),
    (TRAINER, "python fit.py --bf16 --output_dir out", True),
    (TRAINER, "python fit.py --fp16=True", True),
    (TRAINER, "python fit.py --bf16 False", False),
    (ACCELERATED, "accelerate launch fit.py", False),
    (ACCELERATED, "accelerate launch --mixed_precision fp16 fit.py", True),
    (ACCELERATED, "accelerate launch --mixed_precision bf16 fit.py", False),
    (CLI, "python fit.py fit", False),
    (CLI, "python fit.py fit --trainer.accelerator=gpu", True),
    (CLI, "python fit.py fit --config config.yaml", True),
    (CLI.replace("run=True", 'trainer_defaults={"accelerator": "gpu"}'), "python fit.py fit", True),
]


@pytest.mark.parametrize(("code", "command", "stops"), TOLD)
def test_options_that_insist_on_a_gpu(tmp_path: Path, code: str, command: str, stops: bool) -> None:
    dockerfile = f"FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\nWORKDIR /app\nCOPY fit.py .\nCMD {command}\n"
    compose = "services:\n  fit:\n    build: .\n    gpus: [{count: 1}]\n"
    write(tmp_path, {"Dockerfile": dockerfile, "compose.yaml": compose, "fit.py": code})
    said = gpulint(tmp_path, "--select", "GPU601", "--format", "concise").stdout
    assert ("GPU601" not in said) is stops
