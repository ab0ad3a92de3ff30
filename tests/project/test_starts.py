"""From a container's words to the programs of the repository: launchers, wrappers, scripts, and paths that are mapped or unique."""

from __future__ import annotations

import pytest
from python_files import PythonFiles, word

from gpulint.parse.shell import split
from gpulint.project.starts import Start, read_start
from gpulint.source import Location, Text, Unknown

FILES = {
    "fit.py": "import torch\n",
    "src/jobs/train.py": "import torch\n",
    "src/jobs/__init__.py": "",
    "web/app.py": "app = make()\n",
    "web/cli.py": "def main(): ...\n",
    "tools/__main__.py": "",
    "queue_/tasks.py": "app = make()\n",
    "flow/celery.py": "app = make()\n",
    "deep/er/only.py": "",
    "a/twice.py": "",
    "b/twice.py": "",
    "check.py": "import torch\nassert torch.cuda.is_available()\n",
    "start.sh": '#!/bin/bash\nset -e\nnvidia-smi -L\nexec torchrun --nproc_per_node=2 fit.py --data /d "$@"\n',
    "hand-on": '#!/bin/sh\nexec "$@"\n',
    "pyproject.toml": '[project]\nname = "kit"\n\n[project.scripts]\nkit-fit = "web.cli:main"\n',
}


def start(command: str | list[str | Unknown], files: dict[str, str] | None = None, **more: object) -> Start:
    words = (
        split(word(command)) if isinstance(command, str) else tuple(each if isinstance(each, Unknown) else word(each) for each in command)
    )
    return read_start(words, PythonFiles(files or FILES), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "path", "function"),
    [
        ("python fit.py --epochs 3", "fit.py", ""),
        ("python3.12 -u ./fit.py", "fit.py", ""),
        ("python -X faulthandler fit.py", "fit.py", ""),
        ("python /app/fit.py", "fit.py", ""),
        ("python /opt/ml/code/fit.py", "fit.py", ""),
        ("python /opt/kit/er/only.py", "deep/er/only.py", ""),
        ("python deep/er/only.py", "deep/er/only.py", ""),
        ("python er/only.py", "deep/er/only.py", ""),
        ("./fit.py --epochs 3", "fit.py", ""),
        ("python -m jobs.train", "src/jobs/train.py", ""),
        ("python -m src.jobs.train", "src/jobs/train.py", ""),
        ("python -m er.only", "deep/er/only.py", ""),
        ("python -m tools", "tools/__main__.py", ""),
        ("torchrun --standalone --nproc_per_node 2 fit.py --epochs 3", "fit.py", ""),
        ("torchrun --nproc-per-node=gpu -m jobs.train", "src/jobs/train.py", ""),
        ("python -m torch.distributed.run --nproc_per_node 2 fit.py", "fit.py", ""),
        ("python -m torch.distributed.launch --use_env fit.py", "fit.py", ""),
        ("accelerate launch --num_processes 2 fit.py", "fit.py", ""),
        ("deepspeed --num_gpus 2 fit.py --deepspeed", "fit.py", ""),
        ("mpirun -np 2 python fit.py", "fit.py", ""),
        ("horovodrun -np 2 python fit.py", "fit.py", ""),
        ("ray job submit -- python fit.py", "fit.py", ""),
        ("uvicorn web.app:app --port 80", "web/app.py", "app"),
        ("uvicorn --factory web.app:create", "web/app.py", "create"),
        ("gunicorn -w 2 'web.app:create()'", "web/app.py", "create"),
        ("fastapi run web/app.py", "web/app.py", ""),
        ("streamlit run web/app.py", "web/app.py", ""),
        ("celery -A queue_.tasks worker", "queue_/tasks.py", "app"),
        ("celery -A flow worker", "flow/celery.py", "app"),
        ("kit-fit --epochs 3", "web/cli.py", "main"),
        ("env MODE=fast nice -n 5 python fit.py", "fit.py", ""),
        ("tini -- python fit.py", "fit.py", ""),
        ("dumb-init python fit.py", "fit.py", ""),
        ("xvfb-run -a python fit.py", "fit.py", ""),
        ("poetry run python fit.py", "fit.py", ""),
        ("uv run kit-fit", "web/cli.py", "main"),
        ("conda run -n base python fit.py", "fit.py", ""),
        ('sh -c "python fit.py --epochs 3"', "fit.py", ""),
        ("bash -lc 'cd /app && exec python fit.py'", "fit.py", ""),
        ("./hand-on python fit.py", "fit.py", ""),
        ("bash /start.sh", "fit.py", ""),
        ("/app/hand-on uvicorn web.app:app", "web/app.py", "app"),
    ],
)
def test_finds_the_program(command: str, path: str, function: str) -> None:
    (link,) = start(command).programs
    assert (link.path, link.function) == (path, function)
    assert link.how


