"""Compare the newest releases that the facts name with those of the package index that pip is configured with.

Usage: python tools/check_releases.py [PACKAGE ...]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from gpulint.facts import table, version_key


def newest_on_index(package: str) -> str | None:
    """The newest release that pip can install; None where it finds none."""
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.match(rf"{re.escape(package)} \(([^)]+)\)", run.stdout)
    return match[1] if match else None


def main(packages: list[str]) -> int:
    """Print each package of which there is a newer release than the facts name. Returns 1 if there is any, or one cannot be found."""
    rows = {row["package"]: row["version"] for row in table("frameworks")["newest"]}
    unknown = [package for package in packages if package not in rows]
    if unknown:
        print(f"the facts name no newest release of {', '.join(unknown)}; there are {', '.join(rows)}")
        return 2
    behind = 0
    for package in packages or rows:
        found = newest_on_index(package)
        if found is None or version_key(found) > version_key(rows[package]):
            behind += 1
            print(f"{package}: the facts end at {rows[package]}, the index has {found or 'none that pip can see'}")
    print(f"{len(packages or rows)} packages, {behind} to look at")
    return int(bool(behind))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
