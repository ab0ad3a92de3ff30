"""The house's layers: imports run downward only, and a rule uses the engine's public names alone.

Imports inside functions count. Those for type checking alone do not: they bring names, and no dependence.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = sorted((ROOT / "gpulint").rglob("*.py"))
RULES = sorted((ROOT / "rules" / "gpulint_rules").rglob("*.py"))

LAYERS = (
    {"deferred", "workers"},
    {"source", "errors", "facts"},
    {"parse", "discover"},
    {"model"},
    {"rule"},
    {"project"},
    {"evidence"},
    {"config"},
    {"registry"},
    {"suppress", "pages"},
    {"engine", "report"},
    {"session"},
    {"setup"},
    {"cli"},
    {"__main__"},
)
"""The parts of gpulint, the lowest first. A part imports from lower layers only."""

FACTS_ARE_FOR = {"model", "project", "evidence", "cli"}
"""Who asks the facts. The command line prints their date."""

RULES_MAY_USE = {"rule", "model", "facts", "evidence", "project", "source"}


HEIGHTS = {part: number for number, layer in enumerate(LAYERS) for part in layer}


def part_of(path: Path) -> str:
    """The part of gpulint that a file belongs to: the package or module below it."""
    return path.relative_to(ROOT / "gpulint").parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The full names that a file imports when it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {id(node) for branch in ast.walk(tree) if _is_for_types(branch) for node in ast.walk(branch)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def parts_used(path: Path) -> set[str]:
    """The parts of gpulint that a file imports from; names that gpulint/__init__.py holds itself are none."""
    named = {name.split(".")[1] for name in imports(path) if name.startswith("gpulint.")}
    return {part for part in named if any((ROOT / "gpulint" / f"{part}{suffix}").exists() for suffix in ("", ".py"))}


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", ENGINE, ids=short)
def test_a_part_imports_from_lower_layers_only(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        assert not parts_used(path)
        return
    used = parts_used(path) - {part}

    assert {part, *used} <= HEIGHTS.keys(), "give the new part its layer"
    assert not {each for each in used if HEIGHTS[each] >= HEIGHTS[part]}
    assert "facts" not in used or part in FACTS_ARE_FOR


@pytest.mark.parametrize("path", ENGINE, ids=short)
def test_the_engine_knows_no_rule(path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] == "gpulint_rules"]


@pytest.mark.parametrize("path", RULES, ids=short)
def test_a_rule_uses_public_names_alone(path: Path) -> None:
    parts = parts_used(path)
    outside = {name.split(".")[0] for name in imports(path)} - {"gpulint"} - sys.stdlib_module_names

    assert not outside
    assert parts <= ({"rule"} if path.name == "__init__.py" else RULES_MAY_USE)
