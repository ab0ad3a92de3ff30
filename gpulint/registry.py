"""The rules there are: the built-in pack, and those that the entry-point group `gpulint.rules` brings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

from gpulint.config import nearest
from gpulint.errors import GpulintError
from gpulint.rule import Entry, Rule

BUILT_IN = "gpulint_rules"
ENTRY_POINTS = "gpulint.rules"


@cache
def catalogue() -> tuple[Entry, ...]:
    """Every rule of every pack, by id."""
    packs = (BUILT_IN, *_further_packs())
    return tuple(sorted(entry for pack in packs for entry in import_module(pack).CATALOGUE))


def _further_packs() -> list[str]:
    """The packs that installed distributions declare. The metadata are read only where some file names the group: reading them is slow."""
    if not any(_names_group(Path(folder)) for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))):
        return []
    from importlib.metadata import entry_points

    return [point.value for point in entry_points(group=ENTRY_POINTS)]


def _names_group(folder: Path) -> bool:
    try:
        names = [entry.name for entry in os.scandir(folder) if entry.name.endswith(".dist-info")]
    except OSError:
        return False
    for name in names:
        try:
            if f"[{ENTRY_POINTS}]".encode() in (folder / name / "entry_points.txt").read_bytes():
                return True
        except OSError:
            continue
    return False


@cache
def load(entry: Entry) -> Rule[object]:
    """The rule behind an entry, with its check."""
    rule: Rule[object] = import_module(entry.module).RULE
    return rule


def matching(selectors: Iterable[str], where: str) -> set[str]:
    """The ids that selectors name: an id, a name, a prefix such as GPU2, or ALL. Raises GpulintError for one that names no rule."""
    ids: set[str] = set()
    for selector in selectors:
        found = {entry.id for entry in catalogue() if selects(selector, entry.id, entry.name)}
        if not found:
            known = [word for entry in catalogue() for word in (entry.id, entry.name)]
            raise GpulintError(f"{where}: no rule {selector!r}{nearest(selector, known)}")
        ids |= found
    return ids


def selects(selector: str, rule_id: str, name: str) -> bool:
    """Whether a selector names a rule."""
    return selector in ("ALL", name) or (selector.startswith("GPU") and rule_id.startswith(selector))
