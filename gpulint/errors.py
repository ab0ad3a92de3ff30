"""What ends a run early, and the exit codes."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
FAILED = 2


class GpulintError(Exception):
    """Wrong use or a bad configuration: the message is shown as it is, and the run exits with FAILED."""
