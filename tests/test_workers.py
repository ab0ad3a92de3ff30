"""A second process for half of a large run finds what one process would, and its end costs nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from small_repository import write

from gpulint import engine, workers
from gpulint.config import Config
from gpulint.discover import list_files
from gpulint.engine import Outcome, Selection
from gpulint.model.machines import Machines
from gpulint.project import Project
from gpulint.project.tree import Tree
from gpulint.rule import Severity

PATHS = [f"folder/file{number}.py" for number in range(100)]


def found(part: Callable[[str], bool]) -> list[str]:
    return [path for path in PATHS if part(path)]


def test_each_path_is_looked_at_in_one_of_two_halves() -> None:
    first, second = workers.in_two(found)
    assert sorted(first + second) == sorted(PATHS)
    assert 30 < len(first) < 70


def test_the_second_half_comes_from_another_process() -> None:
    first, second = workers.in_two(lambda _part: os.getpid())
    assert first == os.getpid() != second


@pytest.mark.parametrize(
    "end", [lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: 1 / 0], ids=["exit", "killed", "exception"]
)
def test_a_second_process_that_ends_early_leaves_its_half_to_the_first(end: Callable[[], object]) -> None:
    own = os.getpid()

    def find(part: Callable[[str], bool]) -> list[str]:
        if os.getpid() != own:
            end()
        return found(part)

    first, second = workers.in_two(find)
    assert sorted(first + second) == sorted(PATHS)


def outcome(folder: Path) -> Outcome:
    project = Project(Tree(str(folder), list_files(str(folder), None)), Machines(), wants_notes=True)
    return engine.check(project, Config(min_severity=Severity.NOTE), Selection())


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no second process is started here")
def test_two_processes_find_in_many_files_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\ntorch.zeros(1).to(device)\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {{name: web{0}}}\nspec:\n  containers:\n    - {{name: web, image: 'vllm/vllm-openai'}}\n"
    files = {f"train{number}.py": f"{program}if __name__ == '__main__':\n    print({number})\n" for number in range(engine.MANY_FILES)}
    files |= {f"k8s/pod{number}.yaml": pod.format(number) for number in range(20)}
    files |= {f"broken{number}.py": "import torch\ntorch.device('cuda'\n" for number in range(6)}
    write(tmp_path, files)

    monkeypatch.setattr(workers, "can_split", lambda: False)
    alone = outcome(tmp_path)
    started: list[object] = []
    in_two = workers.in_two
    monkeypatch.setattr(workers, "can_split", lambda: True)
    monkeypatch.setattr(workers, "in_two", lambda find: started.append(find) or in_two(find))
    assert outcome(tmp_path) == alone
    assert len(started) == 1
    rules = [finding.rule for finding in alone.findings]
    assert {rule: rules.count(rule) for rule in ("GPU001", "GPU101", "GPU201")} == {"GPU001": 6, "GPU101": 20, "GPU201": 20}


def test_a_few_files_are_not_worth_a_second_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"Dockerfile": "FROM nvidia/cuda:latest\nCMD python serve.py\n"})
    monkeypatch.setattr(workers, "can_split", lambda: True)
    monkeypatch.setattr(workers, "in_two", lambda _find: pytest.fail("a process was started"))
    assert [finding.rule for finding in outcome(tmp_path).findings] == ["GPU101"]
