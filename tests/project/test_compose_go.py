"""Compose itself as the judge, by `docker compose config`: what it refuses for a GPU request is found, and nothing else is; and what it
takes asks for the same as is read."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import compose
import pytest
from generated_compose import ITEMS_FOR_ENGINE, Generated, every_form, generated_projects

from gpulint import engine
from gpulint.config import Config
from gpulint.engine import Selection
from gpulint.model.container import Container, GpuRequest, RequestKind
from gpulint.model.machines import Machines
from gpulint.project import Project
from gpulint.project.tree import Tree
from gpulint.source import Text, Value

_PROGRAM = Path(compose.__file__).parent / "docker-compose"
_PROJECTS = (*every_form(), *generated_projects(180, seed=1))
_LIST_KINDS = (RequestKind.GPUS, RequestKind.RESERVATION)


class _Verdict:
    """What Compose says of a project: the services that come of it, or why it refuses it."""

    def __init__(self, run: subprocess.CompletedProcess[str]) -> None:
        self.refusal = run.stderr.strip() if run.returncode else ""
        self.services: dict[str, dict[str, Any]] = {} if run.returncode else json.loads(run.stdout)["services"]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[_Verdict]:
    """The verdict on each project, in their order."""
    folders = [tmp_path_factory.mktemp("project") for _ in _PROJECTS]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(_judge, _PROJECTS, folders))


def _judge(project: Generated, folder: Path) -> _Verdict:
    for path, text in project.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    named = [word for path in project.named for word in ("-f", path)]
    command = [_PROGRAM, "--project-name", "project", *named, "--profile", "*", "config", "--format", "json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return _Verdict(subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False))


def _read(project: Generated) -> Project:
    files = {path: text.encode() for path, text in project.files.items()}
    if project.named:
        words = " ".join(f"-f {path}" for path in project.named)
        files["up.sh"] = f"#!/bin/sh\ndocker compose {words} up -d\n".encode()
    return Project(Tree(Path(), (), files), Machines(), everything=True)


def _findings(project: Generated) -> list[str]:
    outcome = engine.check(_read(project), Config(select=("GPU301", "GPU302")), Selection())
    assert not outcome.crashed
    return [f"{finding.problem.location} {finding.problem.message}" for finding in outcome.findings]


def test_what_compose_refuses_is_found_and_nothing_else(verdicts: list[_Verdict]) -> None:
    wrong = []
    for project, verdict in zip(_PROJECTS, verdicts, strict=True):
        findings = _findings(project)
        for_engine = any(item in text for text in project.files.values() for item in ITEMS_FOR_ENGINE)
        if bool(findings) != bool(verdict.refusal) and not (for_engine and findings):
            wrong.append((project, verdict.refusal, findings))
    assert wrong == []


def test_enough_is_refused_and_enough_is_taken(verdicts: list[_Verdict]) -> None:
    refused = sum(bool(verdict.refusal) for verdict in verdicts)
    assert len(verdicts) > 300
    assert refused > 100
    assert len(verdicts) - refused > 150


def test_the_services_that_come_of_the_files_ask_for_the_same(verdicts: list[_Verdict]) -> None:
    wrong = []
    for project, verdict in zip(_PROJECTS, verdicts, strict=True):
        containers = _read(project).containers
        for name, service in verdict.services.items():
            ours, theirs = _asked(_running(containers, name)), _configured(service)
            if ours != theirs:
                wrong.append((project, name, ours, theirs))
    assert wrong == []


def _running(containers: tuple[Container, ...], name: str) -> Container:
    """The container of that name in the project of most files: the parts of that project are judged alone too."""
    return max((each for each in containers if each.service and each.name == name), key=lambda each: len(each.service.run))  # type: ignore[union-attr]


def _asked(container: Container) -> dict[str, object]:
    """What the container asks for, in the words of Compose's output."""
    requests = [request for request in container.requests if request.resource is None or request.kind is not RequestKind.RESERVATION]
    runtime = next((request.resource for request in requests if request.kind is RequestKind.RUNTIME), None)
    visible = container.variable("NVIDIA_VISIBLE_DEVICES")
    assert container.service
    return {
        **{kind.value: [_device(request) for request in requests if request.kind is kind] for kind in _LIST_KINDS},
        "nvidia": runtime is not None,
        "devices": [(_plain(mount.source), _plain(mount.target)) for mount in container.devices],
        "visible": _plain(visible.value) if visible else None,
        "profiles": {_plain(each) for each in container.service.profiles},
        "replicas": _plain(container.service.replicas),
    }


def _device(request: GpuRequest) -> tuple[object, ...]:
    count = _plain(request.count)
    number = None if count is None else -1 if count.lower() == "all" else int(count.replace("_", ""), 0)
    if count is None and not request.ids:
        number = -1
    driver = _plain(request.driver)
    return (driver or "", number or None, [_plain(each) for each in request.ids], [_plain(each) for each in request.capabilities])


def _plain(value: Value | None) -> str | None:
    assert value is None or isinstance(value, Text), value
    return None if value is None else str(value)


def _configured(service: dict[str, Any]) -> dict[str, object]:
    deploy = service.get("deploy") or {}
    reserved = (deploy.get("resources", {}).get("reservations") or {}).get("devices", [])
    replicas = deploy.get("replicas")
    return {
        RequestKind.GPUS.value: [_listed(device) for device in service.get("gpus", [])],
        RequestKind.RESERVATION.value: [_listed(device) for device in reserved],
        "nvidia": service.get("runtime") == "nvidia",
        "devices": [(device["source"], device["target"]) for device in service.get("devices", [])],
        "visible": (service.get("environment") or {}).get("NVIDIA_VISIBLE_DEVICES"),
        "profiles": set(service.get("profiles", [])),
        "replicas": None if replicas is None else str(replicas),
    }


def _listed(device: dict[str, Any]) -> tuple[object, ...]:
    return (device.get("driver", ""), device.get("count"), device.get("device_ids", []), device.get("capabilities", []))