@pytest.mark.parametrize(
    "command",
    [
        "python missing.py",
        "python twice.py",
        "python ../fit.py",
        "python -m missing.module",
        "python -m pytest",
        'python -c "print(1)"',
        "python",
        "uvicorn missing:app",
        "kit-serve",
        "nginx -g 'daemon off;'",
        "sleep infinity",
        "bash missing.sh",
        "torchrun",
        "python /opt/others-fit/fit.py",
        "",
    ],
)
def test_no_link_where_none_is_certain(command: str) -> None:
    assert start(command).programs == ()


@pytest.mark.parametrize(
    ("command", "reasons"),
    [
        ("python missing.py", ["no file here is known to be missing.py"]),
        ("./missing.sh --epochs 3", ["no file here is known to be ./missing.sh"]),
        ("--epochs 3", ["what the image itself starts is not known"]),
        ("nginx -g 'daemon off;'", []),
        ("sh -c 'mkdir -p /data; exec python missing.py'", ["no file here is known to be missing.py"]),
        ("sh -c 'python $A'", ["$A is not known"]),
        (f"sh -c 'python ${'{A'}{'A' * 80}:?{'}'}'", [f"${'{A'}{'A' * 57}... is not known"]),
        ("make A=b train", ["A=b changes what make runs"]),
        ("python fit.py", []),
        ("sh -c 'sh -c \"sh -c fit\"'", []),
    ],
)
def test_what_is_left_open(command: str, reasons: list[str]) -> None:
    assert [gap.reason for gap in start(command).gaps] == reasons


def test_unknown_words() -> None:
    unknown = Unknown("${X}", Location("compose.yaml", 1, 1, 1, 2))
    assert start(["python", unknown]).programs == ()
    assert start([unknown, "fit.py"]).programs == ()
    (link,) = start(["python", "fit.py", unknown]).programs
    assert link.arguments == (unknown,) or isinstance(link.arguments[0], Unknown)


def test_an_unknown_value_of_an_option() -> None:
    rank = Unknown("--node_rank=$RANK", Location("job.sh", 1, 10, 1, 27))
    (link,) = start(["torchrun", "--nnodes=2", rank, "fit.py"]).programs
    assert link.path == "fit.py"


def test_arguments_place_and_optimisation() -> None:
    (link,) = start("python -O fit.py --device cuda").programs
    assert link.arguments == ("--device", "cuda")
    assert link.optimized
    assert link.location.column == 11
    assert not start("python -u fit.py").programs[0].optimized


def test_several_programs_in_order() -> None:
    found = start('sh -c "python check.py; python fit.py"')
    assert [link.path for link in found.programs] == ["check.py", "fit.py"]
    assert found.program is not None
    assert found.program.path == "fit.py"
    assert found.assertions == ()


