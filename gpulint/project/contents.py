"""What an image contains by its Dockerfile: the packages that its RUNs install, as its rules see them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.facts.installers import option_meaning
from gpulint.model.install import Install
from gpulint.model.stage import Run, Stage
from gpulint.parse.requirement import Package
from gpulint.parse.requirements import Requirements
from gpulint.source import Location, Value

_EXACT = regex(r"={1,3}v?(?P<version>\d[\w.+!-]*)(?:=.*)?")


@dataclass(frozen=True, eq=False)
class Installed:
    """A package that a RUN puts into an image.

    `package` stands where it is written: in the command, or in the file that the command reads. `asked` is that command or file, `install`
    the command. `version` is the exact one that the words, a constraint or a lock file choose; None where none does. `is_settled` is false
    where something that could not be read may choose it. `indexes` are those that the command searches, in order, `extra_indexes` those
    of them that only add to the default; `index` is the only one that the package can come from, where that is certain. `environment` is
    the folder or name of the environment that it goes into, "" for the image's own. `is_certain` is false where a condition, in the
    script or of the package itself, decides whether it is installed at all.
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
    is_certain: bool = True

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
        """Whether the command installs it again although some version is there: `--upgrade`, `--force-reinstall`, a file of its own. What
        a project only depends on is not upgraded with it."""
        means = meanings(self.install)
        return self.package.wheel is not None or "replaces" in means or ("upgrades" in means and not self.is_of_project)

    @property
    def is_of_project(self) -> bool:
        """Whether it is a dependency that the file of a project names, not the command itself or a file of requirements."""
        return self.asked.location.path.endswith((".toml", ".cfg", ".py"))

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


class OfBase(NamedTuple):
    """A package that the base image brings by the facts.

    `version` and `cuda`, the CUDA version of the image, are None where its tag does not tell them. `location` is the image's.
    """

    name: str
    version: str | None
    cuda: str | None
    location: Location
    environment: str = ""


class Contents:
    """What the image of a stage contains.

    `history` is all that is installed, in order, with what the stages it builds on install and what it copies out of other stages.
    `base` is what the base image brings before it. `unread` are the files of requirements that could not be found here: what they ask
    for is not known.
    """

    def __init__(self, events: Iterable[Installed | Removed], unread: tuple[Value, ...], base: tuple[OfBase, ...] = ()) -> None:
        self.events = tuple(events)
        self.history = tuple(event for event in self.events if isinstance(event, Installed))
        self.base = base
        self.unread = unread

    @cached_property
    def packages(self) -> tuple[Installed, ...]:
        """What the Dockerfile installs and is there at the end: each package once an environment, as the last step that changed it left
        it. What an installer finds in the base image and leaves as it is, is not among it."""
        return tuple(each for each in self._at_end.values() if isinstance(each, Installed))

    @cached_property
    def of_base(self) -> tuple[OfBase, ...]:
        """What the base image brings and is there at the end."""
        return tuple(each for each in self._at_end.values() if isinstance(each, OfBase))

    @cached_property
    def _at_end(self) -> dict[tuple[str, str], Installed | OfBase]:
        return self._present(len(self.events))

    def named(self, *names: str) -> tuple[Installed, ...]:
        """Those of these names that are there at the end."""
        found = [each for name in dict.fromkeys(names) for each in self._places.get(name, ())]
        return tuple(self.packages[place] for place in sorted(found))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where in `packages` the packages of each name stand: rules ask by name again and again."""
        places: dict[str, list[int]] = {}
        for place, each in enumerate(self.packages):
            places.setdefault(each.name, []).append(place)
        return places

    def before(self, installed: Installed) -> tuple[Installed | OfBase, ...]:
        """What is there, in its environment, when that package is installed."""
        present = self._present(self.events.index(installed))
        return tuple(each for each in present.values() if each.environment == installed.environment)

    def _present(self, end: int) -> dict[tuple[str, str], Installed | OfBase]:
        present: dict[tuple[str, str], Installed | OfBase] = {("", each.name): each for each in self.base}
        for event in self.events[:end]:
            key = (event.environment, event.name)
            there = present.get(key)
            if isinstance(event, Removed):
                present.pop(key, None)
            elif there is None or not satisfies(there, event):
                present.pop(key, None)
                present[key] = event
        return present


def satisfies(there: Installed | OfBase, asked: Installed) -> bool:
    """Whether the installer leaves what is there as it is when that is asked for. It does where the version fits the specifier (PEP 440),
    and where it is not known but any is good enough. A base image is taken to hold what its own programs ask for: only an exact version
    replaces one that is not known."""
    if asked.is_replacing:
        return False
    if isinstance(there, OfBase):
        return asked.version is None if there.version is None else fits(there.version, asked.package.specifier)
    if set(asked.package.extras) - set(there.package.extras):
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
