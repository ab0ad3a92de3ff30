"""What a run imports: only what its files need, since every import costs milliseconds, and nothing of the folder it runs in."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from small_repository import write

SLOW = ("libcst", "ruamel", "sarif_om", "attr", "pathspec", "rich", "importlib.metadata")
"""What a plain run does without: SARIF, a second opinion on YAML, .gitignore without git, newer Python, packs of others."""

REPOSITORY = {
    "Dockerfile": """
        FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04
        RUN pip install torch==2.5.1
        COPY train.py /app/
        CMD ["python", "/app/train.py"]
        """,
    "compose.yaml": """
        services:
          train:
            build: .
            gpus: all
        """,
    "pod.yaml": """
        apiVersion: v1
        kind: Pod
        metadata:
          name: serve
        spec:
          containers:
            - name: serve
              image: vllm/vllm-openai:v0.8.5
        """,
    "chart/Chart.yaml": "apiVersion: v2\nname: serve\nversion: 1.0.0\n",
    "chart/templates/pod.yaml": """
        apiVersion: v1
        kind: Pod
        spec:
          containers:
            - name: {{ .Release.Name }}
              image: vllm/vllm-openai
        """,
    "run.sh": "docker run --gpus all acme/train:1.0.0 python train.py --device cuda  # gpulint: ignore[GPU101] demo\n",
    "train.py": "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
}
RUN = """
import os, sys
from gpulint.__main__ import main
os._exit = sys.exit  # main leaves without coming back, and here there is more to do
sys.argv = ["gpulint", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print("--- modules", *sys.modules, sep="\\n")
"""


def modules(folder: Path, *arguments: str) -> set[str]:
    """The modules that are loaded at the end of a run in that folder."""
    run = subprocess.run([sys.executable, "-c", RUN, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return set(run.stdout.partition("--- modules\n")[2].splitlines())


@cache
def modules_of_click() -> set[str]:
    """The modules that any command line with click loads: other versions of it, or of Python, load others."""
    run = subprocess.run([sys.executable, "-c", "import click, sys; print(*sys.modules)"], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    write(folder, REPOSITORY)
    return folder


@pytest.mark.parametrize("arguments", [(), ("--format", "github"), ("--show-files",), ("graph",)], ids=" ".join)
def test_a_plain_run_imports_nothing_slow(repository: Path, arguments: tuple[str, ...]) -> None:
    loaded = modules(repository, *arguments)
    assert "gpulint.project.kubernetes" in loaded or arguments == ("--show-files",)
    assert not [name for name in loaded if name in SLOW or name.split(".")[0] in SLOW]
    assert "pathlib" not in loaded - modules_of_click()


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("rule",), ("rule", "GPU201")], ids=" ".join)
def test_what_reads_no_repository_imports_no_reader(repository: Path, arguments: tuple[str, ...]) -> None:
    loaded = modules(repository, *arguments)
    assert not [name for name in loaded if name in (*SLOW, "yaml") or name.startswith(("gpulint.parse", "gpulint.model.python"))]


def test_a_run_imports_only_the_readers_that_its_files_need(tmp_path: Path) -> None:
    write(tmp_path, {"Dockerfile": REPOSITORY["Dockerfile"]})
    loaded = modules(tmp_path)
    assert "gpulint.parse.dockerfile" in loaded
    assert "gpulint.project.stages" in loaded
    unneeded = ("yaml", "pathlib", "gpulint.parse.yaml", "gpulint.parse.python", "gpulint.parse.shell", "gpulint.project.kube")
    assert not [name for name in loaded - modules_of_click() if name.startswith(unneeded)]


def test_python_of_today_is_read_in_another_process(tmp_path: Path) -> None:
    """So nothing of libcst is loaded here; and nothing of the folder is there."""
    code = "import torch\n\ntype Sizes = list[int]\n\nif __name__ == '__main__':\n    main()\n"
    write(tmp_path, {"a.py": code, "libcst.py": "open('ran', 'w')\n", "json.py": "open('ran', 'w')\n"})
    assert not [name for name in modules(tmp_path, "a.py") if name.startswith(SLOW)]
    assert not (tmp_path / "ran").exists()


def test_a_run_without_findings_loads_no_rule_that_has_no_node(tmp_path: Path) -> None:
    write(tmp_path, {"notes.txt": "nothing\n"})
    assert not [name for name in modules(tmp_path) if name.startswith("gpulint_rules.")]


def test_nothing_of_the_current_folder_is_imported(tmp_path: Path) -> None:
    spoilt = ("__future__", "pathlib", "click", "yaml", "tomllib", "typing", "dataclasses", "difflib", "gpulint_rules", "json", "re")
    ran = tmp_path / "ran"
    for name in spoilt:
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    write(tmp_path, {"pod.yaml": REPOSITORY["pod.yaml"]})
    command = [sys.executable, "-m", "gpulint", "--select", "GPU201", "--format", "concise"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not ran.exists(), ran.read_text()
    assert run.stdout.startswith("pod.yaml:7:7: warning: GPU201 ")
    assert run.returncode == 1