def test_the_image_maps_paths() -> None:
    def mapped(path: str) -> str | None:
        return path.removeprefix("/app/") if path.startswith("/app/") else None

    assert [link.path for link in start("python fit.py", working_directory="/app", mapped=mapped).programs] == ["fit.py"]
    assert [link.path for link in start("python a/twice.py", working_directory="/app", mapped=mapped).programs] == ["a/twice.py"]
    assert [link.path for link in start("python ../fit.py", working_directory="/app/a", mapped=mapped).programs] == ["fit.py"]
    assert start("python fit.py", working_directory="/srv", mapped=mapped).programs == ()
    assert start("python /srv/fit.py", working_directory="/app", mapped=mapped).programs == ()


def test_the_image_maps_modules_and_roots_follow() -> None:
    def mapped(path: str) -> str | None:
        return "src/" + path.removeprefix("/srv/") if path.startswith("/srv/") else None

    (link,) = start("python -m jobs.train", working_directory="/srv", mapped=mapped).programs
    assert link.path == "src/jobs/train.py"
    assert link.roots[0] == "src"


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("cd /opt/kit\npython train.py\n", True),
        ("HERE=/opt/kit\ncd $HERE/ && exec python train.py $*\n", True),
        ("cd kit; python train.py\n", True),
        ("(cd /opt/kit && ls)\npython train.py\n", False),
        ("enter() { cd /opt/kit; }\npython train.py\n", False),
        ('cd "$ELSEWHERE"\npython train.py\n', False),
    ],
)
def test_a_script_enters_a_folder(script: str, found: bool) -> None:
    mapping = {"/opt/start.sh": "start.sh", "/opt/kit/train.py": "kit/train.py"}
    files = {"start.sh": script, "kit/train.py": "import torch\n", "other/train.py": "import torch\n"}
    programs = start("bash /opt/start.sh", files, working_directory="/opt", mapped=mapping.get).programs
    assert [link.path for link in programs] == ["kit/train.py"] * found


@pytest.mark.parametrize(
    ("command", "folder", "path"),
    [
        ("python train.py", "/app", ""),
        ("python train.py", "/workspace/kit", "kit/train.py"),
        ("sh -c 'cd kit && python train.py'", "", "kit/train.py"),
        ("sh -c 'cd /app/kit && python ./train.py'", "", "kit/train.py"),
        ("sh -c 'cd elsewhere && python train.py'", "", ""),
        ("sh -c 'cd elsewhere && python only.py'", "", "deep/only.py"),
    ],
)
def test_a_folder_tells_files_of_one_name_apart_where_the_image_is_not_known(command: str, folder: str, path: str) -> None:
    files = {"kit/train.py": "", "other/app/train.py": "", "train.py": "", "deep/only.py": ""}
    assert [link.path for link in start(command, files, working_directory=folder).programs] == [path] * bool(path)


def test_variables_of_the_container() -> None:
    place = Location("compose.yaml", 1, 1, 1, 2)
    (link,) = start('sh -c "python $SCRIPT"', variables={"SCRIPT": Text("fit.py", place)}).programs
    assert link.path == "fit.py"


# --- What a start makes of a missing GPU ----------------------------------------------------------------------------------------


