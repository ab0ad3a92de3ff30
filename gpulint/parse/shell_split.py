"""The words of a string that a tool splits by itself, with the quoting of the shell and nothing else of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulint.deferred import regex
from gpulint.parse.shell_syntax import joined
from gpulint.source import Text, Value

_TOKEN = regex(
    r"""(?P<blank>[ \t\r\n]+)|'(?P<single>[^']*)(?:'|\Z)|"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)
    |\\(?P<escaped>.?)|(?P<plain>[^ \t\r\n'"\\]+)""",
    re.DOTALL | re.VERBOSE,
)
_RUN_IN_DOUBLE_QUOTES = regex(r'\\([$`"\\])|\\\n|[^\\]+|\\')
_DOLLARS_OR_NOT = regex(r"\$\$?|[^$]+")


def split(text: Text) -> tuple[Value, ...]:
    """The words of a string as Compose and other tools split it: shell quoting, no operators and no expansion but `$$`."""
    words: list[Value] = []
    runs: list[tuple[int, int]] = []
    start = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "blank":
            words += _word_of_runs(text, runs, start, token.start())
            runs = []
            start = token.end()
        else:
            runs += _runs_of_token(token)
    return (*words, *_word_of_runs(text, runs, start, len(text)))


def _runs_of_token(token: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The ranges of characters that a token leaves in its word."""
    kind = token.lastgroup or ""
    if kind == "double" and token[kind]:
        for run in _RUN_IN_DOUBLE_QUOTES.finditer(token.string, *token.span(kind)):
            if run[0] != "\\\n":
                yield run.span(1 if run[1] else 0)
    elif token[kind] != "\n" or kind != "escaped":
        yield token.span(kind)


def _word_of_runs(text: Text, runs: list[tuple[int, int]], start: int, end: int) -> list[Text]:
    """The word that stands from `start` to `end`, of these runs of characters; none where there is no run."""
    if not runs:
        return []
    kept = [run for run in runs if run[0] < run[1]] or runs[:1]
    if text.find("$$", start, end) >= 0:
        dollars = (match for run in kept for match in _DOLLARS_OR_NOT.finditer(text, *run))
        kept = [(match.end() - 1, match.end()) if match[0] == "$$" else match.span() for match in dollars]
    return [joined([text.cut(*run) for run in kept], text.cut(start, end).location)]
