"""Which folders of an image a build step builds a Python project of: `pip install ./ops`, `python setup.py build_ext`."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import launched
from gpulint.model.install import Install
from gpulint.parse.shell import SimpleCommand
from gpulint.source import Location, Text, as_written

SETUP = "setup.py"
_LOCAL = regex(r"(?:\.|/|~)[^\[;@:]*")
_BUILDING = frozenset({"install", "develop", "build", "build_ext", "bdist_wheel", "bdist"})


class BuiltFolder(NamedTuple):
    """A folder as the command writes it, and where that is written."""

    path: str
    location: Location


def built_folders(command: SimpleCommand, install: Install | None) -> Iterator[BuiltFolder]:
    """The folders whose projects a command builds; `install` is what the command installs, None where it installs nothing."""
    if install is not None:
        for package in install.packages if not install.removes else ():
            is_unnamed = not package.name and package.wheel is None and isinstance(package.text, Text)
            match = _LOCAL.fullmatch(as_written(package.text)) if is_unnamed else None
            if match is not None:
                yield BuiltFolder(match[0], package.location)
        return
    words = [as_written(word) for word in command.words]
    launch = launched(words) if any(word.endswith(SETUP) for word in words) else None
    script = words[launch.at] if launch is not None and launch.form == "script" else ""
    if basename(script) == SETUP and not _BUILDING.isdisjoint(words):
        yield BuiltFolder(script.removesuffix(SETUP) or ".", command.location)
