"""Calls of Python libraries that start containers, read as the `docker run` that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.model.container import ASPECTS, Container, Dialect, RequestState
from gpulint.source import Text, Value, as_written

DOCKER = """import os
import docker
from docker.types import DeviceRequest

client = docker.from_env()
"""
WHALES = "from python_on_whales import DockerClient, docker as engine\n\nother = DockerClient()\n"


def containers(tmp_path: Path, code: str) -> tuple[Container, ...]:
    return project(tmp_path, {"run.py": f"{code}\n# gpu\n"}).containers


def shown(values: tuple[Value, ...] | None) -> list[str] | None:
    return None if values is None else [as_written(value) for value in values]


def test_a_call_with_everything(tmp_path: Path) -> None:
    code = DOCKER + (
        "client.containers.run(\n"
        '    "pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime", "python train.py --epochs 2", entrypoint=["tini", "--"],\n'
        '    environment={"LEVEL": "info", "TOKEN": os.environ["TOKEN"]}, volumes={"/data": {"bind": "/in", "mode": "ro"}},\n'
        '    devices=["/dev/fuse:/dev/fuse"], shm_size="8g", ipc_mode="host", pid_mode="host", user=1000, group_add=["video"],\n'
        '    security_opt=["seccomp=unconfined"], privileged=True, working_dir="/srv", name="train",\n'
        '    device_requests=[DeviceRequest(count=-1, capabilities=[["gpu", "compute"]])],\n'
        ")\n"
    )
    (container,) = containers(tmp_path, code)
    assert (container.dialect, str(container.location), container.open) == (Dialect.LIBRARY, "run.py:6:1", frozenset())
    assert container.image is not None and container.image.shown == "pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime"
    assert (shown(container.entrypoint), shown(container.arguments)) == (["tini", "--"], ["python", "train.py", "--epochs", "2"])
    assert [(each.name, each.name.location.column, isinstance(each.value, Text)) for each in container.env] == [
        ("LEVEL", 18, True),
        ("TOKEN", 35, False),
    ]
    assert [(str(each.source), str(each.target)) for each in container.mounts] == [("/data", "/in")]
    assert [(str(each.source), str(each.target)) for each in container.devices] == [("/dev/fuse", "/dev/fuse")]
    assert container.shared_memory is not None and container.shared_memory.size == "8g"
    assert (container.ipc, container.pid, container.user, shown(container.groups)) == ("host", "host", "1000", ["video"])
    assert shown(container.security_options) == ["seccomp=unconfined"]
    assert (container.privileged, container.working_directory, container.name) == ("privileged", "/srv", "train")
    assert [(each.state, each.count, shown(each.capabilities)) for each in container.requests] == [
        (RequestState.ASKED, "all", ["gpu", "compute"])
    ]


@pytest.mark.parametrize(
    ("request_", "state", "count", "ids"),
    [
        ("DeviceRequest(count=2, capabilities=[['gpu']])", RequestState.ASKED, "2", []),
        ("DeviceRequest(device_ids=['0', '1'], capabilities=[['gpu']])", RequestState.ASKED, None, ["0", "1"]),
        ("DeviceRequest(device_ids=chosen, capabilities=[['gpu']])", RequestState.ASKED, None, ["${...}"]),
        ("DeviceRequest(count=chosen, capabilities=[['gpu']])", RequestState.ASKED, "${...}", []),
        ("DeviceRequest(capabilities=[['gpu']])", RequestState.ZERO, None, []),
        ("DeviceRequest(count=0, capabilities=[['gpu']])", RequestState.ZERO, "0", []),
        ("{'Driver': 'nvidia', 'Count': -1, 'Capabilities': [['gpu']]}", RequestState.ASKED, "all", []),
        ("docker.types.DeviceRequest(driver='cdi', device_ids=['nvidia.com/gpu=all'])", RequestState.ASKED, None, ["nvidia.com/gpu=all"]),
    ],
)
def test_device_requests(request_: str, state: RequestState, count: str | None, ids: list[str], tmp_path: Path) -> None:
    (container,) = containers(tmp_path, f"{DOCKER}client.containers.create('acme/train:1', device_requests=[{request_}])\n")
    (request,) = container.requests
    assert (request.state, None if request.count is None else as_written(request.count)) == (state, count)
    assert (shown(request.ids), str(request.location)) == (ids, "run.py:6:59")


@pytest.mark.parametrize(
    ("code", "opened"),
    [
        ("client.containers.run('acme/train:1')", frozenset()),
        ("client.containers.run('acme/train:1', device_requests=None)", frozenset()),
        ("client.containers.run('acme/train:1', **options)", ASPECTS),
        ("client.containers.run('acme/train:1', *more)", ASPECTS),
        ("client.containers.run('acme/train:1', device_requests=wanted)", {"gpu"}),
        ("client.containers.run('acme/train:1', device_requests=[wanted])", {"gpu"}),
        ("client.containers.run('acme/train:1', runtime=wanted)", {"gpu"}),
        ("client.containers.run('acme/train:1', devices=wanted)", {"gpu"}),
        ("client.containers.run('acme/train:1', environment=wanted)", {"env"}),
        ("client.containers.run('acme/train:1', environment={**wanted})", {"env"}),
        ("client.containers.run('acme/train:1', mounts=[docker.types.Mount('/dev/shm', None, type='tmpfs')])", {"shm"}),
        ("client.containers.run('acme/train:1', command)", {"command"}),
        ("client.containers.run(image)", {"image"}),
    ],
)
def test_what_is_not_known_stays_open(code: str, opened: set[str], tmp_path: Path) -> None:
    (container,) = containers(tmp_path, f"{DOCKER}def start(wanted, options, more, command, image):\n    {code}\n")
    assert container.open == opened and not container.requests


def test_names_that_are_bound_once(tmp_path: Path) -> None:
    code = DOCKER + (
        'VERSION = "2.4.1"\n'
        'IMAGE = os.environ.get("IMAGE", f"acme/train:{VERSION}")\n'
        "GPUS = [DeviceRequest(count=1, capabilities=[['gpu']])]\n"
        "TWICE = None\n"
        "TWICE = GPUS\n"
        "GROWN = []\n"
        "GROWN.append(GPUS[0])\n"
        "client.containers.run(IMAGE, device_requests=GPUS)\n"
        "client.containers.run('acme/a:1', device_requests=TWICE)\n"
        "client.containers.run('acme/a:1', device_requests=GROWN)\n"
    )
    first, second, third = containers(tmp_path, code)
    assert first.image is not None and first.image.shown == "acme/train:2.4.1" and len(first.requests) == 1
    assert second.open == third.open == {"gpu"}


def test_the_low_level_client(tmp_path: Path) -> None:
    code = DOCKER + (
        "config = client.api.create_host_config(binds=['/a:/b'], shm_size='1g', device_requests=[DeviceRequest(count=1)])\n"
        "client.api.create_container('acme/a:1', 'serve', environment=['LEVEL=info'], host_config=config)\n"
        "client.api.create_container('acme/b:1', host_config=given())\n"
    )
    known, unknown = containers(tmp_path, code)
    assert [str(each.count) for each in known.requests] == ["1"] and shown(known.arguments) == ["serve"]
    assert [str(each.source) for each in known.mounts] == ["/a"] and [(each.name, each.value) for each in known.env] == [("LEVEL", "info")]
    assert unknown.open == {"gpu", "shm"}


def test_python_on_whales(tmp_path: Path) -> None:
    code = WHALES + (
        'engine.run("acme/a:1", ["serve"], gpus="all", envs={"LEVEL": "info"}, volumes=[("/a", "/b", "ro")], detach=True)\n'
        'other.container.create("acme/b:1", runtime="nvidia", mounts=[["type=tmpfs", "destination=/dev/shm"]])\n'
        'someone.run("acme/c:1")\n'
    )
    first, second = containers(tmp_path, code)
    assert [str(each.count) for each in first.requests] == ["all"] and [str(each.source) for each in first.mounts] == ["/a"]
    assert [str(each.resource) for each in second.requests] == ["nvidia"] and second.shared_memory is not None


def test_what_is_no_call_of_a_library(tmp_path: Path) -> None:
    assert containers(tmp_path, "import kubernetes\nclient.containers.run('acme/a:1', 'nvidia-smi')\n'docker'\n") == ()
