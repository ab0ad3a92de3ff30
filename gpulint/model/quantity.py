"""Quantities of Kubernetes resources, and which of them whole devices can be asked for by."""

from __future__ import annotations

import re

from gpulint.deferred import regex
from gpulint.parse.quantity import parse_natural, parse_quantity

__all__ = ["byte_size", "parse_natural", "parse_quantity", "whole_number_fault"]

_BYTES = regex(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[kmgtp]?)(?P<rest>ib?|b?)", re.IGNORECASE)
_UNITS = "kmgtp"


def byte_size(text: str) -> float | None:
    """The bytes of a size as docker and Compose take it (`8g`, `512mb`), or Kubernetes (`8Gi`); None for what is none, such as `50%`.

    All units count by 1024 here: the few percent by which a decimal suffix of Kubernetes differs decide nothing.
    """
    match = _BYTES.fullmatch(text.strip())
    if not match:
        return None
    return float(match["number"]) * 1024.0 ** (_UNITS.index(match["unit"].lower()) + 1 if match["unit"] else 0)


def whole_number_fault(text: str) -> str:
    """Why a quantity is none that whole devices can be asked for by, as the end of a sentence; "" where it is one."""
    number = parse_quantity(text)
    if number is None:
        return "is no quantity"
    if number < 0:
        return "is negative"
    return "is not a whole number" if number.denominator != 1 else ""
