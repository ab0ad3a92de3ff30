"""The report for a person and the one for grep: their look, and that no file drives the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulint.report import FORMATS, render
from gpulint.report.run import Run
from gpulint.rule import Finding, Problem, Related, Severity
from gpulint.source import Location, Source

ANSI = re.compile(r"\x1b\[[\d;]*m")


def one_finding(text: str, place: Location, message: str = "wrong", color: bool = False) -> Run:
    finding = Finding("GPU999", "some-rule", Problem(place, message, Severity.ERROR))
    source = Source(place.path, text.encode())
    return Run((finding,), (), {}, {place.path: source}.get, Path("/project"), "1.2.3", color=color)


def excerpt(text: str, place: tuple[int, int, int, int]) -> list[str]:
    """The rows of the excerpt that a finding at that place shows."""
    return render("text", one_finding(text, Location("file", *place))).splitlines()[2:]


def test_text(run: Run, snapshot: Callable[[str, str], None]) -> None:
    snapshot("text.txt", render("text", run))


def test_concise(run: Run, snapshot: Callable[[str, str], None]) -> None:
    snapshot("concise.txt", render("concise", run))


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "sarif"])
def test_no_finding_is_no_output(format: str, empty_run: Run) -> None:
    assert render(format, empty_run) == ""


def test_color_changes_nothing_but_color(run: Run) -> None:
    colored = render("text", replace(run, color=True))
    assert "\x1b[" in colored
    assert [line.rstrip() for line in ANSI.sub("", colored).splitlines()] == render("text", run).splitlines()


@pytest.mark.parametrize(
    ("text", "place", "rows"),
    [
        pytest.param("ab: cd\n", (1, 5, 1, 7), ["  1 | ab: cd", "    |     ^^"], id="one line"),
        pytest.param("a\tb\n", (1, 3, 1, 4), ["  1 | a    b", "    |      ^"], id="a tab is four columns"),
        pytest.param("漢字x\n", (1, 3, 1, 4), ["  1 | 漢字x", "    |     ^"], id="wide characters are two"),
        pytest.param("漢字x\n", (1, 1, 1, 3), ["  1 | 漢字x", "    | ^^^^"], id="and so are their carets"),
        pytest.param("e\u0301x\n", (1, 3, 1, 4), ["  1 | e\u0301x", "    |  ^"], id="combining characters are none"),
        pytest.param("a\x1b]0;x\x07b\n", (1, 8, 1, 9), ["  1 | a\\x1b]0;x\\x07b", "    |              ^"], id="escapes"),
        pytest.param("x\u202ey\n", (1, 2, 1, 3), ["  1 | x\\u202ey", "    |  ^^^^^^"], id="direction marks"),
        pytest.param("ab\r\n", (1, 3, 1, 3), ["  1 | ab", "    |   ^"], id="an empty region has one caret"),
        pytest.param("a\nb\n", (1, 1, 2, 1), ["  1 | a", "    | ^"], id="a region up to the next line"),
        pytest.param("a\nb\n", (1, 1, 2, 2), ["  1 | > a", "  2 | > b"], id="two lines"),
        pytest.param("a\nb\nc\nd\ne\n", (1, 1, 4, 2), ["  1 | > a", "  2 | > b", "  3 | > c", "  4 | > d"], id="four lines"),
        pytest.param("a\nb\nc\nd\ne\n", (1, 1, 5, 2), ["  1 | > a", "  2 | > b", "  3 | > c", "    | > ... 2 more lines"], id="more"),
        pytest.param("a\n", (1, 1, 7, 2), ["  1 | > a", "  2 | >"], id="an end beyond the file"),
        pytest.param("a\n", (5, 1, 5, 2), [], id="a start beyond the file"),
        pytest.param("", (1, 1, 1, 1), ["  1 |", "    | ^"], id="an empty file"),
    ],
)
def test_excerpt(text: str, place: tuple[int, int, int, int], rows: list[str]) -> None:
    assert excerpt(text, place) == rows


def test_long_lines_are_cut_around_the_region() -> None:
    line, carets = excerpt("a" * 500 + "GPU" + "b" * 500, (1, 501, 1, 504))
    assert len(line) < 140
    assert line[carets.index("^") : carets.rindex("^") + 1] == "GPU"
    assert line.count("...") == 2


def test_region_longer_than_the_line_that_is_shown() -> None:
    line, carets = excerpt("a" * 500, (1, 11, 1, 501))
    assert line.endswith("a...")
    assert len(carets) == len(line) - len("...")


@pytest.mark.parametrize("format", ["text", "concise"])
def test_nothing_of_a_file_reaches_the_terminal_as_it_is(format: str) -> None:
    evil = "\x1b[2J\r\n\x9b1mA\u202e\u2028\udc80"
    place = Location(f"{evil}.yaml", 1, 1, 1, 5)
    finding = Finding("GPU999", "some-rule", Problem(place, evil, Severity.ERROR, evil, (Related(place, evil),)))
    shown = render(format, Run((finding,), (), {}, lambda path: Source(path, evil.encode("utf-8", "replace")), Path("/"), "1"))
    assert shown.replace("\n", "").isprintable()
    assert shown.count("\n") == (1 if format == "concise" else 6)


@given(st.text(), st.tuples(*[st.integers(1, 9)] * 4))
def test_any_text_and_place_is_shown_safely(text: str, place: tuple[int, int, int, int]) -> None:
    assert all(row.isprintable() for row in excerpt(text, place))


def test_file_that_cannot_be_read_has_no_excerpt() -> None:
    run = replace(one_finding("x", Location("file", 1, 1, 1, 1)), source=lambda _path: None)
    assert render("text", run) == "file:1:1: error GPU999 [some-rule]\n  wrong\n"
