"""What a report is made of: the findings of one run, and what is needed to show them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property

from gpulint.deferred import dataclass
from gpulint.discover import StrPath, is_below
from gpulint.rule import Entry, Finding
from gpulint.source import Source


@dataclass(frozen=True, eq=False)
class Run:
    """One run as the reports see it.

    `findings` are those to show and `suppressed` those that an ignore holds back, both in the order of `Finding.sort_key`; paths in them
    are relative to `root`, which is absolute. `rules` holds the entry of every rule that was on, by id. `source` gives a file by its
    path, or None where it cannot be read. `summary` is the sentence that says what was understood, `notices` are remarks of the engine
    on the run itself.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    rules: Mapping[str, Entry]
    source: Callable[[str], Source | None]
    root: StrPath
    version: str
    summary: str = ""
    notices: tuple[str, ...] = ()
    color: bool = False

    @cached_property
    def checkout(self) -> str:
        """The folder that GitHub counts paths from: in a workflow the checkout that the root lies in, else the root itself."""
        root, workspace = os.path.realpath(self.root), os.environ.get("GITHUB_WORKSPACE")
        return os.path.realpath(workspace) if workspace and is_below(root, os.path.realpath(workspace)) else root

    @cached_property
    def folder(self) -> str:
        """The root below the checkout, with a `/` behind it; "" where they are one."""
        inner = os.path.relpath(os.path.realpath(self.root), self.checkout)
        return "" if inner == "." else f"{inner}/"
