"""`python -m gpulint` and the console script."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run the command line.

    Python puts the current folder first on sys.path for `-m`: a `click.py` that lies there must not run, so it is taken off before
    anything else is imported.
    """
    here = str(Path.cwd())
    sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]
    from gpulint.cli import cli

    cli(prog_name="gpulint")


if __name__ == "__main__":
    main()
