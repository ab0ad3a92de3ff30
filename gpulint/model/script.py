"""Scripts with the scripts in them: what `bash -c "..."` and `bash <<EOF` run counts as commands too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpulint.facts.commands import is_shell, launched, program_index
from gpulint.parse.shell import Script, SimpleCommand, parse
from gpulint.source import Text, Value

_DEEPEST = 4  # scripts in scripts; each level of quoting doubles the escapes, so that real ones have two


def read_script(text: Text, variables: Mapping[str, Value]) -> Script:
    """Read a script. The commands of a script that a shell in it runs follow that shell's command, in a block named "script"."""
    return with_inner_scripts(parse(text, variables), variables)


def read_command(words: tuple[Text, ...], variables: Mapping[str, Value]) -> Script:
    """A command that no shell reads, in the form of a script: its words as they are, and what a shell among them runs."""
    location = words[0].location.to(words[-1].location)
    command = SimpleCommand(words, location, tokens=tuple(word.location for word in words))
    return with_inner_scripts(Script((command,)), variables)


def with_inner_scripts(script: Script, variables: Mapping[str, Value]) -> Script:
    """A script with the commands of the scripts that a shell in it runs, each behind that shell's command in a block named "script"."""
    commands = tuple(_flattened(script, variables, 0))
    return script if len(commands) == len(script.commands) else replace(script, commands=commands)


def _flattened(script: Script, variables: Mapping[str, Value], depth: int) -> Iterator[SimpleCommand]:
    for command in script.commands:
        yield command
        inner = _inner_script(command) if depth < _DEEPEST else None
        if inner is not None:
            for each in _flattened(parse(inner, variables), variables, depth + 1):
                yield replace(each, block=(*command.block, "script", *each.block))


def _inner_script(command: SimpleCommand) -> Text | None:
    """The script that the command has a shell run, where it is written in the command."""
    words = command.known
    at = program_index(words)
    launch = launched(words)
    if at < len(words) and is_shell(words[at]) and launch is None:
        heredocs = [each.target for each in command.redirects if each.operator.startswith("<<")]
        return heredocs[-1] if heredocs and isinstance(heredocs[-1], Text) else None
    code = command.words[launch.at] if launch is not None and launch.form == "shell-code" else None
    return code if isinstance(code, Text) else None
