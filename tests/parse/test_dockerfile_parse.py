"""dockerfile-parse beside BuildKit's parser: what it misreads is why we have a reader of our own.

Each misreading is a strict expected failure, so that a repaired release is noticed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from gpulint.model.stage import read_dockerfile
from gpulint.parse.dockerfile import parse
from gpulint.source import Source

ORDINARY = """\
# syntax=docker/dockerfile:1
ARG CUDA=12.4.1
FROM nvidia/cuda:${CUDA}-devel-ubuntu22.04 AS build

# the wheel is built here
RUN apt-get update && \\
    apt-get install -y python3-pip
ENV TORCH=2.4.1 NAME="a b"
FROM nvidia/cuda:${CUDA}-runtime-ubuntu22.04
COPY --from=build /wheels /wheels
CMD ["python3", "-m", "app"]
"""


def ours(text: str) -> list[tuple[str, str, int, int]]:
    """Keyword, arguments with flags, and lines of each instruction, lines from 0 as the other counts them."""
    return [
        (
            instruction.name,
            " ".join([*(f"--{flag.name}={flag.value}" for flag in instruction.flags), instruction.arguments]),
            instruction.location.line - 1,
            instruction.location.end_line - 1,
        )
        for instruction in parse(Source("Dockerfile", text.encode("utf-8", "surrogateescape"))).instructions
    ]


def theirs(text: str, folder: Path) -> list[tuple[str, str, int, int]]:
    (folder / "Dockerfile").write_bytes(text.encode("utf-8", "surrogateescape"))
    structure = DockerfileParser(str(folder)).structure
    return [
        (each["instruction"], each["value"], each["startline"], each["endline"]) for each in structure if each["instruction"] != "COMMENT"
    ]


def without_blanks(instructions: list[tuple[str, str, int, int]]) -> list[tuple[str, str, int, int]]:
    """The other drops the blanks at the start of a continued line."""
    return [(name, " ".join(value.split()), start, end) for name, value, start, end in instructions]


def test_agrees_on_an_ordinary_file(tmp_path: Path) -> None:
    assert without_blanks(theirs(ORDINARY, tmp_path)) == without_blanks(ours(ORDINARY))


def misread(text: str, reason: str) -> object:
    return pytest.param(text, marks=pytest.mark.xfail(strict=True, reason=reason), id=reason)


@pytest.mark.parametrize(
    "text",
    [
        misread("FROM a\nRUN <<EOF\nUSER b\nEOF\n", "the body of a heredoc becomes instructions"),
        misread("FROM a\nRUN b \\\n", "an instruction that is continued at the end of the file is lost"),
        misread("FROM a\nRUN b \\\n\n  c\n", "an empty line ends a continued instruction"),
        misread("FROM a\nRUN b\\\\\nUSER c\n", "a doubled escape continues the line"),
        misread("FROM a\n\\\nUSER b\n", "an escape alone on a line becomes a keyword"),
        misread("FROM a\nRUN b \udcff\n", "one bad byte raises"),
        misread("\ufeffFROM a\n", "a byte order mark becomes part of the first keyword"),
    ],
)
def test_misread_instructions(text: str, tmp_path: Path) -> None:
    assert without_blanks(theirs(text, tmp_path)) == without_blanks(ours(text))


@pytest.mark.parametrize(
    "text",
    [
        "ARG B='c'\nFROM ${B}:d\n",
        misread("FROM ${B:-nvidia/cuda}\n", "a default in braces is not expanded"),
        misread("FROM c${B:+d}\n", "an alternative in braces is not expanded"),
        misread("ARG B=c D=$B\nFROM $D\n", "a variable in the value of an ARG is not expanded"),
        misread("ARG B=c\nARG B\nFROM $B\n", "an ARG without a value empties the one before it"),
    ],
)
def test_misread_base_images(text: str, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(text)
    reference = read_dockerfile("Dockerfile", parse(Source("Dockerfile", text.encode()))).stages[-1].base
    assert reference is not None
    assert DockerfileParser(str(tmp_path)).baseimage == reference.name + (f":{reference.tag}" if reference.tag else "")
