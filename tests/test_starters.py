"""From each way to start a program to the finding that stands in it: GPU601 at the function that the start leads to."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import gpulint, spoken, write

TRAIN = """\
import torch


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Linear(2, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 2, device=device)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
"""
SERVE = """\
import torch
from fastapi import FastAPI

app = FastAPI()
application = app
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(2, 2).to(device)


@app.get("/")
def predict():
    return model(torch.ones(2, device=device)).tolist()
"""
SCRIPT = "#!/bin/sh\nset -e\ncd /app\n"

TRAINS = "train.py:4:5 warning GPU601"
SERVES = "serve.py:6:10 warning GPU601"


def found(folder: Path, files: dict[str, str], dockerfile: str, command: str = "") -> list[str]:
    """The findings in a repository whose image has all of it in /app, and whose Compose file runs it with a GPU."""
    service = f"services:\n  app:\n    build: .\n    gpus: all\n{f'    command: {command}' if command else ''}\n"
    copied = f"FROM python:3.12\nWORKDIR /app\nCOPY . .\n{dockerfile}\n"
    write(folder, {"train.py": TRAIN, "serve.py": SERVE, **files, "compose.yaml": service, "Dockerfile": copied})
    return spoken(folder, "--select", "GPU601")


@pytest.mark.parametrize(
    "command",
    [
        "python train.py",
        "python -u -X dev -Wignore train.py",
        "python -um train",
        "python /app/train.py --epochs 3",
        "python .",
        "MODE=fast CUDA_VISIBLE_DEVICES=0 python train.py",
        "torchrun --standalone --nproc_per_node=2 train.py",
        "torchrun -m train",
        "torchrun --no-python python train.py",
        "python -m torch.distributed.run --nproc_per_node 2 train.py",
        "python -m torch.distributed.launch --use_env train.py",
        "accelerate launch --num_processes 2 train.py",
        "accelerate launch -m train",
        "python -m accelerate.commands.launch train.py",
        "deepspeed --num_gpus 2 train.py --deepspeed ds.json",
        "python -m deepspeed.launcher.runner train.py",
        "horovodrun -np 2 -H localhost:2 python train.py",
        "mpirun -np 2 --allow-run-as-root -x NCCL_DEBUG=INFO python train.py",
        "mpiexec -n 2 python train.py",
        "srun --gres=gpu:1 python train.py",
        "ray job submit --address http://head:8265 -- python train.py",
        "ray job submit --working-dir . -- python train.py",
        "uv run train.py",
        "uv run --no-sync python train.py",
        "uv run -m train",
        "poetry run python train.py",
        "pdm run python train.py",
        "pipenv run python train.py",
        "conda run -n base --no-capture-output python train.py",
        "micromamba run -n base python train.py",
        "xvfb-run -a python train.py",
        "tini -g -- python train.py",
        "dumb-init -- python train.py",
        "catatonit -- python train.py",
        "gosu user python train.py",
        "setpriv --reuid=1000 --init-groups python train.py",
        "runuser -u user -- python train.py",
        "su user -c 'python train.py'",
        "nohup python train.py",
        "time python train.py",
        "nice -n 5 python train.py",
        "ionice -c 3 python train.py",
        "numactl --cpunodebind=0 python train.py",
        "nsys profile -t cuda,nvtx -o out --stats=true -f true python train.py",
        "ncu --set full -o out python train.py",
        "compute-sanitizer --tool memcheck python train.py",
        "python -m cProfile -o out train.py",
        "python -m debugpy --listen 0.0.0.0:5678 --wait-for-client train.py",
        "coverage run train.py",
        "timeout -k 5 1h python train.py",
        "wait-for-it.sh db:5432 -t 30 -- python train.py",
        "dockerize -wait tcp://db:5432 -timeout 60s python train.py",
        "bash -lc 'source venv/bin/activate && python train.py'",
        "sh -c 'exec \"$$@\"' -- python train.py",
        "sh -c 'CMD=\"python train.py\"; exec $$CMD'",
        "sh -c 'cd /app && eval python train.py'",
        "./start.sh python train.py",
        "./shift.sh train python train.py",
        "./named.sh train.py",
        "./sourcing.sh",
        "./program --epochs 3",
        "make train",
        "make -C /app -f Makefile all",
        "make",
        "just fit",
        "kit-train --epochs 3",
        "old-train",
        "cfg-train",
        "uv run kit-train",
        "supervisord -n -c supervisord.conf",
        "/usr/bin/supervisord",
        "supervisord -c conf/included.conf",
    ],
)
def test_a_program_that_trains(tmp_path: Path, command: str) -> None:
    files = {
        "__main__.py": "from train import main\n\nmain()\n" if command == "python ." else "",
        "start.sh": f'{SCRIPT}exec "$@"\n',
        "shift.sh": f'{SCRIPT}echo "$1"\nshift\nexec "$@"\n',
        "named.sh": f'{SCRIPT}exec python "$1"\n',
        "sourcing.sh": f"{SCRIPT}. ./run.sh\n",
        "run.sh": "python train.py\n",
        "program": f"#!/usr/bin/env python3\n{TRAIN}",
        "Makefile": "all: train\n\ntrain: data\n\tpython train.py --epochs 3\n\ndata:\n\tmkdir -p data\n",
        "justfile": "fit: prepare\n    python train.py\n\nprepare:\n    mkdir -p data\n",
        "pyproject.toml": '[project]\nname = "kit"\n\n[project.scripts]\nkit-train = "train:main"\n',
        "setup.py": 'from setuptools import setup\n\nsetup(entry_points={"console_scripts": ["old-train = train:main"]})\n',
        "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    cfg-train = train:main\n",
        "supervisord.conf": "[program:web]\ncommand=nginx\n\n[program:fit]\ndirectory=/app\ncommand=python train.py --x %(ENV_X)s ; all\n",
        "conf/included.conf": "[include]\nfiles = parts/*.conf\n",
        "conf/parts/fit.conf": "[program:fit]\ncommand=python /app/train.py\n\n[program:web]\ncommand=nginx\n",
    }
    program = command.startswith("./program")
    assert found(tmp_path, files, "", command) == ["program:5:5 warning GPU601" if program else TRAINS]


@pytest.mark.parametrize(
    "command",
    [
        "uvicorn serve:app --host 0.0.0.0",
        "python -m uvicorn serve:app",
        "uvicorn --app-dir /app serve:app",
        "gunicorn serve:app -k uvicorn.workers.UvicornWorker",
        "gunicorn serve",
        "gunicorn --chdir /app serve:app",
        "gunicorn",
        "gunicorn -c conf/web.py",
        "gunicorn -c python:conf.web",
        "python -m gunicorn --config=conf/web.py",
        "GUNICORN_CMD_ARGS=x gunicorn serve:app",
        "hypercorn serve:app",
        "hypercorn file:serve.py",
        "granian --interface asgi serve:app",
        "celery -A serve worker",
        "celery --app=serve:app worker -l info",
        "python -m celery -A serve worker",
        "fastapi run serve.py",
        "python -m fastapi run serve.py --port 80",
        "streamlit run serve.py --server.port 80",
        "python -m streamlit run serve.py",
        "chainlit run serve.py",
        "flask --app serve run",
        "flask -A serve.py run",
        "FLASK_APP=serve.py flask run",
        "bentoml serve serve:app",
        "bentoml serve",
        "serve run serve:app",
    ],
)
def test_a_program_that_serves(tmp_path: Path, command: str) -> None:
    files = {
        "gunicorn.conf.py": 'bind = "0.0.0.0:80"\nwsgi_app = "serve:app"\n',
        "conf/web.py": "wsgi_app = 'serve:app'\n",
        "bentofile.yaml": 'service: "serve:app"\ninclude: ["*.py"]\n',
    }
    assert found(tmp_path, files, "", command) == [SERVES]


def test_defaults_of_servers(tmp_path: Path) -> None:
    assert found(tmp_path / "a", {"main.py": SERVE}, 'CMD ["fastapi", "run"]') == ["main.py:6:10 warning GPU601"]
    assert found(tmp_path / "b", {"app.py": SERVE}, "CMD flask run") == ["app.py:6:10 warning GPU601"]
    assert found(tmp_path / "c", {}, "ENV FLASK_APP=serve.py\nCMD flask run") == [SERVES]
    assert found(tmp_path / "d", {}, 'ENV GUNICORN_CMD_ARGS="-c /app/web.conf.py --bind=:80"\nCMD gunicorn') == []
    assert found(tmp_path / "e", {"web.conf.py": "wsgi_app = 'serve:app'\n"}, "ENV GUNICORN_CMD_ARGS='-c web.conf.py'\nCMD gunicorn") == [
        SERVES
    ]


@pytest.mark.parametrize(
    ("dockerfile", "files"),
    [
        ('ENTRYPOINT ["/app/start.sh"]\nCMD ["python", "train.py"]', {}),
        ('ENTRYPOINT ["sh", "-c", "/app/start.sh python train.py"]', {}),
        ("ENTRYPOINT exec /app/start.sh python train.py", {}),
        ('ENTRYPOINT ["tini", "--", "/app/start.sh"]\nCMD ["python", "-m", "train"]', {}),
        ("COPY start.sh /usr/local/bin/\nENTRYPOINT start.sh python train.py", {}),
        ('COPY --chmod=755 start.sh /usr/bin/run\nENTRYPOINT ["run"]\nCMD ["python", "train.py"]', {}),
        ("ADD train.py /srv/fit.py\nWORKDIR /srv\nCMD python fit.py", {}),
        ("WORKDIR /\nENV PYTHONPATH=/app\nCMD python -m train", {}),
        ("WORKDIR /\nENV PYTHONPATH=/app/lib:/app\nCMD python -m kit.run", {"lib/kit/run.py": "from train import main\n\nmain()\n"}),
        (
            "CMD python run.py",
            {"run.py": "from inner.deep import *\n\nmain()\n", "inner/deep.py": "from train import *\n"},
        ),
        ('CMD ["python", "-m", "kit"]', {"src/kit/__main__.py": "import train\n\ntrain.main()\n"}),
        (
            "CMD /usr/bin/supervisord -n\nCOPY fit.conf /etc/supervisor/conf.d/fit.conf",
            {"fit.conf": "[program:fit]\ncommand=python train.py\ndirectory=/app\n"},
        ),
        (
            "RUN pip install .\nWORKDIR /\nCMD kit-train",
            {"pyproject.toml": '[project]\nname = "kit"\n[tool.poetry.scripts]\nkit-train = "train:main"\n'},
        ),
    ],
)
def test_what_the_image_says(tmp_path: Path, dockerfile: str, files: dict[str, str]) -> None:
    assert found(tmp_path, {"start.sh": f'{SCRIPT}exec "$@"\n', **files}, dockerfile) == [TRAINS]


def test_a_file_that_comes_through_another_stage(tmp_path: Path) -> None:
    dockerfile = (
        "FROM python:3.12 AS code\nCOPY train.py /src/fit.py\nFROM python:3.12\nCOPY --from=code /src /opt/run\nCMD python /opt/run/fit.py"
    )
    assert found(tmp_path, {}, dockerfile) == [TRAINS]


def test_a_mount_in_place_of_what_the_image_has(tmp_path: Path) -> None:
    files = {"other/train.py": f"# changed\n{TRAIN}"}
    compose = "services:\n  app:\n    build: .\n    gpus: all\n    volumes: [./other:/app]\n    command: python train.py\n"
    write(tmp_path, {"train.py": TRAIN, **files, "compose.yaml": compose, "Dockerfile": "FROM python:3.12\nWORKDIR /app\nCOPY . .\n"})
    assert spoken(tmp_path, "--select", "GPU601") == ["other/train.py:5:5 warning GPU601"]


@pytest.mark.parametrize(
    "container",
    [
        'command: ["python"], args: ["train.py"]',
        'command: ["/bin/sh", "-c"], args: ["cd /app && exec torchrun train.py"]',
        'args: ["python", "-m", "train"]',
        'command: ["python", "$(SCRIPT)"], env: [{name: SCRIPT, value: train.py}]',
    ],
)
def test_command_and_args_of_kubernetes(tmp_path: Path, container: str) -> None:
    pod = f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: fit}}
        spec:
          containers:
            - {{name: fit, image: registry.example.com/fit:1, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {container}}}
        """
    write(tmp_path, {"train.py": TRAIN, "pod.yaml": pod})
    assert spoken(tmp_path, "--select", "GPU601") == [TRAINS]


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests",
        "python -m pytest",
        "papermill notebook.ipynb out.ipynb",
        "jupyter nbconvert --to notebook --execute notebook.ipynb",
        "jupyter lab",
        "ray start --head",
        "ray start --address=head:6379 --block",
        "panel serve notebook.ipynb",
        "python circle.sh",
        "python $$SCRIPT",
        "python -m $$MODULE",
        "$$LAUNCHER train.py",
        "torchrun $$OPTIONS_AND_SCRIPT",
        "gunicorn -c $$CONFIG",
        "gunicorn -c missing.py",
        "gunicorn -c twice.py",
        "make MODE=fast train",
        "make $$TARGET",
        "make missing",
        "make -C $$FOLDER train",
        "supervisord -c off.conf",
        "./circle.sh",
        "./missing.sh",
        "python missing.py",
        "uv run $$NAME",
        "su $$WHO",
        "wait-for-it.sh db:5432",
    ],
)
def test_silent_where_the_program_is_not_known_or_none_of_a_container(tmp_path: Path, command: str) -> None:
    files = {
        "tests/test_train.py": f"{TRAIN}",
        "notebook.ipynb": "{}",
        "twice.py": "import os\nif os.getenv('A'):\n    wsgi_app = 'serve:app'\nwsgi_app = 'a:app'\nwsgi_app = 'serve:app'\n",
        "Makefile": "train: train\n\tpython $(MODE).py\nloop: pool\npool: loop\n\tpython train.py\n",
        "off.conf": "[program:fit]\nautostart=false\ncommand=python train.py\n\n[program:x]\ncommand=python %(ENV_X)s\n",
        "circle.sh": f"{SCRIPT}. ./circle.sh\nexec ./circle.sh\n",
    }
    assert found(tmp_path, files, "", command) == []


