"""Quantities of Kubernetes resources, as the API server reads them.

Source: kubernetes/apimachinery, pkg/api/resource/quantity.go: a signed decimal number with a binary suffix (Ki), a decimal one (m, k), or
an exponent (e3).
"""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?\d{1,3}))?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def parse_quantity(text: str) -> Fraction | None:
    """The number that a quantity stands for; None for what is no quantity."""
    match = _QUANTITY.fullmatch(text)
    if not match:
        return None
    number, suffix = Fraction(match["number"]), match["suffix"]
    base, power = (1024, _BINARY[suffix]) if suffix in _BINARY else (10, _DECIMAL[suffix] if suffix else int(match["exponent"] or 0))
    factor = Fraction(base ** abs(power))
    return number * factor if power >= 0 else number / factor


def whole_number_fault(text: str) -> str:
    """Why a quantity is none that whole devices can be asked for by, as the end of a sentence; "" where it is one."""
    number = parse_quantity(text)
    if number is None:
        return "is no quantity"
    if number < 0:
        return "is negative"
    return "is not a whole number" if number.denominator != 1 else ""
