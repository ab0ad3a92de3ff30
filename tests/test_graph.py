"""gpulint graph: what was linked to what, and how each link was found."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from small_repository import gpulint, write

Snapshot = Callable[[str, str], None]

DOCKERFILE = """
    FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04 AS run
    WORKDIR /app
    COPY . .
    ENTRYPOINT ["/app/start.sh"]
    CMD ["python", "train.py"]
    """


def shown(folder: Path, *arguments: str) -> str:
    run = gpulint(folder, "graph", *arguments)
    assert (run.stderr, run.exit_code) == ("", 0)
    return run.stdout


TRAIN = """
    import torch
    import helper


    def main():
        device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.nn.Linear(2, 2).to(device)
        torch.ones(1, device=device).backward()


    main()
    """
FILES = {
    "Dockerfile": DOCKERFILE,
    "start.sh": '#!/bin/sh\nexec "$@"\n',
    "train.py": TRAIN,
    "helper.py": "import torch\n",
    "compose.yaml": """
        services:
          train:
            image: registry.example.com/train:1.0.0
            build: {context: ., target: run}
            gpus: all
        """,
    "k8s/deployment.yaml": """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: trainer}
        spec:
          template:
            spec:
              runtimeClassName: nvidia
              containers:
                - name: train
                  image: mirror.example.com/train:1.0.1
                  command: ["python", "-m", "train"]
                  resources:
                    limits: {nvidia.com/gpu: 2}
                - name: log
                  image: busybox:1.36
        """,
}


def test_a_paragraph_for_each_container_and_each_dockerfile_that_nothing_runs(tmp_path: Path, snapshot: Snapshot) -> None:
    write(
        tmp_path,
        {
            **FILES,
            "old/gpu.Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n",
            "run.sh": "docker run --name $NAME --gpus '\"device=0,2\"' $FLAGS registry.example.com/other:1.0.0\n",
        },
    )
    snapshot("graph.txt", shown(tmp_path))


def test_what_nobody_knows_is_shown_as_it_is_written(tmp_path: Path, snapshot: Snapshot) -> None:
    write(tmp_path, {"run.sh": "docker run --gpus $COUNT $IMAGE\ndocker run --gpus all acme/app:$TAG python $SCRIPT\n"})
    snapshot("graph_unknown.txt", shown(tmp_path))


def test_what_lies_between_a_container_and_its_program(tmp_path: Path, snapshot: Snapshot) -> None:
    write(
        tmp_path,
        {
            "compose.yaml": """
                services:
                  fit:
                    image: registry.example.com/fit:1
                    gpus: all
                    volumes: [./code:/opt/code]
                    working_dir: /opt/code
                    command: make fit
                  web:
                    build: .
                    gpus: all
                """,
            "code/Makefile": "fit:\n\tnvidia-smi\n\tpython fit.py\n",
            "code/fit.py": TRAIN,
            "Dockerfile": "FROM python:3.12\nWORKDIR /srv\nCOPY . .\nCMD gunicorn\n",
            "gunicorn.conf.py": "wsgi_app = 'web:make()'\n",
            "web.py": "import torch\n\n\ndef make():\n    assert torch.cuda.is_available()\n    return serve\n",
        },
    )
    snapshot("graph_between.txt", shown(tmp_path))


# --- Mermaid --------------------------------------------------------------------------------------------------------------------


def test_a_flowchart(tmp_path: Path, snapshot: Snapshot) -> None:
    write(tmp_path, {name: FILES[name] for name in ("Dockerfile", "start.sh", "train.py", "compose.yaml")})
    snapshot("graph.mmd", shown(tmp_path, "--format", "mermaid"))


def test_nothing_in_a_file_breaks_a_flowchart(tmp_path: Path) -> None:
    name = 'a"]; click c0 call f() %%{init}%% `x` <b>#1;|'
    write(tmp_path, {"run.sh": f"docker run --gpus all --name '{name}' 'x' python $'y\\n z'\n"})
    lines = shown(tmp_path, "--format", "mermaid").splitlines()
    assert lines[0] == "flowchart LR"
    node = r"[cgn]\d+(?:_\d+)?(?:\(?\[\"[^\"<>`%{}\[\]|]*\"\]\)?)?"
    assert [line for line in lines[1:] if not re.fullmatch(rf"  {node}(?: -\.?->(?:\|\"[^\"<>`%{{}}\[\]|]*\"\|)? {node})?", line)] == []
    assert len(lines) > 3


# --- JSON -----------------------------------------------------------------------------------------------------------------------


def test_json(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "old.Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n"})
    graph = json.loads(shown(tmp_path, "compose.yaml", "old.Dockerfile", "--format", "json"))
    assert (graph["version"], graph["unused"]) == (1, ["old.Dockerfile"])
    (container,) = graph["containers"]
    assert (container["name"], container["kind"], container["open"], container["gaps"]) == ("train", "compose", [], [])
    assert container["place"] == {"path": "compose.yaml", "line": 2, "column": 3}
    assert [link["kind"] for link in container["links"]] == [
        *("image", "built", "request", "script", "program", "starts", "imports", "falls")
    ]
    assert container["links"][4] == {
        "kind": "program",
        "name": "train.py",
        "how": "by python train.py",
        "place": {"path": "Dockerfile", "line": 5, "column": 17},
        "file": "train.py",
        "by": "it is /app/train.py of the container",
        "origin": {"path": "Dockerfile", "line": 3, "column": 6},
    }


# --- One container --------------------------------------------------------------------------------------------------------------


def test_the_five_links_of_a_container(tmp_path: Path, snapshot: Snapshot) -> None:
    write(tmp_path, FILES)
    snapshot("graph_links.txt", shown(tmp_path, "trainer/train"))


def test_links_of_which_little_is_known(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": "docker run --name one --gpus all $IMAGE python $SCRIPT\n", "gpulint.toml": '[machines]\ndriver = "535"\n'})
    table = shown(tmp_path, "one").splitlines()[3:]
    assert [tuple(re.split(r"  +", line)[:3]) for line in table] == [
        ("request", "known", "gpus gpu all, asked"),
        ("runtime", "unknown", "the default of the machines"),
        ("driver", "unknown", "not known; the machines have 535"),
        ("build", "unknown", "not known"),
        ("program", "unknown", "not known: $SCRIPT is not known"),
    ]


@pytest.mark.parametrize("name", ["trainer/log", "log", "compose.yaml:train", "k8s/deployment.yaml:log"])
def test_names_of_a_container(tmp_path: Path, name: str) -> None:
    write(tmp_path, FILES)
    assert shown(tmp_path, name).startswith(f"{'train' if name.endswith('train') else 'log'}  (")


def test_a_stage_and_a_workload_name_the_container_that_runs_them(tmp_path: Path) -> None:
    write(tmp_path, {name: FILES[name] for name in ("Dockerfile", "compose.yaml")})
    assert shown(tmp_path, "run").startswith("train  (compose")
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: job}\nspec:\n  containers: [{name: a, image: nvidia/cuda:12.4.1-base-ubuntu22.04}]\n"
    write(tmp_path, {"pod.yaml": pod})
    assert shown(tmp_path, "pod/job") == shown(tmp_path, "job")


def test_json_and_mermaid_of_one_container(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    document = json.loads(shown(tmp_path, "trainer/train", "--format", "json"))
    assert (document["version"], document["container"]["name"]) == (1, "train")
    assert [link["link"] for link in document["links"]] == ["request", "runtime", "driver", "build", "program"]
    assert document["links"][0] == {
        "link": "request",
        "value": "limit nvidia.com/gpu 2, asked; runtime nvidia, asked",
        "known": True,
        "places": [{"path": "k8s/deployment.yaml", "line": 13, "column": 22}, {"path": "k8s/deployment.yaml", "line": 7, "column": 25}],
        "proof": "kubectl get deployment/trainer -o jsonpath='{..resources.limits}'",
    }
    chart = shown(tmp_path, "trainer/train", "--format", "mermaid").splitlines()
    assert [line for line in chart if "([" in line] == ['  c0(["train  (kubernetes, k8s/deployment.yaml:9:11)"])']


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "trian",
            "trian: no such file or folder, and no container of that name (did you mean 'train'?); "
            "there are deployment/trainer, log, run, train, trainer, ",
        ),
        ("train", "train: 2 containers have this name: compose.yaml:2:3 (ask for compose.yaml:train), "),
        ("trainer", "trainer: 2 containers have this name: k8s/deployment.yaml:9:11 (ask for trainer/train), "),
        ("src/none.py", "src/none.py: no such file or folder, and no container of that name; there are "),
    ],
)
def test_a_name_that_is_no_container_s_alone(tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path, FILES)
    run = gpulint(tmp_path, "graph", name)
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.startswith(f"gpulint: {said}")


def test_two_names_are_one_too_many(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    run = gpulint(tmp_path, "graph", "log", "train")
    assert (run.exit_code, run.stderr) == (2, "gpulint: log and train are no files or folders; ask for one container at a time\n")


def test_an_empty_repository(tmp_path: Path) -> None:
    assert shown(tmp_path) == "no containers\n"


def test_a_configuration_holds_for_it_too(tmp_path: Path) -> None:
    write(tmp_path, {"a/compose.yaml": "services:\n  a:\n    image: nvidia/cuda\n", "gpulint.toml": 'exclude = ["a"]\n'})
    assert shown(tmp_path) == "no containers\n"
    assert (
        shown(tmp_path, "--isolated", "--exclude", "b")
        == "a  (compose, a/compose.yaml:2:3)\n  image    nvidia/cuda (a/compose.yaml:3:12)\n"
    )


def test_nothing_in_a_file_drives_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": 'services:\n  "a\\e[31m":\n    image: "nvidia/cuda\\nb"\n'})
    assert shown(tmp_path) == "a\\x1b[31m  (compose, compose.yaml:2:3)\n  image    nvidia/cuda\\nb (compose.yaml:3:12)\n"


def test_paths_select_what_is_shown(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    service = "services:\n  {name}:\n    build: {folder}\n    gpus: all\n"
    write(
        tmp_path,
        {
            "a/compose.yaml": service.format(name="one", folder="."),
            "a/Dockerfile": "FROM python:3.12\nWORKDIR /srv\nCOPY serve.py .\nCMD python serve.py\n",
            "a/serve.py": "import torch\n",
            "b/compose.yaml": service.format(name="two", folder="."),
            "b/Dockerfile": "FROM python:3.12\n",
            "b/old.Dockerfile": "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n",
        },
    )
    for path in ("a", "a/serve.py", "a/Dockerfile"):
        assert [line.split()[0] for line in shown(tmp_path, path).splitlines() if line[:1] not in ("", " ")] == ["one"]
    assert "old.Dockerfile" in shown(tmp_path, "b")
    assert shown(tmp_path, "a", "b/old.Dockerfile").count("\n\n") == 1
