"""Environment markers of requirements (`; sys_platform == "darwin"`): whether one can hold in a Linux container."""

from __future__ import annotations

from functools import cache
from itertools import product

_LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_python_implementation": "CPython", "extra": ""}
_PYTHONS = tuple(f"3.{minor}" for minor in range(8, 15))
_MACHINES = ("x86_64", "aarch64")


@cache
def holds_on_linux(marker: str) -> bool | None:
    """Whether a marker holds on Linux: True or False where it does or does not with every Python and on every machine, None where that
    decides, or where it is no marker."""
    if not marker:
        return True
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    try:
        parsed = Marker(marker)
        answers = {parsed.evaluate(environment) for environment in _environments()}
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return None
    return answers.pop() if len(answers) == 1 else None


@cache
def _environments() -> tuple[dict[str, str], ...]:
    """What a Linux container may be, as markers see it."""
    return tuple(
        {**_LINUX, "python_version": python, "python_full_version": f"{python}.9", "platform_machine": machine}
        for python, machine in product(_PYTHONS, _MACHINES)
    )
