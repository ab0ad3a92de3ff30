"""Quantities of Kubernetes resources, and which of them whole devices can be asked for by."""

from __future__ import annotations

from gpulint.parse.quantity import parse_quantity

__all__ = ["parse_quantity", "whole_number_fault"]


def whole_number_fault(text: str) -> str:
    """Why a quantity is none that whole devices can be asked for by, as the end of a sentence; "" where it is one."""
    number = parse_quantity(text)
    if number is None:
        return "is no quantity"
    if number < 0:
        return "is negative"
    return "is not a whole number" if number.denominator != 1 else ""