PREDICT = """\
import torch
from cog import BasePredictor


class Predictor(BasePredictor):
    def setup(self):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = torch.nn.Linear(2, 2).to(self.device)

    def predict(self, text: str) -> str:
        return str(self.model(torch.ones(2, device=self.device)))
"""


@pytest.mark.parametrize(
    ("cog", "said"),
    [
        ("build:\n  gpu: true\npredict: predict.py:Predictor\n", ["model/predict.py:6:9 warning GPU601"]),
        ('build: {gpu: true}\npredict: "predict.py:Predictor"\n', ["model/predict.py:6:9 warning GPU601"]),
        ("build:\n  gpu: false\npredict: predict.py:Predictor\n", []),
        ("build: {gpu: true}\n", []),
        ("build: {gpu: true}\npredict: [predict.py]\n", []),
        ("gpu\n", []),
    ],
)
def test_the_predictor_of_a_cog_file(tmp_path: Path, cog: str, said: list[str]) -> None:
    write(tmp_path, {"model/cog.yaml": cog, "model/predict.py": PREDICT, "other/predict.py": PREDICT})
    assert spoken(tmp_path) == said


def test_rules_of_make_that_need_one_another_end(tmp_path: Path) -> None:
    assert found(tmp_path, {"Makefile": "loop: pool\npool: loop\n\tpython train.py\n"}, "CMD make loop") == [TRAINS]


