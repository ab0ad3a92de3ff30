"""Words against two judges: the standard library's shlex on generated quoting, and bash itself on expansions; and hostile input."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls

from gpulint.parse.shell import expand, parse, split
from gpulint.source import Source, Text, Unknown

_CHARACTERS = st.text(st.sampled_from("abz019 \t'\"\\$`;&|<>(){}[]#*?!~=-_.,:/@%^+\u00e9\u4e16\n"), max_size=12)


def whole(text: str) -> Text:
    return Source("x", text.encode("utf-8", "surrogatepass")).cut(0, len(text))


def _in_double_quotes(word: str) -> str:
    return '"' + "".join("\\" + each if each in '$`"\\' else each for each in word) + '"'


def _escaped(word: str) -> str:
    return "".join(each if each.isalnum() else f"'{each}'" if each in "\n'" and each != "'" else "\\" + each for each in word) or "''"


_QUOTING = st.sampled_from([shlex.quote, _in_double_quotes, _escaped])
_QUOTED_RUN = st.builds(lambda quote, word: (quote(word), word), _QUOTING, _CHARACTERS)
_QUOTED_WORD = st.lists(_QUOTED_RUN, min_size=1, max_size=3).map(
    lambda runs: ("".join(run[0] for run in runs), "".join(run[1] for run in runs))
)


@given(st.lists(_QUOTED_WORD, min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_quoted_words_are_what_was_quoted(quoted: list[tuple[str, str]]) -> None:
    text = whole("cmd " + " \\\n ".join(each[0] for each in quoted))
    script = parse(text)
    assert script.error == ""
    assert [str(word) for word in script.commands[0].words[1:]] == [each[1] for each in quoted]


@given(st.lists(st.builds(shlex.quote, _CHARACTERS), max_size=6))
@settings(max_examples=300, deadline=None)
def test_split_agrees_with_shlex(words: list[str]) -> None:
    line = " ".join(words).replace("$$", "")
    assert [str(word) for word in split(whole(line))] == shlex.split(line)


@given(st.text(st.sampled_from("ab \n\t'\"\\$`;&|<>(){}[]#=-!if do ne case esac fi then\u00e9"), max_size=60))
@settings(max_examples=500, deadline=None)
def test_no_text_raises_and_every_place_is_in_the_file(line: str) -> None:
    text = whole(line)
    end = text.location
    for command in parse(text).commands:
        for place in (command.location, *command.tokens, *(word.location for word in command.words)):
            assert (1, 1) <= (place.line, place.column) <= (place.end_line, place.end_column) <= (end.end_line, end.end_column)
    split(text)
    expand(text)


_PLAIN = st.sampled_from(["a", "b=c", "'d e'", "\\h", "''", '""'])
_OF_A_SET_VARIABLE = st.sampled_from(["${X}", '"$X"', "x${X}", "${X:+m}", "${X:-n}", "${E}", '"$E"', "${E:+o}", "${E-p}", "${E:-q}"])
_OF_AN_UNSET_VARIABLE = st.sampled_from(["${Y:-i j}", '"${Y:-k l}"'])
_RUN = st.one_of(_PLAIN, _OF_A_SET_VARIABLE, _OF_AN_UNSET_VARIABLE)


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is the judge here")
@given(st.lists(st.lists(_RUN, min_size=1, max_size=4).map("".join), max_size=6))
@settings(max_examples=60, deadline=None)
def test_bash_makes_the_same_words(words: list[str]) -> None:
    setting = "X='n o'; E=; unset Y\n"
    line = "printf '%s\\0' - " + " ".join(words)
    told = subprocess.run(["bash", "-c", setting + line], capture_output=True, check=True).stdout.decode().split("\0")[1:-1]
    found = parse(whole("X='n o'; E=\n" + line)).commands[-1].words[3:]
    assert not any(isinstance(word, Unknown) for word in found)
    assert [str(word) for word in found] == told


_SIZE = 60_000
_HOSTILE = {
    "substitutions": "$(",
    "arithmetic": "$((",
    "parentheses": "(",
    "braces": "${a:-",
    "backticks": "`",
    "escaped backticks": "`\\`",
    "double quotes": '"',
    "groups": "{ ",
    "conditions": "if ",
    "functions": "f() ",
    "patterns": "@(",
    "arrays": "X=(",
    "case arms": "case a in ",
    "heredocs": "a <<E ",
    "heredoc lines": "a <<E\n",
    "words": "a ",
    "lines": "a\n",
    "negations": "! ",
    "chains": "a && X=1 || ",
    "settings": "X=1\n. x\n",
    "doubling": "X=a$X$X\n",
    "uses": "X='a b c d'\na $X $X $X\n",
    "commas": "{,",
    "subscripts": "a[",
    "dollars": "$",
    "backslashes": "\\",
    "NUL": "\0",
    "no-break spaces": "\xa0",
}


@pytest.mark.parametrize("unit", _HOSTILE.values(), ids=_HOSTILE)
def test_reading_hostile_input_takes_no_more_calls_than_its_length(unit: str) -> None:
    text = whole(unit * (_SIZE // len(unit)))
    assert calls(lambda: (parse(text), split(text), expand(text))) < 200 * len(text)
