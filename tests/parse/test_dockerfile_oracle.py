"""Our reader against BuildKit's own parser, over generated files and some made by hand, and dockerfile-parse beside it.

The package `dockerfile` wraps a BuildKit of some years ago. Where a newer BuildKit reads a text differently, ours follows the newer one:
`test_newer_buildkit` has each of these differences, and the generated files avoid them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import dockerfile
import pytest
from generated_dockerfiles import generated_dockerfiles
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.parse.dockerfile import Instruction, parse
from gpulint.source import Source

KNOWN = (
    *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK"),
    *("LABEL", "MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
)


class View(NamedTuple):
    """What both readers say of one instruction. The oracle has no arguments for an unknown keyword, and no heredocs for ONBUILD."""

    keyword: str
    trigger: str
    start_line: int
    end_line: int
    flags: tuple[str, ...]
    json: bool
    arguments: tuple[str, ...]
    heredocs: tuple[tuple[str, str], ...]


def ours(text: str) -> list[View]:
    return [our_view(instruction) for instruction in parse(Source("Dockerfile", text.encode())).instructions]


def our_view(instruction: Instruction) -> View:
    inner = instruction.trigger or instruction
    arguments = tuple(str(word) for word in inner.words)
    if inner.name in ("ENV", "LABEL"):
        arguments = tuple(str(part) for pair in inner.pairs for part in pair)
    return View(
        instruction.name,
        instruction.trigger.name if instruction.trigger else "",
        instruction.location.line,
        instruction.location.end_line,
        tuple(f"--{flag.name}" + ("" if flag.value is None else f"={flag.value}") for flag in instruction.flags),
        inner.json is not None,
        arguments if inner.name in KNOWN else ("",),
        tuple((heredoc.name, without_tabs(heredoc.body)) for heredoc in instruction.heredocs if instruction is inner),
    )


def theirs(text: str) -> list[View]:
    """What the oracle reads. Raises GoParseError where it refuses the file."""
    return [their_view(command) for command in dockerfile.parse_string(text)]


def their_view(command: dockerfile.Command) -> View:
    return View(
        (command.cmd or "").upper(),
        (command.sub_cmd or "").upper(),
        command.start_line,
        command.end_line,
        command.flags,
        command.json,
        command.value,
        tuple((heredoc.name, without_tabs(heredoc.content.replace("\r", ""))) for heredoc in command.heredocs),
    )


def without_tabs(body: str) -> str:
    """The body of a heredoc in one form: ours has no carriage returns, and no leading tabs if it is opened by `<<-`."""
    return re.sub(r"(?m)^\t+", "", body)


def assert_agreement(text: str) -> None:
    try:
        expected = theirs(text)
    except dockerfile.GoParseError:
        assert parse(Source("Dockerfile", text.encode())).problems, "the oracle refuses the file"
        return
    assert ours(text) == expected


@pytest.mark.parametrize("seed", range(10))
def test_agrees_on_generated_files(seed: int) -> None:
    for text in generated_dockerfiles(200, seed):
        assert_agreement(text)


TOKENS = (
    *("FROM a\n", "RUN", "COPY", "ADD", "ENV", "ARG", "LABEL", "CMD", "ONBUILD", "HEALTHCHECK", "NONE", "SHELL", "USER", "FOO"),
    *("\n", "\n", "\\\n", "\r\n", "#", " ", " ", "  ", "\t", "\f", "\xa0", "\x1c", "\u2003", "\\", "`", "=", "<", "(", ";", "'", '"'),
    *("<<EOF", "<<-EOF", "<<'EOF'", "3<<E", "EOF", "\nEOF\n", "\nE\n", "$x", "${x}", "${x:-y}", "${", "}", "$"),
    *("[", "]", ",", '["a"]\n', "--x=y ", " -- ", "A=b", "\u00e9", "\N{WHALE}"),
)


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=25).map("".join))
def test_agrees_on_any_order_of_tokens(text: str) -> None:
    assert_agreement("FROM a\n" + text)


BY_HAND = {
    "empty lines and comments between continued lines": "FROM a\nRUN b \\\n# c\n\n   # d \\\n  && e\nUSER f\n",
    "a continuation at the end of the file": "FROM a\nRUN b \\\n",
    "a continuation with a comment at the end": "FROM a\nRUN b \\\n# c\n",
    "blanks behind the escape": "FROM a\nRUN b \\ \t\n c\n",
    "a doubled escape continues nothing": "FROM a\nRUN b \\\\\nUSER c\n",
    "an escape alone on a line": "FROM a\n\\\nRUN b\n",
    "a word broken over two lines": "FROM a\nRUN pip ins\\\ntall b\n",
    "escape directive": "# escape=`\nFROM a\nRUN b `\n  c\nCOPY d\\ e\\\n",
    "escape directive with blanks and capitals": "  #  EsCaPe =  ` \nFROM a `\n  AS b\n",
    "directives end at a comment": "# a comment\n# escape=`\nFROM a\nRUN b \\\n c\n",
    "directives end at an empty line": "\n# escape=`\nFROM a\nRUN b \\\n c\n",
    "directives end at an unknown one": "# foo=bar\n# escape=`\nFROM a\nRUN b \\\n c\n",
    "directives behind another": "# syntax=docker/dockerfile:1\n# escape=`\nFROM a `\n\n",
    "a directive twice": "# escape=`\n# escape=`\nFROM a\n",
    "an escape that is none": "# escape=x\nFROM a\n",
    "byte order mark": "\ufeffFROM a\nRUN b\n",
    "carriage returns": "FROM a\r\nRUN b \\\r\n  c\r\nRUN <<EOF\r\nd\r\nEOF\r\nUSER e",
    "leading blanks": "  FROM a\n\tRUN b\n",
    "several heredocs": "FROM a\nRUN cat <<A <<B > c\n1\nA\n2\nB\nUSER d\n",
    "a heredoc in quotes with blanks": "FROM a\nRUN cat <<'A B'\n1\nA B\n",
    "a heredoc that drops tabs": "FROM a\nRUN <<-A\n\t\tb\n\tA\nUSER c\n",
    "a heredoc for COPY": "FROM a\nCOPY <<A <<B /c/\n1\nA\nB\n",
    "a heredoc with instructions and comments in it": "FROM a\nRUN <<EOF\n# b\nFROM c\nRUN d \\\nEOF\n",
    "no heredoc in CMD": "FROM a\nCMD <<EOF\nUSER b\n",
    "no heredoc in the JSON form": 'FROM a\nRUN ["<<EOF"]\nUSER b\n',
    "no heredoc behind an open quote": "FROM a\nRUN echo it's <<EOF\nUSER b\n",
    "no heredoc in a here-string": "FROM a\nRUN cat <<<EOF\nUSER b\n",
    "no heredoc inside of a word": "FROM a\nRUN cat<<EOF\nUSER b\n",
    "a heredoc in ONBUILD": "FROM a\nONBUILD RUN <<EOF\nb\nEOF\nUSER c\n",
    "a heredoc without an end": "FROM a\nRUN <<EOF\nb\n",
    "a heredoc whose name runs on": "FROM a\nRUN cat <<EOF>b\nc\nEOF>b\n",
    "JSON forms": 'FROM a\nCMD ["b", "c d"]\nENTRYPOINT []\nSHELL ["e"]\nVOLUME ["/f"]\nCOPY ["g", "h"]\n',
    "broken JSON is the shell form": 'FROM a\nCMD [\'b\']\nCMD ["c",]\nCMD ["d"\nCOPY [e f]\n',
    "JSON of other values": "FROM a\nCMD [1]\n",
    "JSON over lines": 'FROM a\nCMD ["b", \\\n  # c\n  "d"]\n',
    "HEALTHCHECK": 'FROM a\nHEALTHCHECK NONE\nHEALTHCHECK --interval=3s CMD b c\nHEALTHCHECK CMD ["d"]\n',
    "ONBUILD with flags and JSON": 'FROM a\nONBUILD COPY --from=b c d\nONBUILD CMD ["e"]\nONBUILD ENV f=g\n',
    "pairs": "FROM a\nENV b=c d='e f' g=\"h i\" j=k\\ l\nENV m  n  'o'\nLABEL \"p q\"=r\nARG s t=u\n",
    "an open quote in a pair": "FROM a\nENV b='c d\n",
    "a pair without a value": "FROM a\nENV b=c d\n",
    "a name without a value": "FROM a\nENV b\n",
    "unknown instructions": "FROM a\nRNU b\nEXPOSE 1 2\n",
    "no instruction": "# a\n\n",
    "nothing": "",
    "a line of the longest length": f"FROM a\nRUN {'b' * 65_531}\n",
    "a line that is too long": f"FROM a\nRUN {'b' * 65_532}\n",
}


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND.keys())
def test_agrees_on_files_made_by_hand(text: str) -> None:
    assert_agreement(text)


def rest(
    keyword: str, end_line: int, json: bool, *arguments: str, flags: tuple[str, ...] = (), heredocs: tuple[tuple[str, str], ...] = ()
) -> list[View]:
    """The view of a file of FROM and one more instruction on line 2."""
    return [View("FROM", "", 1, 1, (), False, ("a",), ()), View(keyword, "", 2, end_line, flags, json, arguments, heredocs)]


def test_newer_buildkit_reads_a_json_array_with_text_behind_it_as_shell_form() -> None:
    text = 'FROM a\nCMD ["b"] # c\n'
    assert ours(text) == rest("CMD", 2, False, '["b"] # c')
    assert theirs(text) == rest("CMD", 2, True, "b")


def test_newer_buildkit_allows_blanks_before_the_name_of_a_heredoc() -> None:
    text = "FROM a\nRUN cat << EOF\nEOF\n"
    assert ours(text) == rest("RUN", 3, False, "cat << EOF", heredocs=(("EOF", ""),))
    assert theirs(text)[1] == rest("RUN", 2, False, "cat << EOF")[1]


@pytest.mark.parametrize("expansion", ["${x#y}", "${x%%y}", "${x/y/z}"])
def test_newer_buildkit_knows_more_expansions_in_the_line_of_a_heredoc(expansion: str) -> None:
    text = f"FROM a\nRUN cat <<EOF {expansion}\nEOF\n"
    assert ours(text) == rest("RUN", 3, False, f"cat <<EOF {expansion}", heredocs=(("EOF", ""),))
    assert theirs(text)[1] == rest("RUN", 2, False, f"cat <<EOF {expansion}")[1]


def test_newer_buildkit_takes_the_escape_directive_for_flags_too() -> None:
    text = "# escape=`\nFROM a\nRUN --x=b`,c\\d e\n"
    assert [view.flags for view in ours(text)] == [(), ("--x=b,c\\d",)]
    assert [view.flags for view in theirs(text)] == [(), ("--x=b`,cd",)]


def test_newer_buildkit_knows_the_check_directive() -> None:
    text = "# check=skip=all\n# escape=`\nFROM a `\n  AS b\n"
    assert [view.arguments for view in ours(text)] == [("a", "AS", "b")]
    assert [view.arguments for view in theirs(text)] == [("a", "`"), ("",)]


def test_a_flag_of_other_characters_is_not_cut_into_bytes() -> None:
    """BuildKit reads flags byte by byte, which spoils what is not ASCII, in the newest version too."""
    text = "FROM a\nRUN --x=\u00e9 b\n"
    assert ours(text) == rest("RUN", 2, False, "b", flags=("--x=\u00e9",))
    assert theirs(text) == rest("RUN", 2, False, "b", flags=("--x=\u00c3\u00a9",))
