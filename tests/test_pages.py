"""Every rule has a page, each bad example on it raises exactly its rule, each good one nothing."""

from __future__ import annotations

import re
from pathlib import Path

import gpulint_rules
import pytest
from rule_examples import Finding, findings, report

from gpulint.pages import Example, Page, parse_page
from gpulint.rule import Entry, Severity

SECTIONS = ("What", "Why", "Verify", "Bad", "Good", "References")
OPTIONAL = "Guides"
ENTRIES = gpulint_rules.CATALOGUE


def page_of(entry: Entry) -> Page:
    return parse_page(Path(entry.page).read_text(encoding="utf-8"))


def examples(section: str) -> list[object]:
    return [
        pytest.param(entry, example, id=f"{entry.id} {example.title}") for entry in ENTRIES for example in page_of(entry).examples(section)
    ]


@pytest.mark.parametrize(("entry", "example"), examples("Bad"))
def test_a_bad_example_raises_exactly_its_rule(entry: Entry, example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    severity = example.title.partition(":")[0].lower()

    printed = report(example.files, tmp_path, monkeypatch, "--min-severity", severity)

    assert findings(printed) == [Finding(entry.id, severity)], printed


@pytest.mark.parametrize(("entry", "example"), examples("Good"))
def test_a_good_example_raises_nothing(entry: Entry, example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert report(example.files, tmp_path, monkeypatch, "--min-severity", "warning") == "", entry.id


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
class TestPage:
    def test_it_has_the_title_and_the_sections_in_order(self, entry: Entry) -> None:
        page = page_of(entry)

        assert page.title == f"{entry.name} ({entry.id})"
        assert [section for section in page.sections if section != OPTIONAL] == list(SECTIONS)
        assert all(page.sections.values())

    def test_it_says_in_one_line_what_the_rule_finds(self, entry: Entry) -> None:
        page = page_of(entry)

        assert page.summary.endswith(".")
        assert page.summary in page.sections["What"][0].text.splitlines()[0]

    def test_it_tells_when_the_rule_is_silent(self, entry: Entry) -> None:
        blocks = page_of(entry).sections["What"]

        (at,) = [number for number, block in enumerate(blocks) if block.kind == "heading" and block.text == "Silent"]
        assert blocks[at + 1].kind == "item"

    def test_it_shows_a_bad_example_of_every_severity(self, entry: Entry) -> None:
        shown = {Severity[example.title.partition(":")[0].upper()] for example in page_of(entry).examples("Bad")}

        assert shown == set(entry.severities)

    def test_it_shows_commands_with_what_they_print(self, entry: Entry) -> None:
        commands = [block.text for block in page_of(entry).sections["Verify"] if block.kind == "code"]

        assert any(text.startswith("$ ") for text in commands)

    def test_its_links_lead_to_the_web_or_to_another_page(self, entry: Entry) -> None:
        page = page_of(entry)
        addresses = re.findall(r"\]\(([^)\s]+)\)", page.markdown)

        assert any(address.startswith("https://") for address in addresses)
        inner = [address for address in addresses if not address.startswith("https://")]
        assert all((Path(entry.page).parent / address).is_file() for address in inner)
