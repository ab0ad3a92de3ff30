"""What is known of the world outside the files: images, tags, drivers, packages, resources, commands.

The facts are data: one JSON file a table beside this module, one row a line. Each row says where it comes from (`src`: a key of the
file's `sources`, or an address) and how sure it is (`sure`: high, medium or low). The modules here are the typed look-ups; versions,
names and tags stand in the data alone.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any

from gpulint.deferred import regex

Row = dict[str, Any]

LONGEST_WORD = 1000
"""A longer word is none that the tables tell of: the time that a pattern may take grows faster than the word it is tried on."""

_FOLDER = os.path.dirname(__file__)
_COLLECTED = regex(rb'"collected": "([\d-]+)"')  # a table need not be parsed to tell its day


@cache
def table(name: str) -> dict[str, Any]:
    """The tables of `<name>.json`: its lists of rows by name, beside `sources` and `collected`. Read once."""
    loaded: dict[str, Any] = json.loads(_read(f"{name}.json"))
    return loaded


def _read(name: str) -> bytes:
    with open(os.path.join(_FOLDER, name), "rb") as file:
        return file.read()


@cache
def words(name: str, key: str) -> frozenset[str]:
    """All the words of a list of rows that each hold some under `words`."""
    return frozenset(word for row in table(name)[key] for word in row["words"])


def fullmatch(pattern: str, word: str, flags: int = 0) -> re.Match[str] | None:
    """How the pattern of a row matches a whole word; None where it does not, or the word is longer than any that the tables tell of."""
    return _compiled(pattern, flags).fullmatch(word) if len(word) <= LONGEST_WORD else None


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """A row's pattern: the tables hold more of them than `re` remembers, and they are tried on every word."""
    return re.compile(pattern, flags)


def facts_date() -> str:
    """The day, as YYYY-MM-DD, on which the newest of the tables was last collected."""
    names = (name for name in os.listdir(_FOLDER) if name.endswith(".json"))
    days: list[bytes] = [day for name in names for day in _COLLECTED.findall(_read(name))]
    return max(days).decode()


def version_key(version: str) -> tuple[int, ...]:
    """A dotted version as integers, so that versions compare as numbers: 12.10 is above 12.9. Raises ValueError on anything else."""
    return tuple(int(part) for part in version.split("."))


def release_key(version: str) -> tuple[int, ...] | None:
    """The release of a package's version as integers, without what follows it (`2.4.1+cu121`, `2.16.0rc1`); None where it has none."""
    match = re.match(r"[vV=]*(\d{1,9}(?:\.\d{1,9}){0,9})", version)
    return version_key(match.group(1)) if match else None
