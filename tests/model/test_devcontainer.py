"""devcontainer.json as the container that it starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project, spoken, write

from gpulint.model.container import Container, Dialect, RequestState
from gpulint.source import as_written

PATH = ".devcontainer/devcontainer.json"


def only(folder: Path, text: str, files: dict[str, str] | None = None) -> Container:
    (container,) = project(folder, {PATH: text, **(files or {})}).containers
    return container


def test_user_and_namespaces(tmp_path: Path) -> None:
    container = only(
        tmp_path,
        """{
          "image": "acme/train:2.1.0-cuda", "containerUser": "dev", "securityOpt": ["label=disable", "${localEnv:OPTION}"],
          "runArgs": ["--pid=host", "--user", "root", "--group-add", "video", "--security-opt", "seccomp=unconfined"]
        }""",
    )
    assert (container.user, container.pid, [str(each) for each in container.groups]) == ("root", "host", ["video"])
    assert [as_written(each) for each in container.security_options] == ["label=disable", "${localEnv:OPTION}", "seccomp=unconfined"]


def test_an_image_with_comments_and_a_trailing_comma(tmp_path: Path) -> None:
    container = only(
        tmp_path,
        """{
          // the team's image
          "name": "train",
          "image": "nvcr.io/nvidia/pytorch:24.07-py3",
          "containerEnv": {"CUDA_VISIBLE_DEVICES": "0", "HOME_OF": "${localEnv:HOME}"}, /* both */
          "mounts": ["source=data,target=/data,type=volume", {"source": "/dev/shm", "target": "/dev/shm", "type": "bind"}],
          "privileged": true,
        }""",
    )
    assert container.dialect is Dialect.DEVCONTAINER
    assert (str(container.name), str(container.location)) == ("train", f"{PATH}:4:12")
    assert container.image is not None and container.image.shown == "nvcr.io/nvidia/pytorch:24.07-py3"
    assert [(str(each.name), isinstance(each.value, str)) for each in container.env] == [("CUDA_VISIBLE_DEVICES", True), ("HOME_OF", False)]
    assert [(str(mount.source), str(mount.target)) for mount in container.mounts] == [("data", "/data"), ("/dev/shm", "/dev/shm")]
    assert container.privileged == "true"


@pytest.mark.parametrize(
    ("keys", "states"),
    [
        ('"hostRequirements": {"gpu": true}', [RequestState.ASKED]),
        ('"hostRequirements": {"gpu": "optional"}', [RequestState.OPTIONAL]),
        ('"hostRequirements": {"gpu": {"cores": 1000}}', [RequestState.ASKED]),
        ('"hostRequirements": {"gpu": false}', []),
        ('"hostRequirements": {"cpus": 4}', []),
        ('"runArgs": ["--gpus", "all"]', [RequestState.ASKED]),
        ('"runArgs": ["--gpus=all", "--ipc=host"]', [RequestState.ASKED]),
        ('"runArgs": ["--runtime=nvidia"]', [RequestState.ASKED]),
        ('"runArgs": ["--gpus all"]', [RequestState.BROKEN]),
        ('"gpus": "all"', [RequestState.BROKEN]),
        ('"hostRequirements": {"gpus": true}', [RequestState.BROKEN]),
    ],
)
def test_requests(tmp_path: Path, keys: str, states: list[RequestState]) -> None:
    container = only(tmp_path, f'{{"image": "acme/dev:1.0.0-cuda", {keys}}}')
    assert [request.state for request in container.requests] == states


@pytest.mark.parametrize(
    "keys",
    [
        '"build": {"dockerfile": "Dockerfile", "target": "dev"}',
        '"build": {"dockerfile": "Dockerfile", "context": ".."}',
        '"dockerFile": "Dockerfile", "context": ".."',
        '"build": {"dockerfile": "../.devcontainer/Dockerfile", "context": "../"}',
    ],
)
def test_a_dockerfile_counts_from_the_folder_of_the_file(tmp_path: Path, keys: str) -> None:
    whole = project(
        tmp_path,
        {PATH: f'{{{keys}, "runArgs": ["--gpus", "all"]}}', ".devcontainer/Dockerfile": "FROM nvcr.io/nvidia/pytorch:24.07-py3 AS dev\n"},
    )
    built = whole.build_of(whole.containers[0])
    assert built is not None and built.stage.path == ".devcontainer/Dockerfile"


def test_one_that_names_a_compose_service_is_that_service(tmp_path: Path) -> None:
    text = '{"dockerComposeFile": "../compose.yaml", "service": "app", "runArgs": ["--gpus", "all"]}'
    assert project(tmp_path, {PATH: text}).containers == ()


def test_rules_speak_of_its_image_and_leave_its_privileges_and_its_gpu_alone(tmp_path: Path) -> None:
    text = '{\n"image": "nvidia/cuda:latest",\n"privileged": true, "runArgs": ["--gpus", "all"]\n}\n'
    write(tmp_path, {PATH: text, "plain/.devcontainer.json": '{"image": "vllm/vllm-openai:v0.8.5"}'})
    assert spoken(tmp_path) == [f"{PATH}:2:11 error GPU101"]
