"""Generated YAML and JSON: the same values as PyYAML's own, each in its place, and no text that raises."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yaml_trees import check_places, nodes, plain, root, source

from gpulint.parse.nodes import Mapping, Scalar
from gpulint.parse.template import is_template, parse_either, parse_template
from gpulint.parse.yaml import parse

CHARACTERS = st.characters(exclude_categories=("Cs", "Cc", "Cn"), include_characters="\n\t ")
KEYS = st.text(CHARACTERS, max_size=12).filter(lambda key: key != "<<")
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(CHARACTERS, max_size=60))
DATA = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20)
STYLES = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([None, True, False]),
        "default_style": st.sampled_from([None, '"', "'", "|", ">"]),
        "indent": st.integers(2, 6),
        "width": st.integers(10, 100),
        "allow_unicode": st.booleans(),
        "line_break": st.sampled_from(["\n", "\r\n"]),
        "explicit_start": st.booleans(),
        "explicit_end": st.booleans(),
    }
)
YAML = ("a", "b: ", "- ", "? ", ": ", "\n", "  ", "    ", "\t", "[", "]", "{", "}", ", ", "'", '"', "|", ">", "&x ", "*x", "!t ", "<<: ")
OTHER = ("#", "%", "@", "---\n", "...\n", "\r\n", "\r", "\0", "\u2028", "é", "\\", "<<<<<<< ", "//", "/*", "*/")
ACTIONS = ("{{ x }}", "{{- if a }}", "{{ end }}", "{{ else }}", "{{/* ", " */}}", "{{", "}}", "nindent 2", '{{ "b" }}')
TEXTS = st.lists(st.sampled_from((*YAML, *OTHER, *ACTIONS)), max_size=25).map("".join)


@given(DATA, STYLES)
@settings(max_examples=300, deadline=None)
def test_dumped_yaml_is_read_as_pyyaml_reads_it(data: Any, style: dict[str, Any]) -> None:
    text = yaml.safe_dump(data, **style)
    file = source(text)
    tree = root(text)
    check_places(file, tree)
    assert plain(tree) == plain_of(yaml.compose(text, Loader=yaml.CBaseLoader))


@given(DATA, st.sampled_from([None, 2, "\t"]))
@settings(max_examples=200, deadline=None)
def test_dumped_json_is_read_as_written(data: Any, indent: int | str | None) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    tree = root(text, "x.json")
    check_places(source(text, "x.json"), tree)
    assert plain(tree) == text_of(data)


@given(TEXTS)
@example("\ufeff---\n\ufeffa: 1")
@settings(max_examples=1000, deadline=None)
def test_no_text_raises_and_what_is_read_stands_where_it_says(text: str) -> None:
    file = source(text)
    for syntax in (parse(file), parse(source(text, "x.json")), parse_either(file)):
        assert all(problem.location.line >= 1 for problem in syntax.problems)
    for document in parse(file).documents:
        for node in nodes(document.root):
            assert 1 <= node.location.line <= node.location.end_line <= file.line_count
    is_template(text)


@given(TEXTS)
@settings(max_examples=500, deadline=None)
def test_a_template_is_read_where_it_stands(text: str) -> None:
    file = source(text)
    for document in parse_template(file).documents:
        for node in nodes(document.root):
            assert node.location.line <= node.location.end_line <= file.line_count
            if isinstance(node, Scalar) and node.pieces is None and "\r" not in text and "\u2028" not in text:
                assert file.line(node.location.line)[node.location.column - 1 : node.location.end_column - 1] == node


@given(TEXTS.filter(lambda text: "<<" not in text))
@example("#\ra")
@example("# a\r\n---\r\nb")
@settings(max_examples=500, deadline=None)
def test_what_pyyaml_composes_is_no_problem(text: str) -> None:
    try:
        composed = list(yaml.compose_all(text, Loader=yaml.CBaseLoader))
    except (yaml.YAMLError, ValueError):
        return
    syntax = parse(source(text))
    if not syntax.problems:
        assert [plain(document.root) for document in syntax.documents] == [
            None if isinstance(node, yaml.ScalarNode) and not node.value and not node.style else plain_of(node) for node in composed
        ]


def text_of(data: Any) -> Any:
    """JSON data with each scalar as it is written."""
    if isinstance(data, dict):
        return {key: text_of(value) for key, value in data.items()}
    if isinstance(data, list):
        return [text_of(item) for item in data]
    return data if isinstance(data, str) else json.dumps(data)


def plain_of(node: yaml.Node | None) -> Any:
    """PyYAML's nodes as plain data, as `plain` shows ours."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: plain_of(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain_of(item) for item in node.value]
    return None if node is None else node.value


def test_every_mapping_answers() -> None:
    assert all(len(node) == len(list(node)) for node in nodes(root("a: {b: 1, b: 2}\nc: {<<: {d: 1}}\n")) if isinstance(node, Mapping))
