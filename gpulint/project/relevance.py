"""Which files are worth parsing: those that hold an anchor, bytes without which no rule can speak of them.

A file may matter because it names a GPU itself, or because it runs what does: an image that is built here on a GPU base, or a program
of this repository that uses one. So the files that name a GPU are told first, and the others are asked for what these bring.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from posixpath import dirname

from gpulint.discover import Kind
from gpulint.facts import Row, table, words
from gpulint.facts.gpu_stack import anchors as stack_anchors
from gpulint.project.tree import Tree
from gpulint.source import Source


@cache
def anchors(key: str) -> tuple[bytes, ...]:
    """The anchors of that list of the facts."""
    return tuple(word.encode() for word in sorted(words("anchors", key)))


@cache
def rule_anchors(rule: str) -> tuple[Row, ...]:
    """The rows of a single rule's anchors, none where it is always asked."""
    return tuple(row for row in table("anchors")["rules"] if rule in row["rules"])


@cache
def _module_anchors(rule: str) -> tuple[tuple[bytes, ...], ...]:
    """Lists of words, of each of which a Python file holds one that a rule of modules has something to say of."""
    rows = (row for row in table("anchors")["module_rules"] if row["rule"] == rule)
    lists = (tuple(word.encode() for word in row["words"]) for row in rows)
    return tuple(sorted(lists, key=len))  # the shortest is searched first


def _holds_anchor(row: Row, text: bytes, lines: bytes) -> bool:
    """Whether a text, whose different lines are given as well, holds one of the row's words, one of those that must stand `twice`, or on
    a line what a pattern matches."""
    if any(word.encode() in lines for word in row.get("words", ())) or any(text.count(word.encode()) > 1 for word in row.get("twice", ())):
        return True
    return any(re.search(pattern.encode(), lines, re.MULTILINE) for pattern in row.get("patterns", ()))


def _holds_one(text: bytes, wanted: tuple[bytes, ...]) -> bool:
    for anchor in wanted:  # noqa: SIM110 - asked of every file, and a generator costs as much as the search
        if anchor in text:
            return True
    return False


class _Search:
    """A search for the many anchors of a list, of which none runs over lines. The lines of a repository are much alike, so each different
    one is searched once, which takes a fifth of the time."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._searched: set[bytes] = set()

    def finds(self, text: bytes) -> bool:
        """Whether a text, in lower case, holds one of the anchors."""
        lines = set(text.split(b"\n")) - self._searched
        if _holds_one(b"\n".join(lines), anchors(self._key)):
            return True
        self._searched |= lines
        return False


def is_aside(path: str) -> bool:
    """Whether a Python file is by its path no part of what anybody deploys: a test, an example, a benchmark, a notebook's."""
    aside = words("anchors", "aside")
    return any(word in aside for word in re.split(r"[^a-z]+", path.lower()))


def _base_name(path: str) -> bytes:
    return path.rpartition("/")[2].lower().encode("utf-8", "surrogateescape")


def _names_in(text: bytes, names: frozenset[bytes]) -> frozenset[bytes]:
    """The names that a text holds, and maybe some more with blanks in them; all of them where the search costs more than it spares."""
    words = b"\n".join(set(text.split()))  # each once: the Dockerfiles of a repository are much alike
    return names if len(names) * len(words) > _MOST_SEARCHED else frozenset(name for name in names if name.split()[-1] in words)


_MOST_SEARCHED = 1_000_000_000
"""Bytes that are searched for names: a part of a second."""

_OF_PROJECTS = ("setup.py", "setup.cfg", "Pipfile")
_MAY_BE_NAMED = (".txt", ".in", ".toml", ".cfg", ".lock", ".yml", ".yaml", ".py", "Pipfile")
_OF_BUILDS = (Kind.REQUIREMENTS, Kind.PYPROJECT, Kind.ENVIRONMENT, Kind.SHELL, Kind.MAKEFILE)


@cache
def _quoted_engines() -> tuple[bytes, ...]:
    """How the name of a container engine stands in Python code: among the words of a list, or in a command."""
    listed = (quote + engine + quote for engine in anchors("engines") for quote in (b'"', b"'"))
    return (*listed, *(engine + action for engine in anchors("engines") for action in (b" run", b" create", b" container ")))


