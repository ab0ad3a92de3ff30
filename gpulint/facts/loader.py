"""What the dynamic loader of an image needs to find the driver's libraries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpulint.facts import table, words
from gpulint.facts.commands import program_index, program_name


def may_remove_loader_part(script: str) -> bool:
    """Whether the text of a script holds a word without which no command in it removes any of that."""
    return any(word in script for word in words("loader", "signs"))


def removed_loader_part(command: Sequence[str]) -> str:
    """What a command removes of that, in words; "" where it removes none of it."""
    index = program_index(command)
    if index >= len(command) or program_name(command[index]) not in words("loader", "removers"):
        return ""
    rows = table("loader")["loader_paths"]
    found = (row["shown"] for word in command[index + 1 :] for row in rows if re.fullmatch(row["pattern"], word))
    return str(next(found, ""))
