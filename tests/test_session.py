"""What a run refuses before it checks anything, since its silence would be taken for a clean result."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpulint.cli import cli

POD = b"""apiVersion: v1
kind: Pod
metadata: {name: smoke}
spec:
  containers:
    - {name: smoke, image: registry.acme.example/smoke:1.0, command: [nvidia-smi]}
"""


def run(*arguments: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(cli, [*arguments], input=given, catch_exceptions=False)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", "standard input is empty"),
        (b" \n", "standard input is empty"),
        (b"Error: chart not found\n", "standard input is no manifest and no Compose file"),
        (b"FROM nvidia/cuda\n", "--stdin-filename Dockerfile"),
    ],
)
def test_standard_input_in_which_nothing_would_be_checked(
    given: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("-", given=given)
    assert result.exit_code == 2
    assert words in result.stderr


def test_standard_input_by_its_content_and_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "stdin.yaml:6:7: warning: GPU201" in run("-", "--format", "concise", given=POD).stdout
    assert (
        "Dockerfile:1:6: error: GPU101"
        in run("-", "--stdin-filename", "Dockerfile", "--format", "concise", given=b"FROM nvidia/cuda\n").stdout
    )


def test_paths_of_two_folders_are_both_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("here/docs", "there"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "Dockerfile").write_text("FROM nvidia/cuda\n")
    monkeypatch.chdir(tmp_path / "here")
    printed = run("docs", "../there", "--format", "concise").stdout
    assert [line.partition(":")[0] for line in printed.splitlines()] == ["here/docs/Dockerfile", "there/Dockerfile"]
