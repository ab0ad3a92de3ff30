"""Settings of a program whose default is the CPU, and whether the container that runs it sets them."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts.python import is_device_name, is_other_device, literal, reads_settings_file
from gpulint.model.module import DeviceDefault, FallbackKind
from gpulint.parse.nodes import Mapping, Scalar, Sequence
from gpulint.project.environment import variable
from gpulint.source import Unknown, as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container
    from gpulint.parse.nodes import Node
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
    for setting in (*program.device_defaults, *_config_entries(entry, project)):
        if (setting.kind == "variable" and _may_be_in_file(entry, project)) or (setting.is_switch and not program.cpu_modes):
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
    if setting.kind in ("option", "parameter"):
        given = any(word.partition("=")[0] in (setting.name, *setting.others) for word in words)
        return given or (setting.kind == "parameter" and any(not word.startswith("-") for word in words))
    chooses_file = any(word.endswith(_CONFIG_FILES) or "config" in word or word.startswith("-c") for word in words)
    return _names_field(setting.name, words) or chooses_file or _has_variable(setting.name, container)


def _config_entries(entry: EntryPoint, project: Project) -> Iterator[DeviceDefault]:
    """The devices in the files of settings that a program reads, where all that a file names are the CPU."""
    for file in entry.program.config_files if entry.program is not None else ():
        beside = normpath(join(dirname(file.reader), file.name))
        found = [path for path in ((beside,) if file.is_beside else {beside, file.name}) if path in project.tree]
        syntax = project.tree.yaml(found[0]) if len(found) == 1 else None
        roots = [document.root for document in syntax.documents] if syntax is not None else []
        devices = [each for root in roots if not _takes_others(root) for each in _devices(root)]
        if all(literal(value) == "cpu" for _, value in devices):
            yield from (DeviceDefault("entry", str(key), value, value.location) for key, value in devices)


def _takes_others(root: Node | None) -> bool:
    """Whether a file of settings of Hydra is put together with others, which may say another device."""
    return isinstance(root, Mapping) and any(item != "_self_" for item in root.sequence("defaults"))


def _devices(root: Node | None) -> Iterator[tuple[Scalar, Scalar]]:
    """The entries of a file of settings that name a device to compute on."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        if id(node) in seen or not isinstance(node, (Mapping, Sequence)):
            continue
        seen.add(id(node))
        entries = node.entries if isinstance(node, Mapping) else ()
        for key, value, _ in entries:
            if isinstance(value, Scalar) and is_device_name(key) and not is_other_device(key) and literal(value):
                yield key, value
        pending.extend([each.value for each in entries] if isinstance(node, Mapping) else node.items)


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
