"""Nodes x rules -> findings: which rules run, what one of them cannot spoil, and what is reported of what they find."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from small_repository import project, spoken, write

from gpulint import engine, registry
from gpulint.config import Config
from gpulint.engine import Selection
from gpulint.model.container import Container
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.rule import Entry, Finding, Impact, Problem, Related, Rule, Severity
from gpulint.source import Location, Unknown

Check = Callable[[Container, Project], Iterator[Problem]]
COMPOSE = {"compose.yaml": "services:\n  a:\n    image: acme/a:1.0.0\n    gpus: all\n  b:\n    image: acme/b:1.0.0\n    gpus: all\n"}


@pytest.fixture
def house_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, Check]], None]]:
    """Have rules for containers, each by its id, taken for those of an installed pack."""

    def install(checks: dict[str, Any], node: str = "Container") -> None:
        entries = []
        for rule_id, check in checks.items():
            module = ModuleType(f"house_{rule_id.lower()}")
            severities = (Severity.ERROR, Severity.WARNING)
            module.RULE = Rule(rule_id, f"house-{rule_id.lower()}", Container, severities, Impact.WASTEFUL, check)  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, module.__name__, module)
            entries.append(Entry(rule_id, f"house-{rule_id.lower()}", node, severities, Impact.WASTEFUL, module.__name__, ""))
        pack = ModuleType("house_pack")
        pack.CATALOGUE = tuple(entries)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "house_pack", pack)
        monkeypatch.setattr(registry, "_further_packs", lambda: ["house_pack"])
        _forget()

    yield install
    _forget()


def _forget() -> None:
    registry.catalogue.cache_clear()
    registry.load.cache_clear()


def names_it(container: Container, _project: Project) -> Iterator[Problem]:
    yield Problem(container.location, f"this is {container.name}", Severity.WARNING)


def found(folder: Path, files: dict[str, str], config: Config | None = None, selection: Selection | None = None) -> list[Finding]:
    outcome = engine.check(project(folder, files), config or Config(), selection or Selection())
    return list(outcome.findings)


# --- Packs and selectors --------------------------------------------------------------------------------------------------------


def test_the_rules_of_an_installed_pack_run_and_are_named_like_the_others(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    house_rules({"ACME001": names_it, "ACME002": names_it, "ACMELAB001": names_it})
    write(tmp_path, COMPOSE)
    both = ["compose.yaml:2:3 warning {0}", "compose.yaml:5:3 warning {0}"]
    assert spoken(tmp_path, "--select", "ACME001") == [line.format("ACME001") for line in both]
    assert spoken(tmp_path, "--select", "house-acme002") == [line.format("ACME002") for line in both]
    assert len(spoken(tmp_path, "--select", "ACME")) == len(spoken(tmp_path, "--select", "ACME00")) == 4
    assert spoken(tmp_path, "--ignore", "ACME,ACMELAB001") == []
    write(tmp_path, {"compose.yaml": COMPOSE["compose.yaml"] + "# gpulint: ignore-file[ACME] of another house\n"})
    assert spoken(tmp_path) == [line.format("ACMELAB001") for line in both]


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("GPU201", True),
        ("GPU20", True),
        ("GPU", True),
        ("ALL", True),
        ("gpu-not-requested", True),
        ("GP", False),
        ("", False),
        ("G", False),
        ("GPU2011", False),
        ("GPU3", False),
        ("gpu-not", False),
        ("gpu201", False),
    ],
)
def test_what_a_selector_names(selector: str, selected: bool) -> None:
    assert registry.selects(selector, "GPU201", "gpu-not-requested") is selected


def test_further_packs_come_by_the_entry_points_of_installed_distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages"
    write(
        folder,
        {
            "acme_gpulint-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme-gpulint\nVersion: 1\n",
            "acme_gpulint-1.dist-info/entry_points.txt": "[gpulint.rules]\nacme = acme_gpulint\n",
            "other-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: other\nVersion: 1\n",
        },
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    assert registry._further_packs() == ["acme_gpulint"]
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nowhere" / "site-packages")])
    assert registry._further_packs() == []


# --- What one rule cannot spoil -------------------------------------------------------------------------------------------------


def test_a_rule_may_look_at_several_kinds_of_nodes(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    def names_both(node: Container | Stage, _project: Project) -> Iterator[Problem]:
        yield Problem(node.from_location if isinstance(node, Stage) else node.location, "a node", Severity.WARNING)

    house_rules({"ACME001": names_both}, node="Container | Stage")
    files = {**COMPOSE, "Dockerfile": "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN true\n"}
    config = Config(select=("ACME",))
    assert [str(finding.problem.location) for finding in found(tmp_path, files, config)] == [
        "Dockerfile:1:1",
        "compose.yaml:2:3",
        "compose.yaml:5:3",
    ]


def test_a_value_that_nobody_knows_ends_the_rule_for_its_node_alone(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    def needs_a(container: Container, _project: Project) -> Iterator[Problem]:
        yield Problem(container.location, "said too early", Severity.WARNING)
        if container.name == "a":
            bool(Unknown("${X}", container.location))

    house_rules({"ACME001": needs_a})
    assert [str(finding.problem.location) for finding in found(tmp_path, COMPOSE)] == ["compose.yaml:5:3"]


def test_a_rule_that_fails_costs_neither_its_other_nodes_nor_other_rules(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    def fails(container: Container, _project: Project) -> Iterator[Problem]:
        yield Problem(container.location, f"{1 / (container.name != 'a')}", Severity.WARNING)

    house_rules({"ACME001": fails, "ACME002": names_it})
    outcome = engine.check(project(tmp_path, COMPOSE), Config(), Selection())
    assert outcome.crashed
    assert [(finding.rule, finding.problem.location.line) for finding in outcome.findings] == [
        ("GPU003", 1),
        ("ACME002", 2),
        ("ACME001", 5),
        ("ACME002", 5),
    ]
    crash = outcome.findings[0].problem
    assert crash.severity is Severity.ERROR
    assert crash.message == "rule ACME001 (house-acme001) failed on this file: ZeroDivisionError: division by zero; the other rules went on"


def test_a_rule_that_recurses_without_end_is_a_crash(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    def recurses(container: Container, whole: Project) -> Iterator[Problem]:
        return recurses(container, whole)

    house_rules({"ACME001": recurses})
    assert [finding.rule for finding in found(tmp_path, COMPOSE)] == ["GPU003"]


# --- One finding for one place --------------------------------------------------------------------------------------------------


def test_a_place_that_several_containers_share_is_reported_once_at_its_gravest(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    def shared(container: Container, _project: Project) -> Iterator[Problem]:
        severity = Severity.ERROR if container.name == "b" else Severity.WARNING
        yield Problem(Location("compose.yaml", 1, 1, 1, 9), f"by {container.name}", severity)

    house_rules({"ACME001": shared, "ACME002": shared})
    assert [(finding.rule, finding.problem.message, finding.problem.severity.label) for finding in found(tmp_path, COMPOSE)] == [
        ("ACME001", "by b", "error"),
        ("ACME002", "by b", "error"),
    ]


def test_a_line_that_several_overlays_build_is_reported_once(tmp_path: Path) -> None:
    overlay = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{0}]\nnamePrefix: {1}-\n"
    write(
        tmp_path,
        {
            "base/kustomization.yaml": overlay.format("pod.yaml", "base"),
            "base/pod.yaml": dedent(
                """\
                apiVersion: v1
                kind: Pod
                metadata: {name: a}
                spec:
                  containers:
                    - name: a
                      image: acme/render:latest-gpu
                      resources: {limits: {nvidia.com/gpu: 1}}
                """
            ),
            "one/kustomization.yaml": overlay.format("../base", "one"),
            "two/kustomization.yaml": overlay.format("../base", "two"),
        },
    )
    assert spoken(tmp_path) == ["base/pod.yaml:7:14 warning GPU101"]


# --- What is reported -----------------------------------------------------------------------------------------------------------


def finding_at(path: str, *related: str) -> Finding:
    places = tuple(Related(Location(each, 1, 1, 1, 2), "here") for each in related)
    return Finding("GPU999", "any", Problem(Location(path, 1, 1, 1, 2), "wrong", Severity.WARNING, related=places))


@pytest.mark.parametrize(
    ("selection", "finding", "reported"),
    [
        (Selection(), finding_at("a/b.py"), True),
        (Selection(("a",)), finding_at("a/b.py"), True),
        (Selection(("a/b",)), finding_at("a/b.py"), False),
        (Selection(("a",)), finding_at("ab/c.py"), False),
        (Selection(("b",)), finding_at("a/b.py", "b/c.py"), False),
        (Selection((), frozenset({"a/b.py"})), finding_at("a/b.py"), True),
        (Selection((), frozenset({"c.py"})), finding_at("a/b.py", "c.py"), True),
        (Selection((), frozenset({"c.py"})), finding_at("a/b.py", "c.pyi"), False),
        (Selection(("x",), frozenset({"c.py"})), finding_at("x/b.py"), True),
    ],
)
def test_the_primary_place_is_selected_or_a_related_file_was_named(selection: Selection, finding: Finding, reported: bool) -> None:
    assert selection.reports(finding) is reported


def test_findings_are_sorted_by_file_place_and_rule(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    house_rules({"ACME002": names_it, "ACME001": names_it})
    files = {"b.compose.yaml": COMPOSE["compose.yaml"], "a/compose.yaml": COMPOSE["compose.yaml"]}
    assert [(str(finding.problem.location), finding.rule) for finding in found(tmp_path, files)] == [
        ("a/compose.yaml:2:3", "ACME001"),
        ("a/compose.yaml:2:3", "ACME002"),
        ("a/compose.yaml:5:3", "ACME001"),
        ("a/compose.yaml:5:3", "ACME002"),
        ("b.compose.yaml:2:3", "ACME001"),
        ("b.compose.yaml:2:3", "ACME002"),
        ("b.compose.yaml:5:3", "ACME001"),
        ("b.compose.yaml:5:3", "ACME002"),
    ]


def test_the_last_selector_that_names_a_rule_gives_its_severity(tmp_path: Path, house_rules: Callable[..., None]) -> None:
    house_rules({"ACME001": names_it, "ACME002": names_it})
    config = Config(severity={"ACME": Severity.ERROR, "house-acme002": Severity.NOTE})
    assert {(finding.rule, finding.problem.severity) for finding in found(tmp_path, COMPOSE, config)} == {("ACME001", Severity.ERROR)}


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_checked(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": "services:\n  a:\n    image: acme/render:latest-gpu\n    gpus: all\n"})
    (tmp_path / "Dockerfile").write_bytes(b"FROM nvidia/cuda\0")
    (tmp_path / "train.py").write_bytes(b"#" * (6 * 1024 * 1024))
    assert spoken(tmp_path) == ["Dockerfile:1:1 warning GPU002", "compose.yaml:3:12 warning GPU101", "train.py:1:1 warning GPU002"]
    assert spoken(tmp_path, "--ignore", "GPU002") == ["compose.yaml:3:12 warning GPU101"]
