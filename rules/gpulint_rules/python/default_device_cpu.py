"""GPU603: a program that a GPU container runs computes on the CPU unless it is told otherwise, and it is not."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import is_gpu_container, says_cpu
from gpulint.project import Project
from gpulint.project.device_settings import UnsetDefault, unset_defaults
from gpulint.project.links import EntryPoint
from gpulint.rule import Impact, Problem, Related, Rule, Severity

SHOWN = {
    "option": "the option {}",
    "parameter": "the option {}",
    "variable": "the variable {}",
    "field": "the field {}",
    "entry": "the setting {}",
}
HOW = {"option": "pass {}", "parameter": "pass {}", "variable": "set {}", "field": "set {}", "entry": "set {}"}
VALUE = {"option": " cuda", "parameter": " cuda", "variable": "=cuda", "field": " for it", "entry": " for it"}


def check(entry: EntryPoint, project: Project) -> Iterator[Problem]:
    """A problem for each setting that a GPU container leaves at the CPU, once for all that do."""
    found: dict[object, list[UnsetDefault]] = {}
    for unset in unset_defaults(entry, project):
        if is_gpu_container(unset.container, project) and not says_cpu(unset.container):
            found.setdefault(unset.setting, []).append(unset)
    for group in found.values():
        yield _problem(group)


def _problem(group: list[UnsetDefault]) -> Problem:
    setting = group[0].setting
    shown = SHOWN[setting.kind].format(setting.name)
    default = "off" if setting.is_switch else setting.value
    message = f"{shown} is {default} by default and the GPU container that runs this does not set it: it computes on the CPU"
    remedy = HOW[setting.kind].format(setting.name) + ("" if setting.is_switch else VALUE[setting.kind])
    help_line = f"{remedy} where the container is started, or make the GPU the default"
    related = (Related(each.container.location, "a GPU container runs it here") for each in group[:3])
    return Problem(setting.location, message, Severity.WARNING, help=help_line, related=tuple(related))


RULE = Rule("GPU603", "default-device-cpu", EntryPoint, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
