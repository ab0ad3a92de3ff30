"""What the scripts, Makefiles and CI files of a tree build and start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import dirname
from posixpath import join as join_paths
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.model.command import CommandLine, CommandLines, ComposeCall, ImageBuild, read_commands
from gpulint.model.script import read_script, with_inner_scripts
from gpulint.parse.shell import LONGEST_SCRIPT
from gpulint.project.tree import Tree
from gpulint.source import Source, Text

if TYPE_CHECKING:
    from gpulint.model.container import Container


_TEST_FILE = regex(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
"""Python files whose commands are those that a test expects, and nobody runs."""


class Started(NamedTuple):
    """The containers that commands start, the images that they build, the lists of Compose files that they run together, and the commands
    themselves."""

    containers: tuple[Container, ...] = ()
    builds: tuple[ImageBuild, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    commands: tuple[CommandLine, ...] = ()


def read_started(tree: Tree, paths: Iterable[str]) -> Started:
    """Everything that the commands in these files start and build."""
    lines = [each for path in paths for each in _lines(tree, path)]
    calls = [call for each in lines for call in each.compose_calls]
    together = tuple(dict.fromkeys(filter(None, (_files(call, tree) for call in calls))))
    containers = tuple(container for each in lines for container in each.containers)
    commands = tuple(command for each in lines for command in each.commands)
    return Started(containers, tuple(build for each in lines for build in each.builds), together, commands)


def _lines(tree: Tree, path: str) -> Iterator[CommandLines]:
    source, kind = tree.source(path), tree.kind(path)
    if source is None:
        return
    if kind in (Kind.SHELL, Kind.MAKEFILE) and len(source.text) > LONGEST_SCRIPT:
        tree.unreadable[path] = f"has {len(source.text) // 1024} KiB, over the limit of {LONGEST_SCRIPT // 1024} KiB for a script"
    elif kind is Kind.SHELL:
        yield read_commands(read_script(source.cut(0, len(source.text)), {}))
    elif kind is Kind.MAKEFILE:
        yield from _of_makefile(source)
    elif kind is Kind.UNIT:
        yield _of_unit(source)
    elif kind is Kind.PYTHON:
        if not _TEST_FILE.search(path):
            yield _of_python(source)
    else:
        yield from _of_pipeline(tree, path, kind)


def _of_makefile(source: Source) -> Iterator[CommandLines]:
    from gpulint.parse.makefile import parse

    return (read_commands(with_inner_scripts(recipe.script, {}), "make") for recipe in parse(source))


def _of_unit(source: Source) -> CommandLines:
    from gpulint.model.unit import read_service
    from gpulint.parse.unit import parse_unit

    return read_service(parse_unit(source))


def _of_python(source: Source) -> CommandLines:
    from gpulint.model.python_commands import read_python_commands

    return read_python_commands(source)


def _of_pipeline(tree: Tree, path: str, kind: Kind | None) -> Iterator[CommandLines]:
    """The commands of a CI file, and the containers and builds of its own keys."""
    from gpulint.model.github import read_workflow
    from gpulint.model.gitlab import read_gitlab

    syntax = tree.yaml(path)
    if syntax is not None:
        yield from (read_workflow if kind is Kind.GITHUB else read_gitlab)(path, syntax).lines


def _files(call: ComposeCall, tree: Tree) -> tuple[str, ...]:
    """The files of a Compose call as paths: from its project directory, else from where it runs in a script that is started from the root,
    else from the folder of the script."""
    names = [str(name) for name in call.files if isinstance(name, Text)]
    if len(names) < 2 or len(names) != len(call.files):
        return ()
    for base in _bases(call):
        paths = [tree.resolve("", join_paths(base, name)) for name in names]
        if all(path in tree for path in paths if path) and all(paths):
            return tuple(path for path in paths if path)
    return ()


def _bases(call: ComposeCall) -> Iterator[str]:
    """The folders that the files of a Compose call may count from."""
    script = dirname(call.location.path)
    if isinstance(call.project_directory, Text):
        yield str(call.project_directory)
    elif call.folder is not None:
        yield from (call.folder.from_root(start, script) for start in ("", script))
