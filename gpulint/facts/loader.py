"""What the dynamic loader of an image needs to find the driver's libraries."""

from __future__ import annotations

from collections.abc import Sequence

from gpulint.facts import fullmatch, table, words
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
    found = (row["shown"] for word in command[index + 1 :] for row in rows if fullmatch(row["pattern"], word))
    return str(next(found, ""))


def registers(command: Sequence[str]) -> bool:
    """Whether a command is ldconfig, which puts the folders among its arguments into the linker cache."""
    index = program_index(command)
    return index < len(command) and program_name(command[index]) in words("loader", "registrars")


def configures_loader(path: str) -> bool:
    """Whether a file tells the linker of folders that it searches before those of the system."""
    row = next((row for row in table("loader")["configuration"] if fullmatch(row["pattern"], path)), None)
    return row is not None and path.rpartition("/")[2] < row["last"]


def mounted_driver_folder(node_label: str) -> str:
    """The folder at which nodes of that label mount the driver's libraries, which LD_LIBRARY_PATH then has to name; "" for other nodes."""
    return next((str(row["folder"]) for row in table("loader")["driver_folders"] if row["label"] == node_label), "")
