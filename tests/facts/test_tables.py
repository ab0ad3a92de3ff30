"""Every table of facts loads, is in its one form, and each of its rows says where it comes from and how sure it is."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpulint import facts

FOLDER = Path(facts.__file__).parent
TABLES = sorted(path.stem for path in FOLDER.glob("*.json"))
REGEX_KEYS = frozenset(
    {"pattern", "tag", "cuda_in_name", "system", "models", "key", "flags", "module", "code", "option", "two_values", "folder", "config"}
)
BASIS_OF_ERRORS = [
    ("cuda_tags", "published"),
    ("cuda_tags", "deleted"),
    ("cuda_tags", "deleted_majors"),
    ("cuda_tags", "no_short_tags"),
    ("resources", "legacy_resources"),
    ("drivers", "toolkits"),
    ("drivers", "floors"),
    ("frameworks", "torch"),
    ("frameworks", "wheel_glibc"),
    ("images", "glibc"),
]


def rows_of(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in facts.table(name).items():
        if isinstance(value, list):
            yield from ((key, row) for row in value)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_date_sources_and_rows(name: str) -> None:
    loaded = facts.table(name)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", loaded["collected"])
    assert all(isinstance(text, str) and text for text in loaded["sources"].values())
    assert list(rows_of(name))


@pytest.mark.parametrize("name", TABLES)
def test_each_row_is_sourced_and_rated(name: str) -> None:
    sources = facts.table(name)["sources"]
    for key, row in rows_of(name):
        parts = [part.split(" (")[0] for part in row["src"].split(", ")]
        unknown = [part for part in parts if part not in sources and not part.startswith("https://")]
        assert not unknown, f"{name}.{key}: {row}"
        assert row["sure"] in ("high", "medium", "low"), f"{name}.{key}: {row}"


@pytest.mark.parametrize("name", TABLES)
def test_each_source_is_used(name: str) -> None:
    used = {part.split(" (")[0] for _, row in rows_of(name) for part in row["src"].split(", ")}
    assert set(facts.table(name)["sources"]) <= used


@pytest.mark.parametrize("name", TABLES)
def test_each_pattern_compiles(name: str) -> None:
    for _, row in rows_of(name):
        for part in (row, *(variant for variant in row.get("tags", ()) if isinstance(variant, dict))):
            for key in REGEX_KEYS & part.keys():
                if isinstance(part[key], str):
                    re.compile(part[key])


@pytest.mark.parametrize(("name", "key"), BASIS_OF_ERRORS)
def test_what_errors_rest_on_is_not_from_memory_alone(name: str, key: str) -> None:
    assert [row for row in facts.table(name)[key] if row["src"] == "recall"] == []


def test_an_image_that_certainly_needs_a_gpu_is_not_so_from_memory_alone() -> None:
    for row in facts.table("images")["images"]:
        needs = {row["need"], *(variant.get("need") for variant in row.get("tags", ()))}
        assert "certain" not in needs or row["src"] != "recall", row


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_one_row_a_line(name: str) -> None:
    specification = importlib.util.spec_from_file_location("format_facts", FOLDER.parent.parent / "tools" / "format_facts.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert module.formatted(json.loads(text)) == text


def test_the_date_of_the_facts_is_the_newest_of_the_tables() -> None:
    assert facts.facts_date() == max(facts.table(name)["collected"] for name in TABLES)


def test_a_table_is_read_once() -> None:
    assert facts.table("images") is facts.table("images")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2.4.1", (2, 4, 1)),
        ("2.4.1+cu121", (2, 4, 1)),
        ("2.16.0rc1", (2, 16, 0)),
        ("==2.4", (2, 4)),
        ("v0.8.5.post1", (0, 8, 5)),
        ("latest", None),
    ],
)
def test_release_key(text: str, key: tuple[int, ...] | None) -> None:
    assert facts.release_key(text) == key


def test_versions_compare_as_numbers() -> None:
    assert facts.version_key("12.10") > facts.version_key("12.9")
