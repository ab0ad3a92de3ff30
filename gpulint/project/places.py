"""Which file of the repository a word of a command line names.

A path in the container is mapped to the repository by what the image copies, or, where that is not known, by being the only file that ends
so. A link that is not certain is no link.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import cycle
from posixpath import dirname, join, normpath
from typing import Protocol

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import common_folders
from gpulint.project.programs import Modules
from gpulint.project.tree import paths_named
from gpulint.source import Text

_ROOTS = ("", "src")


class Files(Modules, Protocol):
    """The files of a tree, by their paths from the root."""

    @property
    def all_paths(self) -> frozenset[str]: ...


class Entry(NamedTuple):
    """Where a program begins: its entry module, the function of it that is named ("" for none), and the folders for its imports."""

    path: str
    function: str
    roots: tuple[str, ...]


class Places:
    """Finds the file of the repository that a word of a command line names."""

    def __init__(
        self, files: Files, working_directory: str, mapped: Callable[[str], str | None] | None, search_path: Sequence[str] = ()
    ) -> None:
        self.files = files
        self._folder = working_directory
        self._mapped = mapped
        self._search_path = search_path

    def within(self, folder: str) -> Places:
        """The same with another working directory, which may be given relative to this one."""
        return Places(self.files, normpath(join(self._folder or "/", folder)), self._mapped, self._search_path)

    def find(self, target: Text, form: str, launcher: str = "") -> Entry | None:
        """The entry module, the function in it that is named, and the folders for its imports; None where the link is not certain."""
        if form in ("script", "executable"):
            path = (form == "executable" and self.executable(target)) or self.file(target)
            return Entry(path, "", _ROOTS) if path else None
        if form == "module":
            return self._module(str(target), "")
        if form == "app":
            return self._app(str(target), launcher)
        return self._console_script(str(target))

    def file(self, word: str) -> str | None:
        """The file at a path in the container."""
        if self._mapped is None:
            return self._only(word.split("/"), shorten=word.startswith("/"))
        path = self._mapped(normpath(join(self._folder or "/", word)))
        return path if path is not None and path in self.files else None

    def executable(self, name: str) -> str | None:
        """The file that a container runs by a bare name: the first in the folders of PATH, as far as the image is known."""
        if self._mapped is None or "/" in name:
            return None
        found = (self._mapped(normpath(join(folder, name))) for folder in self._search_path)
        return next((path for path in found if path is not None and path in self.files), None)

    def _only(self, parts: Sequence[str], shorten: bool = False) -> str | None:
        """The one file of the root that ends in these parts. `shorten` tries again without the first parts, which an image may add: down to
        the bare name only where all of them are folders that any image may have, since another's program may have that name too."""
        parts = [part for part in parts if part not in ("", ".")]
        if not parts or ".." in parts:
            return None
        for start in range(len(parts) if shorten else 1):
            if start == len(parts) - 1 and not common_folders().issuperset(parts[:start]):
                return None
            end = "/".join(parts[start:])
            found = [path for path in paths_named(self.files.all_paths, parts[-1]) if path == end or path.endswith(f"/{end}")]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _module(self, name: str, function: str) -> Entry | None:
        """A dotted module: below the working directory, the root, `src`, or in the one folder that has it."""
        stem = "/".join(name.split("."))
        endings = (f"{stem}.py", f"{stem}/__main__.py", f"{stem}/__init__.py")[: 3 if function else 2]
        if not all(part.isidentifier() for part in name.split(".")):
            return None
        mapped = (self._mapped(normpath(join(self._folder or "/", end))) for end in endings) if self._mapped else iter(())
        rooted = (f"{root}/{end}".lstrip("/") for root in _ROOTS for end in endings)
        only = (self._only(end.split("/")) for end in endings)
        for path, end in zip((*mapped, *rooted, *only), cycle(endings), strict=False):
            if path is not None and path in self.files:
                return Entry(path, function, tuple(dict.fromkeys((path[: len(path) - len(end)].rstrip("/"), *_ROOTS))))
        return None

    def _app(self, text: str, launcher: str) -> Entry | None:
        """`package.module:object`, `module:factory()`; and for a queue's worker `package.module`, `package.module.object`, or the package
        that has a module named as the launcher."""
        name, _, attribute = text.partition(":")
        attribute = attribute.partition("(")[0]
        if name.endswith(".py") or "/" in name:
            path = self.file(name)
            return Entry(path, attribute or "app", _ROOTS) if path else None
        found = self._module(name, attribute or "app")
        if found is not None or attribute:
            return found
        package, _, last = name.rpartition(".")
        return self._module(f"{name}.{launcher}", "app") or (self._module(package, last) if package else None)

    def _console_script(self, name: str) -> Entry | None:
        """A command that a pyproject file of the tree installs, where exactly one does."""
        found = {target for path in paths_named(self.files.all_paths, _PYPROJECT) for target in self._scripts(path, name)}
        if len(found) != 1:
            return None
        folder, target = found.pop()
        module, _, function = target.partition(":")
        stem = "/".join(module.split("."))
        for root in (folder, join(folder, "src")):
            for path in (join(root, f"{stem}.py"), join(root, stem, "__init__.py")):
                if path in self.files:
                    return Entry(path, function, tuple(dict.fromkeys((root, *_ROOTS))))
        return None

    def _scripts(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        source = self.files.source(path)
        if source is None or name not in source.text:
            return
        project = _toml(source.text)
        for table in (_table(project, "project", "scripts"), _table(project, "tool", "poetry", "scripts")):
            target = table.get(name)
            if isinstance(target, str) and ":" in target:
                yield dirname(path), target


_PYPROJECT = "pyproject.toml"


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
