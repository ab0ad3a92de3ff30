"""Containers that a Python file starts: by words that it hands to a process without a shell (`["docker", "run", "--gpus", "all", image]`),
by a command that it hands to a shell (`os.system("docker run ...")`), or by a call of a library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from gpulint.deferred import regex
from gpulint.facts.commands import program_index
from gpulint.facts.docker_cli import program, sub_command
from gpulint.model.command import CommandLines, read_commands
from gpulint.model.container import Container
from gpulint.model.docker_calls import read_docker_calls
from gpulint.model.python_literals import HOLE, Literals, unknown
from gpulint.model.python_names import path_of
from gpulint.model.script import read_script
from gpulint.parse.python import location, parse
from gpulint.parse.shell import Script, SimpleCommand
from gpulint.source import Source, Text, Value, as_written

_OPEN = frozenset({"gpu", "shm", "env", "command", "image"})
"""What stands in a list is certain; what is added to it elsewhere is not known."""

_TAKE_COMMANDS = frozenset(
    {"system", "popen", "run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput", "split"}
)
"""The functions that take a command in one string: those of os and subprocess, and shlex.split."""

_NAMES_ENGINE = regex(r"\b(?:docker|podman|nerdctl|nvidia-docker)\s")

_LONGEST_START = 6
"""Among how many words the tool and its sub-command are looked for, behind `sudo` and its kin."""


def read_python_commands(source: Source) -> CommandLines:
    """The containers that lists of words in a Python file start, wherever such a list stands, and commands in one string, where a function
    is called that takes such; and the calls of a library."""
    tree = parse(source).tree
    if tree is None:
        return CommandLines()
    literals = Literals(source, tree)
    lists = (node for node in ast.walk(tree) if isinstance(node, (ast.List, ast.Tuple)) and _starts_container(node))
    containers = (container for node in lists for container in read_commands(_script(node, source, literals), "python").containers)
    listed = (replace(container, open=container.open | _OPEN) for container in containers)
    return CommandLines((*listed, *_of_strings(tree, literals), *read_docker_calls(tree, literals)))


def _of_strings(tree: ast.Module, literals: Literals) -> Iterator[Container]:
    """The containers of commands in one string. What is put into the string is not known, and may be any number of words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and path_of(node.func).rpartition(".")[2] in _TAKE_COMMANDS:
            command = literals.value(node.args[0])
            if command is not None and _NAMES_ENGINE.search(as_written(command)):
                yield from read_commands(read_script(_as_script(command), {}), "python string").containers


def _as_script(command: Value) -> Text:
    """The command as a shell gets it, with a variable for each part that is not known."""
    return Text(as_written(command).replace(HOLE, "$_"), command.location, ())


def _starts_container(node: ast.List | ast.Tuple) -> bool:
    """Whether a list begins with a container tool and a sub-command that starts a container."""
    first = [str(each.value) if isinstance(each, ast.Constant) else "" for each in node.elts[:_LONGEST_START]]
    at = program_index(first)
    called = program(first[at]) if at < len(first) else None
    found = sub_command(called, first[at + 1 :]) if called is not None else None
    return found is not None and found[0] == "run"


def _script(node: ast.List | ast.Tuple, source: Source, literals: Literals) -> Script:
    """The list as a command, with what may be added to it behind its own words."""
    words = (*_words(node, literals), unknown("...", location(source, node), many=True))
    return Script((SimpleCommand(words, location(source, node), tokens=tuple(word.location for word in words)),))


def _words(node: ast.List | ast.Tuple, literals: Literals) -> Iterator[Value]:
    """The words of a list: text as it reaches the process; what is worked out, and `*more`, is not known."""
    for each in node.elts:
        word = unknown("...", literals.location(each), many=True) if isinstance(each, ast.Starred) else literals.value(each)
        if word is not None:
            yield word
