"""Tags of the nvidia/cuda images: which exist, which are provably missing, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import Row, fullmatch, table, version_key, words
from gpulint.facts.commands import program_index

Verdict = Literal["exists", "missing", "superseded", "unsupported", "unknown"]


class TagState(NamedTuple):
    """What is known of a tag: the verdict, a clause that says why ("" where it exists), and the nearest tag that does exist.

    "superseded" and "unsupported" tags can still be pulled as far as is known; of an "unknown" one nothing can be said, most often
    because it is newer than the facts.
    """

    verdict: Verdict
    reason: str = ""
    nearest: str | None = None


class _Tag(NamedTuple):
    """A tag's parts: `version` as numbers, the others "" where the tag has none; `rest` is what no tag of NVIDIA's ends in."""

    version: tuple[int, ...]
    library: str = ""
    flavour: str = ""
    os: str = ""
    rest: str = ""

    @property
    def dotted(self) -> str:
        return ".".join(map(str, self.version))


_TAG = regex(
    r"(?P<version>\d{1,9}(?:\.\d{1,9}){0,2})"
    r"(?:-(?P<library>cudnn[\d.]*))?"
    r"(?:-(?P<flavour>base|runtime|devel))?"
    r"(?:-(?P<os>[a-z]+\d+(?:\.\d+)?))?"
    r"(?P<rest>[-.].*)?"
)
_OS = regex(r"([a-z]+)(\d+(?:\.\d+)?)")


def cuda_repository(repository: str) -> bool:
    """Whether a normalised image name is that of the nvidia/cuda images on Docker Hub or NGC."""
    return any(repository in row["names"] for row in table("cuda_tags")["repositories"])


@cache
def tag_state(tag: str | None) -> TagState:
    """What is known of a tag of the nvidia/cuda images; None stands for no tag, which the tools take for `latest`."""
    if tag is None or tag == "latest":
        return TagState("missing", "nvidia/cuda has no latest tag", _nearest(_Tag(())))
    match = _TAG.fullmatch(tag)
    if not match:
        return TagState("unknown")
    version, *parts = match.groups(default="")
    parsed = _Tag(version_key(version), *parts)
    reason = _why_missing(parsed)
    if reason:
        return TagState("missing", reason, _nearest(parsed))
    return _state_of_published(parsed)


# --- What is provably missing -----------------------------------------------------------------------------------------------------


def _why_missing(tag: _Tag) -> str:
    """Why there is certainly no such tag, "" where there may be one."""
    if tag.version > _newest():
        return ""
    if tag.version[0] < _oldest_major():
        return f"NVIDIA deleted the images of CUDA {_oldest_major() - 1} and older"
    if len(tag.version) < 3:
        return f"tags of CUDA {tag.version[0]} name a version in three parts, not {tag.dotted}"
    if tag.rest:
        return ""
    row = _published().get(tag.version)
    return _why_part_missing(tag, row) if row else _why_version_missing(tag)


def _why_version_missing(tag: _Tag) -> str:
    patches = [version for version in _published() if version[:2] == tag.version[:2]]
    if patches and tag.version > max(patches) and tag.version[0] > _oldest_major():
        return ""
    deleted = any(row["cuda"] == tag.dotted for row in table("cuda_tags")["deleted"])
    return f"NVIDIA deleted the images of CUDA {tag.dotted}" if deleted else f"no image of CUDA {tag.dotted} was published"


def _why_part_missing(tag: _Tag, row: Row) -> str:
    """Why a published version has no tag with these other parts."""
    if not tag.os or not tag.flavour:
        return f"every tag of CUDA {tag.version[0]} names a flavour and an operating system" if _needs_os(tag) else ""
    if not _may_have_os(tag, row):
        return f"CUDA {tag.dotted} was not published for {tag.os}"
    if not tag.library or tag.library == row["cudnn"]:
        lacks = tag.library and tag.os in row.get("cudnn_lacks_os", ()) and row["sure"] == "high"
        return f"CUDA {tag.dotted} has no cuDNN image for {tag.os}" if lacks else ""
    if row["cudnn"] is None:
        return f"CUDA {tag.dotted} has no cuDNN images"
    return f"the cuDNN images of CUDA {tag.dotted} are called {row['cudnn']}, not {tag.library}"


def _needs_os(tag: _Tag) -> bool:
    rows = table("cuda_tags")["no_short_tags"]
    return any(tag.version >= version_key(row["from"]) for row in rows if row.get("without") == "os")


def _may_have_os(tag: _Tag, row: Row) -> bool:
    """Whether the version may have been published for the operating system: certain where the row's list is complete."""
    if tag.os in row["os"] or row["os_complete"]:
        return tag.os in row["os"]
    known = next((known for known in table("cuda_tags")["os"] if known["os"] == tag.os), None)
    return known is None or known["last"] is None or tag.version <= version_key(known["last"])


def _state_of_published(tag: _Tag) -> TagState:
    row = _published().get(tag.version)
    if row is None or tag.rest or tag.os not in row["os"]:
        return TagState("unknown")
    latest = max(version for version in _published() if version[:2] == tag.version[:2])
    if latest > tag.version:
        return TagState("superseded", f"CUDA {'.'.join(map(str, latest))} replaces it, and NVIDIA deletes replaced images", _nearest(tag))
    if row.get("supported") is False:
        return TagState("unsupported", f"NVIDIA no longer supports the images of CUDA {tag.dotted}")
    return TagState("exists")


