"""Packages and files that bring the NVIDIA driver, or parts of it, into an image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table, words


class DriverPart(NamedTuple):
    """What a package or file brings that belongs to the host. `brings` is "libcuda" (the driver itself), "tools" (its tools and
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
        if manager in row["managers"] and fullmatch(row["pattern"], name):
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


def driver_installer(command: Sequence[str]) -> DriverPart | None:
    """What a command brings that belongs to the host, where its first word is a driver's installer, or one of CUDA that holds the driver
    and is not told to leave it out. A shell before the installer is not part of the command."""
    if not command:
        return None
    name, options = command[0].rpartition("/")[2], command[1:]
    for row in table("driver_packages")["installers"]:
        if fullmatch(row["pattern"], name):
            spares = _has(options, row.get("unless_option")) and not _has(options, row.get("even_with"))
            is_asked = "only_with" not in row or _has(options, row["only_with"])
            return _part(row, name) if is_asked and not spares else None
    return None


def _has(options: Sequence[str], pattern: str | None) -> bool:
    return pattern is not None and any(re.fullmatch(pattern, option) for option in options)


@cache
def driver_library(path: str) -> DriverPart | None:
    """What a file brings that belongs to the host: libcuda, another library of the driver, nvidia-smi; None for any other file, and for
    one in a folder of stubs or of forward compatibility, where nothing finds it at run time."""
    folder, _, name = path.rpartition("/")
    row = next((row for row in table("driver_packages")["libraries"] if fullmatch(row["pattern"], name)), None)
    return None if row is None or is_link_time_folder(folder) else _part(row, name)


@cache
def is_link_time_folder(folder: str) -> bool:
    """Whether a folder holds a libcuda that is not for run time, or not for every host: the toolkit's stubs, forward compatibility."""
    return any(fullmatch(row["pattern"], folder) for row in table("driver_packages")["link_time_folders"])


def host_package(package: str) -> bool:
    """Whether a package makes an image a host of containers: a container engine, a part of Kubernetes."""
    return package in words("driver_packages", "host_packages")


def host_image(repository: str) -> bool:
    """Whether an image, by its normalised name, is one that starts containers itself, or that a machine boots."""
    return any(fullmatch(row["pattern"], repository) for row in table("driver_packages")["host_images"])


@cache
def stub_folder(path: str) -> bool:
    """Whether a folder holds the CUDA toolkit's stub of libcuda, which hides the real one where it is searched at run time."""
    return any(fullmatch(row["pattern"], path) for row in table("driver_packages")["stub_folders"])


@cache
def compat_folder(path: str) -> bool:
    """Whether a folder holds the forward-compatibility libcuda, which breaks newer drivers where it is always searched first."""
    return any(fullmatch(row["pattern"], path) for row in table("driver_packages")["compat_folders"])
