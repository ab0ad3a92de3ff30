"""Go templates as trees: where texts begin and end, how pipelines are read, and what is no template."""

from __future__ import annotations

import pytest

from gpulint.parse.go_template import (
    ActionNode,
    BlockNode,
    CallNode,
    Dot,
    Function,
    Literal,
    Nested,
    Node,
    Pipeline,
    TemplateError,
    TextNode,
    Variable,
    parse_go_template,
)
from gpulint.source import Source


def nodes(text: str) -> tuple[Node, ...]:
    return parse_go_template(Source("a.yaml", text.encode())).nodes


def pipeline(expression: str) -> Pipeline:
    (node,) = nodes("{{ " + expression + " }}")
    assert isinstance(node, ActionNode)
    return node.pipeline


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a {{ .b }} c", ["a ", " c"]),
        ("a {{- .b -}} c", ["a", "c"]),
        ("a\n  {{- .b }}\nc", ["a", "\nc"]),
        ("a {{-3}} b", ["a ", " b"]),
        ("a {{/* } }} */}} b", ["a ", " b"]),
        ('a {{ "}}" }} b', ["a ", " b"]),
        ("{{- .a -}}\n\n{{- .b -}}", []),
    ],
)
def test_texts_between_actions(text: str, texts: list[str]) -> None:
    assert [text[node.start : node.end] for node in nodes(text) if isinstance(node, TextNode)] == texts


@pytest.mark.parametrize(
    ("expression", "commands"),
    [
        (".a.b", ((Dot(("a", "b")),),)),
        ("$.a", ((Variable("$", ("a",)),),)),
        ("$x.a | quote", ((Variable("$x", ("a",)),), (Function("quote"),))),
        ("f .a .b", ((Function("f"), Dot(("a",)), Dot(("b",))),)),
        ('f "a\\tb" `c\\t` 1 -2 0x10 1.5 true nil .', None),
    ],
)
def test_commands(expression: str, commands: tuple[object, ...] | None) -> None:
    if commands is None:
        constants = ("a\tb", "c\\t", 1, -2, 16, 1.5, True, None)
        commands = ((Function("f"), *map(Literal, constants), Dot(())),)
    assert pipeline(expression).commands == commands


def test_a_pipeline_in_parentheses_has_fields() -> None:
    ((nested,),) = pipeline("(f .a).b.c").commands
    assert isinstance(nested, Nested)
    assert nested.fields == ("b", "c")
    assert nested.pipeline.commands == ((Function("f"), Dot(("a",))),)


@pytest.mark.parametrize(
    ("expression", "variables", "declares"),
    [("$a := 1", ("$a",), True), ("$a = 1", ("$a",), False), ("$a, $b := .c", ("$a", "$b"), True), ("eq $a 1", (), False)],
)
def test_variables(expression: str, variables: tuple[str, ...], declares: bool) -> None:
    found = pipeline(expression)
    assert (found.variables, found.declares) == (variables, declares)


def test_branches_and_where_they_stand() -> None:
    text = "{{ if .a }}A{{ else if .b }}B{{ else }}C{{ end }}D"
    first, behind = nodes(text)
    assert isinstance(first, BlockNode) and isinstance(behind, TextNode)
    (second,) = first.otherwise
    assert isinstance(second, BlockNode)
    assert [text[block.body_start : block.body_end] for block in (first, second)] == ["A", "B"]
    assert [text[block.else_start : block.else_end] for block in (first, second)] == ["{{ else if .b }}B{{ else }}C{{ end }}", "C"]
    assert text[first.start : first.end] == text[:-1] and text[behind.start : behind.end] == "D"


def test_definitions_and_calls() -> None:
    template = parse_go_template(Source("a.tpl", b'{{ define "a" }}x{{ end }}{{ block "b" .c }}y{{ end }}{{ template "a" }}'))
    assert set(template.defined) == {"a", "b"}
    assert [(node.name, node.pipeline is None) for node in template.nodes if isinstance(node, CallNode)] == [("b", False), ("a", True)]


@pytest.mark.parametrize(
    "text",
    [
        *("{{ end }}", "{{ else }}", "{{ if .a }}", "{{ if }}{{ end }}", "{{ range .a }}", "{{ define a }}{{ end }}", "{{ .a", "{{ }}"),
        *("{{ .a | }}", "{{ ( .a }}", "{{ .a ) }}", "{{ .a ? }}", "{{ template .a }}", "{{ if .a }}{{ else range .b }}{{ end }}{{ end }}"),
        '{{ define "a" }}{{ else }}{{ end }}',
    ],
)
def test_what_is_no_template(text: str) -> None:
    with pytest.raises(TemplateError):
        nodes(text)
