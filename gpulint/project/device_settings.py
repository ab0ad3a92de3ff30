"""Settings of a program whose default is the CPU, and whether the container that runs it sets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts.python import reads_settings_file
from gpulint.model.module import DeviceDefault, FallbackKind
from gpulint.project.environment import variable
from gpulint.source import Unknown, as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container
    from gpulint.project import Project
    from gpulint.project.links import EntryPoint
    from gpulint.project.starts import Start

_CONFIG_FILES = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf", ".env")


class UnsetDefault(NamedTuple):
    """A setting that stays at its default, the CPU, in a container."""

    setting: DeviceDefault
    container: Container


def unset_defaults(entry: EntryPoint, project: Project) -> Iterator[UnsetDefault]:
    """The settings that the containers of an entry point leave at the CPU. None where the program uses the GPU by other ways too: it then
    is not known what the setting is for."""
    program = entry.program
    if program is None or program.raising or any(fallback.kind is FallbackKind.CHOICE for fallback in program.fallbacks):
        return
    for setting in program.device_defaults:
        if setting.kind == "variable" and _may_be_in_file(entry, project):
            continue
        for container, start in entry.containers:
            if not _may_set(setting, container, start, project):
                yield UnsetDefault(setting, container)


def _may_set(setting: DeviceDefault, container: Container, start: Start, project: Project) -> bool:
    """Whether a container sets a setting, or may: a part of its words or environment is not known."""
    if setting.kind == "variable":
        return "env" in container.open or variable(container, project, setting.name) is not None
    link = start.program
    words = [as_written(word) for word in link.arguments] if link is not None else []
    if link is None or "command" in container.open or any(isinstance(word, Unknown) for word in link.arguments):
        return True
    if setting.kind == "option":
        return any(word.partition("=")[0] in (setting.name, *setting.others) for word in words)
    return (
        _names_field(setting.name, words) or any(word.endswith(_CONFIG_FILES) for word in words) or _has_variable(setting.name, container)
    )


def _names_field(name: str, words: list[str]) -> bool:
    """Whether any word names a field of a class, as an option (`--device`, `--trainer.device`) or as `device=cuda`."""
    keys = (word.partition("=")[0].lstrip("-+").replace("-", "_") for word in words)
    return any(key.rpartition(".")[2] == name for key in keys)


def _has_variable(name: str, container: Container) -> bool:
    return "env" in container.open or any(str(each.name).lower().endswith(name.lower()) for each in container.env)


def _may_be_in_file(entry: EntryPoint, project: Project) -> bool:
    """Whether the program reads variables from a file of its own."""
    paths = entry.program.modules if entry.program is not None else ()
    modules = filter(None, map(project.tree.module, paths))
    return any(reads_settings_file(name) for module in modules for name in module.aliases.values())
