"""What a project makes of a build stage: whether it ships, what it has to do with a GPU, and what it is for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_repository import project

from gpulint.model.stage import Stage
from gpulint.project import Project, stages

CUDA = "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04"


def stage_of(whole: Project, name: str = "") -> Stage:
    """The stage of that name, or the last of the Dockerfile in the root."""
    found = [stage for stage in whole.stages if (stage.name == name if name else stage.path == "Dockerfile")]
    return found[-1]


def judged(folder: Path, question: Callable[[Stage, Project], bool], files: dict[str, str], name: str = "") -> bool:
    whole = project(folder, files, everything=True)
    return question(stage_of(whole, name), whole)


# --- What ships -----------------------------------------------------------------------------------------------------------------

TWO = f'{CUDA} AS build\nFROM python:3.12 AS run\nCMD ["./app"]\n'


@pytest.mark.parametrize(
    ("name", "further", "expected"),
    [
        ("run", {}, True),
        ("build", {}, False),
        ("build", {"compose.yaml": "services:\n  a:\n    build: {context: ., target: build}\n"}, True),
        ("build", {"build.sh": "docker build -t a --target BUILD .\n"}, True),
        ("build", {"compose.yaml": "services:\n  a:\n    build: {context: ., target: run}\n"}, False),
        (
            "build",
            {"other/Dockerfile": f"{CUDA} AS x\n", "compose.yaml": "services:\n  a:\n    build: {context: other, target: build}\n"},
            False,
        ),
    ],
)
def test_the_last_stage_ships_and_one_that_a_build_names(tmp_path: Path, name: str, further: dict[str, str], expected: bool) -> None:
    assert judged(tmp_path, stages.ships, {"Dockerfile": TWO, **further}, name) is expected


@pytest.mark.parametrize(
    ("instructions", "service", "expected"),
    [
        ('CMD ["./app"]', "", True),
        ('ENTRYPOINT ["python", "a.py"]', "", True),
        ("", "", False),
        ('CMD ["bash"]', "", False),
        ('CMD ["/bin/sh"]', "", False),
        ('CMD ["bash", "-c", "./app"]', "", True),
        ("", "command: ./app", True),
        ('CMD ["bash"]', "command: bash", False),
    ],
)
def test_a_shell_alone_is_no_program(tmp_path: Path, instructions: str, service: str, expected: bool) -> None:
    files = {"Dockerfile": f"{CUDA}\n{instructions}\n", "compose.yaml": f"services:\n  a:\n    build: .\n    {service}\n"}
    assert judged(tmp_path, stages.runs_a_program, files) is expected


def test_a_stage_that_does_not_ship_runs_no_program(tmp_path: Path) -> None:
    assert not judged(tmp_path, stages.runs_a_program, {"Dockerfile": f'{CUDA} AS first\nCMD ["./app"]\nFROM python:3.12\n'}, "first")


# --- What it has to do with a GPU -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dockerfile", "expected"),
    [
        (f"{CUDA}\n", "stands on nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
        (f"{CUDA} AS base\nFROM base AS more\nFROM more\n", "stands on nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
        ("FROM acme/app:1.0.0-cu124\n", "stands on acme/app:1.0.0-cu124"),
        ("ARG TAG=12.4.1-base-ubuntu22.04\nFROM nvidia/cuda:${TAG}\n", "stands on nvidia/cuda:12.4.1-base-ubuntu22.04"),
        ("FROM python:3.12\nRUN pip install --no-cache-dir torch==2.5.1+cu124\n", "installs torch==2.5.1+cu124"),
        ("FROM python:3.12 AS base\nRUN pip install cupy-cuda12x\nFROM base\n", "installs cupy-cuda12x"),
        ("FROM python:3.12\n", ""),
        ("FROM python:3.12\nRUN pip install torch==2.5.1+cpu\n", ""),
        ("FROM ollama/ollama:0.5.1\n", ""),
        ("FROM acme/app:${TAG}\n", ""),
        ("ARG BASE\nFROM ${BASE}\n", ""),
        (f"{CUDA} AS build\nFROM python:3.12\nCOPY --from=build /a /a\n", ""),
    ],
)
def test_why_an_image_is_a_gpu_image(tmp_path: Path, dockerfile: str, expected: str) -> None:
    whole = project(tmp_path, {"Dockerfile": dockerfile}, everything=True)
    reason = stages.gpu_base(stage_of(whole))
    assert (reason.says if reason else "") == expected


@pytest.mark.parametrize(
    ("dockerfile", "service", "says", "place"),
    [
        ('FROM python:3.12\nCMD ["./app"]\n', "gpus: all", "a GPU is asked for here for its container", "compose.yaml:4:11"),
        ('FROM python:3.12\nCMD ["nvidia-smi"]\n', "", "its command uses a GPU", "Dockerfile:2:7"),
        ('FROM python:3.12\nCMD ["./app", "--device", "cuda"]\n', "", "its command uses a GPU", "Dockerfile:2:7"),
        ("FROM python:3.12\nRUN pip install cupy-cuda12x\n", "", "installs cupy-cuda12x", "Dockerfile:2:17"),
        (f"{CUDA} AS build\nFROM alpine\nCOPY --from=build /a /a\n", "", "it copies from a GPU stage here", "Dockerfile:3:1"),
        (f"{CUDA} AS build\nFROM alpine\nCOPY --from=0 /a /a\n", "", "it copies from a GPU stage here", "Dockerfile:3:1"),
        (f"{CUDA} AS build\nENV CGO_ENABLED=0\nRUN go build\nFROM alpine\nCOPY --from=build /a /a\n", "", "", ""),
        (f"{CUDA} AS build\nRUN CGO_ENABLED=0 go build\nFROM alpine\nCOPY --from=build /a /a\n", "", "", ""),
        ("FROM golang AS build\nFROM alpine\nCOPY --from=build /a /a\n", "", "", ""),
        ('FROM python:3.12\nCMD ["./app", "--device", "cpu"]\n', "", "", ""),
        ('FROM python:3.12\nCMD ["./app"]\n', "", "", ""),
    ],
)
def test_why_the_program_of_a_stage_uses_a_gpu(tmp_path: Path, dockerfile: str, service: str, says: str, place: str) -> None:
    files = {"Dockerfile": dockerfile, "compose.yaml": f"services:\n  a:\n    build: .\n    {service}\n"}
    whole = project(tmp_path, files, everything=True)
    reason = stages.gpu_use(stage_of(whole), whole)
    found = (reason.says, str(reason.location)) if reason else ("", "")
    assert found == (says, place)


# --- What it is for -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("Dockerfile", "run", False),
        ("Dockerfile", "dev", True),
        ("Dockerfile", "cuda-builder", True),
        ("Dockerfile", "test", True),
        ("Dockerfile.dev", "run", True),
        (".devcontainer/Dockerfile", "run", True),
        ("ci/Dockerfile", "run", True),
        ("Dockerfile", "device", False),
        ("circus/Dockerfile", "contest", False),
    ],
)
def test_a_name_or_path_says_that_it_is_for_developers(tmp_path: Path, path: str, name: str, expected: bool) -> None:
    whole = project(tmp_path, {path: f"{CUDA} AS {name}\n"}, everything=True)
    assert stages.is_for_developers(stage_of(whole, name)) is expected


def test_the_base_of_another_dockerfile(tmp_path: Path) -> None:
    files = {
        "Dockerfile": f"{CUDA}\n",
        "build.sh": "docker build -t acme/base .\n",
        "app/Dockerfile": "FROM acme/base:1.0.0\n",
    }
    assert judged(tmp_path, stages.is_base_of_others, files)
    assert not judged(tmp_path, stages.is_base_of_others, {"app/Dockerfile": "FROM acme/other:1.0.0\n"})


@pytest.mark.parametrize(
    ("dockerfile", "files", "expected"),
    [
        ('RUN pip install vllm\nCMD ["./app"]', {}, True),
        ('CMD ["python", "a.py"]', {"a.py": "import triton\n"}, True),
        ('CMD ["python", "a.py"]', {"requirements.txt": "deepspeed\n"}, True),
        ('CMD ["python", "a.py"]', {"a.py": "import torch\n"}, False),
        ('CMD ["./app"]', {}, False),
    ],
)
def test_what_compiles_gpu_code_when_it_runs(tmp_path: Path, dockerfile: str, files: dict[str, str], expected: bool) -> None:
    assert judged(tmp_path, stages.compiles_gpu_code, {"Dockerfile": f"{CUDA}\nCOPY . .\n{dockerfile}\n", **files}) is expected


def test_what_compiles_is_looked_for_in_the_build_context_alone(tmp_path: Path) -> None:
    files = {
        "Dockerfile": f'{CUDA}\nCOPY . .\nCMD ["python", "a.py"]\n',
        "compose.yaml": "services:\n  a:\n    build: {context: app, dockerfile: ../Dockerfile}\n",
        "app/a.py": "import torch\n",
        "other/b.py": "import triton\n",
    }
    assert not judged(tmp_path, stages.compiles_gpu_code, files)
    assert judged(tmp_path, stages.compiles_gpu_code, {"app/b.py": "import triton\n"})


@pytest.mark.parametrize(
    ("dockerfile", "expected"),
    [
        (f'{CUDA}\nCMD ["./app"]\n', False),
        (f"{CUDA}\n", True),
        ("FROM scratch\nCOPY --from=build /app /app\n", True),
        (f'{CUDA} AS build\nFROM scratch\nCOPY --from=build / /\nCMD ["./app"]\n', True),
        (f'{CUDA} AS build\nFROM scratch\nCOPY --from=build /app /\nCMD ["./app"]\n', False),
    ],
    ids=["runs", "no command", "only files", "a whole root", "files and a command"],
)
def test_a_stage_that_only_hands_out_files(tmp_path: Path, dockerfile: str, expected: bool) -> None:
    assert judged(tmp_path, stages.is_file_export, {"Dockerfile": dockerfile}) is expected


@pytest.mark.parametrize(
    ("path", "image", "expected"),
    [
        ("Dockerfile", "acme/nvidia-device-plugin", True),
        ("deployments/gpu-feature-discovery/Dockerfile", "acme/app", True),
        ("Dockerfile", "acme/app", False),
    ],
)
def test_an_image_that_is_part_of_what_makes_gpus_usable(tmp_path: Path, path: str, image: str, expected: bool) -> None:
    files = {path: f"{CUDA} AS run\n", "build.sh": f"docker build -t {image} -f {path} .\n"}
    assert judged(tmp_path, stages.is_infrastructure_image, files, "run") is expected
