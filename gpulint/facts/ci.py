"""Continuous integration: runners without a GPU, and test runs that pick the tests of a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from gpulint.deferred import regex
from gpulint.facts import fullmatch, table

_GPU = regex(r"(?i)(?<![a-z])(?:gpus?|cuda)(?![a-z])")


def hosted_without_gpu(label: str) -> bool:
    """Whether a label names a standard runner of the service, which has no GPU for CUDA or ROCm."""
    return any(fullmatch(row["pattern"], label) for row in table("ci")["hosted_runners"])


def selects_gpu_tests(tool: str, arguments: Sequence[str]) -> str:
    """The selection by which a run of `pytest` or `ctest` picks the tests that need a GPU, "" where none does or it says not."""
    options = _words("test_selections", tool)
    given = [(option, value) for option, value in pairwise(arguments) if option in options]
    given += [(word.partition("=")[0], word.partition("=")[2]) for word in arguments if word.partition("=")[0] in options and "=" in word]
    chosen = (f"{option} {value}" for option, value in given if _GPU.search(value) and not re.search(r"\bnot\b|!", value))
    return next(chosen, "")


def excludes_tests(tool: str, arguments: Sequence[str]) -> bool:
    """Whether such a run leaves tests out by an option."""
    options = _words("test_exclusions", tool) | _words("test_selections", tool)
    return any(word.partition("=")[0] in options for word in arguments)


def _words(key: str, tool: str) -> frozenset[str]:
    return frozenset(word for row in table("ci")[key] if row["tool"] == tool for word in row["words"])
