"""GPU507: `helm --set` names a GPU resource or label, and helm takes the name apart at its dots."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gpulint.model.command import CommandLine
from gpulint.model.helm_set import CutName, cut_names
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity


def check(line: CommandLine, _project: Project) -> Iterator[Problem]:
    """A problem for each such key of a helm command."""
    yield from map(_problem, cut_names(line.command))


def _problem(cut: CutName) -> Problem:
    nested = " under ".join(f"`{part}`" for part in reversed(cut.parts))
    message = f"helm cuts {cut.name} at its dots and sets {nested}: no GPU is asked for by this, or the manifest is refused"
    return Problem(
        cut.key.location, message, Severity.ERROR, help=f"escape the dots and quote the whole: {shlex.quote(f'{cut.remedy}=...')}"
    )


RULE = Rule("GPU507", "unescaped-helm-set", CommandLine, (Severity.ERROR,), Impact.CPU_FALLBACK, check)
