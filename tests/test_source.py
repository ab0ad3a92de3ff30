"""Places: what a Text says of where it stands, and what an Unknown refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulint.source import Location, Source, Text, Unknown, UnknownValue, known

PLACE = Location("a", 1, 1, 1, 2)


def test_a_source_gives_lines_and_columns_in_characters() -> None:
    source = Source("a", "\ufeffé = 1\r\nzwei\n".encode())
    assert source.text == "é = 1\r\nzwei\n"
    assert [source.line(number) for number in (0, 1, 2, 3, 4)] == ["", "é = 1", "zwei", "", ""]
    assert source.location(4, 5) == Location("a", 1, 5, 1, 6)
    assert source.location(7, 11) == Location("a", 2, 1, 2, 5)
    assert source.line_location(2) == Location("a", 2, 1, 2, 5)


def test_bytes_that_are_no_utf8_cost_one_character() -> None:
    assert Source("a", b"a\xff=b").text == "a\ufffd=b"


def test_a_cut_over_lines_knows_where_each_part_stands() -> None:
    text = Source("a", b"one \\\n  two\nthree").cut(0, 17)
    assert text.cut(8, 11) == "two"
    assert text.cut(8, 11).location == Location("a", 2, 3, 2, 6)
    assert text.cut(4, 17).cut(4, 7).location == Location("a", 2, 3, 2, 6)
    assert text.cut(8, 17).location == Location("a", 2, 3, 3, 6)


def test_a_text_whose_characters_cannot_be_told_apart_stands_as_a_whole() -> None:
    text = Text("a\tb", Location("a", 3, 5, 3, 11), ())
    assert text.cut(2, 3).location == Location("a", 3, 5, 3, 11)


@given(st.text(alphabet="ab\n", max_size=40), st.data())
def test_the_place_of_a_cut_holds_its_characters(content: str, data: st.DataObject) -> None:
    source = Source("a", content.encode())
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    part = source.cut(0, len(content)).cut(start, end)
    assert part == content[start:end]
    lines = content.split("\n")
    place = part.location
    if end > start:
        assert lines[place.line - 1][place.column - 1 : place.column] == content[start : start + 1].strip("\n")


@pytest.mark.parametrize(
    "look",
    [
        lambda u: u == "x",
        lambda u: u != "x",
        lambda u: not u,
        len,
        list,
        lambda u: "x" in u,
        lambda u: u < "x",
        str,
        lambda u: u.startswith("x"),
        known,
    ],
    ids=["eq", "ne", "not", "len", "iter", "in", "lt", "str", "method", "known"],
)
def test_an_unknown_raises_whatever_looks_into_it(look) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UnknownValue):
        look(Unknown("${TAG}", PLACE))


def test_known_passes_what_is_known_and_what_is_absent() -> None:
    text = Text("x", PLACE)
    assert known(text) is text
    assert known(None) is None
