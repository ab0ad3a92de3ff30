"""Where the files of an image come from: the build context, by COPY, ADD and bind mounts, also through other stages."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import basename, dirname, normpath
from posixpath import join as join_paths
from typing import TYPE_CHECKING

from gpulint.model.stage import Copy, Dockerfile, Run, Stage
from gpulint.project.tree import Tree
from gpulint.source import Text, Unknown, Value

if TYPE_CHECKING:
    from gpulint.parse.shell import SimpleCommand

_MOST_STAGES = 8  # copies from stages that copy from others
_WILD = frozenset("*?[")


class ImageFiles:
    """The files that a Dockerfile brings into its stages from its build context, a folder of the tree ("" for the root)."""

    def __init__(self, dockerfile: Dockerfile, context: str, tree: Tree) -> None:
        self._dockerfile = dockerfile
        self._context = context
        self._tree = tree

    def at(self, path: str, stage: Stage, run: Run | None = None) -> str | None:
        """The path in the repository of the file that stands at an absolute path of the stage's image: where that RUN of it runs, else at
        its end. None where no file of the repository is known to stand there."""
        mounted = self._mounted(path, run) if run else ()
        return next((origin for origin in (*mounted, *self._copied(path, stage, run, 0)) if origin in self._tree), None)

    def written(self, path: str, stage: Stage, run: Run) -> Text | None:
        """What stands at an absolute path of the stage's image where a heredoc of a COPY or ADD before the RUN writes it."""
        for each in stage.chain():
            for copy in reversed(each.copies):
                destination = copy.destination
                if not isinstance(destination, Text) or (each is stage and copy.instruction.location >= run.instruction.location):
                    continue
                for heredoc in copy.instruction.heredocs:
                    if path in (str(destination), join_paths(destination, heredoc.name)):
                        return heredoc.body
        return None

    def stage_of(self, copy: Copy) -> Stage | None:
        """The stage that a copy takes from; None where it takes from the build context or an image."""
        return self._dockerfile.stage(copy.from_) if isinstance(copy.from_, Text) else None

    def _mounted(self, path: str, run: Run) -> Iterator[str]:
        """What a bind mount of the RUN may bring to the path."""
        for mount in run.mounts:
            if mount.type != "bind" or mount.target is None:
                continue
            target = absolute(run.working_directory, mount.target)
            source = str(mount.source) if mount.source is not None else "."
            if target is None or not f"{path}/".startswith(target.rstrip("/") + "/"):
                continue
            inner = join_paths(source, path[len(target.rstrip("/")) :].lstrip("/")).rstrip("/")
            yield from self._origins(inner, mount.from_, 0)

    def _copied(self, path: str, stage: Stage, run: Run | None, depth: int) -> Iterator[str]:
        """What the copies before the RUN may have brought to the path, the latest first."""
        for each in stage.chain():
            for copy in reversed(each.copies):
                if run is not None and each is stage and copy.instruction.location >= run.instruction.location:
                    continue
                for source in copy.sources:
                    for inner in _sources_of(copy, source, path):
                        yield from self._origins(inner, copy.from_, depth)

    def _origins(self, path: str, from_: Value | None, depth: int) -> Iterator[str]:
        """Where a path of the build context, or of another stage, comes from."""
        if from_ is None:
            yield normpath(join_paths(self._context, path.lstrip("/") or "."))
            return
        stage = self._dockerfile.stage(from_) if isinstance(from_, Text) else None
        if stage is not None and depth < _MOST_STAGES:
            yield from self._copied(normpath(join_paths("/", path)), stage, None, depth + 1)


def absolute(directory: Value | None, path: str) -> str | None:
    """A path of an image from its root, in the WORKDIR; None where that cannot be known. Where the base image decides it, the root stands
    for it: what is copied and what is run there are both relative to the same folder."""
    if isinstance(directory, Unknown):
        return None
    return normpath(join_paths("/", str(directory) if directory is not None else "", path))


def entered(command: SimpleCommand, folder: Value | None) -> Value | None:
    """The folder that the commands behind one of a RUN run in, where that runs in `folder`."""
    if command.name != "cd" or len(command.words) < 2 or "subshell" in command.block:
        return folder
    target = command.words[-1]
    if isinstance(target, Unknown):
        return target
    place = absolute(folder, target)
    return Unknown(str(target), target.location) if place is None else Text(place, target.location, ())


def brings(copy: Copy, path: str) -> bool:
    """Whether a COPY or ADD may put something at an absolute path of the image."""
    return any(True for source in copy.sources for _ in _sources_of(copy, source, path))


def _sources_of(copy: Copy, source: Value, path: str) -> Iterator[str]:
    """What of a copy's source stands at the path once it is copied: a file, or what lies in a folder, as a path from where it is taken."""
    if isinstance(source, Unknown) or isinstance(copy.target, Unknown) or "://" in source:
        return
    target = absolute(copy.working_directory, copy.target)
    if target is None:
        return
    taken = str(source) if copy.from_ is not None else source.lstrip("/") or "."
    folder = target.rstrip("/") + "/"
    if path == target:
        yield taken
    if not path.startswith(folder):
        return
    inner = path.removeprefix(folder)
    if copy.instruction.flag("parents") is not None:
        whole = normpath(taken)
        yield from [inner] if whole in (".", inner) or inner.startswith(whole + "/") else []
        return
    name = basename(taken.rstrip("/"))
    if _WILD & set(name):
        if "/" not in inner and fnmatchcase(inner, name):
            yield join_paths(dirname(taken), inner)
        return
    if inner == name:
        yield taken
    yield join_paths(taken, inner)
