"""What is said of YAML that cannot be read, and where it is said to stand."""

from __future__ import annotations

import pytest
from yaml_trees import at, plain, source

from gpulint.parse.yaml import parse
from gpulint.parse.yaml_problems import looks_templated


@pytest.mark.parametrize(
    ("text", "message", "region"),
    [
        ("a: 1\nb: c: d\n", "a `key: value` cannot begin here", ": d"),
        ("a: 1\n b: 2\n", "a `key: value` cannot begin here", ": 2"),
        ("a: 1\nb\nc: 2\n", "the colon is missing", "b"),
        ("a:1\nb: 2\n", "a `key: value` cannot begin here", ": 2"),
        ("a: 'x\nb: 2\n", "the quote that opens here is never closed", "'x"),
        ("a: 'x\n--- 'y'\n", "the quote that opens here is never closed", "'x"),
        ("a: [x] y\n", "quote the whole of it", "y"),
        ("a: 'x' y\n", "a quote is missing, here or above", "y"),
        ("- 'x\n- 'y'\n", "a quote is missing, here or above", "y"),
        ("a: [1, 2\nb: 3\n", "the `[` that opens here is not closed", "[1, 2"),
        ("a: {b: 1\nc: 3\n", "the `{` that opens here is not closed", "{b: 1"),
        ("a: ]\n", "a bracket is closed that was never opened", "]"),
        ("{a: 1} b\n", "the document has ended before this text", "b"),
        ("a: - b\n", "put its first `-` on the next line", "- b"),
        ("- a\nb: c\n", "fits neither the indentation", "b: c"),
        ("a:\n  - b\n c: d\n", "fits neither the indentation", "c: d"),
        ("a:\n\tb: 1\n", "a tab stands where YAML takes only spaces", "\tb: 1"),
        ("a: b\n\tc: 1\n", "a tab stands where YAML takes only spaces", "\tc: 1"),
        ("a: |\n\tb\n", "a tab stands where YAML takes only spaces", "\tb"),
        ("a: @b\n", "a value cannot begin with this character: quote it", "@b"),
        ("a: %b\n", "a value cannot begin with this character: quote it", "%b"),
        ("a: *.log\n", "begin the name of an anchor, and this is none", ".log"),
        ('a: "\\d"\n', "no such escape exists in double quotes", '\\d"'),
        ("a: |b\n  c\n", "no text may follow", "b"),
        ("a: *b\n", "the alias *b has no anchor &b before it", "*b"),
        ("? {a: b}\n: c\n", "a mapping or a list stands here as a key", "{a: b}"),
        ("a: 1\nb: x\0y\n", "the control character U+0000 is not allowed", "\0y"),
        ("%A\n%B\na: 1\n", "this is not YAML:", "%A"),
    ],
)
def test_a_problem_and_its_place(text: str, message: str, region: str) -> None:
    file = source(text)
    (problem,) = parse(file).problems
    assert message in problem.message
    assert at(file, problem.location).startswith(region.split("\n")[0])


@pytest.mark.parametrize("text", ["a: {{ x }}\n", "{% if x %}\na: 1\n", "a: <%= x %>\n", "#@ if x:\na: 1\n"])
def test_what_looks_like_a_template(text: str) -> None:
    assert looks_templated(text)


@pytest.mark.parametrize("text", ["a: ${{ x }}\n", "a: {b: {c: 1}}\n", "# a@b\n", "a: 5%\n"])
def test_what_does_not_look_like_a_template(text: str) -> None:
    assert not looks_templated(text)


def test_a_merge_conflict_is_called_one() -> None:
    file = source("a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> main\n")
    (problem,) = parse(file).problems
    assert problem.message == "a merge conflict begins here that is not resolved"
    assert at(file, problem.location) == "<<<<<<< HEAD"


def test_a_conflict_within_a_text_is_text() -> None:
    assert parse(source("a: |\n  <<<<<<< HEAD\n")).problems == ()


def test_places_count_from_the_beginning_of_the_file() -> None:
    file = source("# one\n---\na: 1\n---\n\nb: @\n")
    (problem,) = parse(file).problems
    assert (problem.location.line, problem.location.column) == (6, 4)


def test_what_is_no_key_is_left_out() -> None:
    (document,) = parse(source("a: 1\n? [b]\n: c\nd: 2\n")).documents
    assert plain(document.root) == {"a": "1", "d": "2"}


def test_a_problem_at_the_end_of_a_file_is_shown_on_its_last_text() -> None:
    file = source("a: {\n\n\n")
    (problem,) = parse(file).problems
    assert problem.location.line == 1
