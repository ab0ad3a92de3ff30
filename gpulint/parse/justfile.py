"""justfiles: their recipes as shell scripts. What stands in `{{ }}` is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.deferred import regex
from gpulint.parse.recipe import Recipe, logical_lines, one_script
from gpulint.parse.shell import Script, parse
from gpulint.source import Source

_NAME = regex(r"(^|/)\.?justfile$|\.just$", re.IGNORECASE)
_HEADER = regex(r"@?([A-Za-z_][\w-]*)(?:[ \t][^:\n]*)?:(?!=)")
_NEED = regex(r"\(\s*(?P<called>[\w-]+)[^()]*\)|(?P<plain>[\w-]+)")
_INTERPOLATION = regex(r"\{\{[^{}\n]*\}\}")
_PREFIX = regex(r"[ \t]*[@-]*")
_SHELL = regex(r"#!.*sh\b")


def is_justfile(path: str) -> bool:
    """Whether a file of that name is a justfile."""
    return _NAME.search(path) is not None


def read_justfile(source: Source) -> tuple[Recipe, ...]:
    """The recipes of a justfile, in file order. Never raises."""
    return tuple(_recipes(source))


def _recipes(source: Source) -> Iterator[Recipe]:
    lines = list(logical_lines(source.text))
    index = 0
    while index < len(lines):
        start, end = lines[index]
        index += 1
        header = _HEADER.match(source.text, start, end)
        if header:
            first = index
            while index < len(lines) and _is_body(source.text[slice(*lines[index])]):
                index += 1
            body = [line for line in lines[first:index] if source.text[slice(*line)].strip()]
            needs = tuple(_needs(source.text[header.end() : end].partition("#")[0]))
            if body or needs:
                yield Recipe(source.cut(*header.span(1)), _script(source, body) if body else Script(()), needs)


def _needs(text: str) -> Iterator[str]:
    """The recipes that a recipe's first line names, each a word or a call with arguments."""
    return (match["called"] or match["plain"] for match in _NEED.finditer(text))


def _is_body(line: str) -> bool:
    return line[:1] in (" ", "\t") or not line.strip()


def _script(source: Source, body: list[tuple[int, int]]) -> Script:
    """A recipe's script: one where its first line names the program that runs it, else one for each line."""
    start, end = body[0]
    if source.text[start:end].lstrip().startswith("#!"):
        is_shell = _SHELL.search(source.text, start, end)
        return _parsed(source, start, body[-1][1]) if is_shell else Script(())
    prefixes = ((_PREFIX.match(source.text, start, end), end) for start, end in body)
    return one_script(_parsed(source, match.end(), end) for match, end in prefixes if match)


def _parsed(source: Source, start: int, end: int) -> Script:
    holes = [(match.start() - start, match.end() - start) for match in _INTERPOLATION.finditer(source.text, start, end)]
    return parse(source.cut(start, end), holes=holes)
