"""Markers: whether a package may be meant for a Linux container."""

from __future__ import annotations

import pytest

from gpulint.parse.marker import holds_on_linux


@pytest.mark.parametrize(
    ("marker", "holds"),
    [
        ("", True),
        ("sys_platform == 'linux'", True),
        ("sys_platform != 'darwin' and python_version >= '3.7'", True),
        ("sys_platform == 'darwin' or sys_platform == 'win32'", False),
        ("python_version < '3.12'", None),
        ("platform_machine == 'aarch64'", None),
        ("sys_platform == 'darwin' and platform_machine == 'arm64'", False),
        ("extra == 'gpu'", False),
        ("no marker", None),
        ("sys_platform ==", None),
    ],
)
def test_markers(marker: str, holds: bool | None) -> None:
    assert holds_on_linux(marker) is holds
