"""`python -m gpulint` and the console script."""

import gc
import os
import sys


def main() -> None:
    """Run the command line.

    Python puts the current folder first on sys.path for `-m`: a `click.py` that lies there must not run, so it is taken off before
    anything else is imported. Modules that Python itself has loaded by then, as `os`, are no danger; all others are.
    """
    try:
        here = os.getcwd()
    except FileNotFoundError:
        sys.stderr.write("gpulint: the current folder is not there any more\n")
        sys.exit(2)
    sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]
    gc.disable()  # a run is short, and what it makes lives to its end: looking for garbage costs a fifth of it
    from gpulint.cli import cli

    try:
        cli(prog_name="gpulint")
    except SystemExit as leaving:
        _leave(leaving.code)
        raise


def _leave(code: object) -> None:
    """End the process at once, with an exit code that is a number: taking apart what a run has made, object by object, costs a tenth of
    it. Comes back where something written cannot be got rid of, so that Python says so in its own way."""
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # either is None where the caller has closed it
            stream.flush()
    except (OSError, ValueError):
        return
    if isinstance(code, int):
        os._exit(code)


if __name__ == "__main__":
    main()
