"""Packages and files that bring the NVIDIA driver, or parts of it, into an image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from gpulint.facts import Row, table


class DriverPart(NamedTuple):
    """What a package or file brings that belongs to the host: `brings` is "libcuda" (the driver itself), "tools" (its tools and
    graphics libraries) or "host" (kernel side, daemons, container toolkit). `sourced` says that a source stands behind it, so that
    an error may rest on it; `instead` is the package to install in its place, "" for none."""

    brings: str
    sourced: bool
    instead: str = ""


@cache
def driver_package(manager: str, package: str) -> DriverPart | None:
    """What a package brings that belongs to the host; None for one that may be installed, such as toolkits and CUDA libraries.

    `manager` is apt, dnf, yum, zypper, pacman, apk or conda; `package` may carry a version (`cuda=12.4.1-1`) or an architecture.
    """
    name = re.split(r"[=<>*]", package, maxsplit=1)[0].split("/")[0].removesuffix(":amd64").strip()
    for row in table("driver_packages")["packages"]:
        if manager in row["managers"] and re.fullmatch(row["pattern"], name):
            return _part(row, name)
    return None


def _part(row: Row, name: str) -> DriverPart | None:
    if row["brings"] == "nothing":
        return None
    return DriverPart(row["brings"], row["src"] != "recall", _instead(row.get("instead", ""), name))


def _instead(form: str, name: str) -> str:
    """The replacement with the version suffix (`-12-4`) that the package's own name has."""
    suffix = re.search(r"(?:-\d+-\d+)?$", name)
    return form.format(suffix=suffix.group() if suffix else "")


def driver_file(path: str, words: Sequence[str] = ()) -> DriverPart | None:
    """What a file brings that belongs to the host: a driver's installer, libcuda, nvidia-smi; None for any other, and for stubs.

    `words` is the command that runs the file: an installer that is told to lay down the toolkit alone brings no driver.
    """
    name = path.rpartition("/")[2]
    for row in table("driver_packages")["files"]:
        if not re.fullmatch(row["pattern"], path) and not re.fullmatch(row["pattern"], name):
            continue
        if f"/{row.get('unless_under')}/" in path or row.get("unless_option") in words:
            return None
        return _part(row, name)
    return None


def stub_folder(path: str) -> bool:
    """Whether a folder holds the CUDA toolkit's stub of libcuda, which hides the real one where it is searched at run time."""
    return path.rstrip("/") in {word for row in table("driver_packages")["stub_folders"] for word in row["words"]}


def compat_folder(path: str) -> bool:
    """Whether a folder holds the forward-compatibility libcuda, which breaks newer drivers where it is always searched first."""
    return any(re.fullmatch(row["pattern"], path) for row in table("driver_packages")["compat_folders"])