def test_what_starts_itself_many_times_ends(tmp_path: Path) -> None:
    many = 300
    files = {
        "Makefile": "fit:\n" + "\tmake fit\n" * many + "\tpython train.py\n",
        "supervisord.conf": "".join(f"[program:p{number}]\ncommand=supervisord\n" for number in range(many))
        + "[program:x]\ncommand=make\n",
        "two.sh": "#!/bin/sh\n" + 'exec ./three.sh "$@"' + ' "$@"' * many + "\n",
        "three.sh": "#!/bin/sh\n" + 'echo "$@"' + ' "$@"' * many + "\nexec supervisord\n",
    }
    assert found(tmp_path, files, 'CMD ["./two.sh", "a", "b"]') == [TRAINS]


def test_a_module_that_imports_itself_and_one_in_a_circle(tmp_path: Path) -> None:
    files = {
        "run.py": "import run\nimport other\n\nother.go()\n",
        "other.py": "import run\nimport other\nimport train\n\n\ndef go():\n    go()\n    train.main()\n",
    }
    assert found(tmp_path, files, "CMD python run.py") == ["other.py:6:5 warning GPU601"]


def test_a_link_in_the_tree_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "fit.py").symlink_to("train.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    assert found(tmp_path, {}, "CMD python fit.py && python loop.py") == []


def test_the_chain_stands_beside_the_finding(tmp_path: Path) -> None:
    files = {"start.sh": f"{SCRIPT}exec make fit\n", "Makefile": "fit:\n\tpython train.py\n"}
    assert found(tmp_path, files, 'ENTRYPOINT ["/app/start.sh"]') == [TRAINS]
    said = gpulint(tmp_path, "--select", "GPU601", "--color", "never").stdout
    assert [line.strip() for line in said.splitlines() if "note:" in line] == [
        "note: train.py:5:14: here it takes the CPU",
        "note: compose.yaml:2:3: a GPU container runs it here",
        "note: Dockerfile:4:14: which starts start.sh",
        "note: start.sh:4:6: which starts Makefile",
        "note: Makefile:2:9: which starts train.py",
    ]
