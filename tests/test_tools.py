"""The tools that say which facts have to be looked through again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import check_cuda_tags  # noqa: E402
import check_releases  # noqa: E402


def test_a_newer_release_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(check_releases, "newest_on_index", {"torch": "99.1.0", "jax": "0.1.0"}.get)
    assert check_releases.main(["torch", "jax"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("torch: the facts end at ") and first.endswith("the index has 99.1.0")
    assert last == "2 packages, 1 to look at"


def test_a_package_that_no_index_has_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(check_releases, "newest_on_index", lambda _: None)
    assert check_releases.main(["torch"]) == 1
    assert "none that pip can see" in capsys.readouterr().out


def test_a_package_without_facts_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_releases.main(["numpy"]) == 2
    assert capsys.readouterr().out.startswith("the facts name no newest release of numpy; there are torch, ")


def test_a_listed_tag_that_the_facts_do_not_know_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tags.md").write_text("- `12.4.1-base-ubuntu22.04`, `11.3.0-base-ubuntu20.04`\n")
    assert check_cuda_tags.main([str(tmp_path / "tags.md")]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("11.3.0-base-ubuntu20.04: missing") and last == "2 tags, 1 to look at"
