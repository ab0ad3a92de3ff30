"""Quantities as the API server reads them, and truth values as Kubernetes and Compose do."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yaml_trees import root

from gpulint.parse.boolean import compose_boolean, kubernetes_boolean
from gpulint.parse.quantity import parse_quantity

MAX = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0", 0),
        ("+4", 4),
        ("-1", -1),
        ("007", 7),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("500m", Fraction(1, 2)),
        ("1000m", 1),
        ("3u", Fraction(3, 10**6)),
        ("3n", Fraction(3, 10**9)),
        ("2k", 2000),
        ("2M", 2 * 10**6),
        ("2G", 2 * 10**9),
        ("2T", 2 * 10**12),
        ("2P", 2 * 10**15),
        ("2E", 2 * 10**18),
        ("2Ki", 2048),
        ("1.5Mi", 3 * 2**19),
        ("16Gi", 2**34),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("1Ei", 2**60),
        ("1e3", 1000),
        ("1E3", 1000),
        ("12.5e+1", 125),
        ("1e-3", Fraction(1, 1000)),
        (" 1 ", 1),
        ("8Ei", MAX),
        ("-9Ei", -MAX),
        ("0.1n", Fraction(1, 10**9)),
        ("-1.1n", Fraction(-2, 10**9)),
        ("k", 0),
    ],
)
def test_what_a_quantity_stands_for(text: str, value: Fraction | int) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "1 Gi", "½", "٣", "one", "0x10", "1_000", "1,5", "--1", "1.2.3", "1" * 100),
        *("1K", "1ki", "1KiB", "1gb", "1e", "1ee3", "1e3.5", "1e1Ki", "1e9999"),
    ],
)
def test_what_is_no_quantity(text: str) -> None:
    assert parse_quantity(text) is None


@given(st.integers(-(10**15), 10**15), st.integers(0, 9), st.sampled_from(["", "m", "k", "Ki", "e2"]))
def test_the_sign_and_the_point(digits: int, places: int, suffix: str) -> None:
    number = f"{abs(digits):0{places + 1}d}"
    text = f"{'-' if digits < 0 else ''}{number[: len(number) - places]}.{number[len(number) - places :]}{suffix}"
    factor = {"": 1, "m": Fraction(1, 1000), "k": 1000, "Ki": 1024, "e2": 100}[suffix]
    exact = Fraction(digits, 10**places) * factor
    read = parse_quantity(text)
    assert read is not None
    assert 0 <= abs(read) - abs(exact) < Fraction(1, 10**9)


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    parse_quantity(text)


@pytest.mark.parametrize(
    ("written", "kubernetes", "compose"),
    [
        ("true", True, True),
        ("True", True, True),
        ("TRUE", True, True),
        ("tRUE", None, True),
        ("yes", True, True),
        ("On", True, True),
        ("y", True, True),
        ("false", False, False),
        ("NO", False, False),
        ("off", False, False),
        ("n", False, False),
        ("'true'", None, True),
        ('"off"', None, False),
        ("!!str true", None, True),
        ("1", None, None),
        ("~", None, None),
        ("enabled", None, None),
    ],
)
def test_truth_values(written: str, kubernetes: bool | None, compose: bool | None) -> None:
    scalar = root(f"a: {written}\n").get("a")
    assert kubernetes_boolean(scalar) is kubernetes
    assert compose_boolean(scalar) is compose
