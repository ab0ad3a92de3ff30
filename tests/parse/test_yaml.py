"""YAML by hand: what is read of each form, and where it stands."""

from __future__ import annotations

import textwrap

import pytest
from yaml_trees import at, check_places, nodes, plain, read, root, source

from gpulint.parse.nodes import Mapping, Scalar, Sequence
from gpulint.parse.yaml import Part, documents, parse
from gpulint.source import Piece, Source


def lines(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def place(node: object) -> tuple[int, ...]:
    """Line, column, end line and end column of a node."""
    return tuple(node.location)[1:]  # type: ignore[attr-defined]


# Scalars


@pytest.mark.parametrize(
    ("written", "value", "plain_style", "region"),
    [
        ("one two", "one two", True, "one two"),
        ("'one'", "one", False, "one"),
        ('"one"', "one", False, "one"),
        ("&a one", "one", True, "one"),
        ("!t 'one'", "one", False, "one"),
        ("!t   &a   one # b", "one", True, "one"),
        ("'it''s'", "it's", False, "'it''s'"),
        ('"a\\tb"', "a\tb", False, '"a\\tb"'),
        ('&a "a\\tb"', "a\tb", False, '"a\\tb"'),
        ("größe 🚀", "größe 🚀", True, "größe 🚀"),
        ('""', "", False, ""),
        ("", "", True, ""),
        ("# nothing", "", True, ""),
        ("http://x:8080/#y", "http://x:8080/#y", True, "http://x:8080/#y"),
    ],
)
def test_a_scalar_on_one_line(written: str, value: str, plain_style: bool, region: str) -> None:
    file = source(f"key: {written}\nnext: x\n")
    scalar = root(file.data).get("key")
    assert (scalar, scalar.plain) == (value, plain_style)
    assert at(file, scalar.location) == region
    assert scalar.location.line == 1
    check_places(file, scalar)


def test_a_missing_value_stands_behind_its_colon() -> None:
    assert place(root("a:\n\n\nb: 1\n").get("a")) == (1, 3, 1, 3)
    assert place(root("? a\n\n? b\n").get("a")) == (1, 4, 1, 4)
    assert [place(item) for item in root("- a\n-\n\n- b\n")] == [(1, 3, 1, 4), (2, 2, 2, 2), (4, 3, 4, 4)]


@pytest.mark.parametrize("written", ["", "~", "null", "Null", "NULL"])
def test_null_is_no_scalar_to_a_look_up(written: str) -> None:
    assert root(f"a: {written}\n").get("a").is_null
    assert root(f"a: {written}\n").scalar("a") is None


@pytest.mark.parametrize("written", ["'null'", '""', "!!str null", "! ~", "nil"])
def test_a_string_is_not_null(written: str) -> None:
    assert not root(f"a: {written}\n").get("a").is_null


@pytest.mark.parametrize("chomp", ["", "-", "+", "2", "2-", " # why"])
def test_a_literal_block_has_one_piece_for_each_line(chomp: str) -> None:
    file = source(f"run: |{chomp}\n  first\n    second\n\n  third\n\nnext: x\n")
    script = root(file.data).get("run")
    assert script.rstrip("\n") == "first\n  second\n\nthird"
    assert script.pieces == (Piece(0, 2, 3), Piece(6, 3, 3), Piece(15, 4, 3), Piece(16, 5, 3))
    assert at(file, script.location) == "first\n    second\n\n  third"
    third = script.cut(script.index("third"), script.index("third") + 5)
    assert at(file, third.location) == "third"
    assert not script.plain


def test_a_literal_block_that_begins_deeper_than_it_says() -> None:
    file = source("run: |2\n    first\n  second\n")
    script = root(file.data).get("run")
    assert script == "  first\nsecond\n"
    assert script.pieces == (Piece(0, 2, 3), Piece(8, 3, 3))


@pytest.mark.parametrize(
    ("written", "value", "pieces"),
    [
        (">-\n    one\n    two\n\n    three", "one two\nthree", ((0, 2, 5), (4, 3, 5), (8, 5, 5))),
        (">\n    one\n      deeper\n    two", "one\n  deeper\ntwo\n", ((0, 2, 5), (6, 3, 7), (13, 4, 5))),
        ("one\n  two", "one two", ((0, 1, 6), (4, 2, 3))),
        ("'one\n  two'", "one two", ((0, 1, 7), (4, 2, 3))),
        ('"one\n\n  two"', "one\ntwo", ((0, 1, 7), (4, 3, 3))),
    ],
)
def test_joined_lines_are_told_apart(written: str, value: str, pieces: tuple[tuple[int, int, int], ...]) -> None:
    scalar = root(f"key: {written}\nnext: x\n").get("key")
    assert scalar == value
    assert scalar.pieces == pieces


@pytest.mark.parametrize("written", ['"one\\\n  two"', '"one\\n\n  two"', "'it''s\n  two'", '" one\n  two"', ">\n\n  one\n", "|", "|-\n\n"])
def test_what_cannot_be_told_apart_is_the_whole_token(written: str) -> None:
    file = source(f"key: {written}\nnext: x\n")
    scalar = root(file.data).get("key")
    assert scalar.pieces == ()
    assert at(file, scalar.location).startswith(written[0])
    assert plain(root(file.data))["next"] == "x"


# Collections


def test_collections_end_where_their_last_value_does() -> None:
    file = source(
        lines("""
        spec:
          limits:
            gpu: 1

          # a comment

          list:
          - a
          - {b: 1, c: [d]}

        next: x
        """)
    )
    tree = root(file.data)
    assert place(tree) == (1, 1, 11, 8)
    assert at(file, tree.get("spec", "limits").location) == "gpu: 1"
    assert at(file, tree.get("spec", "list").location) == "- a\n  - {b: 1, c: [d]}"
    assert at(file, tree.get("spec", "list").items[1].location) == "{b: 1, c: [d]}"
    assert at(file, tree.get("spec", "list").items[1].get("c").location) == "[d]"
    assert at(file, tree.get("spec").location).endswith("{b: 1, c: [d]}")


def test_a_collection_begins_behind_its_anchor_and_tag() -> None:
    file = source("a: &x !t # why\n  b: 1\nc: &y [d]\ne: !u\n- f\n")
    tree = root(file.data)
    assert at(file, tree.get("a").location) == "b: 1"
    assert at(file, tree.get("c").location) == "[d]"
    assert at(file, tree.get("e").location) == "- f"


def test_a_key_of_a_flow_sequence_is_a_mapping() -> None:
    file = source("[a: b, c]\n")
    tree = root(file.data)
    assert plain(tree) == [{"a": "b"}, "c"]
    assert at(file, tree.items[0].location) == "a: b"


def test_duplicate_keys_are_kept_and_the_last_counts() -> None:
    tree = root("a: 1\nb: 2\na: 3\n")
    assert [(entry.key, entry.value) for entry in tree.entries] == [("a", "1"), ("b", "2"), ("a", "3")]
    assert tree.get("a") == "3"
    assert len(tree) == 2


def test_look_ups_take_what_is_there() -> None:
    tree = root("a: {b: [1, {c: 2}]}\nd: x\n")
    assert tree.get("a", "x", "y") is None
    assert tree.get("d", "x") is None
    assert tree.sequence("a", "b").items[0] == "1"
    assert [plain(each) for each in tree.sequence("a", "b").mappings()] == [{"c": "2"}]
    assert len(tree.mapping("d")) == len(tree.sequence("d")) == 0
    assert "a" in tree
    assert tree.entry("d").key.location.line == 2


# Anchors, aliases, merges and tags


def test_an_alias_is_the_node_it_names() -> None:
    tree = root("a: &x {b: 1}\nc: *x\nd: [*x]\n")
    assert tree.get("a") is tree.get("c") is tree.sequence("d").items[0]
    assert place(tree.sequence("d")) == (3, 4, 3, 8)


def test_an_anchor_may_be_used_again() -> None:
    assert plain(root("- &x 1\n- *x\n- &x 2\n- *x\n")) == ["1", "1", "2", "2"]


def test_merged_entries_come_last_and_yield() -> None:
    tree = root(
        lines("""
        base: &base {a: 1, b: 1}
        more: &more {b: 2, c: 2}
        it:
          <<: [*base, *more]
          c: 3
        """)
    ).get("it")
    assert [(entry.key, entry.value, entry.merged) for entry in tree.entries] == [("c", "3", False), ("a", "1", True), ("b", "1", True)]
    assert place(tree.get("b")) == (1, 23, 1, 24)


def test_merges_of_merges() -> None:
    tree = root("a: &a {x: 1}\nb: &b\n  <<: *a\n  y: 2\nc:\n  <<: *b\n  <<: {z: 3}\n")
    assert plain(tree.get("c")) == {"x": "1", "y": "2", "z": "3"}


@pytest.mark.parametrize("written", ["~", "text", "[]", "[text]", "{}"])
def test_a_merge_of_nothing_does_no_harm(written: str) -> None:
    assert plain(root(f"<<: {written}\na: 1\n")) == {"a": "1"}


def test_a_quoted_merge_key_is_a_key() -> None:
    assert plain(root("'<<': {a: 1}\n")) == {"<<": {"a": "1"}}


def test_a_mapping_that_merges_itself() -> None:
    syntax = parse(source("a: &g\n  <<: *g\n  b: 1\n"))
    assert [plain(document.root) for document in syntax.documents] == [{"a": {"b": "1"}}]
    assert [(problem.message, place(problem)) for problem in syntax.problems] == [
        ("the alias *g stands inside of what &g names", (2, 7, 2, 9))
    ]


def test_tags_are_kept_and_harm_nothing() -> None:
    tree = root("a: !reset null\nb: !override [1]\nc: !reference {d: e}\nf: !!int 1\ng: !vault |\n  x\nh: !reset\n")
    assert [tree.get(key).tag for key in "abcfgh"] == ["!reset", "!override", "!reference", "tag:yaml.org,2002:int", "!vault", "!reset"]
    assert tree.get("a").is_null
    assert tree.get("h").is_null
    assert root("a: 1\n").get("a").tag is root("a: 1\n").tag is None


# Documents


def test_each_document_by_itself() -> None:
    syntax = parse(source("# head\n---\na: 1\n---\nb: 'x\n---\nc: 3\n...\n# between\n---\n--- # empty\n...\nd: 4\n"))
    assert [plain(document.root) for document in syntax.documents] == [{"a": "1"}, {"c": "3"}, None, None, {"d": "4"}]
    assert [(problem.message, place(problem)) for problem in syntax.problems] == [
        ("the quote that opens here is never closed", (5, 4, 5, 6))
    ]
    assert [place(document) for document in syntax.documents][:2] == [(2, 1, 3, 5), (6, 1, 8, 4)]
    assert syntax.documents[-1].root.get("d").location.line == 13  # type: ignore[union-attr]


def test_dashes_within_a_document_part_nothing() -> None:
    text = "a: |\n  ---\n  x\nb: '\n  ---'\nc: ---x\n"
    assert documents(source(text)) == [Part(0, len(text))]
    assert plain(root(text)) == {"a": "---\nx\n", "b": " ---", "c": "---x"}


def test_directives_belong_to_the_document_below() -> None:
    text = "%TAG !e! tag:example.org,2000:\n# why\n--- !e!x\na: 1\n"
    assert documents(source(text)) == [Part(0, len(text))]
    assert root(text).tag == "tag:example.org,2000:x"


@pytest.mark.parametrize("text", ["", "\n", "# comment\n", "# a\n---", "...\n"])
def test_files_without_a_value(text: str) -> None:
    assert [document.root for document in read(text).documents] in ([], [None])


def test_only_the_wanted_documents_are_read() -> None:
    text = "a: 'broken\n---\nkind: Pod\n---\n@\n"
    syntax = parse(source(text), lambda part: "kind:" in part)
    assert [plain(document.root) for document in syntax.documents] == [{"kind": "Pod"}]
    assert syntax.documents[0].root.location.line == 3  # type: ignore[union-attr]
    assert syntax.problems == ()


# Bytes, line breaks and JSON


@pytest.mark.parametrize("line_break", ["\r\n", "\r", "\u2028", "\u2029", "\x85"])
def test_every_line_break_that_yaml_knows(line_break: str) -> None:
    file = source(line_break.join(["a: 1", "b:", "  - c", "  - 'd'", "e: f", ""]))
    tree = root(file.data)
    assert plain(tree) == {"a": "1", "b": ["c", "d"], "e": "f"}
    check_places(file, tree)
    assert tree.get("e").location.line == (5 if line_break == "\r\n" else 1)


def test_a_literal_block_with_windows_line_ends() -> None:
    script = root("a: |\r\n  one\r\n  two\r\nb: x\r\n").get("a")
    assert (script, script.pieces, place(script)) == ("one\ntwo\n", (Piece(0, 2, 3), Piece(4, 3, 3)), (2, 3, 3, 6))


def test_a_byte_order_mark_takes_no_column() -> None:
    assert place(root("\ufeffa: 1\n".encode()).get("a")) == (1, 4, 1, 5)


def test_bytes_that_are_no_text_cost_one_character() -> None:
    assert plain(root(b"a: x\xffy\nb: 1\n")) == {"a": "x\ufffdy", "b": "1"}


def test_json_with_what_editors_allow_in_it() -> None:
    file = source(
        lines("""
        // For the editor.
        {
        \t"name": "x", // "not": a key
        \t/* "nor": this,
        \t   "or": that */ "url": "http://x/*y*/",
        \t"emoji": "\\ud83d\\ude00", "slash": "a\\/b", "escaped": "\\\\ud83d",
        \t"list": [1, true, null,],
        }
        """),
        "devcontainer.json",
    )
    tree = root(file.data, file.path)
    assert plain(tree) == {
        "name": "x",
        "url": "http://x/*y*/",
        "emoji": "\ufffd\ufffd",
        "slash": "a/b",
        "escaped": "\\ud83d",
        "list": ["1", "true", "null"],
    }
    assert at(file, tree.get("url").location) == "http://x/*y*/"
    check_places(file, tree)


def test_slashes_are_text_in_yaml() -> None:
    assert plain(root("a: x // y\nb: [/* c]\n")) == {"a": "x // y", "b": ["/* c"]}


# Where the C library is not there, and where it is too strict


def test_the_parser_in_python_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &x 'b'\nc: |\n  d\ne: {f: *x}\nh:\n- i: >-\n    j\n    k\n"
    fast = [(type(node), node.location) for node in nodes(root(text))]
    monkeypatch.delattr("yaml.CBaseLoader")
    assert [(type(node), node.location) for node in nodes(root(text))] == fast


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: {b:}\n", {"a": {"b:": ""}}),
        ("a: [:b]\nc: |\n  d\n", {"a": [":b"], "c": "d\n"}),
        ('a: "\\ud83d\\ude00"\n', {"a": "😀"}),
    ],
)
def test_yaml_1_2_has_a_say(text: str, data: object) -> None:
    assert plain(root(text)) == data
    check_places(source(text), root(text))


def test_nodes_can_be_made_by_hand() -> None:
    file = Source("x", b"key")
    key = Scalar("key", file.location(0, 3))
    assert (key.plain, key.tag, key.pieces) == (True, None, None)
    assert (Mapping((), key.location).open, Sequence((), key.location).open) == (False, False)
