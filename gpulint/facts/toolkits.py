"""What brings the CUDA toolkit, cuDNN or a C compiler into an image: packages, files that are put there by hand, and copied folders."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table

PartName = Literal["cuda", "cudnn", "nvcc", "cc"]
"""A part of what compiles and runs CUDA code: the run-time libraries, cuDNN, nvcc, a C compiler."""

_MANAGERS = {"uv": "pip", "poetry": "pip", "pipenv": "pip", "pixi": "conda"}


class Brought(NamedTuple):
    """The parts that a package brings. `cuda` is the version of the toolkit it is of, "12" or "12.4", and `cudnn` the major of cuDNN; None
    where its name and version do not tell. `recommended` says that the parts only come with it where recommended packages do."""

    parts: frozenset[str]
    cuda: str | None
    cudnn: str | None
    recommended: bool


@cache
def brought(manager: str, name: str, version: str | None, system: str = "") -> Brought | None:
    """The parts that a package of a manager brings; None for one that brings none. `version` is its exact version where that is known,
    `system` the name and tag of the base image, since a distribution has a toolkit of one version."""
    known = _MANAGERS.get(manager, manager)
    for row in table("toolkits")["packages"]:
        if known in row["managers"] and (match := fullmatch(row["pattern"], name)):
            return _brought(row, match.groupdict(), version, system)
    return None


def _brought(row: Row, groups: dict[str, str | None], version: str | None, system: str) -> Brought | None:
    cuda = ".".join(part for part in (groups.get("major"), groups.get("minor")) if part) or None
    cudnn = groups.get("cudnn") or groups.get("cudnn_meta")
    if row.get("distribution"):
        cuda = _toolkit_of_distribution(system)
    versioned = row.get("versioned")
    if versioned == "cuda":
        cuda = _leading(version, 2)
    elif versioned == "cudnn":
        cudnn = _leading(version, 1)
    return Brought(frozenset(row["brings"]), cuda, cudnn, row.get("recommended", False)) if row["brings"] else None


def _leading(version: str | None, parts: int) -> str | None:
    """The first numbers of a version."""
    match = re.match(r"\d+(?:\.\d+)*", version or "")
    return ".".join(match[0].split(".")[:parts]) if match else None


def _toolkit_of_distribution(system: str) -> str | None:
    rows = table("toolkits")["distributions"]
    return next((str(row["cuda"]) for row in rows if re.search(rf"(?<![a-z0-9])(?:{row['system']})(?![0-9])", system)), None)


def leaves_out_recommended(option: str) -> bool:
    """Whether an option of a package manager leaves out the packages that are only recommended."""
    return any(option in row["words"] for row in table("toolkits")["switches"])


@cache
def parts_by_hand(word: str) -> frozenset[str]:
    """The parts that may come by hand where a command or a copy has that word: an archive, an installer, another package manager."""
    return frozenset(part for row in table("toolkits")["by_hand"] if fullmatch(row["pattern"], word) for part in row["brings"])


@cache
def may_hold(path: str, part: PartName) -> bool:
    """Whether a path of an image, copied from it, may hold that part of the toolkit."""
    return any(part in row["holds"] and fullmatch(row["pattern"], path) for row in table("toolkits")["library_folders"])
