"""One requirement: a package as pip, conda or a system's package manager is told of it, with name, version and place."""

from __future__ import annotations

import re

from gpulint.deferred import NamedTuple, regex
from gpulint.source import Location, Text, Value


class Package(NamedTuple):
    """A package that something asks for.

    `name` has no extras and no version; it is in lower case, and a Python package's with `-` for `_` and `.`. It is "" where it is
    not told: for a path, an address without `#egg=`, a word that is not known. `text` is the requirement as written, an Unknown where
    a part of it is not known; the name is given all the same where that part is behind it. `specifier` is the version as written, without
    blanks (`==2.4.1`, `>=2,<3`, `=12.1=*cuda*`), "" for none. `marker` is the environment it is for, `group` the extra or dependency
    group that it is of, "" for none, and `is_of_poetry` says that it is a group of poetry's own; `from_index` is the index that the file
    ties it to.
    """

    name: str
    text: Value
    extras: tuple[str, ...]
    specifier: str
    location: Location
    marker: str = ""
    group: str = ""
    from_index: Value | None = None
    is_of_poetry: bool = False

    @property
    def shown(self) -> str:
        """The requirement for a message: as written, known or not."""
        return str(self.text) if isinstance(self.text, Text) else self.text.raw

    @property
    def wheel(self) -> tuple[str, str] | None:
        """Name and version of the wheel that the requirement is the path or address of, from its file name; None where it is of none."""
        match = _WHEEL.search(self.text) if isinstance(self.text, Text) else None
        return (python_name(match[1]), match[2].replace("%2B", "+").replace("%2b", "+")) if match else None


_PYTHON_NAME = regex(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\]\s*)?")
_EGG = regex(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[([^\]]*)\])?")
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".conda", ".deb", ".rpm", ".apk")
_CONDA_NAME = regex(r"\s*(?:[^\s:=<>!~]+::)?([A-Za-z0-9_][\w.-]*)")
_SYSTEM_NAME = regex(r"@?[^\s=<>~!@/:]+")
_WHEEL = regex(r"(?:^|/)([A-Za-z0-9_.]+)-([\w.!+%]+)(?:-\d\w*)?(?:-[\w.]+){3}\.whl")
_ENDS_NAME = "=<>!~[@; "


def python_name(name: str) -> str:
    """A Python package's name in the form in which all its spellings are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def python_package(word: Value) -> Package:
    """A requirement of pip and its kin: `name[extras]specifier; marker`, `name @ address`, an address or a path."""
    text = _known_name(word)
    if text is None:
        return Package("", word, (), "", word.location)
    head = _PYTHON_NAME.match(text)
    rest = text[head.end() :] if head else ""
    if head is None or not (rest == "" or rest[0] in "=<>!~(@;"):
        return _unnamed(word, text)
    if rest.startswith("@"):
        return Package(python_name(head[1]), word, _extras(head[2]), "", word.location, rest.partition(" ;")[2].strip())
    if _is_file(text.partition(";")[0]):
        return Package("", word, (), "", word.location)
    version, _, marker = rest.partition(";")
    specifier = "".join(version.split()).removeprefix("(").removesuffix(")")
    return Package(python_name(head[1]), word, _extras(head[2]), specifier, word.location, marker.strip())


def _unnamed(word: Value, text: str) -> Package:
    egg = _EGG.search(text)
    if egg is None:
        return Package("", word, (), "", word.location)
    return Package(python_name(egg[1]), word, _extras(egg[2]), "", word.location)


def _extras(extras: str | None) -> tuple[str, ...]:
    return tuple(python_name(extra.strip()) for extra in (extras or "").split(",") if extra.strip())


def _is_file(text: str) -> bool:
    return text.startswith(".") or "/" in text or "\\" in text or text.rstrip().endswith(_ARCHIVES)


def poetry_package(word: Value) -> Package:
    """A requirement of `poetry add`: as pip's, or `name@constraint`. The constraint is given in pip's form."""
    package = python_package(word)
    if not package.name or not isinstance(word, Text) or "@" not in word or "/" in word:
        return package
    return package._replace(specifier=pip_specifier(word.partition("@")[2]))


def pip_specifier(constraint: str) -> str:
    """A constraint of poetry (`^2.1`, `~2.1`, `2.1`, `*`) as pip writes it; alternatives (`||`) are left as they are."""
    parts = [part.strip() for part in constraint.split(",")]
    if not all(_POETRY_VERSION.fullmatch(part) for part in parts):
        return constraint
    return ",".join(filter(None, map(_pip_part, parts)))


_MOST_DIGITS = 10
_POETRY_VERSION = regex(r"(?:\^|~=?|[=<>!]=?|===)?\s*[\w.*+!-]+")


def _pip_part(part: str) -> str:
    if part == "*":
        return ""
    if part[0] not in "^~=<>!":
        return f"=={part}"
    digits = re.findall(r"\d+", part.partition("+")[0])[:3]
    numbers = [int(number) for number in digits if len(number) < _MOST_DIGITS]
    if not numbers or len(numbers) < len(digits) or part[0] not in "^~" or part.startswith("~="):
        return "".join(part.split())
    return f">={part[1:].strip()},<{_first_left_out(numbers, caret=part[0] == '^')}"


def _first_left_out(numbers: list[int], caret: bool) -> str:
    last = len(numbers) - 1
    at = next((index for index, number in enumerate(numbers) if number), last) if caret else min(1, last)
    return ".".join(map(str, [*numbers[:at], numbers[at] + 1]))


def conda_package(word: Value) -> Package:
    """A match specification of conda: `channel::name=version=build`, `name>=1`, `name 1.2`."""
    text = _known_name(word)
    head = _CONDA_NAME.match(text) if text is not None else None
    if text is None or head is None or ("::" not in text and _is_file(text)):
        return Package("", word, (), "", word.location)
    return Package(python_name(head[1]), word, (), "".join(text[head.end() :].split()), word.location)


def system_package(word: Value) -> Package:
    """A package of a Linux distribution: `name=version`, `name:architecture`, `name/release`, `name@repository`. A file has no name."""
    text = _known_name(word)
    head = _SYSTEM_NAME.match(text) if text is not None else None
    if text is None or head is None or "://" in text or text.startswith((".", "/")) or text.endswith(_ARCHIVES):
        return Package("", word, (), "", word.location)
    return Package(head[0].lower(), word, (), text[head.end() :], word.location)


def _known_name(word: Value) -> str | None:
    """The word as written, None where an unknown part of it may belong to the name."""
    if isinstance(word, Text):
        return str(word)
    known = re.split(r"[$`{]", word.raw, maxsplit=1)[0]
    return word.raw if any(mark in known for mark in _ENDS_NAME) else None
