"""The README says what gpulint does: its generated parts are as gpulint prints them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_generated_parts_are_up_to_date() -> None:
    run = subprocess.run([sys.executable, "tools/readme.py", "--check"], cwd=ROOT, check=False)
    assert run.returncode == 0, "run: python tools/readme.py"
