"""Code blocks of documents: read with --docs alone, each as a file of its own, and reported at their places in the document."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import concise, gpulint, spoken, write

from gpulint.project.documents import MOST_TEXT

RUN = "docker run --rm vllm/vllm-openai:v0.6.3 --device cuda"
COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.6.3
    gpus: 1
"""


def document(folder: Path, language: str, code: str, name: str = "README.md") -> None:
    write(folder, {name: f"# Ärger\n\n1. Start it:\n\n```{language}\n{code}\n```\n"})


def test_nothing_is_said_of_documents_without_the_option(tmp_path: Path) -> None:
    document(tmp_path, "bash", RUN)
    assert spoken(tmp_path) == []


def test_documents_are_no_evidence_without_the_option(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": "docker run vllm/vllm-openai:v0.6.3\n"})
    document(tmp_path, "bash", "docker run --gpus all vllm/vllm-openai:v0.6.3")
    assert spoken(tmp_path) == ["run.sh:1:1 warning GPU201"]


@pytest.mark.parametrize(
    ("language", "code", "found"),
    [
        ("bash", RUN, ["README.md:6:1 error GPU201"]),
        ("", f"  {RUN}", ["README.md:6:3 error GPU201"]),
        ("console", f"$ cd app\n$ {RUN.replace('--device', chr(92) + chr(10) + '>   --device')}\nSun\n", ["README.md:7:3 error GPU201"]),
        ("sh", "docker run --gpus device=0,1 acme/train:1", ["README.md:6:19 error GPU501"]),
        ("sh", "helm install a b --set resources.limits.nvidia.com/gpu=1", ["README.md:6:24 error GPU507"]),
        ("yaml", COMPOSE, ["README.md:9:11 error GPU301"]),
        ("yaml", "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: vllm/vllm-openai}]}", ["README.md:8:21 warning GPU201"]),
        ("dockerfile", "FROM nvidia/cuda:latest", ["README.md:6:6 error GPU101"]),
    ],
)
def test_blocks_are_reported_at_their_places(language: str, code: str, found: list[str], tmp_path: Path) -> None:
    document(tmp_path, language, code)
    assert [line for line in spoken(tmp_path, "--docs") if not line.endswith("GPU101") or "cuda" in code] == found


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("", f"the command `{RUN}` runs"),
        ("text", RUN),
        ("python", "import docker\ndocker.from_env().containers.run('vllm/vllm-openai:v0.6.3')"),
        ("yaml", "a: [b\nservices:\n  image: c }\n    image: d"),
        ("yaml", "gpus: 1\nimage: vllm/vllm-openai"),
        ("dockerfile", "RUN nvidia-smi"),
        ("bash", "docker run --gpus all <image>"),
    ],
)
def test_blocks_that_say_nothing(language: str, code: str, tmp_path: Path) -> None:
    document(tmp_path, language, code)
    assert spoken(tmp_path, "--docs") == []


def test_a_block_stands_beside_no_other_file(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": "services:\n  web:\n    image: nginx:1.27\n"})
    write(tmp_path, {"README.md": f"```yaml\n{COMPOSE.replace('gpus: 1', 'gpus: all')}```\n\n```yaml\n{COMPOSE}```\n"})
    assert spoken(tmp_path, "--docs") == ["README.md:12:11 error GPU301"]


def test_settings_and_ignores_go_by_the_document(tmp_path: Path) -> None:
    write(tmp_path, {"gpulint.toml": 'docs = true\nper-file-ignores = {"docs/*.md" = ["ALL"]}\n'})
    document(tmp_path, "bash", RUN, "docs/guide.md")
    document(tmp_path, "bash", f"# gpulint: ignore[GPU201] shown as a fault\n{RUN}")
    assert spoken(tmp_path) == []
    assert spoken(tmp_path, "--no-ignores") == ["README.md:7:1 error GPU201"]


def test_one_document_can_be_named(tmp_path: Path) -> None:
    document(tmp_path, "bash", RUN)
    document(tmp_path, "bash", RUN, "other.md")
    assert spoken(tmp_path, "--docs", "README.md") == ["README.md:6:1 error GPU201"]
    outcome = gpulint(tmp_path, "check", "--docs", "README.md")
    assert f"6 | {RUN}" in outcome.stdout and "1 script, 1 GPU container" in outcome.stderr


def test_what_is_read_is_listed_with_its_line(tmp_path: Path) -> None:
    document(tmp_path, "bash", RUN)
    assert gpulint(tmp_path, "check", "--docs", "--show-files").stdout == "README.md:6: script\n"


def test_a_document_that_cannot_be_read_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"```bash\n\0" + RUN.encode() + b"\n```\n")
    assert concise(tmp_path, "--docs") == []


def test_a_document_without_end_costs_no_more_than_it_is_long(tmp_path: Path) -> None:
    block = f"```bash\n{RUN}\n```\n"
    (tmp_path / "README.md").write_text(block + "\n" * MOST_TEXT + block)
    assert spoken(tmp_path, "--docs") == []
    (tmp_path / "README.md").write_text(block + "\n" * 200_000 + block * 50)
    assert 1 < len(spoken(tmp_path, "--docs")) < 50