_PIPELINES = (Kind.GITHUB, Kind.GITLAB)
_SCRIPTS = (Kind.SHELL, Kind.MAKEFILE, Kind.UNIT, *_PIPELINES)


class Relevance:
    """Tells which files of a tree matter. With `everything` all do, which costs time and changes no finding."""

    def __init__(self, tree: Tree, everything: bool = False) -> None:
        self._tree = tree
        self._everything = everything
        self._named: dict[str, bool] = {}
        self._gpu = _Search("gpu")
        self._launch = _Search("launch")
        self._modules: dict[str, tuple[str, ...]] = {}

    def names_gpu(self, path: str) -> bool:
        """Whether a file holds a GPU anchor itself."""
        if path not in self._named:
            self._named[path] = self._everything or self._finds(self._gpu, path)
        return self._named[path]

    def _finds(self, search: _Search, path: str) -> bool:
        source = self._tree.source(path)
        return source is not None and search.finds(source.lowered)

    def _holds(self, path: str, wanted: tuple[bytes, ...]) -> bool:
        source = self._tree.source(path)
        return source is not None and _holds_one(source.lowered, wanted)

    @cached_property
    def dockerfiles(self) -> tuple[str, ...]:
        """The Dockerfiles that name a GPU, or that may install from a file which does. The others are read when something that matters
        runs their image."""
        return tuple(path for path in self._tree.paths(Kind.DOCKERFILE) if self.names_gpu(path) or self._installs_for_gpu(path))

    def builds_may_concern(self, rule: str) -> bool:
        """Whether what images are built from holds an anchor of a rule of stages: without one it has nothing to say but notes."""
        rows = rule_anchors(rule)
        return self._everything or not rows or any(_holds_anchor(row, self._build_text, self._build_lines) for row in rows)

    def modules(self, rule: str) -> tuple[str, ...]:
        """The Python files that hold an anchor of a rule of modules: without one it has nothing to say of a file."""
        if rule not in self._modules:
            self._modules[rule] = tuple(self._with_anchors(rule))
        return self._modules[rule]

    def _with_anchors(self, rule: str) -> Iterator[str]:
        wanted = _module_anchors(rule)
        if self._everything or all(_holds_one(self._python_lines, each) for each in wanted):
            paths = self._tree.paths(Kind.PYTHON)
            yield from (path for path in paths if self._everything or all(self._holds(path, each) for each in wanted))

    @cached_property
    def _python_lines(self) -> bytes:
        """The different lines of all Python files: what none of them holds is searched once, and not in each file."""
        lines: set[bytes] = set()
        for source in self._sources_of(Kind.PYTHON):
            lines.update(source.lowered.split(b"\n"))
        return b"\n".join(lines)

    @cached_property
    def _build_text(self) -> bytes:
        """All that a build may read, in lower case: Dockerfiles, files of packages, scripts, and what a Dockerfile names."""
        dockerfiles = self._text_of(self._tree.paths(Kind.DOCKERFILE))
        candidates = [path for path in self._tree.all_paths if path.endswith(_MAY_BE_NAMED)]
        names = _names_in(dockerfiles, frozenset(map(_base_name, candidates)))
        named = (path for path in candidates if path.endswith(_OF_PROJECTS) or _base_name(path) in names)
        return dockerfiles + self._text_of((*self._tree.paths(*_OF_BUILDS), *named))

    @cached_property
    def _build_lines(self) -> bytes:
        """The different lines of that text: Dockerfiles are much alike."""
        return b"\n".join(dict.fromkeys(self._build_text.split(b"\n")))

    def _text_of(self, paths: Iterable[str]) -> bytes:
        return b"\n".join(source.lowered for source in map(self._tree.source, paths) if source is not None)

    def _sources_of(self, kind: Kind) -> Iterator[Source]:
        return (source for source in map(self._tree.source, self._tree.paths(kind)) if source is not None)

    def _installs_for_gpu(self, path: str) -> bool:
        return self._has_gpu_packages and self._holds(path, anchors("installs"))

    @cached_property
    def _has_gpu_packages(self) -> bool:
        """Whether a file of packages names a GPU."""
        return any(map(self.names_gpu, self._tree.paths(Kind.REQUIREMENTS, Kind.PYPROJECT, Kind.ENVIRONMENT)))

    @cached_property
    def _has_programs(self) -> bool:
        return any(self.names_gpu(path) for path in self._tree.paths(Kind.PYTHON))

    def _runs_ours(self, path: str, names: tuple[bytes, ...]) -> bool:
        """Whether a file may run an image that is built here, on a GPU base or with a program that uses a GPU, or such a program itself."""
        if (self.dockerfiles or self._has_programs) and self._holds(path, names):
            return True
        return self._has_programs and self._finds(self._launch, path)

    @cached_property
    def compose_files(self) -> tuple[str, ...]:
        """The Compose files that matter, and with each the others of its folder, since they may run together."""
        paths = self._tree.paths(Kind.COMPOSE)
        folders = {dirname(path) for path in paths if self.names_gpu(path) or self._runs_ours(path, (b"build",))}
        return tuple(path for path in paths if dirname(path) in folders)

    @cached_property
    def scripts(self) -> tuple[str, ...]:
        """The shell scripts, Makefiles, units and CI files that matter: they run a container engine, and something here names a GPU; those
        that run another tool where they name one themselves; and CI files that do, since their jobs run in containers. And the Python
        files that name a GPU and start containers."""
        named = (path for path in self._tree.paths(*_SCRIPTS) if self._everything or self._starts_something(path))
        return (*named, *self._programs_with_engine())

    def _programs_with_engine(self) -> Iterator[str]:
        """The Python files that may hold a command of a container engine, or that import a library for one."""
        wanted = (*_quoted_engines(), *anchors("libraries"))
        if _holds_one(self._python_lines, wanted):
            paths = self._tree.paths(Kind.PYTHON)
            yield from (path for path in paths if self._holds(path, wanted) and self.names_gpu(path))

    def _starts_something(self, path: str) -> bool:
        names_gpu = self.names_gpu(path)
        if names_gpu and (self._tree.kind(path) in _PIPELINES or self._holds(path, anchors("tools"))):
            return True
        if self._has_gpu_definitions and self._holds(path, anchors("job_containers")):
            return True
        return self._holds(path, anchors("engines")) and (names_gpu or self._has_gpu)

    @cached_property
    def _has_gpu_definitions(self) -> bool:
        """Whether an image that jobs run in is defined on what names a GPU."""
        return any(path.endswith(".def") and self.names_gpu(path) for path in self._tree.all_paths)

    @cached_property
    def sets_up_stack(self) -> bool:
        """Whether a manifest, a chart or a script may set up an operator or a device plugin."""
        words = stack_anchors()
        return any(self._holds(path, words) for path in (*self._tree.paths(Kind.MANIFEST, Kind.CHART), *self.scripts))

    @cached_property
    def _has_gpu(self) -> bool:
        """Whether anything that a container is built, started or programmed by names a GPU."""
        paths = self._tree.paths(Kind.DOCKERFILE, Kind.COMPOSE, Kind.MANIFEST, Kind.TEMPLATE, Kind.VALUES, Kind.PYTHON)
        return any(map(self.names_gpu, paths))

    @cached_property
    def other_starters(self) -> tuple[str, ...]:
        """The dev containers, task definitions and Quadlets that matter."""
        paths = self._tree.paths(Kind.DEVCONTAINER, Kind.TASK, Kind.UNIT)
        return tuple(path for path in paths if self.names_gpu(path) or self._runs_ours(path, (b"docker", b"image")))

    def manifests(self, image_names: frozenset[str]) -> tuple[str, ...]:
        """The Kubernetes manifests, kustomizations, templates and values that matter, given the names of the images that are built here."""
        names = tuple(name.lower().encode() for name in sorted(image_names))
        paths = self._tree.paths(Kind.MANIFEST, Kind.KUSTOMIZATION, Kind.TEMPLATE, Kind.VALUES)
        return tuple(path for path in paths if self.names_gpu(path) or self._runs_ours(path, names))
