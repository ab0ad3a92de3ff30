"""The script of a RUN: its shell form, its heredoc, or the command of its JSON form."""

from __future__ import annotations

from gpulint.deferred import regex
from gpulint.facts.commands import is_shell
from gpulint.model.scope import Scope
from gpulint.model.script import read_command, read_script
from gpulint.parse.dockerfile import Instruction
from gpulint.parse.shell import Script
from gpulint.parse.shell_syntax import joined
from gpulint.source import Location, Text


def read_run_script(instruction: Instruction, scope: Scope) -> Script:
    """The script of a RUN: its shell form, its heredoc alone, or the command of its JSON form."""
    if instruction.json is not None:
        return read_command(instruction.json, scope.variables) if instruction.json else Script(())
    if scope.shell is not None and not any(map(is_shell, scope.shell)):
        return Script(())
    heredocs = instruction.heredocs
    if len(heredocs) == 1 and _HEREDOC_ALONE.fullmatch(instruction.arguments):
        return read_script(heredocs[0].body, scope.variables) if _is_shell_script(heredocs[0].body) else Script(())
    return read_script(_with_heredocs(instruction), scope.variables)


_HEREDOC_ALONE = regex(r"\d*<<-?\s*[^\s<]+")
_SHEBANG = regex(r"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(\S+)")


def _is_shell_script(text: str) -> bool:
    shebang = _SHEBANG.match(text)
    return shebang is None or is_shell(shebang[1])


def _with_heredocs(instruction: Instruction) -> Text:
    """The arguments with the bodies of their heredocs, as a shell reads them."""
    parts = [instruction.arguments]
    for heredoc in instruction.heredocs:
        end = heredoc.body.location
        line_end = Location(end.path, end.line - 1, parts[-1].location.end_column, end.line - 1, parts[-1].location.end_column)
        name = Location(end.path, end.end_line, 1, end.end_line, len(heredoc.name) + 1)
        parts += [Text("\n", line_end), heredoc.body, Text(heredoc.name, name)]
    return joined(parts, instruction.arguments.location.to(parts[-1].location))