# --- The nearest tag --------------------------------------------------------------------------------------------------------------


def _nearest(tag: _Tag) -> str | None:
    """The nearest tag that exists: of the newest patch of the version, else of the nearest version; of the same flavour, with cuDNN
    if it was asked for, for the same operating system or the nearest one of its family."""
    rows = [row for row in _published().values() if row["cudnn"] or not tag.library]
    wanted = min({version_key(row["cuda"])[:2] for row in rows}, key=lambda minor: _version_distance(minor, tag.version))
    row = max((row for row in rows if version_key(row["cuda"])[:2] == wanted), key=lambda row: version_key(row["cuda"]))
    systems = [system for system in row["os"] if not (tag.library and system in row.get("cudnn_lacks_os", ()))]
    system = min(systems, key=lambda system: _os_distance(system, tag.os))
    return "-".join(part for part in (row["cuda"], tag.library and row["cudnn"], tag.flavour or "base", system) if part)


def _version_distance(minor: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The same minor first, then the nearest one of the major, the older of two; where the major is gone or stands alone, the newest
    minor of the nearest major. No version at all means the newest."""
    if not wanted:
        return -minor[0], -minor[1]
    if len(wanted) == 1 or wanted[0] < _oldest_major():
        return abs(minor[0] - wanted[0]), -minor[1]
    return abs(minor[0] - wanted[0]), abs(minor[1] - wanted[1]), minor[1]


def _os_distance(system: str, wanted: str) -> tuple[bool, bool, float, float]:
    """The same system first, then one of the same family with the nearest version, then the newest of the most used family."""
    near = next((row["near"] for row in table("cuda_tags")["near_os"] if row["os"] == wanted), wanted)
    family, version = _family(system)
    near_family, near_version = _family(near)
    same = family == near_family
    return system not in (wanted, near), not same, abs(version - near_version) if same else float(family != "ubuntu"), -version


def _family(system: str) -> tuple[str, float]:
    match = _OS.fullmatch(system)
    return (match[1], float(match[2])) if match else ("", 0.0)


@cache
def _published() -> dict[tuple[int, ...], Row]:
    return {version_key(row["cuda"]): row for row in table("cuda_tags")["published"]}


def _newest() -> tuple[int, ...]:
    return max(_published())


def _oldest_major() -> int:
    return min(_published())[0]


# --- What the images hold ---------------------------------------------------------------------------------------------------------


def signing_key(repository: str, tag: str) -> Literal["old", "maybe", "new"]:
    """Whether an image still trusts the signing key of NVIDIA's package repositories that was replaced in April 2022.

    With the old key `apt-get update` fails. "maybe" where the image was rebuilt in part only; "new" also where nothing is known.
    """
    for row in table("cuda_tags")["signing_key"]:
        if fullmatch(row["images"], repository) and fullmatch(row["tag"], tag):
            key: Literal["old", "maybe"] = row["key"]
            return key
    return "new"


_IN_ANY_TEXT = re.IGNORECASE | re.DOTALL


def revoked_key(text: str) -> bool:
    """Whether a text names the replaced key of the CUDA repositories; for the machine-learning repository it still holds."""
    return any(fullmatch(row["pattern"], text, _IN_ANY_TEXT) for row in table("cuda_tags")["revoked_keys"])


def cures_key(command: Sequence[str]) -> bool:
    """Whether a command makes apt accept the CUDA repositories as they are signed today, or leave them out."""
    if any(map(_cures_key, command)):
        return True
    return any("/sources.list.d" in word for word in command) and _program(command) in words("cuda_tags", "list_editors")


@cache
def _cures_key(word: str) -> bool:
    return any(fullmatch(row["pattern"], word, _IN_ANY_TEXT) for row in table("cuda_tags")["key_cures"])


def updates_lists(command: Sequence[str]) -> bool:
    """Whether a command has apt read its package lists anew."""
    return _program(command) in words("cuda_tags", "list_readers") and "update" in command


def _program(command: Sequence[str]) -> str:
    index = program_index(command)
    return command[index] if index < len(command) else ""


class LibraryPath(NamedTuple):
    """The folders of the LD_LIBRARY_PATH that an image sets, and those of them that are of use on hosts of today."""

    folders: tuple[str, ...]
    needed: tuple[str, ...]


def library_path(repository: str, tag: str) -> LibraryPath | None:
    """The LD_LIBRARY_PATH of an image, None where it is not known."""
    match = _TAG.fullmatch(tag)
    version = version_key(match["version"]) if match else ()
    for row in table("cuda_tags")["library_path"]:
        if fullmatch(row["images"], repository) and _within(version, row["from"], row["to"]):
            return LibraryPath(tuple(row["value"].split(":")), tuple(row["needed"]))
    return None


def _within(version: tuple[int, ...], first: str | None, last: str | None) -> bool:
    return (first is None or version >= version_key(first)) and (last is None or version <= version_key(last))


def cudnn_major(tag: str) -> str | None:
    """The cuDNN major in an nvidia/cuda image, "" where it has none, None where it is not known."""
    match = _TAG.fullmatch(tag)
    if not match or not match["flavour"]:
        return None
    if not match["library"]:
        return ""
    rows = table("cuda_tags")["cudnn_tokens"]
    return next((row["major"] for row in rows if row["token"] == match["library"] and "major" in row), None)
