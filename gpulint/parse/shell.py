"""POSIX shell and bash, as far as a linter needs them: the simple commands of a script with their words, and where each stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpulint.source import Location, Text, Value


class Assignment(NamedTuple):
    """`NAME=value`, alone or before a command; `exported` by `export` or because it stands before a command."""

    name: Text
    value: Value
    exported: bool


class Redirect(NamedTuple):
    """`> file`, `2>&1`, `< file`: the operator and its target; a heredoc's target is its body."""

    operator: str
    target: Value


@dataclass(frozen=True, eq=False)
class SimpleCommand:
    """One command: its words after quoting and known variables, and what it stands in.

    `words` holds an Unknown for each word with an expansion that the script does not decide; an unquoted unknown expansion may be
    any number of words. `operator` is what joins it to the command before it: "" at the start of a list, else `;`, `&&`, `||`, `|`,
    `&`; a newline counts as `;`. `block` names the compound commands around it from the outside in: "if", "then", "else", "while",
    "for", "case", "function NAME", "subshell", "group", "substitution".
    """

    words: tuple[Value, ...]
    location: Location
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    operator: str = ""
    block: tuple[str, ...] = ()

    @property
    def name(self) -> Text | None:
        """The program's word where it is known."""
        first = self.words[0] if self.words else None
        return first if isinstance(first, Text) else None


@dataclass(frozen=True, eq=False)
class Script:
    """A parsed script: its simple commands in file order, its literal assignments, and where reading stopped if it did."""

    commands: tuple[SimpleCommand, ...]
    error: str = ""
    error_location: Location | None = None


def parse(text: Text, variables: dict[str, Value] | None = None) -> Script:
    """Read a script, or a piece of one such as a RUN line.

    `variables` are known before its first line (ENV and ARG of a Dockerfile, `env:` of a CI step). Never raises; what cannot be read
    ends the script there, with `error` saying why.
    """
    raise NotImplementedError


def split(text: Text) -> tuple[Value, ...]:
    """The words of a string as Compose and other tools split it: shell quoting, no operators and no expansion but `$$`."""
    raise NotImplementedError
