"""Findings -> text: one module a format, each with a function `render`, imported when its format is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpulint.report.run import Run

FORMATS = ("text", "concise", "github", "sarif")
GRAPHS = ("text", "mermaid", "json")
"""The formats of the graph (report.graph)."""


def render(format: str, run: Run) -> str:
    """The report of a run in one of FORMATS: whole lines, or "" where a format has nothing to say."""
    report: str = import_module(f"gpulint.report.{format}").render(run)
    return report
