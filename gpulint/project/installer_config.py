"""The indexes that an installer is configured with inside an image: by a file that is copied in, or by a command of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.deferred import regex
from gpulint.facts import words
from gpulint.facts.installers import configuration_files
from gpulint.model.stage import Run, Stage
from gpulint.project.image_files import ImageFiles
from gpulint.project.tree import Tree
from gpulint.source import Source, Text, Value

Indexes = tuple[tuple[Value, ...], tuple[Value, ...]]

_SETTING = regex(r"""^[ \t]*(index-url|extra-index-url|find-links)[ \t]*=[ \t]*\[?["']?(https?://[^\s"'\]]+)""", re.MULTILINE)
_ADDING = ("extra-index-url", "find-links")


def configured_indexes(manager: str, stage: Stage, run: Run, files: ImageFiles, tree: Tree) -> Indexes:
    """All indexes that are configured where the RUN begins, and those of them that only add to the others."""
    found = [*_of_files(manager, stage, run, files, tree), *_of_commands(manager, stage, run)]
    return tuple(value for _, value in found), tuple(value for key, value in found if key in _ADDING)


def _of_files(manager: str, stage: Stage, run: Run, files: ImageFiles, tree: Tree) -> Iterator[tuple[str, Value]]:
    for path in configuration_files(manager):
        origin = files.at(path, stage, run)
        source = tree.source(origin) if origin is not None else None
        if source is not None:
            yield from _settings(source)


def _settings(source: Source) -> Iterator[tuple[str, Value]]:
    for match in _SETTING.finditer(source.text):
        yield match[1], source.cut(match.start(2), match.end(2))


def _of_commands(manager: str, stage: Stage, run: Run) -> Iterator[tuple[str, Value]]:
    """`pip config set global.index-url ADDRESS`, in this RUN or one before it."""
    runs = (each for own in reversed(stage.chain()) for each in own.runs)
    for each in runs if manager == "pip" else ():
        if each.instruction.location.path == run.instruction.location.path and each.instruction.location <= run.instruction.location:
            for command in each.script.commands:
                plain = [str(word) if isinstance(word, Text) else "" for word in command.words]
                if plain[1:3] == ["config", "set"] and len(plain) > 4 and plain[0] in words("installers", "configuring"):
                    yield plain[3].rpartition(".")[2], command.words[4]
