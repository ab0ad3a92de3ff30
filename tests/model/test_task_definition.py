"""Task definitions of Amazon ECS and job definitions of AWS Batch as their containers."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import concise, project, write

from gpulint.model.container import Dialect, RequestState

ECS = """{
  "family": "asr",
  "requiresCompatibilities": ["EC2"],
  "pidMode": "host",
  "containerDefinitions": [
    {
      "name": "asr",
      "image": "acme/asr:1.0.0-cuda12",
      "entryPoint": [],
      "command": ["serve", "--device", "cuda"],
      "environment": [{"name": "LEVEL", "value": "info"}],
      "linuxParameters": {"sharedMemorySize": 2048, "devices": [{"hostPath": "/dev/nvidia0"}]},
      "privileged": true,
      "user": "1000:44",
      "resourceRequirements": [%s]
    }
  ]
}
"""
BATCH = """{
  "jobDefinitionName": "train",
  "type": "container",
  "containerProperties": {"image": "acme/train:1.0.0", "command": ["train"], "resourceRequirements": [
    {"type": "VCPU", "value": "4"}, {"type": "GPU", "value": "2"}]}
}
"""


def test_an_ecs_task(tmp_path: Path) -> None:
    (container,) = project(tmp_path, {"task.json": ECS % '{"type": "GPU", "value": "1"}'}).containers
    assert (container.dialect, str(container.name), str(container.location)) == (Dialect.TASK, "asr", "task.json:6:5")
    assert container.image is not None and container.image.shown == "acme/asr:1.0.0-cuda12"
    assert container.entrypoint is None and [str(word) for word in container.arguments or ()] == ["serve", "--device", "cuda"]
    assert [(str(each.name), str(each.value)) for each in container.env] == [("LEVEL", "info")]
    assert container.shared_memory is not None and container.shared_memory.size == "2048m"
    assert (container.user, container.pid, container.ipc) == ("1000:44", "host", None)
    assert container.privileged == "true" and [str(mount.source) for mount in container.devices] == ["/dev/nvidia0"]
    assert [(str(request.resource), request.vendor, str(request.count)) for request in container.requests] == [("GPU", "nvidia", "1")]


def test_batch_jobs_of_one_and_of_several_nodes(tmp_path: Path) -> None:
    nodes = '{"nodeProperties": {"nodeRangeProperties": [{"targetNodes": "0:", "container": {"image": "acme/cuda:1"}}]}}'
    tasks = '{"ecsProperties": {"taskProperties": [{"ipcMode": "host", "containers": [{"image": "acme/gpu:2"}]}]}}'
    containers = project(tmp_path, {"job.json": BATCH, "nodes.json": nodes, "tasks.json": tasks}).containers
    assert [(each.image.shown, len(each.requests), each.ipc) for each in containers if each.image] == [
        ("acme/train:1.0.0", 1, None),
        ("acme/cuda:1", 0, None),
        ("acme/gpu:2", 0, "host"),
    ]


@pytest.mark.parametrize(
    ("requirement", "state", "faults"),
    [
        ('{"type": "GPU", "value": "1"}', RequestState.ASKED, []),
        ('{"type": "GPU", "value": "0"}', RequestState.ZERO, []),
        ('{"type": "GPU", "value": 1}', RequestState.BROKEN, ['the value 1 is a number where the API takes a string: "1"']),
        ('{"type": "NeuronDevice", "value": "1"}', RequestState.ASKED, []),
    ],
)
def test_requests(tmp_path: Path, requirement: str, state: RequestState, faults: list[str]) -> None:
    (request,) = project(tmp_path, {"task.json": ECS % requirement}).containers[0].requests
    assert (request.state, [fault.reason for fault in request.faults]) == (state, faults)


def test_fargate_has_no_gpus(tmp_path: Path) -> None:
    task = (ECS % '{"type": "GPU", "value": "1"}').replace('"EC2"', '"FARGATE"')
    (request,) = project(tmp_path, {"task.json": task}).containers[0].requests
    assert [str(fault.location) for fault in request.faults] == ["task.json:3:32"]


def test_a_task_that_wants_a_gpu_and_asks_for_none(tmp_path: Path) -> None:
    task = (
        (ECS % '{"type": "VCPU", "value": "4"}')
        .replace(', "devices": [{"hostPath": "/dev/nvidia0"}]', "")
        .replace('"privileged": true,', "")
    )
    write(tmp_path, {"task.json": task})
    (line,) = concise(tmp_path)
    assert line.startswith("task.json:6:5: error: GPU201 the task asks for no GPU although its command says ")
