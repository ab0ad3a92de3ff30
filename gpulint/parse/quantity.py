"""Quantities, as the Kubernetes API server reads them.

Source: kubernetes/apimachinery, pkg/api/resource: ParseQuantity of quantity.go, the suffixes of suffix.go.
"""

from __future__ import annotations

from fractions import Fraction

from gpulint.deferred import regex

_QUANTITY = regex(r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?P<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)")
_EXPONENT = regex(r"[eE]([+-]?[0-9]{1,3})")
_BINARY = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL = {suffix: Fraction(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)}
_NANO = 10**9
_MAX_BINARY = Fraction(2**63 - 1)
_MAX_LENGTH = 60


def parse_natural(text: str) -> int | None:
    """The number that decimal digits alone write; None for all else, and for what is longer than any real one."""
    return int(text) if len(text) <= _MAX_LENGTH and text.isascii() and text.isdecimal() else None


def parse_quantity(text: str) -> Fraction | None:
    """The number that a quantity such as `1`, `500m`, `16Gi` or `1e3` stands for; None where the API server would refuse it.

    Blanks around it do not count. What is finer than a billionth is rounded away from zero, and what has a binary suffix is 2^63-1 at
    most, as there. None, too, for what is longer than any real one.
    """
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= _MAX_LENGTH else None
    if not match or not match[0]:
        return None
    whole, part, suffix = match["whole"], match["part"] or "", match["suffix"]
    number = Fraction(int(f"0{whole}{part}"), 10 ** len(part))
    if suffix in _BINARY:
        number = min(number * _BINARY[suffix], _MAX_BINARY)
    elif suffix in _DECIMAL:
        number *= _DECIMAL[suffix]
    else:
        exponent = _EXPONENT.fullmatch(suffix)
        if not exponent:
            return None
        number *= Fraction(10) ** int(exponent[1])
    rounded = Fraction(-(-number.numerator * _NANO // number.denominator), _NANO)
    return -rounded if match["sign"] == "-" else rounded
