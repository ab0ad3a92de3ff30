"""The processes that a container starts: its commands, how many of them share the GPUs, and what shows that they share memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.facts import words
from gpulint.facts.commands import (
    is_sharing_server,
    loader_workers,
    model_server,
    parallel_processes,
    process_count,
    shares_between_gpus,
    sharing_server,
    spreads_over_nodes,
)
from gpulint.facts.images import brought_packages
from gpulint.model.grant import granted
from gpulint.parse.quantity import parse_natural
from gpulint.project import Project
from gpulint.project.container_image import base_of, facts_of
from gpulint.project.entrypoint import Words, effective_words, script_of
from gpulint.project.environment import entry_scripts
from gpulint.source import Location, Text, Unknown, as_written

if TYPE_CHECKING:
    from gpulint.facts.commands import Option
    from gpulint.model.container import Container
    from gpulint.model.module import Call
    from gpulint.project.programs import Program

_LOADER = "torch.utils.data.DataLoader"
_ONE_FOR_EACH_GPU = ("gpu", "auto")


class Setting(NamedTuple):
    """An option with a known number, where it stands, and how it is written."""

    number: int
    location: Location
    shown: str


class Sign(NamedTuple):
    """What shows that processes share memory, as a clause for a message, and where it stands."""

    says: str
    location: Location


@lru_cache(maxsize=10_000)
def commands_of(container: Container, project: Project) -> tuple[Words, ...]:
    """The commands that the container runs: its own words or those of its image, what a shell in them runs, and those of the entry scripts
    of this repository."""
    built = project.build_of(container)
    stage = built.stage if built else None
    own = effective_words(
        container.dialect,
        container.entrypoint,
        container.arguments,
        stage.entrypoint if stage else None,
        stage.command if stage else None,
    )
    variables = {str(each.name): each.value for each in container.env if each.value is not None}
    scripts = (*([script_of(own, variables)] if own else ()), *entry_scripts(container, project))
    commands = (command for script in scripts for command in script.commands)
    return tuple(command.words for command in commands if command.words and "substitution" not in command.block)


def words_of_commands(container: Container, project: Project) -> Iterator[list[str]]:
    """The same as words for a look-up: an unknown one as it is written."""
    return ([as_written(word) for word in command] for command in commands_of(container, project))


def processes_of(command: Words) -> Setting | None:
    """How many processes or GPUs on this machine a command asks for; None where it says no number, or spreads over several machines."""
    plain = [as_written(word) for word in command]
    return None if spreads_over_nodes(plain) else _setting(process_count(plain), command)


def stated_processes(container: Container) -> Setting | None:
    """The number of processes that a training job says for the container."""
    stated = container.processes
    number = parse_natural(stated) if isinstance(stated, Text) else None
    if not isinstance(stated, Text) or number is None:
        return None
    return Setting(number, stated.location, f"a number of {stated} processes on each node")


def _setting(option: Option | None, command: Words) -> Setting | None:
    """The option's number, where its value is one word that is known."""
    number = parse_natural(option.value) if option is not None and option.value is not None else None
    if option is None or number is None or not isinstance(command[option.value_at], Text):
        return None
    name, value = command[option.at], command[option.value_at]
    shown = as_written(name) if option.at == option.value_at else f"{as_written(name)} {as_written(value)}"
    return Setting(number, name.location, shown)


def sharing(container: Container, project: Project) -> Sign | None:
    """What shows that the container's processes share memory; None where nothing does."""
    for command in commands_of(container, project):
        sign = _of_command(command, granted(container))
        if sign:
            return sign
    by_image = _of_image(container)
    if by_image:
        return by_image
    program = project.program_of(container)
    return _of_program(program, project) if program is not None else None


def may_use_several(container: Container, project: Project) -> bool:
    """Whether anything shows that the container's program may use more than one GPU: an option that is not known to say one, a server that
    takes all it is given, or a word in the code of its program."""
    facts = facts_of(container, project)
    takes_all = facts is not None and facts.model_server and not _has_sharing_server(container, project)
    chosen = container.variable("CUDA_VISIBLE_DEVICES")
    if takes_all or (chosen is not None and (not isinstance(chosen.value, Text) or "," in chosen.value)):
        return True
    for command in words_of_commands(container, project):
        every = process_count(command)
        if (every is not None and every.value != "1") or shares_between_gpus(command):
            return True
        if model_server(command) and not sharing_server(command):
            return True
    program = project.program_of(container)
    sources = map(project.tree.source, program.modules) if program is not None else iter(())
    return any(source is not None and word.encode() in source.data for source in sources for word in words("commands", "several_gpus"))


def serves_model(container: Container, project: Project) -> bool:
    """Whether the container runs a server of large models: by its command, or by its image, whose own entrypoint starts one."""
    if any(map(model_server, words_of_commands(container, project))):
        return True
    facts = facts_of(container, project)
    return facts is not None and facts.model_server and not container.entrypoint


def most_loader_workers(container: Container, project: Project) -> Setting | None:
    """The largest literal number of worker processes that load data in the container's commands."""
    found = [_setting(loader_workers([as_written(word) for word in command]), command) for command in commands_of(container, project)]
    return max(filter(None, found), key=lambda setting: setting.number, default=None)


def _has_sharing_server(container: Container, project: Project) -> bool:
    image = base_of(container, project)
    return image is not None and any(is_sharing_server(name) for name, _ in brought_packages(image.repository, None))


def _of_command(command: Words, count: int | None) -> Sign | None:
    plain = [as_written(word) for word in command]
    several = count is None or count > 1
    processes = _setting(process_count(plain), command) if several else None
    if processes and processes.number > 1:
        return Sign(f"its command says {processes.shown}", processes.location)
    workers = _setting(loader_workers(plain), command)
    if workers and workers.number > 0:
        return Sign(f"its command says {workers.shown}", workers.location)
    every = parallel_processes(plain)
    if every and every.value in _ONE_FOR_EACH_GPU and count is not None and count > 1:
        return Sign(f"its command starts a process for each of {count} GPUs", command[every.at].location)
    strategy = shares_between_gpus(plain)
    if strategy and count is not None and count > 1:
        return Sign(f"its command says {strategy.value} with {count} GPUs", command[strategy.at].location)
    if sharing_server(plain) and count is not None and count > 1:
        return Sign(f"it serves a model on {count} GPUs", command[0].location)
    return None


def _of_image(container: Container) -> Sign | None:
    """A server in the image that its own entrypoint starts, on several GPUs."""
    image, count = container.image, granted(container)
    if image is None or count is None or count < 2 or isinstance(image.name, Unknown) or container.entrypoint:
        return None
    serves = any(is_sharing_server(name) for name, _ in brought_packages(image.repository, None))
    return Sign(f"{image.shown} serves a model on {count} GPUs", image.location) if serves else None


def _of_program(program: Program, project: Project) -> Sign | None:
    """The first DataLoader of the program's modules that has workers."""
    for path in program.modules:
        module = project.tree.module(path)
        calls = (call for scope in module.scopes.values() for call in scope.calls) if module is not None else iter(())
        call = next((call for call in calls if call.name == _LOADER and _workers(call) > 0), None)
        if call is not None:
            return Sign(f"its program {path} loads data with {_workers(call)} worker processes", call.location)
    return None


def _workers(call: Call) -> int:
    answer = call.arguments.get("num_workers")
    number = answer.value if answer is not None and answer.decided else 0
    return number if isinstance(number, int) else 0
