"""The indexes that an installer is configured with inside an image: by a file that is there, or by a command of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import basename
from posixpath import join as join_paths

from gpulint.deferred import regex
from gpulint.facts import words
from gpulint.facts.installers import configuration_files, configuration_variable
from gpulint.model.stage import Run, Stage
from gpulint.project.image_files import absolute
from gpulint.source import Source, Text, Value

Indexes = tuple[tuple[Value, ...], tuple[Value, ...]]
Reader = Callable[[str, Stage, Run], "Source | Text | None"]

_SETTING = regex(r"""^[ \t]*(index-url|extra-index-url|find-links)[ \t]*=((?:[\s\["',]*https?://[^\s"'\],]+)+)""", re.MULTILINE)
_ADDRESS = regex(r"""https?://[^\s"'\],]+""")
_ADDING = ("extra-index-url", "find-links")
_OF_UV = ("uv.toml", "pyproject.toml")


def configured_indexes(manager: str, stage: Stage, run: Run, read: Reader) -> Indexes:
    """All indexes that are configured where the RUN begins, and those of them that only add to the others. `read` gives what stands at an
    absolute path of the image."""
    found = [*_of_files(manager, stage, run, read), *_of_commands(manager, stage, run)]
    return tuple(value for _, value in found), tuple(value for key, value in found if key in _ADDING)


def _of_files(manager: str, stage: Stage, run: Run, read: Reader) -> Iterator[tuple[str, Value]]:
    for path in _paths(manager, stage, run):
        text = read(path, stage, run)
        if isinstance(text, Source) and basename(path) in _OF_UV:
            yield from _of_uv(text)
        elif text is not None:
            yield from _settings(text if isinstance(text, Text) else text.cut(0, len(text.text)))


def _paths(manager: str, stage: Stage, run: Run) -> Iterator[str]:
    """The configuration files of the machine, of the environment, and for uv those of the project in the folder that the RUN begins in."""
    yield from configuration_files(manager)
    named = stage.variable(configuration_variable(manager))
    if named is not None and isinstance(named.value, Text):
        yield named.value
    environment = stage.variable("VIRTUAL_ENV")
    if manager == "pip" and environment is not None and isinstance(environment.value, Text):
        yield join_paths(environment.value, "pip.conf")
    if manager == "uv":
        yield from filter(None, (absolute(run.working_directory, name) for name in _OF_UV))


def _of_uv(source: Source) -> Iterator[tuple[str, Value]]:
    from gpulint.parse.requirements import parse

    requirements = parse(source)
    for index in requirements.indexes if requirements.manager == "uv" else ():
        yield (_ADDING[0] if index in requirements.extra_indexes else "index-url"), index


def _settings(text: Text) -> Iterator[tuple[str, Value]]:
    for setting in _SETTING.finditer(text):
        for address in _ADDRESS.finditer(text, *setting.span(2)):
            yield setting[1], text.cut(*address.span())


def _of_commands(manager: str, stage: Stage, run: Run) -> Iterator[tuple[str, Value]]:
    """`pip config set global.index-url ADDRESS`, in this RUN or one before it."""
    runs = (each for own in reversed(stage.chain()) for each in own.runs)
    for each in runs if manager == "pip" else ():
        if each.instruction.location.path == run.instruction.location.path and each.instruction.location <= run.instruction.location:
            for command in each.script.commands:
                plain = [str(word) if isinstance(word, Text) else "" for word in command.words]
                if plain[1:3] == ["config", "set"] and len(plain) > 4 and plain[0] in words("installers", "configuring"):
                    yield plain[3].rpartition(".")[2], command.words[4]
