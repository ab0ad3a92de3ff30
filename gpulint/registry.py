"""The rules there are: the built-in pack, and those that the entry-point group `gpulint.rules` brings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from gpulint.config import as_digits, nearest
from gpulint.errors import GpulintError
from gpulint.rule import Entry, Rule

BUILT_IN = "gpulint_rules"
ENTRY_POINTS = "gpulint.rules"
ONE_CHARACTER = 0.83
"""How like two ids are that differ in one character, as difflib counts it: 5 of 6 are the same."""


@cache
def catalogue() -> tuple[Entry, ...]:
    """Every rule of every pack, by id."""
    packs = (BUILT_IN, *_further_packs())
    return tuple(sorted(entry for pack in packs for entry in import_module(pack).CATALOGUE))


def _further_packs() -> list[str]:
    """The packs that installed distributions declare. The metadata are read only where some file names the group: reading them is slow."""
    if not any(_names_group(folder) for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))):
        return []
    from importlib.metadata import entry_points

    return [point.value for point in entry_points(group=ENTRY_POINTS)]


def _names_group(folder: str) -> bool:
    try:
        paths = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".dist-info")]
    except OSError:
        return False
    return any(f"[{ENTRY_POINTS}]".encode() in _entry_points(path) for path in paths)


def _entry_points(distribution: str) -> bytes:
    try:
        with open(f"{distribution}/entry_points.txt", "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


@cache
def load(entry: Entry) -> Rule[object]:
    """The rule behind an entry, with its check."""
    rule: Rule[object] = import_module(entry.module).RULE
    return rule


def matching(selectors: Iterable[str]) -> set[str]:
    """The ids that selectors name: an id, a name, a prefix such as GPU2, or ALL."""
    return {entry.id for selector in selectors for entry in catalogue() if selects(selector, entry.id, entry.name)}


def selects(selector: str, rule_id: str, name: str) -> bool:
    """Whether a selector names a rule. A prefix has all the letters of an id."""
    if selector in ("ALL", name):
        return True
    return rule_id.startswith(selector) and _letters(rule_id) == _letters(selector)


def _letters(rule_id: str) -> str:
    return rule_id.rstrip("0123456789")


def missing(selector: str) -> str:
    """What is said of a selector that names no rule, with the nearest one; "" where it names one."""
    if matching((selector,)):
        return ""
    return f"no rule {selector!r}{_nearest(selector)}"


def _nearest(selector: str) -> str:
    """The rule that a selector may be meant for: an id with one other character, a name that is like it or contains it; "" for none."""
    digits = as_digits(selector)
    if matching((digits,)):
        return f" (did you mean {digits!r}?)"
    if digits[-1:].isdecimal():
        return nearest(digits, [entry.id for entry in catalogue()], cutoff=ONE_CHARACTER)
    names = [entry.name for entry in catalogue()]
    return nearest(selector, names) or nearest(selector, [name for name in names if selector.lower() in name.split("-")], cutoff=0)


def check_selectors(selectors: Iterable[str], where: str) -> None:
    """Raises GpulintError for the first selector that names no rule."""
    for selector in selectors:
        if complaint := missing(selector):
            raise GpulintError(f"{where}: {complaint}")
