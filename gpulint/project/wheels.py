"""Where the wheels of what is installed run: the C library that they need, and the one that the base image has."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import version_key
from gpulint.facts.frameworks import has_source, is_known_index, newest_wheel_glibc, torch_requirement, wheel_glibc
from gpulint.facts.images import glibc
from gpulint.facts.installers import python_managers
from gpulint.model.image import ImageRef
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.contents import Installed
from gpulint.source import Text, Unknown

_LOWER_BOUND = regex(r"(?:>=|~=|==)(?P<version>\d[\d.]*)(?:\.\*)?")


class TooNew(NamedTuple):
    """A package whose wheels need a newer glibc than the base image has. `because` says which of its needs, "" for its own wheels."""

    installed: Installed
    base: ImageRef
    needs: str
    has: str
    because: str


def wheels_for_newer_glibc(stage: Stage, project: Project) -> Iterator[TooNew]:
    """What the stage's own steps install of that kind."""
    base = stage.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown):
        return
    has = glibc(base.repository, None if base.tag is None else str(base.tag))
    if has is None or version_key(has) >= version_key(newest_wheel_glibc()):
        return
    for installed in project.contents(stage).history:
        if installed.stage is stage and installed.is_certain and _is_from_wheels(installed):
            needs, because = _need(installed)
            if needs is not None and version_key(needs) > version_key(has):
                yield TooNew(installed, base, needs, has, because)


def _is_from_wheels(installed: Installed) -> bool:
    """Whether the package comes as a wheel from an index that is known to have no other than these."""
    is_known = all(isinstance(index, Text) and is_known_index(index) for index in installed.indexes)
    is_plain = installed.package.wheel is None and "@" not in installed.package.shown and not installed.has_option("--no-binary")
    return installed.install.manager in python_managers() and is_known and is_plain and installed.is_settled


def _need(installed: Installed) -> tuple[str | None, str]:
    """The glibc that every version which may be installed needs, and what of the package needs it."""
    version = installed.version or _lowest(installed.package.specifier)
    if version is None:
        return None, ""
    if not has_source(installed.name, version):
        return wheel_glibc(installed.name, version), ""
    needed = torch_requirement(installed.name, installed.version) or "" if installed.version is not None else ""
    torch = needed.removeprefix("==")
    return (wheel_glibc("torch", torch), f"torch {torch}") if torch and torch != needed and not installed.is_alone else (None, "")


def _lowest(specifier: str) -> str | None:
    """The lowest version that a specifier admits."""
    found = [match for match in map(_LOWER_BOUND.fullmatch, specifier.split(",")) if match]
    return found[0]["version"] if found else None
