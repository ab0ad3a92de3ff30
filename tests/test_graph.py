"""gpulint graph: what was linked to what, and how each link was found."""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

from small_repository import gpulint, write

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


def test_a_paragraph_for_each_container_and_each_dockerfile_that_nothing_runs(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Dockerfile": DOCKERFILE,
            "start.sh": '#!/bin/sh\nexec "$@"\n',
            "train.py": "import torch\n",
            "compose.yaml": """
                services:
                  train:
                    image: registry.example.com/train:1.0.0
                    build: {context: ., target: run}
                    gpus: all
                """,
            "k8s/pod.yaml": """
                apiVersion: v1
                kind: Pod
                metadata: {name: train}
                spec:
                  containers:
                    - name: train
                      image: mirror.example.com/train:1.0.1
                      command: ["python", "-m", "train"]
                      resources:
                        limits: {nvidia.com/gpu: 2}
                """,
            "old/gpu.Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n",
            "run.sh": "docker run --name $NAME --gpus '\"device=0,2\"' $FLAGS registry.example.com/other:1.0.0\n",
        },
    )
    assert shown(tmp_path) == dedent(
        """\
        train  (compose, compose.yaml:2:3)
          image    registry.example.com/train:1.0.0
          built    Dockerfile, stage run: build: beside it
          request  gpus gpu all (asked, compose.yaml:5:11)
          script   start.sh
          program  train.py: by python train.py

        train  (kubernetes, k8s/pod.yaml:6:7)
          image    mirror.example.com/train:1.0.1
          built    Dockerfile, stage run: built as registry.example.com/train:1.0.0 at compose.yaml:4:12
          request  limit nvidia.com/gpu 2 (asked, k8s/pod.yaml:10:18)
          program  train.py: by python -m train

        $NAME  (run, run.sh:1:1)
          image    registry.example.com/other:1.0.0
          request  gpus gpu 0,2 (asked, run.sh:1:25)
          open     env, gpu, shm

        old/gpu.Dockerfile  (no container here is known to run it)
        """
    )


def test_what_nobody_knows_is_shown_as_it_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": "docker run --gpus $COUNT $IMAGE\ndocker run --gpus all acme/app:$TAG\n"})
    assert shown(tmp_path) == dedent(
        """\
        container  (run, run.sh:1:1)
          image    $IMAGE
          request  gpus gpu $COUNT (asked, run.sh:1:12)
          open     image

        container  (run, run.sh:2:1)
          image    acme/app:$TAG
          request  gpus gpu all (asked, run.sh:2:12)
        """
    )


def test_an_empty_repository(tmp_path: Path) -> None:
    assert shown(tmp_path) == "no containers\n"


def test_a_configuration_holds_for_it_too(tmp_path: Path) -> None:
    write(tmp_path, {"a/compose.yaml": "services:\n  a:\n    image: nvidia/cuda\n", "gpulint.toml": 'exclude = ["a"]\n'})
    assert shown(tmp_path) == "no containers\n"
    assert shown(tmp_path, "--isolated", "--exclude", "b") == "a  (compose, a/compose.yaml:2:3)\n  image    nvidia/cuda\n"


def test_nothing_in_a_file_drives_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": 'services:\n  "a\\e[31m":\n    image: "nvidia/cuda\\nb"\n'})
    assert shown(tmp_path) == "a\\x1b[31m  (compose, compose.yaml:2:3)\n  image    nvidia/cuda\\nb\n"


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
