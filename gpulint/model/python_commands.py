"""Commands that a Python file hands to a process without a shell: `["docker", "run", "--gpus", "all", image]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from gpulint.facts.commands import program_index
from gpulint.facts.docker_cli import program, sub_command
from gpulint.model.command import CommandLines, read_commands
from gpulint.parse.python import location, parse
from gpulint.parse.shell import Script, SimpleCommand, UnknownWord
from gpulint.source import Source, Text, Value

_OPEN = frozenset({"gpu", "shm", "env", "command", "image"})
"""What stands in a list is certain; what is added to it elsewhere is not known."""

_LONGEST_START = 6
"""Among how many words the tool and its sub-command are looked for, behind `sudo` and its kin."""


def read_python_commands(source: Source) -> CommandLines:
    """The containers that lists of words in a Python file start, wherever such a list stands."""
    tree = parse(source).tree
    nodes = ast.walk(tree) if tree is not None else ()
    lists = (node for node in nodes if isinstance(node, (ast.List, ast.Tuple)) and _starts_container(node))
    containers = (container for node in lists for container in read_commands(_script(node, source), "python").containers)
    return CommandLines(tuple(replace(container, open=container.open | _OPEN) for container in containers))


def _starts_container(node: ast.List | ast.Tuple) -> bool:
    """Whether a list begins with a container tool and a sub-command that starts a container."""
    first = [str(each.value) if isinstance(each, ast.Constant) else "" for each in node.elts[:_LONGEST_START]]
    at = program_index(first)
    called = program(first[at]) if at < len(first) else None
    found = sub_command(called, first[at + 1 :]) if called is not None else None
    return found is not None and found[0] == "run"


def _script(node: ast.List | ast.Tuple, source: Source) -> Script:
    """The list as a command, with what may be added to it behind its own words."""
    place = location(source, node)
    nothing = Text("", place, ())
    words = (*_words(node, source), UnknownWord("...", place, nothing, nothing, many=True))
    return Script((SimpleCommand(words, place, tokens=tuple(word.location for word in words)),))


def _words(node: ast.List | ast.Tuple, source: Source) -> Iterator[Value]:
    """The words of a list: text as it reaches the process; what is worked out, and `*more`, is not known."""
    for each in node.elts:
        place = location(source, each)
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield Text(each.value, place, ())
            continue
        prefix = each.values[0] if isinstance(each, ast.JoinedStr) and each.values else None
        known = prefix.value if isinstance(prefix, ast.Constant) and isinstance(prefix.value, str) else ""
        yield UnknownWord(f"{known}...", place, Text(known, place, ()), Text("", place, ()), many=isinstance(each, ast.Starred))
