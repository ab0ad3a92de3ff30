"""The build context of a Dockerfile, and what the files in it say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from posixpath import dirname, join, normpath

from gpulint.discover import Kind
from gpulint.facts import words
from gpulint.model.stage import Dockerfile
from gpulint.project.tree import Tree
from gpulint.source import Text

_TELLING = (Kind.PYTHON, Kind.REQUIREMENTS, Kind.PYPROJECT, Kind.ENVIRONMENT, Kind.SHELL)


def likely_context(dockerfile: Dockerfile, tree: Tree) -> str:
    """The folder that a Dockerfile is likely built from: the nearest upward in which all that it copies is there, else the root."""
    sources = [str(source) for source in _copied(dockerfile)]
    folder = dirname(dockerfile.path)
    while folder:
        if all(_is_there(folder, source, tree) for source in sources):
            return folder
        folder = dirname(folder)
    return ""


def _copied(dockerfile: Dockerfile) -> Iterator[Text]:
    """What the stages copy from the build context by a name without wild cards."""
    for stage in dockerfile.stages:
        for copy in stage.copies:
            if copy.from_ is None:
                yield from (source for source in copy.sources if isinstance(source, Text) and not re.search(r"[*?\[]|://", source))


def _is_there(folder: str, source: str, tree: Tree) -> bool:
    path = normpath(join(folder, source.lstrip("/") or "."))
    return path in tree or path in tree.folders


def shows_compilation(folder: str, tree: Tree) -> bool:
    """Whether source code or requirements below a folder show that GPU code is compiled at run time."""
    inside = folder + "/" if folder else ""
    paths = (path for path in tree.paths(*_TELLING) if path.startswith(inside))
    sources = filter(None, map(tree.source, paths))
    return any(_compilation().search(source.data) for source in sources)


@cache
def _compilation() -> re.Pattern[bytes]:
    alternatives = b"|".join(re.escape(word.encode()) for word in sorted(words("anchors", "compilation")))
    return re.compile(rb"(?<![A-Za-z0-9_])(?:" + alternatives + rb")(?![A-Za-z0-9_])")
