"""GPU507: `helm --set`, or a parameter that becomes one, names a GPU resource or label, and helm takes the name apart at its dots."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gpulint.model.command import CommandLine
from gpulint.model.helm_set import CutName, cut_names
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity


def check(node: CommandLine | CutName, _project: Project) -> Iterator[Problem]:
    """A problem for each such key of a helm command, or of a file that sets values one by one."""
    if isinstance(node, CommandLine):
        for cut in cut_names(node.command):
            yield _problem(cut, f"escape the dots and quote the whole: {shlex.quote(f'{cut.remedy}=...')}")
    else:
        yield _problem(node, f"escape the dots: {node.remedy}")


def _problem(cut: CutName, help_line: str) -> Problem:
    nested = " under ".join(f"`{part}`" for part in reversed(cut.parts))
    message = f"helm cuts {cut.name} at its dots and sets {nested}: no GPU is asked for by this, or the manifest is refused"
    return Problem(cut.key.location, message, Severity.ERROR, help=help_line)


RULE = Rule("GPU507", "unescaped-helm-set", (CommandLine, CutName), (Severity.ERROR,), Impact.CPU_FALLBACK, check)
