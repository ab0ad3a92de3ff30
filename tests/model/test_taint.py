"""Taints, and which tolerations fit them."""

from __future__ import annotations

import pytest

from gpulint.model.container import Toleration
from gpulint.model.taint import Taint, parse_taint, tolerates
from gpulint.source import Location, Text, Unknown, UnknownValue, Value

HERE = Location("pod.yaml", 1, 1, 1, 2)
TAINT = Taint("nvidia.com/gpu", "present", "NoSchedule")


def toleration(key: str = "", operator: str = "", value: str = "", effect: str = "") -> Toleration:
    fields: list[Value | None] = [Text(each, HERE) if each else None for each in (key, operator, value, effect)]
    return Toleration(fields[0], fields[1], fields[2], fields[3], HERE)


@pytest.mark.parametrize(
    ("written", "taint"),
    [
        ("nvidia.com/gpu=present:NoSchedule", TAINT),
        ("sku=gpu:NoExecute", Taint("sku", "gpu", "NoExecute")),
        ("nvidia.com/gpu:NoSchedule", Taint("nvidia.com/gpu", "", "NoSchedule")),
        ("a=:NoSchedule", Taint("a", "", "NoSchedule")),
    ],
)
def test_a_taint_as_it_is_written(written: str, taint: Taint) -> None:
    assert parse_taint(written) == taint
    assert parse_taint(str(taint)) == taint


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        (toleration(operator="Exists"), True),
        (toleration("nvidia.com/gpu", "Exists"), True),
        (toleration("nvidia.com/gpu", "Exists", effect="NoSchedule"), True),
        (toleration("nvidia.com/gpu", "Equal", "present"), True),
        (toleration("nvidia.com/gpu", "", "present", "NoSchedule"), True),
        (toleration("nvidia.com/gpu", "Exists", effect="NoExecute"), False),
        (toleration("nvidia.com/gpu", "Equal", "true"), False),
        (toleration("nvidia.com/gpu"), False),
        (toleration("dedicated", "Exists"), False),
        (toleration(), False),
    ],
)
def test_which_tolerations_fit(given: Toleration, fits: bool) -> None:
    assert tolerates([given], TAINT) is fits


def test_a_toleration_without_a_value_fits_a_taint_without_one() -> None:
    assert tolerates([toleration("nvidia.com/gpu")], parse_taint("nvidia.com/gpu:NoSchedule"))


def test_an_unknown_key_tells_nothing() -> None:
    with pytest.raises(UnknownValue):
        tolerates([Toleration(Unknown("${KEY}", HERE), None, None, None, HERE)], TAINT)
