"""What an image contains by its Dockerfile: the packages that its RUNs install, as its rules see them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gpulint.facts.installers import option_meaning
from gpulint.model.install import Install
from gpulint.model.stage import Run, Stage
from gpulint.parse.requirement import Package
from gpulint.parse.requirements import Requirements
from gpulint.source import Value

_EXACT = re.compile(r"={1,3}v?(?P<version>\d[\w.+!-]*)(?:=.*)?")


@dataclass(frozen=True, eq=False)
class Installed:
    """A package that a RUN puts into an image.

    `package` stands where it is written: in the command, or in the file that the command reads. `asked` is that command or file, `install`
    the command. `version` is the exact one that the words, a constraint or a lock file choose; None where none does. `is_settled` is false
    where something that could not be read may choose it. `indexes` are those that the command searches, in order, `extra_indexes` those
    of them that only add to the default; `index` is the only one that the package can come from, where that is certain. `environment` is
    the folder or name of the environment that it goes into, "" for the image's own.
    """

    package: Package
    asked: Requirements
    install: Install
    run: Run
    stage: Stage
    environment: str
    version: str | None
    is_settled: bool
    indexes: tuple[Value, ...]
    extra_indexes: tuple[Value, ...]

    @property
    def name(self) -> str:
        """The package's name, also where it is written as the file of a wheel."""
        return self.package.name or (self.package.wheel or ("", ""))[0]

    @property
    def index(self) -> Value | None:
        """The index that the package comes from; None for the default one, or where several are searched as equals."""
        if self.package.from_index is not None:
            return self.package.from_index
        if not self.extra_indexes:
            return self.indexes[-1] if self.indexes else None
        return self.extra_indexes[0] if self.install.manager == "uv" and len(self.extra_indexes) == 1 else None

    @property
    def is_replacing(self) -> bool:
        """Whether the command installs it again although some version is there: `--upgrade`, `--force-reinstall`, a file of its own."""
        return self.package.wheel is not None or "replaces" in meanings(self.install)

    @property
    def is_alone(self) -> bool:
        """Whether it comes without the packages that it needs."""
        return "alone" in meanings(self.install)

    def has_option(self, *names: str) -> bool:
        """Whether the command or the file that names the package has one of these options."""
        return self.install.option(*names) is not None or self.asked.option(*names) is not None


class Removed(NamedTuple):
    """A package that a RUN takes out of an image again."""

    name: str
    environment: str


class Contents:
    """What the image of a stage contains.

    `history` is all that is installed, in order, with what the stages it builds on install and what it copies out of other stages.
    `unread` are the files of requirements that could not be found here: what they ask for is not known.
    """

    def __init__(self, events: Iterable[Installed | Removed], unread: tuple[Value, ...]) -> None:
        self.events = tuple(events)
        self.history = tuple(event for event in self.events if isinstance(event, Installed))
        self.unread = unread

    @cached_property
    def packages(self) -> tuple[Installed, ...]:
        """What is there at the end: each package once an environment, as the last step that changed it left it."""
        return tuple(self._present(len(self.events)).values())

    def named(self, *names: str) -> tuple[Installed, ...]:
        """Those of these names that are there at the end."""
        return tuple(each for each in self.packages if each.name in names)

    def before(self, installed: Installed) -> tuple[Installed, ...]:
        """What is there, in its environment, when that package is installed."""
        present = self._present(self.events.index(installed))
        return tuple(each for each in present.values() if each.environment == installed.environment)

    def _present(self, end: int) -> dict[tuple[str, str], Installed]:
        present: dict[tuple[str, str], Installed] = {}
        for event in self.events[:end]:
            key = (event.environment, event.name)
            there = present.get(key)
            if isinstance(event, Removed):
                present.pop(key, None)
            elif there is None or not satisfies(there, event):
                present.pop(key, None)
                present[key] = event
        return present


def satisfies(there: Installed, asked: Installed) -> bool:
    """Whether the installer leaves what is there as it is when that is asked for. It does where the version fits the specifier (PEP 440),
    and where it is not known but any is good enough."""
    if asked.is_replacing or set(asked.package.extras) - set(there.package.extras):
        return False
    if asked.package.specifier == "":
        return True
    return there.version is not None and fits(there.version, asked.package.specifier)


def fits(version: str, specifier: str) -> bool:
    """Whether a version fits a specifier of pip; false for what is none."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False


def exact_version(package: Package) -> str | None:
    """The one version that a requirement asks for, with its local label if it has one; None where it leaves a choice."""
    if package.wheel is not None:
        return package.wheel[1]
    match = _EXACT.fullmatch(package.specifier)
    return match["version"] if match and "*" not in match["version"] else None


def meanings(install: Install) -> dict[str, Value | None]:
    """What the options of a command say of its packages, each with the value of the last one that does."""
    meanings = ((option_meaning(install.manager, option.name), option.value) for option in install.options)
    return {meaning: value for meaning, value in meanings if meaning}
