"""Which file of the repository a word of a command line names.

A path in the container is mapped to the repository by what the image copies, or, where that is not known, by being the only file that ends
so. A link that is not certain is no link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import dropwhile
from posixpath import join, normpath, relpath
from typing import Protocol

from gpulint.deferred import NamedTuple
from gpulint.facts.commands import common_folders
from gpulint.project.programs import Modules
from gpulint.project.tree import paths_named
from gpulint.source import Location, Text

_ROOTS = ("", "src")


class Files(Modules, Protocol):
    """The files of a tree, by their paths from the root."""

    @property
    def all_paths(self) -> frozenset[str]: ...


class Found(NamedTuple):
    """A file of the repository that a word names: how that is known, where a file says so (a COPY, a mount, a project's file), and its
    path in the container, "" where that is not known."""

    path: str
    by: str
    origin: Location | None = None
    inside: str = ""


class Entry(NamedTuple):
    """Where a program begins: the file, the function of it that is named ("" for none), and the folders for its imports."""

    found: Found
    function: str
    roots: tuple[str, ...]


Mapped = Callable[[str], "str | None"]
"""Which file of the repository stands at an absolute path of the container; where a Text does, its place says so."""


class Places:
    """Finds the file of the repository that a word of a command line names.

    `search_path` are the folders of PATH, `module_path` those of PYTHONPATH.
    """

    def __init__(
        self,
        files: Files,
        working_directory: str,
        mapped: Mapped | None,
        search_path: Sequence[str] = (),
        module_path: Sequence[str] = (),
    ) -> None:
        self.files = files
        self._folder = working_directory
        self._mapped = mapped
        self._search_path = search_path
        self._module_path = module_path

    def within(self, folder: str) -> Places:
        """The same with another working directory, which may be given relative to this one."""
        inner = normpath(join(self._folder or "/", folder))
        return Places(self.files, inner, self._mapped, self._search_path, self._module_path)

    def find(self, target: Text, form: str, launcher: str = "", default: str = "app") -> Entry | None:
        """The entry module, the function in it that is named, and the folders for its imports; None where the link is not certain.
        `default` is what the launcher takes of a module of which nothing is named."""
        if form in ("script", "executable"):
            found = self.executable(target) if form == "executable" else None
            found = found or self.file(target) or self._package(target)
            return self.entry(found) if found is not None and _may_be_python(found.path) else None
        if form == "module":
            return self._module(str(target), "")
        if form == "app":
            return self._app(str(target), launcher, default)
        return self._console_script(str(target))

    def entry(self, found: Found | None, function: str = "") -> Entry | None:
        """A program that begins in a file."""
        return Entry(found, function, (*self._module_roots(found), *_ROOTS)) if found is not None else None

    def file(self, word: str) -> Found | None:
        """The file at a path in the container."""
        return self._by_name(word) if self._mapped is None else self._at(normpath(join(self._folder or "/", word)))

    def has_here(self, name: str) -> bool:
        """Whether that file certainly stands where the command runs: in the known image, or at the root where no image is known."""
        return self.file(name) is not None if self._mapped else normpath(name) in self.files

    def _package(self, folder: str) -> Found | None:
        """The file that runs where a folder is started."""
        name = normpath(join(folder, "__main__.py"))
        return self.file(name) if "/" in name or self.has_here(name) else None

    def executable(self, name: str) -> Found | None:
        """The file that a container runs by a bare name: the first in the folders of PATH, as far as the image is known."""
        if "/" in name:
            return None
        return next(filter(None, (self._at(normpath(join(folder, name))) for folder in self._search_path)), None)

    def matching(self, pattern: str) -> Iterator[Found]:
        """The files whose path in the container a pattern matches, where the image is known, sorted by their paths here."""
        folder, _, name = join(self._folder or "/", pattern).rpartition("/")
        for path in sorted(self.files.all_paths) if self._mapped else ():
            if fnmatchcase(path.rpartition("/")[2], name):
                found = self._at(normpath(join(folder, path.rpartition("/")[2])))
                yield from (found,) if found is not None and found.path == path else ()

    def _at(self, path: str) -> Found | None:
        """The file at an absolute path of a container whose image is known."""
        found = self._mapped(path) if self._mapped else None
        if found is None or found not in self.files:
            return None
        return Found(str(found), f"it is {path} of the container", found.location if isinstance(found, Text) else None, path)

    def _by_name(self, word: str) -> Found | None:
        """The file by its name, where the image is not known: below the folder that the command runs in, as far as that is none that any
        image may have, else wherever it is."""
        folders = [] if word.startswith("/") else list(dropwhile(lambda part: part in ("", *common_folders()), self._folder.split("/")))
        path = (folders and self._only([*folders, *word.split("/")])) or self._only(word.split("/"), shorten=word.startswith("/"))
        return Found(path, _BY_NAME) if path else None

    def _module_roots(self, found: Found) -> tuple[str, ...]:
        """The folders of PYTHONPATH here. They are known as far as they lie below the folder of which the found file tells where it comes
        from."""
        inside, here = found.inside.split("/"), found.path.split("/")
        while len(inside) > 1 and here and inside[-1] == here[-1]:
            inside, here = inside[:-1], here[:-1]
        if not found.inside:
            return ()
        base = "/".join(inside) or "/"
        inner = (relpath(join(self._folder or "/", folder), base) for folder in self._module_path)
        return tuple(normpath(join("/".join(here), each)).removeprefix(".") for each in inner if not each.startswith(".."))

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
        """A dotted module: below the working directory or a folder of PYTHONPATH, the root, `src`, or in the one folder that has it."""
        if not all(part.isidentifier() for part in name.split(".")):
            return None
        stem = "/".join(name.split("."))
        ends = (f"{stem}.py", f"{stem}/__main__.py", f"{stem}/__init__.py")[: 3 if function else 2]
        for end in ends:
            found = self._below_module_path(end)
            if found is not None:
                return self._entry_below(found, end, function)
        rooted = ((f"{root}/{end}".lstrip("/"), end, f"it is below {root or 'the root'}") for root in _ROOTS for end in ends)
        only = ((self._only(end.split("/")), end, _BY_NAME) for end in ends)
        for path, end, by in (*rooted, *only):
            if path is not None and path in self.files:
                return self._entry_below(Found(path, by), end, function)
        return None

    def _below_module_path(self, end: str) -> Found | None:
        folders = (self._folder or "/", *self._module_path)
        return next(filter(None, (self._at(normpath(join(folder, end))) for folder in folders)), None)

    def _entry_below(self, found: Found, end: str, function: str) -> Entry:
        """An entry whose imports are looked up in the folder below which its module stands, too."""
        root = found.path[: len(found.path) - len(end)].rstrip("/")
        return Entry(found, function, tuple(dict.fromkeys((root, *self._module_roots(found), *_ROOTS))))

    def _app(self, text: str, launcher: str, default: str) -> Entry | None:
        """`package.module:object`, `module:factory()`; and for a queue's worker `package.module`, `package.module.object`, or the package
        that has a module named as the launcher."""
        name, _, attribute = text.removeprefix("file:").partition(":")
        attribute = attribute.partition("(")[0]
        if name.endswith(".py") or "/" in name:
            return self.entry(self.file(name), attribute or default)
        found = self._module(name, attribute or default)
        if found is not None or attribute:
            return found
        package, _, last = name.rpartition(".")
        return self._module(f"{name}.{launcher}", default) or (self._module(package, last) if package else None)

    def _console_script(self, name: str) -> Entry | None:
        """A command that a Python project of the tree installs."""
        from gpulint.project.console_scripts import console_script

        script = console_script(name, self.files)
        if script is None:
            return None
        stem = "/".join(script.module.split("."))
        by = f"it calls {script.module}:{script.function}"
        for root in (script.folder, join(script.folder, "src")):
            for path in (join(root, f"{stem}.py"), join(root, stem, "__init__.py")):
                if path in self.files:
                    return Entry(Found(path, by, script.location), script.function, tuple(dict.fromkeys((root, *_ROOTS))))
        return None


def _may_be_python(path: str) -> bool:
    """Whether a file may hold Python by its name: a notebook or a shell script holds none."""
    name = path.rpartition("/")[2]
    return "." not in name or name.endswith((".py", ".pyw"))


_BY_NAME = "it is the only file here whose path ends so"
