"""Lint, types and tests in one go: `python tools/check.py`. Stops at the first that fails; the last line is that of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("pytest", "-n", "auto", "--dist", "worksteal"),
)


def main() -> int:
    """Run the checks in order. Returns the exit code of the first that fails, or 0."""
    for module, *arguments in CHECKS:
        code = subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, check=False).returncode
        if code:
            print(f"failed: {' '.join((module, *arguments))}", file=sys.stderr)
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
