"""Variables in the words of a Dockerfile: BuildKit's rules, and what is not known."""

from __future__ import annotations

import pytest

from gpulint.parse.expand import expand
from gpulint.source import Location, Text, Unknown, Value

ELSEWHERE = Location("Dockerfile", 1, 5, 1, 9)
VARIABLES: dict[str, Value] = {
    "SET": Text("set", ELSEWHERE),
    "EMPTY": Text("", ELSEWHERE),
    "UNKNOWN": Unknown("", ELSEWHERE),
    "ITSELF": Unknown("${ITSELF}", ELSEWHERE),
    "HALF": Unknown("half-$OTHER", ELSEWHERE),
    "LONG": Text("x" * 1_000, ELSEWHERE),
}


def word(text: str) -> Text:
    return Text(text, Location("Dockerfile", 2, 10, 2, 10 + len(text)))


def expanded(text: str, escape: str = "\\") -> Value:
    return expand(word(text), VARIABLES.get, escape)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[
            ("plain", "plain"),
            ("$SET", "set"),
            ("${SET}", "set"),
            ("a-$SET.b", "a-set.b"),
            ("$SET$SET", "setset"),
            ("$UNSET", ""),
            ("${UNSET}", ""),
        ],
        *[("${SET:-x}", "set"), ("${EMPTY:-x}", "x"), ("${UNSET:-x}", "x"), ("${SET-x}", "set"), ("${EMPTY-x}", ""), ("${UNSET-x}", "x")],
        *[("${SET:+x}", "x"), ("${EMPTY:+x}", ""), ("${UNSET:+x}", ""), ("${SET+x}", "x"), ("${EMPTY+x}", "x"), ("${UNSET+x}", "")],
        *[
            ("${UNSET:-${SET}}", "set"),
            ("${UNSET:-a$SET}b", "asetb"),
            ("${UNSET:-}", ""),
            ("${SET:?message}", "set"),
            ("${UNSET:-'a}'}", "a}"),
        ],
        *[
            ("\\$SET", "$SET"),
            ("a\\ b", "a b"),
            ("'$SET'", "$SET"),
            ('"$SET"', "set"),
            ('"\\$SET"', "$SET"),
            ('"a\\b"', "a\\b"),
            ("a'b'\"c\"", "abc"),
        ],
        *[("$", "$"), ("a$", "a$"), ("$.", "$."), ("$1", ""), ("$$", ""), ("a\\", "a"), ('"a b"c', "a bc"), ("${SET:-$UNKNOWN}", "set")],
    ],
)
def test_known(text: str, expected: str) -> None:
    assert expanded(text) == expected


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        *[
            ("$UNKNOWN", "$UNKNOWN"),
            ("a:${UNKNOWN}-$SET", "a:${UNKNOWN}-set"),
            ("${UNKNOWN:-x}", "${UNKNOWN:-x}"),
            ("${UNKNOWN:+x}", "${UNKNOWN:+x}"),
        ],
        *[("${UNSET:-$UNKNOWN}", "$UNKNOWN"), ("a/$HALF", "a/half-$OTHER"), ("${HALF:-x}", "${HALF:-x}"), ("$ITSELF", "$ITSELF")],
        *[
            ("${", "${"),
            ("${}", "${}"),
            ("${SET", "${SET"),
            ("${SET:-x", "${SET:-x"),
            ("'a", "'a"),
            ('"a', '"a'),
            ("${UNSET:?m}", "${UNSET:?m}"),
        ],
        *[("${SET%t}", "${SET%t}"), ("${SET/s/t}", "${SET/s/t}"), ("${SET^^}", "${SET^^}")],
    ],
)
def test_unknown(text: str, raw: str) -> None:
    value = expanded(text)
    assert isinstance(value, Unknown)
    assert (value.raw, value.location) == (raw, word(text).location)


def test_the_escape_directive_counts() -> None:
    assert expanded("`$SET\\$SET", "`") == "$SET\\set"


def test_places() -> None:
    plain, quoted, changed = (expand(word(text), VARIABLES.get) for text in ("plain", "'a b'", "a$SET"))
    assert isinstance(plain, Text)
    assert isinstance(quoted, Text)
    assert isinstance(changed, Text)
    assert plain.location[1:] == (2, 10, 2, 15)
    assert (quoted.location[1:], quoted.cut(2, 3).location[1:]) == ((2, 11, 2, 14), (2, 13, 2, 14))
    assert (changed.location[1:], changed.pieces) == ((2, 10, 2, 15), ())


@pytest.mark.parametrize("text", ["$LONG" * 9, "${UNSET:-" * 60 + "}" * 60])
def test_what_passes_every_bound_is_unknown(text: str) -> None:
    assert isinstance(expanded(text), Unknown)


@pytest.mark.parametrize("unit", ["$", "${", "${A:-", "'", '"', "\\", "$A", "}", "${A}"])
def test_any_length_is_read(unit: str) -> None:
    expanded(unit * 20_000)
