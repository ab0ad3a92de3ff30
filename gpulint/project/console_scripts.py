"""The commands that the Python projects of a tree install: `[project.scripts]` and its kin in pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.project.tree import paths_named
from gpulint.source import Location, Source, Text

if TYPE_CHECKING:
    from gpulint.project.places import Files


class ConsoleScript(NamedTuple):
    """A command that a project installs: the project's folder, the module and function that the command calls, and where it is said."""

    folder: str
    module: str
    function: str
    location: Location


def console_script(name: str, files: Files) -> ConsoleScript | None:
    """The command of that name, where the projects of the tree agree on what it calls."""
    found = [script for file in _FILES for path in paths_named(files.all_paths, file) for script in _installed(files.source(path), name)]
    calls = {(script.folder, script.module, script.function) for script in found}
    return found[0] if len(calls) == 1 else None


def _installed(source: Source | None, name: str) -> Iterator[ConsoleScript]:
    if source is None or name not in source.text:
        return
    if source.path.endswith(".toml"):
        targets = ((target, _place(source, name)) for target in _targets_of_pyproject(source, name))
    else:
        targets = ((str(target), target.location) for each, target in _of_setup(source) if each == name)
    for target, location in targets:
        module, _, function = target.partition(":")
        if function:
            yield ConsoleScript(dirname(source.path), module, function, location)


@lru_cache(maxsize=1_000)
def _of_setup(source: Source) -> tuple[tuple[str, Text], ...]:
    """The commands of a setup.py or setup.cfg: it is asked for the name of every program that a script runs."""
    from gpulint.parse.setup_files import console_scripts

    return tuple(console_scripts(source))


def _targets_of_pyproject(source: Source, name: str) -> Iterator[str]:
    project = _toml(source.text)
    for keys in _TABLES:
        target = _table(project, *keys).get(name)
        if isinstance(target, str):
            yield target


def _place(source: Source, name: str) -> Location:
    """Where a pyproject file says what a command calls: the line that begins with its name."""
    match = re.search(rf"^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=", source.text, re.MULTILINE)
    start = match.start() if match else source.text.find(name)
    return source.location(start, match.end() - 1 if match else start + len(name))


_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_TABLES = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))


def _table(document: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """The table at a path of keys; an empty one where there is none."""
    for key in keys:
        inner = document.get(key)
        if not isinstance(inner, dict):
            return {}
        document = inner
    return document


@lru_cache(maxsize=1_000)
def _toml(text: str) -> Mapping[str, object]:
    """A TOML document; an empty one where it cannot be read."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
