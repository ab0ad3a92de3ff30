"""The command lines of docker and its kin: programs, sub-commands, and which of their flags take a value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import table, words


class Program(NamedTuple):
    """A program of the docker family: the `kin` whose flags it takes, the sub-command that it is by itself, the runtime that it sets.

    `only` are the sub-commands that are its kin's, where not all are.
    """

    kin: str
    command: str
    runtime: str
    only: tuple[str, ...]


class Flag(NamedTuple):
    """A flag by its long name without dashes."""

    name: str
    takes_value: bool


@cache
def program(name: str) -> Program | None:
    """The program of that name, with or without its folder; None where it is no container tool."""
    base = name.rpartition("/")[2]
    row = next((row for row in table("docker_cli")["programs"] if row["name"] == base), None)
    return Program(row["kin"], row.get("command", ""), row.get("runtime", ""), tuple(row.get("only", ()))) if row else None


def sub_command(called: Program, arguments: Sequence[str]) -> tuple[str, int] | None:
    """What the first words behind a program do ("run", "build" or "compose") and how many words say so; None for anything else."""
    if called.command:
        return called.command, 0
    for count in (2, 1):
        command = _sub_commands(called.kin).get(" ".join(arguments[:count]))
        if command and len(arguments) >= count and (not called.only or command in called.only):
            return command, count
    return None


def appends_words(name: str) -> bool:
    """Whether a program runs the command behind its options with further words that it reads elsewhere."""
    return name in words("docker_cli", "appending")


@cache
def _sub_commands(kin: str) -> dict[str, str]:
    rows = [row for row in table("docker_cli")["commands"] if row["kin"] == kin]
    return {words: row["command"] for row in rows for words in row["words"]}


@cache
def flags(kin: str, command: str) -> Mapping[str, Flag]:
    """The flags of a sub-command ("" for the program's own), by each spelling with its dashes.

    `compose` and what follows it are docker's for every kin.
    """
    owner = "docker" if command.startswith("compose") else kin
    rows = [row for row in table("docker_cli")["flags"] if row["program"] == owner and row["command"] == command]
    found: dict[str, Flag] = {}
    for row in rows:
        for spellings in map(str.split, row["flags"]):
            flag = Flag(spellings[0].removeprefix("--"), row["takes"] == "value")
            found.update(dict.fromkeys(spellings, flag))
    return found


@cache
def gpus_are_ids(kin: str) -> bool:
    """Whether `--gpus` names devices alone, and never how many."""
    return any(row["kin"] == kin and row["form"] == "ids" for row in table("docker_cli")["gpus"])


def names_image(expansion: str) -> bool:
    """Whether a variable in that expansion is called after an image and not after options: `$IMAGE`, `${buildImg}`, no `$IMAGE_OPTS`."""
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", expansion)]
    of_image = any(part.endswith(tuple(words("docker_cli", "image_names"))) for part in parts)
    return of_image and words("docker_cli", "option_names").isdisjoint(parts)


class BuildAction(NamedTuple):
    """A CI action that builds an image: the names of its inputs for the Dockerfile, context, target, tags, build arguments and push."""

    dockerfile: str
    context: str
    target: str
    tags: str
    arguments: str
    push: str


@cache
def build_action(name: str) -> BuildAction | None:
    """The action of that name, without its version; None where it builds no image."""
    rows = table("docker_cli")["build_actions"]
    return next((BuildAction(*(row[key] for key in BuildAction._fields)) for row in rows if row["action"] == name), None)


class LibraryCall(NamedTuple):
    """A call of a Python library that starts a container: the last names of it, and what its arguments without a name are.

    `on` are the qualified names of what it is a method of; empty where its own names tell enough.
    """

    library: str
    call: str
    positional: tuple[str, ...]
    on: tuple[str, ...]


@cache
def library_calls() -> tuple[LibraryCall, ...]:
    """The calls of Python libraries that start a container."""
    rows = table("docker_cli")["library_calls"]
    return tuple(
        LibraryCall(row["library"], call, tuple(row["positional"]), tuple(row.get("on", ()))) for row in rows for call in row["calls"]
    )


@cache
def call_options(library: str) -> Mapping[str, str]:
    """The option of `docker run`, without dashes, that each argument of a library's calls stands for."""
    rows = table("docker_cli")["library_arguments"]
    return {argument: option for row in rows if row["library"] == library for argument, option in row["options"].items()}


class QuadletKey(NamedTuple):
    """What a key of a Quadlet stands for: an option of `podman run`, with what comes before the value in it.

    `several` where its value may be several; a `switch` gives the option its prefix as the value where it is true.
    """

    option: str
    prefix: str
    several: bool
    switch: bool


@cache
def quadlet_keys() -> Mapping[str, QuadletKey]:
    """The keys of the section [Container] that stand for options of `podman run`."""
    rows = table("docker_cli")["quadlet_keys"]
    return {
        key: QuadletKey(option, row.get("prefix", ""), row.get("several", False), row.get("switch", False))
        for row in rows
        for key, option in row["options"].items()
    }
