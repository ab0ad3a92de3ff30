"""Variables in scalars: what is known, what is not, and where each character stands."""

from __future__ import annotations

import pytest

from gpulint.model.interpolation import expand_argument, interpolate
from gpulint.source import Location, Source, Text, Unknown, Value


def text(value: str) -> Text:
    return Source("compose.yaml", value.encode()).cut(0, len(value))


VARIABLES = {"SET": text("s"), "EMPTY": text("")}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("plain", "plain"),
        ("$SET", "s"),
        ("${SET}", "s"),
        ("a${SET}b$SET", "asbs"),
        ("${SET:-d}", "s"),
        ("${MISSING:-d}", "d"),
        ("${MISSING-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${MISSING:-}", ""),
        ("${MISSING:-${OTHER:-inner}}", "inner"),
        ("${MISSING:-a${SET}c}", "asc"),
        ("${SET:+yes}", "yes"),
        ("${SET:?must be set}", "s"),
        ("$$SET costs $$5", "$SET costs $5"),
        ("100% of $ 5", "100% of $ 5"),
    ],
)
def test_known(written: str, expected: str) -> None:
    value = interpolate(text(written), VARIABLES).value()
    assert isinstance(value, Text)
    assert value == expected


@pytest.mark.parametrize(
    ("written", "raw"),
    [
        ("${MISSING}", "${MISSING}"),
        ("a:$MISSING", "a:$MISSING"),
        ("${MISSING:?no}", "${MISSING:?no}"),
        ("${MISSING:+yes}", "${MISSING:+yes}"),
        ("${REGISTRY:-docker.io}/app:${TAG}", "docker.io/app:${TAG}"),
        ("${SET:-d", "${SET:-d"),
        ("${MISSING:-d", "${MISSING:-d"),
        ("${}", "${}"),
        ("${1}", "${1}"),
    ],
)
def test_not_known(written: str, raw: str) -> None:
    value = interpolate(text(written), {}).value()
    assert isinstance(value, Unknown)
    assert value.raw == raw


def test_a_default_stands_where_it_is_written() -> None:
    value = interpolate(text("tool:${TAG:-12.4.1-base}"), {}).value()
    assert isinstance(value, Text)
    assert value.cut(5, 11) == "12.4.1"
    assert value.cut(5, 11).location == Location("compose.yaml", 1, 13, 1, 19)


def test_a_value_from_elsewhere_stands_where_it_is_used() -> None:
    value = interpolate(text("tool:${SET}"), {"SET": text("long value")}).value()
    assert isinstance(value, Text)
    assert value.cut(5, 9).location == Location("compose.yaml", 1, 1, 1, 12)


def test_words_of_a_command_are_known_one_by_one() -> None:
    words = interpolate(text("serve --model ${MODEL} --device ${DEVICE:-cuda:0} 'a b'"), {}).words()
    assert [shown(word) for word in words] == ["serve", "--model", "?${MODEL}", "--device", "cuda:0", "a b"]


def test_a_default_with_blanks_makes_several_words() -> None:
    assert [shown(word) for word in interpolate(text("run ${ARGS:---a --b}"), {}).words()] == ["run", "--a", "--b"]


def test_nesting_has_an_end() -> None:
    written = "${A:-" * 5_000 + "x" + "}" * 5_000
    assert isinstance(interpolate(text(written), {}).value(), Unknown)


@pytest.mark.parametrize(
    ("written", "complete", "expected"),
    [
        ("--gpus=$(GPUS)", True, "--gpus=2"),
        ("$(GPUS)", True, "2"),
        ("$(SECRET)", True, "?$(SECRET)"),
        ("$(OTHER)", True, "$(OTHER)"),
        ("$(OTHER)", False, "?$(OTHER)"),
        ("$$(GPUS)", True, "$(GPUS)"),
        ("$HOME ${HOME}", True, "$HOME ${HOME}"),
    ],
)
def test_arguments_of_kubernetes(written: str, complete: bool, expected: str) -> None:
    assert shown(expand_argument(text(written), {"GPUS": text("2"), "SECRET": None}, complete)) == expected


def shown(value: Value) -> str:
    return f"?{value.raw}" if isinstance(value, Unknown) else str(value)


def test_values_that_double_one_another_end_at_a_bound() -> None:
    value: Value = text("x" * 8)
    for _ in range(64):
        value = interpolate(text("$A$A"), {"A": value} if isinstance(value, Text) else {}).value()
    assert isinstance(value, Unknown)
    assert isinstance(expand_argument(text("$(A)$(A)"), {"A": text("x" * 60_000)}, complete=True), Unknown)


def test_more_references_than_there_are_marks_for_the_unknown() -> None:
    assert isinstance(interpolate(text("$A" * 200_000), {}).value(), Unknown)
    assert isinstance(expand_argument(text("$(A)" * 200_000), {}, complete=False), Unknown)
