"""What JSON files have that a YAML parser does not take, replaced character by character, so that every place stays."""

from __future__ import annotations

import re

from gpulint.deferred import regex

_NAMES = (".json", ".jsonc", ".json5", ".code-workspace")
_STRING_OR_COMMENT = regex(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?')
_NOT_IN_YAML = regex("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
_ESCAPE = regex(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)")
_VISIBLE = regex(r"\S")


def is_json(path: str) -> bool:
    """Whether a file is JSON by its name."""
    return path.lower().endswith(_NAMES)


def as_yaml(text: str) -> str:
    """JSON, with or without comments, as YAML of the same length.

    Comments become blanks. Characters that YAML forbids become U+FFFD, and so does each of the two escapes by which JSON writes a
    character beyond U+FFFF.
    """
    if "//" in text or "/*" in text:
        text = _STRING_OR_COMMENT.sub(_blank_comment, text)
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(_whole_character, text)
    return _NOT_IN_YAML.sub("\ufffd", text)


def _blank_comment(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else _VISIBLE.sub(" ", match[0])


def _whole_character(match: re.Match[str]) -> str:
    return match[0] if len(match[0]) == 2 else "\\ufffd"
