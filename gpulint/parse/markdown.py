"""Fenced code blocks of a Markdown document, each as a file of its own whose lines and columns are the document's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpulint.deferred import NamedTuple, regex

MOST_BLOCKS = 500
"""How many blocks of one document are read: each is a file with as many lines as stand above it."""

_OPENING = regex(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+-]*)[^`]*\Z")
_PROMPT = regex(r"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+:?\S*[ \t]?)?[$%][ \t]+")
_CONTINUED_PROMPT = regex(r"[ \t]*>[ \t]+")


class Block(NamedTuple):
    """A fenced block: the word behind its fence in small letters, the number of its first line, and its lines as they are written."""

    language: str
    first: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The block at its place in the document: the lines above it are empty."""
        return "\n" * (self.first - 1) + "\n".join(self.lines)

    @property
    def session(self) -> str:
        """A block of a terminal at its place: the commands behind prompts, with blanks for the prompts, and no output. A block without
        prompts holds commands alone."""
        if not any(map(_PROMPT.match, self.lines)):
            return self.text
        return self._replace(lines=tuple(_typed(self.lines))).text


def code_blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a document in their order; one that nothing closes ends with the document."""
    lines = text.split("\n")
    at = count = 0
    while at < len(lines) and count < MOST_BLOCKS:
        opening = _OPENING.match(lines[at].rstrip("\r")) if "```" in lines[at] or "~~~" in lines[at] else None
        at += 1
        if opening:
            end = _end(lines, at, opening["fence"])
            yield Block(opening["language"].lower(), at + 1, tuple(lines[at:end]))
            at, count = end + 1, count + 1


def _end(lines: Sequence[str], start: int, fence: str) -> int:
    """The index of the line that closes a block."""
    closing = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*\Z")
    return next((index for index in range(start, len(lines)) if closing.match(lines[index])), len(lines))


def _typed(lines: Sequence[str]) -> Iterator[str]:
    """What is typed of each line of a session, "" for output. A backslash at the end of a command continues it on the next line."""
    continues = False
    for line in lines:
        prompt = (_CONTINUED_PROMPT if continues else _PROMPT).match(line)
        typed = " " * prompt.end() + line[prompt.end() :] if prompt else line if continues else ""
        continues = typed.rstrip("\r").endswith("\\")
        yield typed
