"""GPU505: daemon.json, or a command that writes it, makes nvidia the runtime of every container."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.requests import runtime_vendor
from gpulint.model.command import CommandLine
from gpulint.model.engine_config import EngineConfig
from gpulint.project import Project
from gpulint.project.host_setup import default_runtime
from gpulint.rule import Impact, Problem, Rule, Severity


def check(node: EngineConfig | CommandLine, _project: Project) -> Iterator[Problem]:
    """A problem where the runtime of containers that name none is NVIDIA's."""
    runtime = node.default_runtime if isinstance(node, EngineConfig) else default_runtime(node)
    if runtime is not None and runtime_vendor(runtime) == "nvidia":
        message = f"the default runtime is {runtime}: every container of a CUDA image gets every GPU of the machine, without asking for one"
        help_line = "keep the runtime under runtimes, leave runc the default, and ask by --gpus or a device reservation"
        yield Problem(runtime.location, message, Severity.NOTE, help=help_line)


RULE = Rule("GPU505", "nvidia-default-runtime", (EngineConfig, CommandLine), (Severity.NOTE,), Impact.INSECURE, check)
