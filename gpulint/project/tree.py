"""The files of a run: each read once and parsed once, by its path from the root."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

from gpulint.deferred import regex
from gpulint.discover import Kind, StrPath, Unreadable, classify, kind_by_content, read_file, text_of
from gpulint.facts.gpu_stack import may_hold_config
from gpulint.facts.workloads import says_nothing_of_workloads
from gpulint.source import Location, Source

if TYPE_CHECKING:
    from gpulint.model.module import Module
    from gpulint.parse.dockerfile import DockerfileSyntax
    from gpulint.parse.python import PythonSyntax
    from gpulint.parse.yaml import YamlSyntax
    from gpulint.project.newer_python import PythonReader

Syntax = TypeVar("Syntax")


class Tree:
    """The files below the root. Paths are relative to it, with `/`; what lies outside it, is missing or cannot be read gives None.

    `unreadable` says of each file that was asked for and could not be read why; `rendered` are the templates of which it is known what they
    render, as far as that matters.
    """

    def __init__(
        self,
        root: StrPath,
        paths: Iterable[str],
        given: dict[str, bytes] | None = None,
        documents: Mapping[str, str] | None = None,
    ) -> None:
        """`given` holds files whose bytes do not come from the disk, such as standard input. Of those that are blocks of code in a
        document `documents` has the path of it."""
        self.root = root
        self.unreadable: dict[str, str] = {}
        self.rendered: set[str] = set()
        self.documents = documents or {}
        self._given = given or {}
        self._sources: dict[str, Source | None] = {}
        self._syntax: dict[tuple[str, str], object] = {}
        self._modules: dict[str, Module] = {}
        self._all = frozenset(paths) | frozenset(self._given)
        self._kinds = classify(self._all)
        self._of_kinds: dict[tuple[Kind, ...], tuple[str, ...]] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._all

    @property
    def all_paths(self) -> frozenset[str]:
        """Every file of the root, of whatever kind."""
        return self._all

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder below the root that holds a file, itself or in a folder of its own."""
        folders: set[str] = set()
        for path in self._all:
            while (path := posixpath.dirname(path)) and path not in folders:
                folders.add(path)
        return frozenset(folders)

    def paths(self, *kinds: Kind) -> tuple[str, ...]:
        """The paths of the files of these kinds, sorted."""
        if kinds not in self._of_kinds:
            self._of_kinds[kinds] = tuple(sorted(path for kind in kinds for path in self._by_kind.get(kind, ())))
        return self._of_kinds[kinds]

    def kind(self, path: str) -> Kind | None:
        """What a file is; None for one of no kind that is read."""
        kind = self._kinds.get(path)
        if kind is None and path in self._kinds:
            source = self.source(path)
            kind = self._kinds[path] = kind_by_content(path, source.data) if source else None
            if kind is None:
                del self._kinds[path]
        return kind

    @cached_property
    def _by_kind(self) -> dict[Kind, list[str]]:
        groups: dict[Kind, list[str]] = {}
        for path in list(self._kinds):
            kind = self.kind(path)
            if kind:
                groups.setdefault(kind, []).append(path)
        return groups

    def resolve(self, base: str, reference: str) -> str | None:
        """The path that `reference` names from the folder of the file `base`, or from `base` itself where it ends in `/` or is empty.

        None where it lies outside the root or is no relative path.
        """
        if not reference or reference.startswith(("/", "~")) or "://" in reference:
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(base), reference))
        return None if path.startswith("../") or path == ".." else path.removeprefix("./")

    def source(self, path: str) -> Source | None:
        """A file's text; each is read once."""
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def _read(self, path: str) -> Source | None:
        if path not in self._all:
            return None
        try:
            data = text_of(self._given[path]) if path in self._given else read_file(self.root, path)
        except Unreadable as error:
            if self._would_matter(path, error.head):
                self.unreadable[path] = str(error)
            return None
        if data is not None and path.endswith(".py") and (b"\r" in data or not data.isascii()):
            from gpulint.parse.python_text import in_utf8

            data = in_utf8(data)
        return None if data is None else Source(path, data)

    def _would_matter(self, path: str, head: bytes) -> bool:
        """Whether a file that cannot be read is of some kind, as far as its name and what was read of it tell."""
        if self._kinds.get(path) or kind_by_content(path, head):
            return True
        return not head and path.endswith((".yaml", ".yml"))

    def problems(self) -> Iterator[tuple[str, str, Location]]:
        """Path, message and place of what could not be parsed of the files read so far."""
        for (_, path), syntax in self._syntax.items():
            for problem in getattr(syntax, "problems", ()):
                yield path, problem.message, problem.location

    def yaml(self, path: str) -> YamlSyntax | None:
        """A YAML or JSON file's documents, without Kubernetes objects that start no container; a Helm template's by the template reader."""
        if self._kinds.get(path) is Kind.TEMPLATE:
            from gpulint.parse.template import parse_template

            return self._parsed("template", path, parse_template)
        from gpulint.parse.template import parse_either

        return self._parsed("yaml", path, lambda source: parse_either(source, _may_hold_workload))

    def dockerfile(self, path: str) -> DockerfileSyntax | None:
        """A Dockerfile's instructions."""
        from gpulint.parse.dockerfile import parse

        return self._parsed("dockerfile", path, parse)

    def parse_python(self, source: Source) -> PythonSyntax:
        """The tree of Python code, which is the caller's own."""
        return self._python_reader.read(source)

    @cached_property
    def _python_reader(self) -> PythonReader:
        from gpulint.project.newer_python import PythonReader

        return PythonReader()

    def module(self, path: str) -> Module | None:
        """What a Python file does with a GPU; None where it cannot be parsed either."""
        syntax = self._parsed("python", path, self.parse_python)
        source = self.source(path)
        if syntax is None or syntax.tree is None or source is None:
            return None
        if path not in self._modules:
            from gpulint.model.python_reader import read_module

            self._modules[path] = read_module(source, syntax.tree)
        return self._modules[path]

    def _parsed(self, form: str, path: str, parse: Callable[[Source], Syntax]) -> Syntax | None:
        source = self.source(path)
        if source is None:
            return None
        if (form, path) not in self._syntax:
            self._syntax[form, path] = parse(source)
        return self._syntax[form, path]  # type: ignore[return-value]


def paths_named(paths: frozenset[str], name: str) -> Sequence[str]:
    """The paths whose last part is that name, sorted."""
    return _by_name(paths).get(name, ())


@lru_cache(maxsize=2)
def _by_name(paths: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


_KIND = regex(r"^kind:[ \t]*[\"']?(\w+)", re.MULTILINE)


def _may_hold_workload(document: str) -> bool:
    """Whether a YAML document may start a container or bear on one, by its kind. Schemas and the data of ConfigMaps are most of what many
    repositories hold."""
    kind = _KIND.search(document)
    if kind is None or not says_nothing_of_workloads(kind[1]):
        return True
    return kind[1] == "ConfigMap" and may_hold_config(document)
