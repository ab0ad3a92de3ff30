"""The Dockerfile reader: exact places, what BuildKit would refuse, and any input at all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from generated_dockerfiles import generated_dockerfiles
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.parse.dockerfile import DockerfileSyntax, Instruction, parse
from gpulint.source import Source, Text


def read(text: str) -> DockerfileSyntax:
    return parse(Source("Dockerfile", text.encode()))


def second(text: str) -> Instruction:
    return read(f"FROM a\n{text}").instructions[1]


def place(text: Text) -> tuple[int, int, int, int]:
    return text.location[1:]


# --- Places ---------------------------------------------------------------------------------------------------------------------


def test_keyword_and_arguments_have_their_columns() -> None:
    instruction = second("  RUN  pip install torch \n")
    assert place(instruction.keyword) == (2, 3, 2, 6)
    assert place(instruction.arguments) == (2, 8, 2, 25)
    assert instruction.location[1:] == (2, 3, 2, 26)


def test_a_part_of_a_continued_line_stands_on_its_own_line() -> None:
    arguments = second("RUN apt-get update && \\\n    # why\n\n    pip install torch==2.4.1\n").arguments
    at = arguments.index("torch")
    assert place(arguments.cut(at, at + 5)) == (5, 17, 5, 22)
    assert place(arguments.cut(0, at + 5)) == (2, 5, 5, 22)
    assert place(arguments.cut(0, 7)) == (2, 5, 2, 12)


def test_a_word_may_run_over_two_lines() -> None:
    arguments = second("RUN pip ins\\\ntall torch").arguments
    assert arguments == "pip install torch"
    assert place(arguments.cut(4, 11)) == (2, 9, 3, 5)


def test_flags_have_places_for_name_and_value() -> None:
    mount, link = second("RUN --mount=type=cache,target=/root \\\n  --link true\n").flags
    assert (mount.name, mount.value) == ("mount", "type=cache,target=/root")
    assert place(mount.name) == (2, 7, 2, 12)
    assert mount.value is not None
    assert place(mount.value) == (2, 13, 2, 36)
    assert (link.name, link.value, place(link.name)) == ("link", None, (3, 5, 3, 9))


def test_a_quoted_flag_stands_where_all_of_it_does() -> None:
    (flag,) = second("RUN --x='a b' c\n").flags
    assert (flag.name, flag.value, flag.value and place(flag.value)) == ("x", "a b", (2, 5, 2, 14))


def test_json_strings_have_places_inside_their_quotes() -> None:
    strings = second('CMD ["python", \\\n  "-m", "a\\u0062c"]\n').json
    assert strings == ("python", "-m", "abc")
    assert [place(string) for string in strings] == [(2, 7, 2, 13), (3, 4, 3, 6), (3, 9, 3, 19)]
    assert strings[2].pieces == ()


def test_a_heredoc_has_places_line_by_line() -> None:
    instruction = second("RUN <<-EOF\n\techo a\n\t\tpip install torch\n\tEOF\nUSER b\n")
    body = instruction.heredocs[0].body
    assert body == "echo a\npip install torch\n"
    at = body.index("torch")
    assert place(body.cut(at, at + 5)) == (4, 15, 4, 20)
    assert place(body.cut(0, 6)) == (3, 2, 3, 8)
    assert instruction.location[1:] == (2, 1, 5, 5)


def test_words_and_pairs_have_places() -> None:
    copy, env = read("FROM a\nCOPY --from=b c \\\n  d\nENV e='f g' \\\n  h=i\n").instructions[1:]
    assert [(str(word), place(word)) for word in copy.words] == [("c", (2, 15, 2, 16)), ("d", (3, 3, 3, 4))]
    assert [(str(pair.name), place(pair.name)) for pair in env.pairs] == [("e", (4, 5, 4, 6)), ("h", (5, 3, 5, 4))]
    assert [(str(pair.value), place(pair.value)) for pair in env.pairs if pair.value] == [("'f g'", (4, 7, 4, 12)), ("i", (5, 5, 5, 6))]


def test_columns_count_characters() -> None:
    assert place(second("RUN echo \N{WHALE} é x\n").arguments.cut(9, 10)) == (2, 14, 2, 15)


def test_a_trigger_is_read_like_the_instruction_itself() -> None:
    instruction = second("ONBUILD RUN --network=none cat <<EOF\na\nEOF\n")
    trigger = instruction.trigger
    assert trigger is not None
    assert (trigger.name, trigger.arguments, [flag.name for flag in trigger.flags]) == ("RUN", "cat <<EOF", ["network"])
    assert trigger.heredocs == instruction.heredocs
    assert trigger.location[1:] == (2, 9, 4, 4)


def texts_of(instruction: Instruction) -> Iterator[Text]:
    yield from (instruction.keyword, instruction.arguments, *instruction.words, *(instruction.json or ()))
    yield from (part for pair in (*instruction.pairs, *instruction.flags) for part in pair if part is not None)
    yield from (heredoc.body for heredoc in instruction.heredocs)
    if instruction.trigger is not None:
        yield from texts_of(instruction.trigger)


@pytest.mark.parametrize("seed", range(3))
def test_every_character_stands_where_it_says(seed: int) -> None:
    for content in generated_dockerfiles(100, seed):
        lines = [line.rstrip("\r") + "\n" for line in content.split("\n")]
        for text in (text for instruction in read(content).instructions for text in texts_of(instruction) if text.pieces != ()):
            for offset, character in enumerate(text):
                location = text.cut(offset, offset + 1).location
                assert lines[location.line - 1][location.column - 1] == character


# --- Reading --------------------------------------------------------------------------------------------------------------------


def test_directives() -> None:
    syntax = read("# syntax=docker/dockerfile:1\n#escape = `\n# check=skip=all\nFROM a\n")
    assert syntax.directives == {"syntax": "docker/dockerfile:1", "escape": "`", "check": "skip=all"}
    assert place(syntax.directives["syntax"]) == (1, 10, 1, 29)
    assert syntax.instructions[0].escape == "`"


@pytest.mark.parametrize(("opener", "name", "expand"), [("<<EOF", "EOF", True), ("<<'EOF'", "EOF", False), ('3<<"E F"', "E F", False)])
def test_a_quoted_heredoc_is_not_expanded(opener: str, name: str, expand: bool) -> None:
    (heredoc,) = second(f"RUN {opener}\n{name}\n").heredocs
    assert (heredoc.name, heredoc.body, heredoc.expand) == (name, "", expand)


def test_the_last_of_repeated_flags_counts() -> None:
    flag = second("COPY --from=a --from=b c d\n").flag("from")
    assert flag is not None
    assert flag.value == "b"
    assert second("COPY c d\n").flag("from") is None


def test_a_bad_byte_costs_one_character() -> None:
    syntax = parse(Source("Dockerfile", b"FROM a\nRUN echo \xff b\nUSER c\n"))
    assert [str(instruction.arguments) for instruction in syntax.instructions] == ["a", "echo \ufffd b", "c"]
    assert not syntax.problems


# --- What BuildKit refuses ------------------------------------------------------------------------------------------------------

REFUSED = {
    "": ("The file has no instructions.", (1, 1)),
    "# a\n": ("The file has no instructions.", (1, 1)),
    "ARG a\n": ("The file has no FROM.", (1, 1)),
    "RUN a\n": ("RUN stands before the first FROM.", (1, 1)),
    "FROM\n": ("FROM takes `IMAGE` or `IMAGE AS NAME`, and nothing more.", (1, 1)),
    "FROM a AS\n": ("FROM takes `IMAGE` or `IMAGE AS NAME`, and nothing more.", (1, 1)),
    "FROM a b c\n": ("FROM takes `IMAGE` or `IMAGE AS NAME`, and nothing more.", (1, 1)),
    "FROM a AS 1b\n": ("1b is no name for a build stage: it must start with a letter.", (1, 11)),
    "FROM a\nRNU b\n": ("RNU is no Dockerfile instruction; did you mean RUN?", (2, 1)),
    "FROM a\nversion: 3\n": ("version: is no Dockerfile instruction.", (2, 1)),
    "FROM a\n\\\n": ("An empty line is no Dockerfile instruction.", (2, 1)),
    "FROM a\nENV b\n": ("ENV b has no value; write name=value.", (2, 5)),
    "FROM a\nENV b=c d\n": ("ENV d has no value; write name=value.", (2, 9)),
    "FROM a\nENV =b\n": ("ENV has a value without a name.", (2, 1)),
    "FROM a\nENV\n": ("ENV needs an argument.", (2, 1)),
    "FROM a\nARG\n": ("ARG needs an argument.", (2, 1)),
    "FROM a\nWORKDIR \n": ("WORKDIR needs an argument.", (2, 1)),
    "FROM a\nCOPY b\n": ("COPY needs a source and a destination.", (2, 1)),
    'FROM a\nADD ["b"]\n': ("ADD needs a source and a destination.", (2, 1)),
    "FROM a\nCOPY b <<EOF\nEOF\n": ("COPY cannot take a heredoc as its destination.", (2, 8)),
    "FROM a\nRUN --gpus=all b\n": ("RUN has no flag --gpus.", (2, 7)),
    "FROM a\nCMD [1]\n": ("The JSON form of CMD takes strings only.", (2, 5)),
    "FROM a\nRUN <<EOF\nb\n": ("The heredoc EOF has no end.", (2, 1)),
    "FROM a\nSHELL sh -c\n": ("SHELL must be a JSON array.", (2, 7)),
    "FROM a\nONBUILD FROM b\n": ("FROM cannot follow ONBUILD.", (2, 9)),
    "FROM a\nONBUILD ONBUILD RUN b\n": ("ONBUILD cannot follow ONBUILD.", (2, 9)),
    "FROM a\nONBUILD COPY b\n": ("COPY needs a source and a destination.", (2, 9)),
    "FROM a\nHEALTHCHECK b\n": ("HEALTHCHECK knows CMD and NONE, not b.", (2, 13)),
    "FROM a\nHEALTHCHECK NONE b\n": ("HEALTHCHECK NONE takes no arguments.", (2, 18)),
    "FROM a\nHEALTHCHECK CMD\n": ("HEALTHCHECK CMD needs a command.", (2, 1)),
    "# escape=x\nFROM a\n": ("The directive escape must be \\ or `.", (1, 1)),
    "# escape=`\n# escape=`\nFROM a\n": ("The directive escape is given twice.", (2, 1)),
    f"FROM a\nRUN {'b' * 65_532}\n": ("The line is longer than 65535 bytes, which is all that BuildKit reads.", (2, 1)),
    f"FROM a\n{'b' * 100} c\n": (f"{'b' * 40}... is no Dockerfile instruction.", (2, 1)),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.items(), ids=[repr(text[:30]) for text in REFUSED])
def test_what_buildkit_refuses_is_a_problem(text: str, expected: tuple[str, tuple[int, int]]) -> None:
    (problem,) = read(text).problems
    assert (problem.message, problem.location[1:3]) == expected


def test_problems_come_in_the_order_of_the_file() -> None:
    problems = read("FROM a\nCMD [1]\nFOO b\nCOPY c\nCMD [2]\n").problems
    assert [problem.location.line for problem in problems] == [2, 3, 4, 5]


def test_a_file_that_is_no_dockerfile_has_no_flood_of_problems() -> None:
    assert len(read("FROM a\n" + "b c\n" * 1_000).problems) == 50


def test_reading_goes_on_behind_a_problem() -> None:
    assert [instruction.name for instruction in read("FROM a\nFOO b\nUSER c\n").instructions] == ["FROM", "FOO", "USER"]


def test_what_stands_before_a_heredoc_without_an_end_is_given() -> None:
    assert [instruction.name for instruction in read("FROM a\nUSER b\nRUN <<EOF\nc\n").instructions] == ["FROM", "USER"]


@pytest.mark.parametrize("frontend", ["docker/dockerfile:1.4-labs", "docker.io/docker/dockerfile-upstream:master", "dockerfile@sha256:1"])
def test_buildkits_own_frontends_are_judged(frontend: str) -> None:
    assert read(f"# syntax={frontend}\nFROM a\nFOO b\n").problems


def test_an_empty_directive_is_read() -> None:
    assert read("# syntax= \nFROM a\n").directives == {"syntax": " "}


def test_another_frontend_has_a_language_of_its_own() -> None:
    assert not read("# syntax=example.com/frontends/other:1\nFROM a\nINCLUDE b\n").problems


@pytest.mark.parametrize(
    "text",
    [
        "FROM --platform=linux/arm64 a AS b-1.c\nCOPY --from=x --chown=1 --chmod=2 --link --parents --exclude=y --exclude=z c d\n",
        "FROM a\nADD --checksum=b --keep-git-dir --unpack=false c d\n",
        "FROM a\nRUN --mount=type=ssh --network=none --security=insecure --device=e f\n",
        "FROM a\nHEALTHCHECK --interval=1s --timeout=2s --start-period=3s --start-interval=4s --retries=5 CMD b\nCMD\nENTRYPOINT\n",
        "ARG a=1 b\nFROM c:${a}\nARG a b=2\nLABEL d e\nSTOPSIGNAL SIGINT\nVOLUME f\nEXPOSE 1\nMAINTAINER g\n",
    ],
)
def test_what_buildkit_takes_is_no_problem(text: str) -> None:
    assert not read(text).problems


# --- Any input ------------------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read(data: bytes) -> None:
    for before in (b"", b"FROM a\nRUN ", b"# syntax=", b"FROM a\nENV "):
        syntax = parse(Source("Dockerfile", before + data))
        assert all(list(texts_of(instruction)) for instruction in syntax.instructions)


@pytest.mark.parametrize(
    "unit",
    [
        *("\n", "#\n", "\\\n", " ", "\t", "a ", "a\n", "RUN a\n", "RUN <<A\n", "RUN <<A\nA\n", "<<", "<<A ", "ONBUILD ", "FROM a AS b\n"),
        *(
            "'",
            '"',
            "'\"",
            "`",
            "\\",
            "$",
            "${",
            "${x:-",
            "$(",
            "[",
            '["a",',
            "--a ",
            "--a='",
            "=",
            "A=b ",
            "\x00",
            "\ufeff",
            "# escape=`\n",
        ),
    ],
)
def test_long_input_is_read(unit: str) -> None:
    """One step that is quadratic makes minutes of a part of a second, without which nobody waits for the tests."""
    repeated = unit * (30_000 // len(unit))
    for before in ("", "FROM a\nRUN ", "FROM a\nRUN <<A ", "FROM a\nENV A=", "FROM a\nCMD ["):
        syntax = read(before + repeated)
        assert all(list(texts_of(instruction)) for instruction in syntax.instructions)


def test_a_file_longer_than_anyone_writes_is_a_problem() -> None:
    syntax = parse(Source("Dockerfile", b"FROM a\n" + b"# \n" * 700_000))
    assert [problem.message for problem in syntax.problems] == ["The file is longer than 2 MiB."]
