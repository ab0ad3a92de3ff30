"""Charts that are made to overwhelm who evaluates them, or that are none: what stands in them literally is read, and nothing is claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulint.model.container import ASPECTS
from gpulint.project.kubernetes import kubernetes_containers
from gpulint.project.tree import Tree

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      image: vllm/vllm-openai:v0.8.5
"""

ENDLESS = {
    "a helper that calls itself": '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
    "two that call each other in ranges": '{{ define "a" }}{{ range until 9 }}{{ include "b" $ }}{{ end }}{{ end }}'
    '{{ define "b" }}{{ range until 9 }}{{ include "a" $ }}{{ end }}{{ end }}{{ include "a" . }}',
    "a text that evaluates itself": '{{ $_ := set .Values "t" "{{ tpl .Values.t . }}" }}{{ tpl .Values.t . }}',
    "loops in loops": "{{ range until 1000 }}{{ range until 1000 }}{{ range until 1000 }}x{{ end }}{{ end }}{{ end }}",
    "a text that doubles": '{{ $t := "x" }}{{ range until 100 }}{{ $t = print $t $t }}{{ end }}{{ $t }}',
    "a text that is repeated": '{{ "x" | repeat 1000 | repeat 1000 | repeat 1000 | repeat 1000 }}',
    "blanks before many lines": '{{ "\\n" | repeat 1000 | repeat 1000 | indent 1000 }}',
    "a list that doubles": "{{ $l := list 1 }}{{ range until 100 }}{{ $l = concat $l $l }}{{ end }}{{ toYaml $l }}",
    "a mapping in itself": '{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toYaml $d }}{{ $_ := merge $d $d }}{{ deepCopy $d | toJson }}',
    "a mapping that doubles": '{{ $d := dict }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ toYaml $d }}',
    "a product that grows": "{{ mul " + "9223372036854775807 " * 2000 + "}}",
    "replacements that grow": '{{ $t := "aa" }}{{ range until 60 }}{{ $t = replace "a" "aaaaaaaa" $t }}{{ end }}{{ $t }}',
}

WRONG_CALLS = """
a: {{ index (list 1) 7 }}{{ div 1 0 }}{{ printf "%d" "x" }}{{ ternary 1 }}{{ until "x" }}{{ 1 2 }}{{ .Values.a 3 }}{{ quote }}
b: {{ join 1 }}{{ include 3 }}{{ tpl }}{{ set 1 2 3 }}{{ unset (dict) }}{{ merge }}{{ fromYaml "a: [" }}{{ fromYaml 1 }}{{ dig }}
---"""

NO_CHART = {
    "an action that is not closed": "{{ if .Values.a ",
    "a block that is not closed": "{{ if .Values.a }}",
    "an end of nothing": "{{ end }}",
    "no expression": "{{ .Values.a ?? }}",
    "blocks too deep": "{{ if 1 }}" * 500 + "{{ end }}" * 500,
    "parentheses too deep": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "a chart that refuses": '{{ fail "no" }}',
    "a value that is required": '{{ required "say it" .Values.none.at.all }}{{ required "x" "" }}',
    "a field of a string": "{{ .Chart.Name.first }}",
    "a variable of nowhere": "{{ $nowhere }}",
}


def claims(template: str, values: str = "a: 1\n") -> int:
    """How many of the containers of a chart with a template above a pod are closed in any aspect; the literal ones are open in all."""
    files = {"Chart.yaml": "name: app\nversion: 1.0.0\n", "values.yaml": values, "templates/pod.yaml": f"{template}\n{POD}"}
    found = kubernetes_containers(Tree(Path(), (), {path: text.encode() for path, text in files.items()}))
    return sum(container.open != ASPECTS for container in found)


@pytest.mark.parametrize("template", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_is_endless_is_given_up(template: str) -> None:
    claims(template)


@pytest.mark.parametrize("template", NO_CHART.values(), ids=NO_CHART.keys())
def test_nothing_is_claimed_of_what_helm_refuses(template: str) -> None:
    assert claims(template) == 0


def test_the_same_pod_alone_is_judged() -> None:
    assert claims("") == 1


def test_wrong_calls_are_not_known() -> None:
    assert claims(WRONG_CALLS) == 1


def test_a_product_that_overflows_on_the_way_is_not_known() -> None:
    assert claims("{{ if mul 2 2 0 }}---{{ end }}") == 1
    assert claims("{{ if mul 9223372036854775807 2 0 }}---{{ end }}") == 0


def test_values_that_are_too_large_take_steps_too() -> None:
    large = "a: [" + "{b: 1}, " * 30_000 + "]\n"

    assert claims("", large) == 1
    assert claims("{{ $taken := deepCopy .Values.a }}", large) == 1
    assert claims("{{ range until 9 }}{{ $taken := deepCopy $.Values.a }}{{ end }}", large) == 0


def test_charts_that_depend_on_each_other_end() -> None:
    files = {}
    for name, other in (("a", "b"), ("b", "a")):
        files[f"{name}/Chart.yaml"] = f"name: {name}\ndependencies: [{{name: {other}, repository: 'file://../{other}'}}]\n"
        files[f"{name}/templates/pod.yaml"] = POD
    found = kubernetes_containers(Tree(Path(), (), {path: text.encode() for path, text in files.items()}))
    assert {container.location.path for container in found} == {"a/templates/pod.yaml", "b/templates/pod.yaml"}


@pytest.mark.parametrize("values", ["[]", "a: b: c", "x", "{{ a }}: 1", "a: &a [*a]", "\tb"])
def test_values_that_are_none(values: str) -> None:
    claims("{{ .Values.a }}", values)
