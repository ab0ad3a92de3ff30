"""Python syntax that is newer than this interpreter: read by libcst, in a process of its own, and rewritten so that `ast` reads it too."""

from __future__ import annotations

from gpulint.parse.python import PythonSyntax, parse
from gpulint.source import Source

LARGEST = 128 * 1024
"""How many bytes of such a file are read: libcst takes seconds for that much."""

_LONGEST_WAIT = 60


def parse_newer(source: Source) -> PythonSyntax | None:
    """The tree of a file that `ast` refuses as it stands, with every place as in the file; None where libcst cannot read it either."""
    older = _older(source.text.encode("utf-8", errors="replace")) if len(source.data) <= LARGEST else None
    syntax = parse(Source(source.path, older)) if older is not None else None
    return syntax if syntax is not None and syntax.tree is not None else None


def _older(code: bytes) -> bytes | None:
    """The code in older syntax, by the program for it; None where that cannot read it, takes too much, or libcst is not there."""
    import importlib.util
    import subprocess
    import sys
    from os.path import dirname, join

    found = importlib.util.find_spec("libcst")
    if found is None or found.origin is None:
        return None
    command = [sys.executable, "-I", join(dirname(__file__), "older_syntax.py"), dirname(dirname(found.origin))]
    try:
        run = subprocess.run(command, input=code, capture_output=True, timeout=_LONGEST_WAIT, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout if len(run.stdout) == len(code) else None
