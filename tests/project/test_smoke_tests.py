"""What GPU702 says to run: with the flags that give a container the GPU of the image's vendor."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import gpulint, write

WORKFLOW = """
on: push
jobs:
  image:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: docker build -t ghcr.io/acme/fit:1.0.0 .
      - run: docker push ghcr.io/acme/fit:1.0.0
"""


@pytest.mark.parametrize(
    ("base", "flags"),
    [
        ("nvidia/cuda:12.4.1-runtime-ubuntu22.04", "--gpus all IMAGE"),
        ("rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0", "--device /dev/kfd --device /dev/dri IMAGE"),
    ],
)
def test_the_flags_are_those_of_the_vendor(tmp_path: Path, base: str, flags: str) -> None:
    write(tmp_path, {"Dockerfile": f"FROM {base}\nCOPY fit /fit\n", ".github/workflows/image.yml": WORKFLOW})
    said = gpulint(tmp_path, "--select", "GPU702", "--min-severity", "note").stdout
    assert flags in said
