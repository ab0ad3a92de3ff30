"""Stages of a Dockerfile: bases, ENV and ARG, what starts, what is copied and run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.model.stage import Dockerfile, Stage, read_dockerfile
from gpulint.model.variable import EnvVar
from gpulint.parse.dockerfile import parse
from gpulint.source import Location, Source, Text, Unknown, Value


def read(text: str, **build_arguments: str) -> Dockerfile:
    outside: dict[str, Value] = {name: Text(value, Location("build", 1, 1, 1, 1)) for name, value in build_arguments.items()}
    return read_dockerfile("Dockerfile", parse(Source("Dockerfile", text.encode())), outside)


def stage(text: str, **build_arguments: str) -> Stage:
    """The last stage of a file that starts with the FROM of an image."""
    return read(f"FROM a\n{text}", **build_arguments).stages[-1]


def shown(value: Value | None) -> str | None:
    """A value for comparisons: an Unknown as its raw text behind a question mark."""
    return None if value is None else f"?{value.raw}" if isinstance(value, Unknown) else str(value)


def variables(found: tuple[EnvVar, ...]) -> dict[str, str | None]:
    return {str(variable.name): shown(variable.value) for variable in found}


def base(text: str, **build_arguments: str) -> tuple[str | None, str | None]:
    reference = read(text, **build_arguments).stages[-1].base
    assert reference is not None
    return shown(reference.name), shown(reference.tag)


# --- FROM -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM nvidia/cuda:12.4.1-base\n", ("nvidia/cuda", "12.4.1-base")),
        ("FROM scratch\n", ("scratch", None)),
        ("ARG V=12.4.1\nFROM nvidia/cuda:${V}-base\n", ("nvidia/cuda", "12.4.1-base")),
        ("ARG V=12.4.1\nARG T=$V-base\nFROM nvidia/cuda:$T\n", ("nvidia/cuda", "12.4.1-base")),
        ("ARG V=1 W=$V\nFROM a:$W\n", ("a", "1")),
        ("ARG V=1\nARG V\nFROM a:$V\n", ("a", "1")),
        ("ARG V='1'\nFROM a:$V\n", ("a", "1")),
        ("FROM nvidia/cuda:${V:-12.4.1}\n", ("nvidia/cuda", "12.4.1")),
        ("ARG V\nFROM nvidia/cuda:$V\n", ("nvidia/cuda", "?$V")),
        ("ARG V\nARG B=nvidia/cuda:$V\nFROM $B-base\n", ("nvidia/cuda", "?$V-base")),
        ("FROM a:x-$TARGETARCH\n", ("a", "?x-$TARGETARCH")),
        ("FROM a\nARG V=1\nFROM b:x$V\n", ("b", "x")),
    ],
)
def test_base(text: str, expected: tuple[str, str | None]) -> None:
    assert base(text) == expected


def test_a_from_without_an_image_has_an_unknown_base() -> None:
    assert base("FROM\n")[0] == "?"


def test_a_build_argument_takes_the_place_of_a_default() -> None:
    assert base("ARG V=1\nFROM a:$V\n", V="2") == ("a", "2")
    assert base("FROM a:x$V\n", V="2") == ("a", "x"), "an argument that no ARG declares is not used"


def test_stages_have_names_numbers_and_parents() -> None:
    dockerfile = read("FROM a AS Build\nFROM build AS next\nFROM --platform=linux/arm64 next\n")
    build, following, last = dockerfile.stages
    assert [each.index for each in dockerfile.stages] == [0, 1, 2]
    assert [each.is_last for each in dockerfile.stages] == [False, False, True]
    assert (following.base, following.parent) == (None, build)
    assert last.chain() == (last, following, build)
    assert (shown(last.name), shown(last.platform)) == (None, "linux/arm64")
    assert last.from_location == Location("Dockerfile", 3, 1, 3, 33)


def test_a_later_stage_is_no_parent() -> None:
    first = read("FROM b AS a\nFROM c AS b\n").stages[0]
    assert (first.parent, first.base and first.base.name) == (None, "b")


def test_a_build_target_is_a_name_or_a_number() -> None:
    dockerfile = read("FROM a AS Build\nFROM b\n")
    assert dockerfile.stage("build") is dockerfile.stage("0") is dockerfile.stages[0]
    assert dockerfile.stage("1") is dockerfile.stages[1]
    assert dockerfile.stage("other") is dockerfile.stage("2") is None


def test_global_arguments() -> None:
    assert variables(read("ARG A=1 B\nFROM a\nARG C=2\n").arguments) == {"A": "1", "B": None}


def test_places_of_a_base() -> None:
    reference = read("ARG V=1\nFROM \\\n  nvidia/cuda:12.4.1-base AS b\nFROM c:$V\n").stages[0].base
    assert reference is not None
    assert reference.tag is not None
    assert reference.tag.location[1:] == (3, 15, 3, 26)


# --- ENV and ARG ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "env"),
    [
        ("ENV A=b C='d e'\n", {"A": "b", "C": "d e"}),
        ("ENV A b  'c'\n", {"A": "b  c"}),
        ("ENV A=1\nENV A=2 B=$A\n", {"A": "2", "B": "1"}),
        ("ARG A=1\nENV B=$A\n", {"B": "1"}),
        ("ARG A\nENV B=x$A\n", {"B": "?x$A"}),
        ("ENV A=1\nARG A\nENV B=$A\n", {"A": "1", "B": "1"}),
        ("ENV A=1\nARG A=2\nENV B=$A\n", {"A": "1", "B": "2"}),
        ("ENV PATH=/a:$PATH\n", {"PATH": "?/a:$PATH"}),
        ("ENV P=/a:$P\nENV P=/b:$P\n", {"P": "?/b:/a:$P"}),
        ("ARG N=X\nENV $N=1\n", {"X": "1"}),
        ("ENV $N=1\nENV B\n", {}),
    ],
)
def test_env(text: str, env: dict[str, str]) -> None:
    assert variables(stage(text).env) == env


def test_a_stage_inherits_the_env_and_the_arguments_of_its_parent() -> None:
    last = stage("ENV A=1 B=1\nARG C=2\nFROM a AS b\nENV A=3\nARG C=4\nFROM b\nENV D=$A$C B=5\n")
    assert variables(last.env) == {"A": "3", "D": "34", "B": "5"}
    assert variables(last.arguments) == {"C": "4"}
    assert last.variable("A") is not None
    assert last.variable("E") is None


def test_a_global_argument_counts_where_it_is_declared_again() -> None:
    text = "ARG A=1\nFROM a\n{}ENV B=x$A\n"
    assert variables(read(text.format("")).stages[0].env) == {"B": "?x$A"}
    assert variables(read(text.format("ARG A\n")).stages[0].env) == {"B": "x1"}
    assert variables(read(text.format("ARG A=2\n")).stages[0].env) == {"B": "x2"}
    assert variables(read(text.format("ARG A=2\n"), A="3").stages[0].env) == {"B": "x3"}


def test_an_env_points_to_where_it_is_written() -> None:
    found = stage("ENV A=b \\\n  C='d'\n").variable("C")
    assert found is not None
    assert found.value is not None
    assert (found.name.location[1:], found.value.location[1:]) == ((3, 3, 3, 4), (3, 6, 3, 7))


def test_a_value_that_doubles_itself_is_given_up() -> None:
    text = "ENV A=0123456789\n" + "ENV A=$A$A\n" * 60
    value = stage(text).env[0].value
    assert isinstance(value, Unknown)


# --- What starts ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "entrypoint", "command"),
    [
        ("", None, None),
        ('CMD ["a", "$b"]\n', None, ("a", "$b")),
        ("CMD a $b\n", None, ("/bin/sh", "-c", "a $b")),
        ('SHELL ["/bin/bash", "-lc"]\nCMD a\n', None, ("/bin/bash", "-lc", "a")),
        ('CMD ["a"]\nENTRYPOINT ["b"]\n', ("b",), ("a",)),
        ('ENTRYPOINT ["b"]\n', ("b",), ()),
        ("ENTRYPOINT []\nCMD []\n", (), ()),
        ('CMD ["a"]\nCMD ["b"]\n', None, ("b",)),
        ('CMD ["a"]\nENTRYPOINT ["b"]\nFROM a\n', None, None),
    ],
)
def test_entrypoint_and_command(text: str, entrypoint: tuple[str, ...] | None, command: tuple[str, ...] | None) -> None:
    last = stage(text)
    assert (last.entrypoint, last.command) == (entrypoint, command)


def test_an_entrypoint_resets_an_inherited_command() -> None:
    parent = 'FROM a AS b\nENTRYPOINT ["c"]\nCMD ["d"]\nUSER e\nWORKDIR /f\nFROM b\n'
    same, changed = read(parent).stages[-1], read(f'{parent}ENTRYPOINT ["g"]\nUSER h\nWORKDIR i\n').stages[-1]
    assert (same.entrypoint, same.command, same.user, same.working_directory) == (("c",), ("d",), "e", "/f")
    assert (changed.entrypoint, changed.command, changed.user, changed.working_directory) == (("g",), (), "h", "/f/i")


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        *[
            ("", None),
            ("WORKDIR /a\n", "/a"),
            ("WORKDIR /a/\nWORKDIR b/../c\n", "/a/c"),
            ("WORKDIR a\n", "?a"),
            ("WORKDIR a\nWORKDIR /b\n", "/b"),
        ],
        *[("ENV A=/b\nWORKDIR $A/c\n", "/b/c"), ("WORKDIR $A\nWORKDIR b\n", "?$A/b"), ("WORKDIR 'a b'\nWORKDIR '/c d'\n", "/c d")],
    ],
)
def test_working_directory(text: str, directory: str | None) -> None:
    found = stage(text).working_directory
    assert (shown(found) or "").removesuffix("/") == (directory or "")


# --- COPY and RUN ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sources", "target", "from_", "destination"),
    [
        ("COPY a b /c/\n", ["a", "b"], "/c/", None, "/c/"),
        ('WORKDIR /w\nCOPY ["a b", "."]\n', ["a b"], ".", None, "/w/"),
        ("WORKDIR /w\nADD --chown=1 a x/../b\n", ["a"], "x/../b", None, "/w/b"),
        ("COPY --from=build /a b\n", ["/a"], "b", "build", "?b"),
        ("ENV A=/d\nCOPY $A/x $A\n", ["/d/x"], "/d", None, "/d"),
        ("COPY <<EOF a /b\nc\nEOF\n", ["a"], "/b", None, "/b"),
    ],
)
def test_copies(text: str, sources: list[str], target: str, from_: str | None, destination: str) -> None:
    (copy,) = stage(text).copies
    assert [shown(source) for source in copy.sources] == sources
    assert (shown(copy.target), shown(copy.from_), shown(copy.destination)) == (target, from_, destination)


def test_a_copy_that_buildkit_refuses_is_none() -> None:
    assert not stage("COPY a\nCOPY\n").copies


def commands(text: str) -> list[list[str | None]]:
    return [[shown(word) for word in command.words] for run in stage(text).runs for command in run.script.commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RUN a b && \\\n  # why\n  c\n", [["a", "b"], ["c"]]),
        ("ARG A=1\nENV B=2\nRUN a $A ${B} $C\n", [["a", "1", "2", "?$C"]]),
        ('ENV A=1\nRUN ["a", "$A"]\n', [["a", "$A"]]),
        ('RUN ["bash", "-c", "a && b"]\n', [["bash", "-c", "a && b"], ["a"], ["b"]]),
        ('RUN sh -ec "a; b" && c\n', [["sh", "-ec", "a; b"], ["a"], ["b"], ["c"]]),
        ("RUN bash -c \"bash -c 'a b'\"\n", [["bash", "-c", "bash -c 'a b'"], ["bash", "-c", "a b"], ["a", "b"]]),
        ("RUN <<EOF\na\nb\nEOF\n", [["a"], ["b"]]),
        ("RUN <<-'E'\n\ta $HOME\n\tE\n", [["a", "?$HOME"]]),
        ("RUN <<EOF\n#!/bin/bash -e\na\nEOF\n", [["a"]]),
        ("RUN <<EOF\n#!/usr/bin/env python3\nimport a\nEOF\n", []),
        ("RUN bash <<EOF && b\na\nEOF\n", [["bash"], ["a"], ["b"]]),
        ("RUN python3 <<EOF\nimport a\nEOF\n", [["python3"]]),
        ("RUN cat <<A <<B > /c\nx\nA\ny\nB\n", [["cat"]]),
        ('SHELL ["pwsh", "-Command"]\nRUN a\n', []),
        ('SHELL ["conda", "run", "-n", "e", "/bin/bash", "-c"]\nRUN a\n', [["a"]]),
        ("RUN []\nRUN\n", []),
    ],
)
def test_runs(text: str, expected: list[list[str | None]]) -> None:
    assert commands(text) == expected


def test_a_scripts_commands_have_places() -> None:
    runs = stage('RUN a && \\\n  pip install b\nRUN <<EOF\n  pip install c\nEOF\nRUN bash -c "pip install d"\n').runs
    places = [command.words[2].location[1:] for run in runs for command in run.script.commands if command.name == "pip"]
    assert places == [(3, 15, 3, 16), (5, 15, 5, 16), (7, 26, 7, 27)]


def test_an_inner_script_is_a_block() -> None:
    (run,) = stage('RUN if x; then bash -c "if y; then z; fi"; fi\n').runs
    assert [command.block for command in run.script.commands] == [("if",), ("then",), ("then", "script", "if"), ("then", "script", "then")]


def test_a_run_knows_its_directory_and_its_mounts() -> None:
    (run,) = stage("WORKDIR /w\nRUN --mount=type=cache,target=/c --mount=from=b,src=/s,dst=/d --network=none e\nWORKDIR /x\n").runs
    assert shown(run.working_directory) == "/w"
    assert [tuple(mount) for mount in run.mounts] == [("cache", None, None, "/c"), ("bind", "b", "/s", "/d")]
    assert run.mounts[1].source is not None
    assert run.mounts[1].source.location[1:] == (3, 53, 3, 55)


def test_what_a_parent_keeps_by_onbuild_is_run_by_its_children_alone() -> None:
    stages = read("FROM a AS b\nONBUILD RUN c\nONBUILD ENV D=e\nFROM b AS f\nRUN g\nFROM f\n").stages
    assert [[shown(command.words[0]) for run in each.runs for command in run.script.commands] for each in stages] == [[], ["c", "g"], []]
    assert [variables(each.env) for each in stages] == [{}, {"D": "e"}, {"D": "e"}]


# --- Any input ------------------------------------------------------------------------------------------------------------------


def work_out(dockerfile: Dockerfile) -> None:
    for each in dockerfile.stages:
        assert len(each.chain()) >= 1
        _ = each.env, each.arguments, each.entrypoint, each.command, each.working_directory, each.user, each.installs, each.removals
        _ = [copy.destination for copy in each.copies], [run.mounts for run in each.runs]


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    st.lists(
        st.sampled_from(
            ["FROM a", "FROM a AS b", "FROM b", "RUN", "COPY", "ADD", "ENV", "ARG", "CMD", "ENTRYPOINT", "ONBUILD", "WORKDIR", "SHELL"]
        ).flatmap(lambda keyword: st.text(st.sampled_from(" $A={}:-'\"\\/.[],b<E\n"), max_size=20).map(lambda rest: f"{keyword} {rest}\n")),
        max_size=8,
    ).map("".join)
)
def test_any_dockerfile_is_read(text: str) -> None:
    work_out(read(text))


def test_a_long_chain_of_stages_is_read() -> None:
    dockerfile = read("FROM a AS s0\n" + "".join(f"FROM s{index} AS s{index + 1}\nENV A{index}=b\n" for index in range(1_500)))
    assert len(dockerfile.stages) == 1_000
    assert len(dockerfile.stages[-1].env) == 999
