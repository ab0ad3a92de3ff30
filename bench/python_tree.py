"""Times gpulint on a repository of 20,000 Python files of which 2,000 name torch and train, beside the least that any linter of it must do.

    python bench/python_tree.py [--files 20000] [--naming 2000] [--runs 3]

The least is: list the files, read each Python file, and parse those that name torch with `ast`, once. Both are whole processes on one core
and take turns; the time of the processor counts, with the clock's beside it.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import module

LEAST = """
import ast, subprocess
listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others"], capture_output=True).stdout.split(b"\\0")
parsed = 0
for name in listed:
    if name.endswith(b".py"):
        with open(name, "rb") as file:
            data = file.read()
        if b"torch" in data.lower():
            ast.parse(data)
            parsed += 1
print(len(listed), parsed)
"""
DOCKERFILE = """FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
WORKDIR /srv
COPY . .
CMD ["python", "-m", "{module}"]
"""
TRAINING = """

def main() -> None:
    model = torch.nn.Linear(8, 2).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(100):
        model(torch.ones(4, 8, device=DEVICE)).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
COMPOSE = """services:
  serve:
    build: .
    gpus: all
"""


def write_tree(folder: Path, files: int, naming: int) -> int:
    """Write the repository: 50 modules a package, those that name torch spread among them. The bytes of its Python files."""
    rng = random.Random(7)
    named = set(rng.sample(range(files), naming))
    size = 0
    for number in range(files):
        path = folder / f"area{number // 50}" / f"part{number % 50}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = module(rng, number in named) + TRAINING * (number in named)
        path.write_text(text)
        size += len(text)
    (folder / "Dockerfile").write_text(DOCKERFILE.format(module=f"area{min(named) // 50}.part{min(named) % 50}"))
    (folder / "compose.yaml").write_text(COMPOSE)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return size


def measured(command: list[str], folder: Path) -> tuple[float, float, str]:
    """The seconds of the processor and of the clock that a process takes, its children's among them, and the last line that it prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    said = (run.stderr or run.stdout).strip().splitlines()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock, said[-1] if said else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--naming", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gpulint", default=shutil.which("gpulint", path=str(Path(sys.executable).parent)) or "gpulint")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        size = write_tree(tree, options.files, options.naming)
        print(f"{options.files} Python files, {size / 1e6:.0f} MB, of which {options.naming} name torch; one core")
        commands = {
            "list, read, parse those": [sys.executable, "-c", LEAST],
            "gpulint": [options.gpulint, "check", "."],
            "gpulint, with notes": [options.gpulint, "check", ".", "--min-severity", "note", "--format", "concise"],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        said = {}
        for counted in range(-1, options.runs):
            for name, command in commands.items():
                processor, clock, said[name] = measured(command, tree)
                if counted >= 0:
                    times[name].append((processor, clock))
    least = statistics.median(processor for processor, _ in times["list, read, parse those"])
    for name, each in times.items():
        processor, clock = (statistics.median(column) for column in zip(*each, strict=True))
        print(f"{name:24} {processor:6.2f} s of the processor ({processor / least:.2f} x)  {clock:6.2f} s  {said[name]}")


if __name__ == "__main__":
    main()
