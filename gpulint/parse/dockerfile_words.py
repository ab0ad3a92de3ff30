"""What stands in one instruction of a Dockerfile: flags, words, pairs, JSON strings and heredoc names, cut as BuildKit cuts them.

Each function takes the instruction's joined line, or a part of it, and gives parts of that text, so that every place is exact.
"""

from __future__ import annotations

import json
import re
from functools import cache

from gpulint.deferred import NamedTuple, regex
from gpulint.source import Text

SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
"""What Go's unicode.IsSpace calls a space; str.isspace also holds four control characters for one."""

_BLANK = regex(r"[\t\v\f\r ]+")
_WORD = regex(r"[^\t\v\f\r ]+")


class Pair(NamedTuple):
    """`name=value` of ENV, LABEL and ARG, quotes kept. A name alone has no value."""

    name: Text
    value: Text | None


class HeredocWord(NamedTuple):
    """`<<NAME`: `chomp` for `<<-`, which drops leading tabs; `expand` is false where the name was quoted."""

    name: str
    chomp: bool
    expand: bool


def skip_blanks(text: str, at: int) -> int:
    """The first offset from `at` on where no blank stands."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def end_of_word(text: str, at: int) -> int:
    """The end of the word that begins at `at`; quotes and escapes mean nothing here."""
    match = _WORD.match(text, at)
    return match.end() if match else at


def stripped(text: Text, at: int = 0) -> Text:
    """The text from `at` on without the spaces around it."""
    rest = text[at:]
    start = len(text) - len(rest.lstrip(SPACE))
    return text.cut(start, max(at + len(rest.rstrip(SPACE)), start))


def plain_words(text: Text) -> tuple[Text, ...]:
    """The words between blanks, as FROM, COPY, ADD, EXPOSE and VOLUME take theirs."""
    return tuple(text.cut(*match.span()) for match in _WORD.finditer(text))


def quoted_words(text: Text, escape: str) -> tuple[Text, ...]:
    """The words between spaces that are neither quoted nor escaped, as ENV, LABEL and ARG take theirs. Quotes and escapes are kept."""
    return tuple(text.cut(*match.span()) for match in _quoted_word(escape).finditer(text))


@cache
def _quoted_word(escape: str) -> re.Pattern[str]:
    token = re.escape(escape)
    return re.compile(rf"""(?:{token}.|'[^']*'?|"(?:{token}.|[^"{token}])*"?|[^{SPACE}'"{token}])+""", re.DOTALL)


def pairs(words: tuple[Text, ...]) -> tuple[Pair, ...]:
    """`name=value ...`, each word with or without a value."""
    return tuple(_pair(word) for word in words)


def legacy_pair(text: Text) -> Pair:
    """`name value` of ENV and LABEL: the value is all the rest of the line, blanks and quotes included."""
    blank = _BLANK.search(text)
    return Pair(text.cut(0, blank.start()), text.cut(blank.end(), len(text))) if blank else Pair(text, None)


def _pair(word: Text) -> Pair:
    at = word.find("=")
    return Pair(word, None) if at < 0 else Pair(word.cut(0, at), word.cut(at + 1, len(word)))


def flag_end(text: str, at: int, escape: str) -> int:
    """The end of the flag that begins at `at`."""
    match = _flag(escape).match(text, at)
    return match.end() if match else at


@cache
def _flag(escape: str) -> re.Pattern[str]:
    token = re.escape(escape)
    inside = "|".join(rf"{quote}(?:{token}.|[^{quote}{token}])*{quote}?" for quote in ("'", '"'))
    return re.compile(rf"""(?:{token}.|{inside}|[^\t\v\f\r '"{token}])+""", re.DOTALL)


def unquoted(flag: str, escape: str) -> str:
    """A flag without its quotes and escapes."""
    if not any(mark in flag for mark in ("'", '"', escape)):
        return str(flag)
    kept: list[str] = []
    quote = ""
    characters = iter(flag)
    for character in characters:
        if character == escape:
            kept.append(next(characters, ""))
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        else:
            kept.append(character)
    return "".join(kept)


_JSON_STRING = regex(r'"[^"\\]*(?:\\.[^"\\]*)*"')


def json_strings(text: Text) -> tuple[Text, ...] | None:
    """The strings of a JSON array of strings, each without its quotes; None where the text is no such array."""
    values = _json_array(text)
    if values is None or not _are_strings(values):
        return None
    return tuple(_json_string(text, *match.span()) for match in _JSON_STRING.finditer(text))


def _json_string(text: Text, start: int, end: int) -> Text:
    if text.find("\\", start, end) < 0:
        return text.cut(start + 1, end - 1)
    token = text.cut(start, end)
    value: str = json.loads(token)
    well_formed = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Text(well_formed, token.location, ())


def is_array_of_other_values(text: str) -> bool:
    """Whether the text is a JSON array that does not hold strings only, which BuildKit refuses instead of reading it as a command."""
    values = _json_array(text)
    return values is not None and not _are_strings(values)


def _json_array(text: str) -> list[object] | None:
    if not text.startswith("["):
        return None
    try:
        values: list[object] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values


def _are_strings(values: list[object]) -> bool:
    return all(isinstance(value, str) for value in values)


_HEREDOC = regex(r"\d*<<(-?)\s*([^<]+)")
_QUOTE = regex(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)


def heredoc_words(line: str) -> list[HeredocWord]:
    """The heredocs that a RUN, COPY or ADD opens.

    An open quote or a substitution that BuildKit does not know, anywhere in the line, makes it see none.
    """
    found = (_HEREDOC.fullmatch(word) for word in _shell_words(line))
    words = [_heredoc_word(*match.groups()) for match in found if match]
    return [word for word in words if word.name]


@cache
def _shell_token() -> re.Pattern[str]:
    substitution = r"\$\{(?:[^\W\d]\w*|\d+|[@*#?$!-])(?:\}|:?[-+?]|[#%/])"
    dollar = rf"{substitution}|\$(?!\{{)"
    return re.compile(rf"""(?P<space>[{SPACE}]+)|'[^']*'|"(?:[^"\\$]|\\.|{dollar})*"|\\.?|{dollar}|<<[\t\r ]*|[^'"\\$]""", re.DOTALL)


def _shell_words(line: str) -> list[str]:
    words: list[str] = []
    pattern = _shell_token()
    at = start = 0
    while at < len(line):
        token = pattern.match(line, at)
        if token is None:
            return []
        if token["space"]:
            words.append(line[start:at])
            start = token.end()
        at = token.end()
    return [*words, line[start:]]


def _heredoc_word(dash: str, word: str) -> HeredocWord:
    name = _QUOTE.sub(_without_quotes, word)
    return HeredocWord(name, bool(dash), not any(match[3] is None for match in _QUOTE.finditer(word)))


def _without_quotes(match: re.Match[str]) -> str:
    single, double, escaped = match.groups()
    if double is not None:
        return re.sub(r'\\(["$\\])', r"\1", double)
    return str(single if escaped is None else escaped)
