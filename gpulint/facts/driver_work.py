"""What shows that a container needs a part of the driver beyond compute and utility."""

from __future__ import annotations

from gpulint.facts import fullmatch, table


def needed_capability(word: str) -> str:
    """The driver capability that a word of a command or a value of the environment asks for, "" for none: `h264_nvenc` needs video."""
    return next((str(row["capability"]) for row in table("driver_work")["work"] if fullmatch(row["pattern"], word)), "")


def is_display_socket(path: str) -> bool:
    """Whether a path of the host is where a program reaches its screen."""
    return any(fullmatch(row["pattern"], path) for row in table("driver_work")["display_sockets"])