def test_an_entry_script_with_a_check() -> None:
    found = start("bash start.sh --epochs 3")
    assert found.scripts == ("start.sh",)
    assert [(each.location.path, each.location.line) for each in found.assertions] == [("start.sh", 3)]
    assert found.programs[0].arguments == ("--data", "/d", "--epochs", "3")


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("nvidia-smi -L", 1),
        ('sh -c "nvidia-smi && python fit.py"', 1),
        ('sh -c "nvidia-smi; python fit.py"', 0),
        ('bash -ec "nvidia-smi; python fit.py"', 1),
        ('sh -c "python check.py && exec python fit.py"', 1),
        ("python -c 'import torch; assert torch.cuda.is_available()'", 1),
        ("python -c 'import torch; print(torch.cuda.is_available())'", 0),
        ("python fit.py", 0),
    ],
)
def test_checks_in_the_words_themselves(command: str, count: int) -> None:
    assert len(start(command).assertions) == count


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("./hand-on nvidia-smi", 1),
        ("./hand-on python -c 'import torch; assert torch.cuda.is_available()'", 1),
        ("./hand-on python check.py", 1),
        ("./hand-on sh -c nvidia-smi", 1),
        ("./hand-on python fit.py", 0),
        ("./hand-on", 0),
    ],
)
def test_checks_in_the_words_that_a_script_is_given(command: str, count: int) -> None:
    assert len(start(command).assertions) == count


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("python prepare.py\nexec python fit.py\n", "fit.py"),
        ("python prepare.py\nexec python /opt/elsewhere/main.py\n", ""),
        ("python prepare.py\ncd /opt/webui\nexec python -u webui.py\n", ""),
        ("python prepare.py\nexec vllm serve /model\n", ""),
        ("python prepare.py\nexec tini -- python -m elsewhere\n", ""),
        ("python fit.py\necho done\naws s3 cp /out s3://out\npip freeze\nnotify-somebody\n", "fit.py"),
        ("if [ -n $X ]; then exec vllm serve /model; fi\npython fit.py\n", "fit.py"),
        ("python fit.py\nif [ -n $X ]; then exec vllm serve /model; fi\n", "fit.py"),
    ],
)
def test_the_program_is_what_the_script_ends_with(script: str, path: str) -> None:
    files = {"start.sh": f"#!/bin/sh\n{script}", "app/prepare.py": "", "app/fit.py": ""}
    image = {"/app/start.sh": "start.sh", "/app/prepare.py": "app/prepare.py", "/app/fit.py": "app/fit.py"}
    found = start("/app/start.sh", files, working_directory="/app", mapped=image.get)
    assert (found.program.path.rpartition("/")[2] if found.program else "") == path
    assert found.programs


def test_a_script_that_chooses_the_cpu() -> None:
    script = "#!/bin/sh\nif nvidia-smi; then\n  LAYERS=99\nelse\n  LAYERS=0\nfi\nexec server --n-gpu-layers $LAYERS\n"
    (fallback,) = start("sh serve.sh", {"serve.sh": script}).fallbacks
    assert (fallback.location.path, fallback.location.line) == ("serve.sh", 5)


def test_a_script_with_errexit_in_its_first_line() -> None:
    assert len(start("./run.sh", {"run.sh": "#!/bin/bash -e\nnvidia-smi\nexec app\n"}).assertions) == 1


def test_scripts_in_scripts_and_circles() -> None:
    files = {
        "one.sh": 'nvidia-smi || exit 1\nexec ./two.sh "$@"\n',
        "two.sh": 'bash -c "exec ./one.sh"\nexec python fit.py "$@"\n',
        "fit.py": "",
    }
    found = start("sh one.sh --epochs 3", files)
    assert found.scripts == ("one.sh", "two.sh")
    assert [link.arguments for link in found.programs] == [("--epochs", "3")]
    assert len(found.assertions) == 1


def test_a_binary_is_no_script() -> None:
    assert start("/app/server", {"server": "#!/usr/bin/env python3\nnvidia-smi || exit 1\n"}).scripts == ()


def test_reads_the_program() -> None:
    tree = PythonFiles(FILES)
    (link,) = read_start(split(word("python check.py")), tree).programs
    program = link.read(tree)
    assert program is not None
    assert program.raises_without_cuda


@pytest.mark.parametrize(
    "text", ["[project", "\0", "[project.scripts]\nkit-fit = 3\n", "[project]\nscripts = 'kit-fit'\n", 'x = "kit-fit"\n']
)
def test_a_project_file_that_says_nothing_of_use(text: str) -> None:
    assert start("kit-fit", {"pyproject.toml": text}).programs == ()


def test_console_scripts_of_poetry_below_src() -> None:
    files = {
        "kit/pyproject.toml": '[tool.poetry.scripts]\nfit = "jobs.cli:main"\n',
        "kit/src/jobs/cli.py": "def main(): ...\n",
    }
    (link,) = start("fit", files).programs
    assert (link.path, link.function, link.roots[0]) == ("kit/src/jobs/cli.py", "main", "kit/src")
