"""What an image contains: packages in their order, from commands and files, as later steps leave them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.project.contents import Contents, Installed


def contents(folder: Path, dockerfile: str, files: dict[str, str] | None = None, stage: int = -1) -> Contents:
    """The contents of a stage of a Dockerfile in the folder, the last one by default."""
    whole = project(folder, {"Dockerfile": f"# cuda\n{dockerfile}", **(files or {})})
    read = whole.dockerfile("Dockerfile")
    assert read is not None
    return whole.contents(read.stages[stage])


def shown(installed: Installed) -> str:
    """`file:line name==version [index]`."""
    place = installed.package.location
    index = f" {installed.index}" if installed.index is not None else ""
    environment = f" in {installed.environment}" if installed.environment else ""
    return f"{place.path}:{place.line} {installed.name}=={installed.version or '?'}{index}{environment}"


def of(folder: Path, dockerfile: str, files: dict[str, str] | None = None) -> list[str]:
    return [shown(each) for each in contents(folder, dockerfile, files).packages]


# --- From commands and files ----------------------------------------------------------------------------------------------------


def test_commands(tmp_path: Path) -> None:
    assert of(
        tmp_path,
        """FROM ubuntu:22.04
RUN apt-get update && apt-get install -y libcudnn8=8.9.7.29-1+cuda12.2
RUN pip install torch==2.4.1 --index-url https://download.pytorch.org/whl/cu121
RUN uv pip install 'jax[cuda12]>=0.4'
RUN conda install -n train pytorch=2.4.1
""",
    ) == [
        "Dockerfile:3 libcudnn8==8.9.7.29-1+cuda12.2",
        "Dockerfile:4 torch==2.4.1 https://download.pytorch.org/whl/cu121",
        "Dockerfile:5 jax==?",
        "Dockerfile:6 pytorch==2.4.1 in train",
    ]


COPIES = {
    "by its name": "COPY requirements.txt /app/requirements.txt\nRUN pip install -r /app/requirements.txt",
    "into a folder": "COPY requirements.txt /app/\nRUN pip install -r /app/requirements.txt",
    "with a folder": "COPY . /app\nRUN pip install -r /app/requirements.txt",
    "relative to the folder of the base image": "COPY requirements.txt .\nRUN pip install -r requirements.txt",
    "relative to WORKDIR": "WORKDIR /app\nCOPY requirements.txt ./\nRUN pip install -r requirements.txt",
    "by a pattern": "WORKDIR /app\nCOPY require*.txt ./\nRUN pip install -r requirements.txt",
    "under another name": "COPY requirements.txt /tmp/r.txt\nRUN pip install -r /tmp/r.txt",
    "from another stage": "COPY --from=files /src/requirements.txt /tmp/\nRUN pip install -r /tmp/requirements.txt",
    "after cd": "COPY . /app\nRUN cd /app && pip install -r requirements.txt",
    "by a bind mount": "RUN --mount=type=bind,source=requirements.txt,target=/tmp/r.txt pip install -r /tmp/r.txt",
    "by a bind mount of a folder": "RUN --mount=target=/src pip install -r /src/requirements.txt",
    "by a bind mount of a stage": "RUN --mount=from=files,source=/src,target=/in pip install -r /in/requirements.txt",
    "by a script": "COPY . /app\nWORKDIR /app\nRUN ./install.sh",
    "by a script that a shell runs": "COPY . /app\nWORKDIR /app\nRUN bash install.sh",
}


@pytest.mark.parametrize("instructions", COPIES.values(), ids=COPIES.keys())
def test_requirement_files_are_read_where_they_come_from(tmp_path: Path, instructions: str) -> None:
    files = {
        "requirements.txt": "-r more/base.txt\nnumpy\n",
        "more/base.txt": "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.1.2\n",
        "install.sh": "#!/bin/sh\npip install -r requirements.txt\n",
    }
    dockerfile = f"FROM alpine AS files\nCOPY requirements.txt /src/\nFROM python:3.11\n{instructions}\n"
    found = contents(tmp_path, dockerfile, files)
    assert [shown(each) for each in found.packages] == ["requirements.txt:2 numpy==?", "more/base.txt:2 torch==2.1.2"]
    assert found.unread == ()
    assert [str(index) for index in found.packages[1].extra_indexes] == ["https://download.pytorch.org/whl/cu118"]


@pytest.mark.parametrize(
    "instructions",
    [
        "COPY <<EOF /r.txt\n--extra-index-url https://x.example\ntorch==2.4.1  # one\nEOF\nRUN pip install -r /r.txt",
        "WORKDIR /app\nCOPY <<requirements.txt ./\n\ntorch==2.4.1\nrequirements.txt\nRUN pip install -r requirements.txt",
        "RUN pip install -r /dev/stdin <<EOF\nnumpy\ntorch==2.4.1\nEOF",
    ],
)
def test_requirements_that_a_heredoc_writes(tmp_path: Path, instructions: str) -> None:
    found = contents(tmp_path, f"FROM python:3.11\n{instructions}\n")
    assert [str(each.package.text) for each in found.named("torch")] == ["torch==2.4.1"]
    line = found.named("torch")[0].package.location.line
    assert (tmp_path / "Dockerfile").read_text().splitlines()[line - 1].startswith("torch==2.4.1")
    assert found.unread == ()


def test_a_file_that_is_not_here_is_told(tmp_path: Path) -> None:
    found = contents(tmp_path, "FROM python:3.11\nRUN curl -o r.txt https://x.example/r.txt && pip install -r r.txt -r $MORE torch\n")
    assert [each.name for each in found.packages] == ["torch"]
    assert len(found.unread) == 2


@pytest.mark.parametrize("change", ["sed -i /torch/d r.txt", "mv other.txt r.txt", "grep -v torch all.txt > r.txt", "wget -O r.txt $URL"])
def test_a_file_that_the_build_changes_is_told(tmp_path: Path, change: str) -> None:
    found = contents(tmp_path, f"FROM python:3.11\nCOPY . .\nRUN {change}\nRUN pip install -r r.txt\n", {"r.txt": "torch\n"})
    assert (found.packages, [str(file) for file in found.unread]) == ((), ["r.txt"])


@pytest.mark.parametrize("reading", ["cat r.txt", "grep torch r.txt", "chmod 644 r.txt", "sed -n 1p r.txt", "cp r.txt kept.txt"])
def test_a_file_that_the_build_only_reads_is_as_it_was(tmp_path: Path, reading: str) -> None:
    found = contents(tmp_path, f"FROM python:3.11\nCOPY . .\nRUN {reading}\nRUN pip install -r r.txt\n", {"r.txt": "torch\n"})
    assert [each.name for each in found.packages] == ["torch"]


def test_a_file_that_a_stage_writes_is_there_in_those_on_it(tmp_path: Path) -> None:
    found = contents(tmp_path, "FROM python:3.11 AS base\nRUN echo torch > /r.txt\nFROM base\nRUN pip install -r /r.txt\n")
    assert [each.name for each in found.packages] == ["torch"]


def test_a_copy_behind_the_command_is_none_for_it(tmp_path: Path) -> None:
    found = contents(tmp_path, "FROM python:3.11\nRUN pip install -r /r.txt\nCOPY r.txt /\n", {"r.txt": "torch\n"})
    assert (found.packages, [str(file) for file in found.unread]) == ((), ["/r.txt"])


def test_a_project_its_extras_and_its_lock(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": """
            [project]
            name = "ours"
            dependencies = ["torch>=2"]
            [project.optional-dependencies]
            serve = ["vllm"]
            docs = ["sphinx"]
            """,
        "uv.lock": '[[package]]\nname = "torch"\nversion = "2.6.0"\n',
    }
    copied = "FROM python:3.11\nWORKDIR /app\nCOPY pyproject.toml uv.lock ./\n"
    assert of(tmp_path, copied + "RUN uv sync --extra serve\n", files) == [
        "pyproject.toml:3 torch==2.6.0 in /app/.venv",
        "pyproject.toml:5 vllm==? in /app/.venv",
    ]
    assert of(tmp_path, copied + "RUN pip install '.[serve]'\n", files) == ["pyproject.toml:3 torch==?", "pyproject.toml:5 vllm==?"]
    assert of(tmp_path, copied + "RUN pip install -e /app\n", files) == ["pyproject.toml:3 torch==?"]


def test_a_lock_file_with_several_versions_settles_none(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "ours"\ndependencies = ["torch>=2"]\n',
        "uv.lock": '[[package]]\nname = "torch"\nversion = "2.6.0"\n\n[[package]]\nname = "torch"\nversion = "2.6.0+cpu"\n',
    }
    (torch,) = contents(tmp_path, "FROM python:3.11\nCOPY . .\nRUN uv sync\n", files).packages
    assert (torch.version, torch.is_settled) == (None, False)


POETRY = """
[tool.poetry.dependencies]
torch = "2.4.1"
[tool.poetry.group.serve.dependencies]
vllm = "*"
[project.optional-dependencies]
export = ["onnx"]
"""


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("poetry install", ["torch", "vllm"]),
        ("poetry install --only main", ["torch"]),
        ("poetry install --without serve", ["torch"]),
        ("poetry install --no-root --all-extras", ["onnx", "torch", "vllm"]),
        ("uv sync --all-extras", ["onnx", "torch"]),
    ],
)
def test_groups_and_extras(tmp_path: Path, command: str, names: list[str]) -> None:
    found = contents(tmp_path, f"FROM python:3.11\nCOPY . .\nRUN {command}\n", {"pyproject.toml": POETRY})
    assert sorted(each.name for each in found.packages) == names


def test_constraints_choose_versions(tmp_path: Path) -> None:
    files = {"c.txt": "torch==2.4.1\n"}
    assert of(tmp_path, "FROM python:3.11\nCOPY c.txt /\nRUN pip install torch -c /c.txt\n", files) == ["Dockerfile:4 torch==2.4.1"]
    (written,) = contents(tmp_path, "FROM python:3.11\nRUN echo torch==2 > /c.txt && pip install torch -c /c.txt\n").packages
    assert (written.version, written.is_settled) == (None, False)


def test_a_conda_environment_with_its_pip_list(tmp_path: Path) -> None:
    files = {"environment.yml": "dependencies:\n  - pytorch=2.4.1\n  - pip:\n    - onnxruntime\n"}
    dockerfile = "FROM ubuntu:22.04\nCOPY environment.yml .\nRUN conda env create -n train -f environment.yml\n"
    assert of(tmp_path, dockerfile, files) == ["environment.yml:2 pytorch==2.4.1 in train", "environment.yml:4 onnxruntime==? in train"]


@pytest.mark.parametrize(
    ("instructions", "index"),
    [
        ("COPY pip.conf /etc/pip.conf\nRUN pip install torch", " https://x.example/simple"),
        ("COPY pip.conf /root/.config/pip/\nRUN pip install torch", " https://x.example/simple"),
        ("COPY pip.conf /etc/pip.conf\nRUN pip install torch -i https://y.example/simple", " https://y.example/simple"),
        ("COPY uv.toml /etc/uv/uv.toml\nRUN uv pip install torch", " https://x.example/simple"),
        ("RUN pip config set global.index-url https://x.example/simple && pip install torch", " https://x.example/simple"),
        ("COPY pip.conf /srv/pip.conf\nRUN pip install torch", ""),
        ("RUN pip install torch\nRUN pip config set global.index-url https://x.example/simple", ""),
    ],
)
def test_configured_indexes(tmp_path: Path, instructions: str, index: str) -> None:
    files = {"pip.conf": "[global]\nindex-url = https://x.example/simple\n", "uv.toml": 'index-url = "https://x.example/simple"\n'}
    (torch,) = of(tmp_path, f"FROM python:3.11\n{instructions}\n", files)
    assert torch.partition("==?")[2] == index


# --- As later steps leave them --------------------------------------------------------------------------------------------------


BEFORE, AFTER = "Dockerfile:3 torch==2.4.1+cu121", "Dockerfile:4 torch=="


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ("pip install torch", [BEFORE]),
        ("pip install 'torch>=2.0'", [BEFORE]),
        ("pip install torch==2.4.1", [BEFORE]),
        ("pip install torch==2.5.1", [AFTER + "2.5.1"]),
        ("pip install 'torch<2'", [AFTER + "?"]),
        ("pip install -U torch", [AFTER + "?"]),
        ("pip install -U /project", [BEFORE]),
        ("pipx install torch", [BEFORE, AFTER + "? in a tool's own"]),
        ("pip install --force-reinstall torch==2.4.1", [AFTER + "2.4.1"]),
        ("pip install --dry-run torch==2.5.1", [BEFORE]),
        ("pip uninstall -y torch", []),
        ("/opt/other/bin/pip install torch==2.5.1", [BEFORE, AFTER + "2.5.1 in /opt/other"]),
        ("pip install https://x.example/torch-2.3.0+cu118-cp311-cp311-linux_x86_64.whl", [AFTER + "2.3.0+cu118"]),
    ],
)
def test_what_a_later_step_leaves(tmp_path: Path, then: str, left: list[str]) -> None:
    files = {"pyproject.toml": '[project]\nname = "ours"\ndependencies = ["torch>=2"]\n'}
    start = "FROM python:3.11\nRUN pip install torch==2.4.1+cu121\n"
    assert of(tmp_path, f"{start}RUN --mount=source=pyproject.toml,target=/project/pyproject.toml {then}\n", files) == left


def test_what_is_there_before(tmp_path: Path) -> None:
    found = contents(tmp_path, "FROM python:3.11\nRUN pip install torch==2.4.1\nRUN pip install torch==2.5.1 numpy\n")
    assert [shown(each) for each in found.before(found.history[1])] == [BEFORE.removesuffix("+cu121")]


# --- From other stages ----------------------------------------------------------------------------------------------------------


def test_a_stage_has_what_it_builds_on(tmp_path: Path) -> None:
    dockerfile = "FROM python:3.11 AS base\nRUN pip install torch==2.4.1\nFROM base\nRUN pip install numpy\n"
    assert of(tmp_path, dockerfile) == ["Dockerfile:3 torch==2.4.1", "Dockerfile:5 numpy==?"]


@pytest.mark.parametrize(
    ("install", "copy"),
    [
        ("RUN python -m venv /opt/venv && /opt/venv/bin/pip install torch", "/opt/venv /opt/venv"),
        ("ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH\nRUN pip install torch", "/opt/venv /opt/venv"),
        ("WORKDIR /app\nCOPY pyproject.toml ./\nRUN uv sync", "/app/.venv /app/.venv"),
        ("WORKDIR /app\nCOPY pyproject.toml ./\nENV PATH=/app/.venv/bin:$PATH\nRUN uv sync", "/app/.venv /app/.venv"),
        ("ENV UV_PROJECT_ENVIRONMENT=/opt/venv\nCOPY pyproject.toml ./\nRUN uv sync", "/opt/venv /opt/venv"),
        ("RUN pip install --target=/deps torch", "/deps /deps"),
        ("RUN pip install --prefix /install torch", "/install /usr/local"),
        ("RUN pip install torch", "/usr/local/lib/python3.11/site-packages /usr/local/lib/python3.11/site-packages"),
        ("RUN pip install --user torch", "/root/.local /root/.local"),
        ("RUN conda create -p /opt/env pytorch", "/opt/env /opt/env"),
        ("RUN pip install torch", "/ /"),
    ],
)
def test_environments_come_with_a_copy(tmp_path: Path, install: str, copy: str) -> None:
    files = {"pyproject.toml": '[project]\nname = "ours"\ndependencies = ["torch"]\n'}
    found = contents(tmp_path, f"FROM python:3.11 AS build\n{install}\nFROM python:3.11-slim\nCOPY --from=build {copy}\n", files)
    assert [each.name for each in found.packages] in (["torch"], ["pytorch"])


@pytest.mark.parametrize("copy", ["/app/dist /app/dist", "/wheels /wheels", "/usr/local/bin/tool /usr/local/bin/tool"])
def test_other_copies_bring_no_packages(tmp_path: Path, copy: str) -> None:
    dockerfile = (
        f"FROM python:3.11 AS build\nRUN pip install torch && apt-get install gcc\nFROM python:3.11-slim\nCOPY --from=build {copy}\n"
    )
    assert of(tmp_path, dockerfile) == []


# --- What may be left out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "is_certain"),
    [
        ("apt-get update && pip install torch", True),
        ("rm -r /x || true && pip install torch", True),
        ("for each in torch; do pip install torch; done", True),
        ('if [ "$GPU" = 1 ]; then pip install torch; fi', False),
        ('if [ "$GPU" = 1 ]; then true; else pip install torch; fi', False),
        ('case "$GPU" in 1) pip install torch;; esac', False),
        ('[ "$GPU" = 1 ] && pip install torch; true', False),
        ("nvcc --version || pip install torch", False),
        ("./install.sh", True),
        ("[ -e install.sh ] && ./install.sh", False),
        ("pip install 'torch; sys_platform == \"linux\"'", True),
        ("pip install 'torch; platform_machine == \"x86_64\"'", False),
        ("pip install 'torch; python_version < \"3.12\"'", False),
    ],
)
def test_what_a_condition_decides_is_not_certain(tmp_path: Path, command: str, is_certain: bool) -> None:
    dockerfile = f"FROM python:3.11\nWORKDIR /app\nCOPY install.sh .\nRUN {command}\n"
    (installed,) = contents(tmp_path, dockerfile, {"install.sh": "pip install torch\n"}).packages
    assert installed.is_certain is is_certain


@pytest.mark.parametrize("marker", ["sys_platform == 'darwin'", "platform_system != 'Linux' and python_version < '3.9'", "extra == 'gpu'"])
def test_a_package_for_other_systems_is_not_installed(tmp_path: Path, marker: str) -> None:
    assert of(tmp_path, f'FROM python:3.11\nRUN pip install "torch; {marker}"\n') == []


# --- What the base image brings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "command", "added"),
    [
        ("pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", "pip install 'torch>=2'", []),
        ("pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", "pip install torch==2.4.1 torchvision", []),
        ("pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", "pip install torch==2.5.1", ["torch==2.5.1"]),
        ("pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", "pip install -U torch", ["torch==?"]),
        ("pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", "pip uninstall -y torch && pip install torch", ["torch==?"]),
        ("nvcr.io/nvidia/pytorch:24.05-py3", "pip install 'torch>=2.2' torchvision", []),
        ("mirror.acme.example/nvcr.io/nvidia/pytorch:24.05-py3", "pip install torch", []),
        ("tensorflow/tensorflow:2.15.0-gpu", "pip install 'tensorflow<2.16' jax", ["jax==?"]),
        ("vllm/vllm-openai:v0.9.2", "pip install 'vllm>=0.9' torch", []),
        ("python:3.11", "pip install torch", ["torch==?"]),
    ],
)
def test_what_the_base_brings_is_not_installed_again(tmp_path: Path, base: str, command: str, added: list[str]) -> None:
    found = contents(tmp_path, f"FROM {base}\nRUN {command}\n").packages
    assert [f"{each.name}=={each.version or '?'}" for each in found] == added


# --- Projects without a pyproject.toml ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "command", "found"),
    [
        ({"setup.py": "setup(install_requires=['torch==2.4.1'])\n"}, "pip install .", ["setup.py:1 torch==2.4.1"]),
        ({"setup.cfg": "[options]\ninstall_requires =\n  torch==2.4.1\n"}, "pip install -e .", ["setup.cfg:3 torch==2.4.1"]),
        (
            {"pyproject.toml": "[build-system]\nrequires = ['setuptools']\n", "setup.py": "setup(install_requires=['torch'])\n"},
            "pip install /app",
            ["setup.py:1 torch==?"],
        ),
        ({"Pipfile": '[packages]\ntorch = "==2.4.1"\n'}, "pipenv install --system", ["Pipfile:2 torch==2.4.1"]),
        (
            {"Pipfile": '[packages]\ntorch = "*"\n', "Pipfile.lock": '{"default": {\n  "torch": {"version": "==2.4.1"}}}\n'},
            "pipenv sync --system",
            ["Pipfile:2 torch==2.4.1"],
        ),
    ],
)
def test_older_projects(tmp_path: Path, files: dict[str, str], command: str, found: list[str]) -> None:
    assert of(tmp_path, f"FROM python:3.11\nWORKDIR /app\nCOPY . .\nRUN {command}\n", files) == found
