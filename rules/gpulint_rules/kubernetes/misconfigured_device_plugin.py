"""GPU415: a setting of a device plugin or GPU operator that it does not know, or that hides its faults."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.gpu_stack import StackPart, StackSetting
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity

BY_VARIABLE = "envvar"


def check(part: StackPart, _project: Project) -> Iterator[Problem]:
    """A problem for each unknown word, each switch that is off, and for a list of devices that any container can forge."""
    for setting in part.settings:
        if setting.value not in setting.known.values:
            yield _unknown(setting)
        elif part.shares and setting.known.role == "list" and setting.value == BY_VARIABLE:
            yield _by_variable(setting)
    for switch in part.hides_faults:
        message = "the plugin goes on where it finds no driver: the node offers no GPU, and nothing fails that would tell"
        yield Problem(switch.location, message, Severity.NOTE, help="leave failOnInitError at true, and keep the plugin off other nodes")


def _unknown(setting: StackSetting) -> Problem:
    name, words = setting.known.path[-1], ", ".join(setting.known.values)
    message = f"{'.'.join(setting.known.path)} has no value {setting.value}: the plugin does not start, and its nodes offer no GPU"
    return Problem(setting.value.location, message, Severity.ERROR, help=f"write one of {words} for {name}")


def _by_variable(setting: StackSetting) -> Problem:
    message = "shared cards are handed out by a variable of the environment, which any container can set to take all of them"
    help_line = "use volume-mounts or cdi-cri, and have the toolkit accept no variable of unprivileged containers"
    return Problem(setting.value.location, message, Severity.NOTE, help=help_line)


RULE = Rule("GPU415", "misconfigured-device-plugin", StackPart, (Severity.ERROR, Severity.NOTE), Impact.CPU_FALLBACK, check)
