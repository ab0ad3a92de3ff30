"""Text for a terminal: nothing that stands in a file may drive it, and what is shown keeps its columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

Paint = Callable[..., str]
"""`colored` or `plain`."""

RED, GREEN, YELLOW, BLUE, BOLD = 31, 32, 33, 34, 1


def printable(text: str) -> str:
    """The text on one line with every control, format and unassigned character as an escape such as `\\x1b` or `\\u202e`."""
    if text.isprintable():
        return str(text)
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def width(text: str) -> int:
    """The columns that printable text takes: two for a wide character, none for a combining one."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "FW" else 1


def colored(text: str, *codes: int) -> str:
    """The text in colours and weights, by the codes of ANSI's select graphic rendition."""
    return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m" if text else ""


def plain(text: str, *_codes: int) -> str:
    """The text as it is: what takes the place of `colored` where colour is not wanted."""
    return text
