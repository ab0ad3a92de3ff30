"""What is wrong with a document that no YAML parser takes: one plain sentence, and the place to look at."""

from __future__ import annotations

import re
from typing import Any

from gpulint.deferred import regex
from gpulint.parse.compose_nodes import MAX_DEPTH, Mark, RefusedError, SyntaxProblem
from gpulint.source import Location

_TEMPLATE_MARK = regex(r"(?<!\$)\{\{|\{%|<%|^[ \t]*#@", re.MULTILINE)
_CONFLICT_MARK = regex(r"^(?:<{7}|>{7})(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTROL_CHARACTER = regex("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_INDENTATION = "the line fits neither the indentation of the lines above nor the form of what stands there"
_UNCLOSED_QUOTE = "the quote that opens here is never closed"
_QUOTE_ENDED = "the quoted text has ended before this text: a quote is missing, here or above"
_TAB = "a tab stands where YAML takes only spaces"

_SENTENCES = {
    "mapping values are not allowed in this context": "a `key: value` cannot begin here: check the indentation, or quote the text",
    "mapping keys are not allowed in this context": "a `? key` cannot begin here",
    "block sequence entries are not allowed in this context": "a list cannot begin here: put its first `-` on the next line",
    "did not find expected key": _INDENTATION,
    "did not find expected '-' indicator": _INDENTATION,
    "did not find expected node content": "a value is missing here, or a bracket is closed that was never opened",
    "did not find expected <document start>": "the document has ended before this text: begin the next one with `---`",
    "found character that cannot start any token": "a value cannot begin with this character: quote it",
    "found a tab character that violates indentation": _TAB,
    "found a tab character where an indentation space is expected": _TAB,
    "found unknown escape character": "no such escape exists in double quotes: write the backslash twice, or use single quotes",
    "found invalid Unicode character escape code": "the escape names no character",
    "did not find expected hexdecimal number": "the escape lacks its hexadecimal digits",
    "did not find expected alphabetic or numeric character": "`*` and `&` begin the name of an anchor, and this is none: quote the text",
    "did not find expected comment or line break": "no text may follow the `|` or `>` of a block of text on its own line",
    "found undefined tag handle": "the tag's prefix is not declared in this document",
}
_SENTENCES_AT_THE_BEGINNING = {
    "could not find expected ':'": "the line is no `key: value`: the colon is missing, or the space behind it",
    "found unexpected end of stream": _UNCLOSED_QUOTE,
    "found unexpected document indicator": _UNCLOSED_QUOTE,
    "did not find expected ',' or ']'": "the `[` that opens here is not closed, or a comma is missing between its items",
    "did not find expected ',' or '}'": "the `{` that opens here is not closed, or a comma is missing between its entries",
}
"""What is best shown where the thing begins that the parser was in, not where it noticed."""


def looks_templated(text: str) -> bool:
    """Whether the text has the marks of a template language: `{{` (not GitHub's `${{`), `{%`, `<%`, or ytt's `#@`."""
    return bool(_TEMPLATE_MARK.search(text))


def has_conflict(text: str) -> bool:
    """Whether the text has the marker lines of a merge that is not resolved."""
    return bool(_CONFLICT_MARK.search(text))


def is_past_a_bound(error: Exception) -> bool:
    """Whether an error says that a document is too much, or of no use, and not that it is no YAML."""
    return isinstance(error, RefusedError) or "nesting" in str(getattr(error, "problem", ""))


def explain(error: Exception, path: str, text: str, first_line: int) -> SyntaxProblem:
    """Why `text`, which begins at a line of the file, could not be read: `error` is what the parser raised or the composer."""
    conflict = _CONFLICT_MARK.search(text)
    if conflict:
        return SyntaxProblem("a merge conflict begins here that is not resolved", _rest_of_line(path, text, first_line, conflict.start()))
    if isinstance(error, RefusedError):
        return error.problem
    message, offset = _reason(error, text)
    return SyntaxProblem(message, _rest_of_line(path, text, first_line, offset))


def _reason(error: Any, text: str) -> tuple[str, int]:
    """The sentence, and the offset it speaks of."""
    character = _CONTROL_CHARACTER.search(text)
    if character:
        return f"the control character U+{ord(character[0]):04X} is not allowed", character.start()
    problem: str = getattr(error, "problem", None) or str(error)
    mark: Mark | None = getattr(error, "problem_mark", None)
    context: Mark | None = getattr(error, "context_mark", None)
    if context and problem in _SENTENCES_AT_THE_BEGINNING:
        return _SENTENCES_AT_THE_BEGINNING[problem], context.index
    offset = mark.index if mark else 0
    return _sentence(problem, text, offset), offset


def _sentence(problem: str, text: str, offset: int) -> str:
    if "nesting" in problem:
        return f"the document nests deeper than {MAX_DEPTH} levels"
    before = text[text.rfind("\n", 0, offset) + 1 : offset].strip(" -")
    if _SENTENCES.get(problem) is _INDENTATION and before:
        return _QUOTE_ENDED if before.endswith(("'", '"')) else "the value has ended before this text: quote the whole of it"
    if problem == "found character that cannot start any token" and text[offset : offset + 1] == "\t":
        return _TAB
    return _SENTENCES.get(problem, f"this is not YAML: {problem}")


def _rest_of_line(path: str, text: str, first_line: int, offset: int) -> Location:
    """From a character to the end of its line, or that whole line where nothing follows; the last line with text from behind it."""
    offset = min(offset, len(text.rstrip()))
    begin, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    line = text[begin : end if end >= 0 else None].rstrip()
    column = offset - begin if offset - begin < len(line) else len(line) - len(line.lstrip())
    number = first_line + text.count("\n", 0, offset)
    return Location(path, number, column + 1, number, len(line) + 1)
