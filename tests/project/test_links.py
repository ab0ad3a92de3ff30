"""Which program of the repository a container runs, and what becomes an entry point."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.project import Project
from gpulint.project.links import EntryPoint

PROGRAM = """
    import torch

    def main():
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = torch.nn.Linear(8, 8).to(device)
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(10):
            model(torch.rand(8).to(device)).sum().backward()
            optimizer.step()

    if __name__ == "__main__":
        main()
    """


def linked(folder: Path, files: dict[str, str]) -> str:
    """The programs of the only container of these files, in order, with the function that is named: `src/a.py:main`."""
    whole = project(folder, files, everything=True)
    (container,) = whole.containers
    return ", ".join(f"{link.path}:{link.function}".rstrip(":") for link in whole.start_of(container).programs)


def service(command: str, further: str = "") -> dict[str, str]:
    return {"compose.yaml": f"services:\n  app:\n    image: acme/app:1.0.0\n    command: {command}\n{further}"}


def entry_points(whole: Project) -> dict[str, EntryPoint]:
    return {entry.path: entry for entry in whole.entry_points}


# --- Where the image is not known -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python ml/train.py", "ml/train.py"),
        ("python3.11 -u ./ml/train.py --epochs 3", "ml/train.py"),
        ("python /app/ml/train.py", "ml/train.py"),
        ("python train.py", "ml/train.py"),
        ("python -m ml.train", "ml/train.py"),
        ("python -m src_lib.run", "src/src_lib/run.py"),
        ("python -m package", "package/__main__.py"),
        ("torchrun --nproc-per-node 4 ml/train.py", "ml/train.py"),
        ("torchrun --nproc-per-node 4 -m ml.train", "ml/train.py"),
        ("accelerate launch --num_processes 2 ml/train.py", "ml/train.py"),
        ("deepspeed --num_gpus 2 ml/train.py", "ml/train.py"),
        ("uvicorn service.api:create --host 0.0.0.0", "service/api.py:create"),
        ("gunicorn -w 2 service.api:create", "service/api.py:create"),
        ("sh -c 'cd /app && exec python ml/train.py'", "ml/train.py"),
        ("bash -c 'python package/prepare.py && python ml/train.py'", "package/prepare.py, ml/train.py"),
        ("acme-train --epochs 3", "src/src_lib/run.py:main"),
        ("python twice.py", ""),
        ("python -m twice", ""),
        ("python nowhere.py", ""),
        ("python $PROGRAM", ""),
        ("python -m json.tool", ""),
        ("python -c 'import torch'", ""),
        ("python ../ml/train.py", ""),
        ("unknown-tool", ""),
    ],
)
def test_the_only_file_whose_path_ends_so_is_the_program(tmp_path: Path, command: str, expected: str) -> None:
    paths = ("ml/train.py", "src/src_lib/run.py", "package/__main__.py", "package/prepare.py", "service/api.py", "a/twice.py", "b/twice.py")
    files = {
        **dict.fromkeys(paths, "def main(): ...\ndef create(): ...\n"),
        "pyproject.toml": '[project]\nname = "a"\n[project.scripts]\nacme-train = "src_lib.run:main"\n',
    }
    assert linked(tmp_path, {**service(command), **files}) == expected


def test_a_console_script_of_two_projects_is_not_certain(tmp_path: Path) -> None:
    script = '[project]\nname = "a"\n[project.scripts]\nacme-train = "run:main"\n'
    files = {"a/pyproject.toml": script, "a/run.py": "", "b/pyproject.toml": script, "b/run.py": ""}
    assert linked(tmp_path, {**service("acme-train"), **files}) == ""


# --- Mounts ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mount", "command", "expected"),
    [
        ("./code:/work", "python /work/train.py", "code/train.py"),
        ("./code:/work:ro", "python /work/train.py", "code/train.py"),
        ("{type: bind, source: ./code, target: /work}", "python /work/train.py", "code/train.py"),
        ("./code/train.py:/work/run.py", "python /work/run.py", "code/train.py"),
        (".:/work", "python -m code.train", "code/train.py"),
        ("./code:/elsewhere", "python /work/other/train.py", "other/train.py"),
    ],
)
def test_a_mount_lays_a_folder_of_the_repository_into_the_container(tmp_path: Path, mount: str, command: str, expected: str) -> None:
    further = f"    working_dir: /work\n    volumes:\n      - {mount}\n"
    assert linked(tmp_path, {**service(command, further), "code/train.py": "", "other/train.py": ""}) == expected


def test_a_mount_of_a_command_counts_from_the_folder_of_its_script(tmp_path: Path) -> None:
    files = {"run.sh": "docker run --rm -v ./code:/work -w /work acme/app python train.py\n", "code/train.py": "", "other/train.py": ""}
    assert linked(tmp_path, files) == "code/train.py"


@pytest.mark.parametrize(
    ("path", "script", "expected"),
    [
        ("run.sh", "docker run -v $PWD/code:/work -w /work acme/app python train.py", "code/train.py"),
        ("run.sh", 'docker run -v "$(pwd)":/work -w /work/code acme/app python train.py', "code/train.py"),
        ("run.sh", "cd code\ndocker run -v .:/work -w /work acme/app python train.py", "code/train.py"),
        ("code/run.sh", "cd $(dirname $0)\ndocker run -v $PWD:/work -w /work acme/app python train.py", "code/train.py"),
        (
            "ci/run.sh",
            'TOP=$(realpath "$(dirname "$0")/..")\ndocker run -v $TOP/code:/work -w /work acme/app python train.py',
            "code/train.py",
        ),
        ("ci/run.sh", "docker run -v $PWD/code:/work -w /work acme/app python train.py", "code/train.py"),
        ("code/run.sh", "docker run -v $PWD:/work -w /work acme/app python train.py", ""),
    ],
)
def test_a_mount_counts_from_where_its_command_runs(tmp_path: Path, path: str, script: str, expected: str) -> None:
    files = {path: f"{script}\n", "code/train.py": "", "other/train.py": "", "train.py": ""}
    assert linked(tmp_path, files) == expected


# --- Where the image is built here ----------------------------------------------------------------------------------------------


def built(dockerfile: str, further: str = "", context: str = ".") -> dict[str, str]:
    return {"compose.yaml": f"services:\n  app:\n    build: {context}\n{further}", "Dockerfile": f"FROM python:3.12\n{dockerfile}\n"}


@pytest.mark.parametrize(
    ("dockerfile", "further", "expected"),
    [
        ('WORKDIR /app\nCOPY ml .\nCMD ["python", "train.py"]', "", "ml/train.py"),
        ("WORKDIR /app\nCOPY ml .\nCMD python train.py", "", "ml/train.py"),
        ('COPY ml /app\nENTRYPOINT ["python"]\nCMD ["/app/train.py"]', "", "ml/train.py"),
        ('COPY ml /app\nENTRYPOINT ["python"]\nCMD ["/app/train.py"]', "    command: /app/serve.py\n", "ml/serve.py"),
        ('COPY ml /app\nENTRYPOINT ["python"]\nCMD ["/app/train.py"]', "    entrypoint: python /app/serve.py\n", "ml/serve.py"),
        ('COPY ml /app\nCMD ["python", "train.py"]', "    working_dir: /app\n", "ml/train.py"),
        ('WORKDIR /app\nCOPY . .\nCMD ["python", "-m", "ml.train"]', "", "ml/train.py"),
        ('WORKDIR /app\nCOPY ml ml\nCMD ["uvicorn", "ml.serve:api"]', "", "ml/serve.py:api"),
        ('WORKDIR /app\nCOPY ml .\nCMD ["python", "train.py"]', "    volumes: ['./dev:/app']\n", "dev/train.py"),
        ('ENV PROGRAM=/app/train.py\nCOPY ml /app\nCMD ["sh", "-c", "python $PROGRAM"]', "", "ml/train.py"),
        ('COPY ml /app\nCMD ["python", "/srv/train.py"]', "", ""),
        ('CMD ["python", "train.py"]', "", ""),
    ],
    ids=[
        "COPY into WORKDIR",
        "CMD of a shell",
        "ENTRYPOINT and CMD",
        "the container's command takes the place of CMD",
        "the container's entrypoint takes the place of both",
        "the container's working directory",
        "a module",
        "an app",
        "a mount over what is copied",
        "a variable of the image",
        "a file that is not copied there",
        "nothing is copied",
    ],
)
def test_what_the_image_copies_and_runs_links_the_program(tmp_path: Path, dockerfile: str, further: str, expected: str) -> None:
    files = {"ml/train.py": "", "ml/serve.py": "", "dev/train.py": ""}
    assert linked(tmp_path, {**built(dockerfile, further), **files}) == expected


def test_an_entry_script_runs_what_it_is_given(tmp_path: Path) -> None:
    files = {
        **built('WORKDIR /app\nCOPY . .\nRUN chmod +x docker/start.sh\nENTRYPOINT ["docker/start.sh"]\nCMD ["python", "ml/train.py"]'),
        "docker/start.sh": '#!/bin/bash\nset -e\npython prepare.py\nexec "$@"\n',
        "prepare.py": "",
        "ml/train.py": "",
    }
    whole = project(tmp_path, files, everything=True)
    start = whole.start_of(whole.containers[0])
    assert start.scripts == ("docker/start.sh",)
    assert [link.path for link in start.programs] == ["prepare.py", "ml/train.py"]
    program = whole.program_of(whole.containers[0])
    assert program is not None
    assert program.path == "ml/train.py"


@pytest.mark.parametrize(
    ("entrypoint", "scripts"),
    [("/start.sh", ("bin/start.sh",)), ("/usr/local/bin/start.sh", ()), ("bash /start.sh", ("bin/start.sh",))],
)
def test_an_entry_script_must_be_what_is_copied_there(tmp_path: Path, entrypoint: str, scripts: tuple[str, ...]) -> None:
    words = ", ".join(f'"{word}"' for word in entrypoint.split())
    files = {**built(f"COPY bin/start.sh /start.sh\nENTRYPOINT [{words}]"), "bin/start.sh": "#!/bin/sh\npython /x.py\n"}
    whole = project(tmp_path, files, everything=True)
    assert whole.start_of(whole.containers[0]).scripts == scripts


def test_pods_follow_their_image_to_the_dockerfile_and_its_program(tmp_path: Path) -> None:
    files = {
        "build.sh": "docker build -t acme/app .\n",
        "Dockerfile": 'FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCOPY ml /app\nENTRYPOINT ["python"]\nCMD ["/app/train.py"]\n',
        "pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: a\n      image: acme/app:1\n      args: []\n",
        "ml/train.py": "",
    }
    assert linked(tmp_path, files) == "ml/train.py"


@pytest.mark.parametrize(
    ("instructions", "words", "expected"),
    [
        ("COPY start.sh /usr/local/bin/", "start.sh", "ml/train.py"),
        ("COPY start.sh /usr/local/bin/start", "start", "ml/train.py"),
        ("COPY --chmod=755 start.sh /bin/start", "tini -- start", "ml/train.py"),
        ("ENV PATH=/opt/kit:$PATH\nCOPY start.sh /opt/kit/", "start.sh", "ml/train.py"),
        ("ENV PATH=/opt/kit\nCOPY start.sh /usr/local/bin/", "start.sh", ""),
        ("COPY start.sh /opt/kit/", "start.sh", ""),
        ("COPY start.sh /opt/kit/start", "start", ""),
        ("WORKDIR /app\nCOPY start.sh .", "start.sh", "ml/train.py"),
        ("COPY start.sh /usr/local/bin/", "bash start.sh", "ml/train.py"),
        ("COPY ml/train.py /usr/local/bin/", "train.py", "ml/train.py"),
    ],
)
def test_a_bare_name_is_looked_up_in_the_folders_of_path(tmp_path: Path, instructions: str, words: str, expected: str) -> None:
    command = ", ".join(f'"{word}"' for word in words.split())
    dockerfile = f'COPY ml /app\n{instructions}\nENTRYPOINT [{command}]\nCMD ["python", "/app/train.py"]'
    files = {**built(dockerfile), "start.sh": '#!/bin/sh\nexec "$@"\n', "ml/train.py": ""}
    assert linked(tmp_path, files) == expected


# --- Entry points ---------------------------------------------------------------------------------------------------------------


def test_one_program_of_several_containers_is_one_entry_point(tmp_path: Path) -> None:
    services = "".join(f"  {name}:\n    image: acme/app\n    command: python ml/train.py\n" for name in "ab")
    whole = project(tmp_path, {"compose.yaml": f"services:\n{services}", "ml/train.py": PROGRAM})
    entry = entry_points(whole)["ml/train.py"]
    assert [str(container.name) for container, _ in entry.containers] == ["a", "b"]
    assert entry.program is not None
    assert entry.program.trains


def test_a_program_that_nothing_here_runs_is_an_entry_point_without_containers(tmp_path: Path) -> None:
    whole = project(tmp_path, {"train.py": PROGRAM, "library.py": PROGRAM.partition("    if __name__")[0]})
    assert {path: entry.containers for path, entry in entry_points(whole).items()} == {"train.py": ()}


def test_a_script_that_falls_back_is_an_entry_point_of_its_own(tmp_path: Path) -> None:
    files = {
        **built('COPY start.sh /\nENTRYPOINT ["/start.sh"]'),
        "start.sh": "#!/bin/sh\nif nvidia-smi; then DEVICE=cuda; else DEVICE=cpu; fi\n/opt/server --device $DEVICE\n",
    }
    whole = project(tmp_path, files, everything=True)
    entry = entry_points(whole)["start.sh"]
    assert entry.program is None
    assert [str(container.name) for container, _ in entry.containers] == ["app"]


def test_a_named_volume_is_no_folder_of_the_repository(tmp_path: Path) -> None:
    files = {
        **service("python /work/train.py", "    volumes: ['code:/work']\nvolumes: {code: {}}\n"),
        "code/train.py": "",
        "b/train.py": "",
    }
    assert linked(tmp_path, files) == ""


def test_the_deepest_mount_is_what_a_path_lies_in(tmp_path: Path) -> None:
    files = {
        **service("python /work/lib/train.py", "    volumes: ['.:/work', './code:/work/lib']\n"),
        "code/train.py": "",
        "b/train.py": "",
    }
    assert linked(tmp_path, files) == "code/train.py"


# --- Compose files that a script puts together ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("up.sh", "docker compose -f deploy/base.compose.yaml -f deploy/gpu.compose.yaml up"),
        ("up.sh", "cd deploy && docker compose -f base.compose.yaml -f gpu.compose.yaml up"),
        ("deploy/up.sh", "docker compose -f base.compose.yaml -f gpu.compose.yaml up"),
        ("bin/up.sh", 'cd "$(dirname "$0")/../deploy"\ndocker compose -f base.compose.yaml -f gpu.compose.yaml up'),
        ("bin/up.sh", "docker compose --project-directory deploy -f base.compose.yaml -f gpu.compose.yaml up"),
    ],
)
def test_files_of_a_compose_call_count_from_where_it_runs(tmp_path: Path, path: str, script: str) -> None:
    files = {
        path: f"{script}\n",
        "deploy/base.compose.yaml": "services:\n  app:\n    image: vllm/vllm-openai:v0.8.5\n",
        "deploy/gpu.compose.yaml": "services:\n  app:\n    gpus: all\n",
    }
    whole = project(tmp_path, files, everything=True)
    assert whole.started.together == (("deploy/base.compose.yaml", "deploy/gpu.compose.yaml"),)
