"""Helm templates by hand: what stays known, what is Unknown, what is open, and where all of it stands."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from yaml_trees import at, check_places, nodes, plain, root, source

from gpulint.parse.nodes import Mapping, Sequence
from gpulint.parse.template import is_template, parse_either, parse_template, unrendered
from gpulint.source import Unknown

DEPLOYMENT = textwrap.dedent("""\
    {{- if .Values.enabled }}
    {{- /* Not for
           the cloud. */ -}}
    apiVersion: {{ "apps/v1" }}
    metadata:
      name: {{ include "chart.name" . }}-gpu
      labels:
        {{- include "chart.labels" . | nindent 4 }}
        tier: gpu
      annotations:
        {{- toYaml .Values.annotations | nindent 4 }}
    spec:
      {{- if not .Values.autoscaling }}
      replicas: {{ .Values.replicas }}
      {{- end }}
      template:
        spec:
          containers:
            - name: {{ .Chart.Name | quote }}
              image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default "12.4" }}"
              args: ["--port", "{{ .Values.port }}", "--gpu"]
              {{ .Values.key }}: x
              command:
                - sh
                - -c
                - |
                  run {{ .Values.model }}
              resources:
                limits:
                  nvidia.com/gpu: 1
                {{- with .Values.requests }}
                requests:
                  cpu: {{ .cpu }}
                {{- end }}
              env:
                {{- range .Values.env }}
                - name: {{ .name }}
                {{- end }}
          tolerations:
          {{- toYaml .Values.tolerations | nindent 6 }}
          hostIPC: true
    {{- end }}
    """)


def template(text: str) -> Any:
    """The root of the only document of a template without problems."""
    syntax = parse_template(source(text))
    assert syntax.problems == ()
    (document,) = syntax.documents
    assert document.template
    return document.root


def test_a_deployment() -> None:
    tree = template(DEPLOYMENT)
    (container,) = tree.get("spec", "template", "spec", "containers").items
    assert plain(tree.get("apiVersion")) == "apps/v1"
    assert plain(tree.get("metadata")) == {
        "name": ('{{ include "chart.name" . }}-gpu',),
        "labels": {"tier": "gpu"},
        "annotations": ("{{- toYaml .Values.annotations | nindent 4 }}",),
    }
    assert plain(container) == {
        "name": ("{{ .Chart.Name | quote }}",),
        "image": ('{{ .Values.image.repository }}:{{ .Values.image.tag | default "12.4" }}',),
        "args": ["--port", ("{{ .Values.port }}",), "--gpu"],
        "command": ["sh", "-c", ("run {{ .Values.model }}",)],
        "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": ("{{ .cpu }}",)}},
        "env": [{"name": ("{{ .name }}",)}],
    }
    assert plain(tree.get("spec", "template", "spec", "tolerations")) == ("{{- toYaml .Values.tolerations | nindent 6 }}",)
    assert plain(tree.get("spec", "template", "spec", "hostIPC")) == "true"


def test_what_is_open_in_the_deployment() -> None:
    tree = template(DEPLOYMENT)
    file = source(DEPLOYMENT)
    is_open = {at(file, node.location).split("\n")[0] for node in nodes(tree) if isinstance(node, (Mapping, Sequence)) and node.open}
    assert is_open == {
        "tier: gpu",  # the labels: an include stands among them
        "replicas: {{ .Values.replicas }}",  # the spec: replicas is conditional
        "name: {{ .Chart.Name | quote }}",  # the container: one of its keys is not known
        "limits:",  # the resources: requests is conditional
        "- name: {{ .name }}",  # the env: a range
    }


def test_known_values_of_a_template_stand_where_they_are_written() -> None:
    tree = template(DEPLOYMENT)
    file = source(DEPLOYMENT)
    check_places(file, tree)
    for node in nodes(tree):
        if isinstance(node, Unknown):
            assert at(file, node.location) == node.raw
    limit = tree.get("spec", "template", "spec", "containers").items[0].get("resources", "limits").entries[0]
    assert (limit.key.location.line, limit.key.location.column) == (30, 15)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: {{ x }}b\n", {"a": ("{{ x }}b",)}),
        ("a: {{ if x }}1{{ else }}2{{ end }}\n", {"a": ("{{ if x }}1{{ else }}2{{ end }}",)}),
        ("a: b {{- /* c */}}\nd: {{ x }}\n", {"a": "b", "d": ("{{ x }}",)}),
        ("a: b {{- if x }}\nc: d\n{{- end }}\n", {"a": "b", "c": "d"}),
        ("a: {{ x |\n      quote }}\nb: c\n", {"a": ("{{ x |\n      quote }}",), "b": "c"}),
        ('a: {{ "}}" }}\nb: {{ `}}` }}\n', {"a": ('{{ "}}" }}',), "b": ("{{ `}}` }}",)}),
        ('a: {{ `b-1` }}\nc:\n  - {{ 7 }}\n  - {{- "d" -}} # e\n  - {{ x }}\n', {"a": "b-1", "c": ["7", "d", ("{{ x }}",)]}),
        ('a: "x {{ "b" }}"\n', {"a": ('x {{ "b" }}',)}),
        ("a:\n  {{ x }}\nb: 1\n", {"a": ("{{ x }}",), "b": "1"}),
        ("a:\n{{ x | indent 2 }}\nb: 1\n", {"a": ("{{ x | indent 2 }}",), "b": "1"}),
        ("- a:\n  {{ x }}\n- {{ y }}\n", [{"a": ("{{ x }}",)}, ("{{ y }}",)]),
        ("{{ x }}: 1\nb: 2\n", {"b": "2"}),
        ("{{- if x }}\na: 1\n{{- else }}\na: 2\n{{- end }}\n", {"a": "2"}),
        ("a: |\n  b\n  {{ x }}\nc: |\n  d\n{{- if y }}\ne: f\n{{- end }}\n", {"a": ("b",), "c": "d\n", "e": "f"}),
        ("a: |\n  {{ x }}\nb: c\n", {"a": ("|",), "b": "c"}),
        ("{{- $x := 1 }}\na: {{ $x }}\n", {"a": ("{{ $x }}",)}),
        ("a: &b {c: {{ x }}, d: 1}\ne: {<<: *b}\nf: *b\n", {key: {"c": ("{{ x }}",), "d": "1"} for key in "aef"}),
        ("a: {{ x }}\r\n{{- if y }}\r\nb: c\r\n{{- end }}\r\n", {"a": ("{{ x }}",), "b": "c"}),
        ("a: ${{ x }}\n", {"a": ("${{ x }}",)}),
    ],
)
def test_what_becomes_of_actions(text: str, data: object) -> None:
    assert plain(template(text)) == data


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a:\n  b: 1\n  {{- x | nindent 2 }}\nc: 2\n", "a"),
        ("a:\n  {{ x }}\n  b: 1\nc: 2\n", "a"),
        ("a:\n  - 1\n  {{ x }}\nc: 2\n", "a"),
        ("a:\n  {{ if x }}\n  b: 1\n  {{ end }}\nc: 2\n", "a"),
        ("a: {b: 1, {{ x }}: 2}\n", "a"),
        ("a: [{{ range x }}1,{{ end }}]\n", "a"),
        ("a: 1\n{{ x }}\n", ""),
        ("{{ if x }}\na: 1\n{{ end }}\nb: 2\n", ""),
    ],
)
def test_only_what_an_action_may_change_is_open(text: str, path: str) -> None:
    tree = template(text)
    for key, node in (("", tree), *((entry.key, entry.value) for entry in tree)):
        assert getattr(node, "open", False) == (key == path)


def test_a_template_may_be_open_in_two_places() -> None:
    tree = template("a:\n- 1\n{{ x | nindent 0 }}\n")
    assert (tree.open, tree.get("a").open) == (True, True)


@pytest.mark.parametrize(
    ("text", "data", "is_open"),
    [
        ("a:\n  - {{ toYaml . | nindent 4 | trim }}\n    b: 1\n  - c: 2\n", {"a": [{"b": "1"}, {"c": "2"}]}, ("a", 0)),
        ("a:\n- {{ x }}\n\n  {{- if y }}\n  b: 1\n  {{- end }}\n", {"a": [{"b": "1"}]}, ("a", 0)),
        ("a:\n  - - {{ x }}\n      b: 1\n", {"a": [[{"b": "1"}]]}, ("a", 0, 0)),
        ("a: {{- include `x` . | nindent 2 }}\n  b: 1\nc: {{ y }}\n", {"a": {"b": "1"}, "c": ("{{ y }}",)}, ("a",)),
        ("- a: {{ include `x` . }}\n    - b: 1\n  c: 2\n", [{"a": [{"b": "1"}], "c": "2"}], (0, "a")),
    ],
)
def test_an_action_may_begin_the_value_that_goes_on_below(text: str, data: object, is_open: tuple[str | int, ...]) -> None:
    tree = parse_template(source(text)).documents[0].root
    node: object = tree
    for step in is_open:
        assert isinstance(node, (Mapping, Sequence))
        node = node.get(step) if isinstance(node, Mapping) and isinstance(step, str) else node.items[step]  # type: ignore[union-attr, index]

    assert plain(tree) == data
    assert node.open  # type: ignore[union-attr]
    assert not tree.open  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["- a: {{ x }}\n  b: 1\n", "a: {{ x }}\nb: 1\n", "- {{ x }}\n- b: 1\n"])
def test_an_action_that_is_the_whole_value_is_unknown(text: str) -> None:
    tree = parse_template(source(text)).documents[0].root
    first = tree.items[0] if isinstance(tree, Sequence) else tree
    assert plain(first) in (("{{ x }}",), {"a": ("{{ x }}",), "b": "1"})  # type: ignore[arg-type]


def test_a_condition_around_a_whole_document_opens_nothing() -> None:
    (first, second) = parse_template(source("{{- if x }}\na: 1\nb:\n  c: 2\n{{- end }}\n---\nd: {{ y }}\n")).documents
    assert not first.template
    assert not first.root.open  # type: ignore[union-attr]
    assert second.template
    assert plain(second.root) == {"d": ("{{ y }}",)}


def test_a_file_without_actions_is_no_template() -> None:
    (document,) = parse_template(source("a: 1\n")).documents
    assert not document.template


def test_a_template_that_is_no_yaml_even_so() -> None:
    syntax = parse_template(source("a: b{{ x }}\n b: 1\n"))
    assert syntax.documents == ()
    assert [(problem.location.line, problem.location.column) for problem in syntax.problems] == [(2, 3)]


@pytest.mark.parametrize(
    "text",
    [
        "a: {{ x }}\n",
        "a:\n  - {{ x }}\n",
        "a: [{{ x }}, 1]\n",
        "{{ x }}: 1\n",
        "{{- if x }}\na: 1\n{{- end }}\n",
        "a: |\n  b\n{{ x | indent 2 }}\n",
        'a: "\\""\nb: {{ x }}\n',
    ],
)
def test_what_is_a_template(text: str) -> None:
    assert is_template(text)
    assert parse_either(source(text)).problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        'a: "{{inputs.parameters.x}}"\n',
        "a: b-{{inputs.parameters.x}}\n",
        "a: ${{ matrix.os }}\nif: ${{ x }}\n",
        "a: |\n  {{ range .Alerts }}\n  {{ .x }}\n\n  {{ end }}\nb: 1\n",
        "a:\n  - >-\n    {{ x }}\n",
        "# {{ x }}\na: 1 # {{ x }}\n",
        'args: ["echo \\"{{x}}\\""]\n',
    ],
)
def test_what_is_plain_yaml(text: str) -> None:
    assert not is_template(text)
    assert not parse_either(source(text)).documents[0].template


def test_yaml_that_can_be_read_is_no_template_whatever_it_looks_like() -> None:
    text = 'a: "b\n  {{ x }}"\n'
    assert is_template(text)
    assert plain(parse_either(source(text)).documents[0].root) == {"a": "b {{ x }}"}


def test_placeholders_of_plain_yaml_can_be_made_unknown() -> None:
    tree = unrendered(root('a: "{{x}}"\nb: [c, "d-{{y}}", "}}{{"]\n"{{z}}": 1\n'))
    assert plain(tree) == {"a": ("{{x}}",), "b": ["c", ("d-{{y}}",), "}}{{"]}
    assert tree.open  # type: ignore[union-attr]
    assert not tree.get("b").open  # type: ignore[union-attr]
