"""Files made to harm: each ends quickly, in a problem or in a tree that is safe to walk."""

from __future__ import annotations

import time

import pytest
from yaml_trees import nodes, source

from gpulint.parse.compose_nodes import MAX_ALIASED, MAX_DEPTH
from gpulint.parse.template import is_template, parse_either, parse_template
from gpulint.parse.yaml import YamlSyntax, parse

N = 20_000
SECONDS = 10

DEEP = {
    "brackets": "[" * N,
    "brackets on lines": "[\n" * N,
    "braces": "{a: " * N,
    "dashes": "- " * N + "a",
    "question marks": "? " * N,
    "indentation": "".join(" " * level + "a:\n" for level in range(1000)),
    "one level too many": "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
}
BOMBS = {
    "lists": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 99)),
    "merges": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: 1}}\n" for n in range(1, 99)),
    "a chain": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: 1}}\n" for n in range(1, N)),
    "in many documents": ("a: &a [" + "x," * 1000 + "]\nb: [" + "*a," * 90 + "]\n---\n") * 9,
}
LONG = {
    "documents": "---\na: 1\n" * N,
    "broken documents": "---\na: 'x\n" * N,
    "empty documents": "---\n" * N,
    "ends": "...\n" * N,
    "comments": "# x\n---\n" * N,
    "directives": "".join(f"%TAG !a{n}! tag:x,{n}\n" for n in range(N)) + "--- a\n",
    "anchors": "".join(f"- &a{n} x\n" for n in range(N)),
    "aliases": "a: &a x\nb:\n" + "- *a\n" * N,
    "aliases within their anchor": "&a [" + "*a," * N + "]",
    "duplicate keys": "a: 1\n" * N,
    "tags": "a: " + "!t\n" * N,
    "blanks behind a tag": "a: !t" + "\n" * N + " b: c",
    "comments behind a tag": "a: !t\n" + "# x\n" * N + " b: c",
    "plain lines": "a: b\n" + "  c\n" * N,
    "folded lines": "a: >\n" + "  c\n" * N,
    "literal lines": "a: |\n" + "  c\n" * N,
    "blank lines": "a: |\n" + "  \n" * N + "  x",
    "quoted lines": 'a: "' + "b\n  " * N + '"',
    "an open quote": 'a: "' + "\\n" * N,
    "carriage returns": "a: b\r" * N,
    "control characters": "\0" * N,
    "every byte": bytes(range(256)) * 100,
    "blanks": " " * N,
    "tabs": "\t" * N,
    "a wide flow in a deep one": "[" * (MAX_DEPTH - 1) + "a," * N,
    "bad at its end": "k: [x, 'y']\n" * 1500 + "@",
    "bad flow at its end": "[" + "{a: b}," * 2500 + "@",
}
LONG_JSON = {
    "open comments": '{"a": 1 ' + "/*" * N,
    "comments": "{" + "/*x*/ //\n" * N + "}",
    "escapes": '{"a": "//' + '\\"' * N,
    "halves of characters": '["' + "\\ud83d" * N + '"]',
}
TEMPLATES = {
    "open actions": "{{ " * N,
    "open strings": '{{ "' * N,
    "open raw strings": "{{ ` " * N,
    "open comments": "{{/* " * N,
    "escaped quotes on one line": '{{ "\\"}}' + ' {{ \\"}}' * 2000,
    "values": "a: {{ x }}\n" * N,
    "lines": "{{ x }}\n" * N,
    "keys": "{{ x }}: a\n" * N,
    "blocks in blocks": "".join(f"{{{{ if x }}}}\nk{n}: v\n" for n in range(5000)) + "{{ end }}\n" * 5000,
    "ends of nothing": "{{ end }}\n" * N,
    "lines after a deep mapping": "".join(" " * n + "k:\n" for n in range(190)) + "{{ toYaml x }}\n" * 5000,
    "lines in texts": "- |\n  x\n  {{ y }}\n" * N,
    "lines in place of values": "- a:\n  {{ y }}\n" * N,
    "one action of many lines": "a: {{ x\n" + "y\n" * N + "}}\n",
    "literals on one line": '- {{ "x" }}' * 5000,
    "deep": "[" * (MAX_DEPTH - 1) + "{{x}}" + "]" * (MAX_DEPTH - 1),
    "documents": "---\n{{ if x }}\na: {{ b }}\n{{ end }}\n" * 5000,
    "huge indentation": "a:\n  {{ x | nindent " + "9" * N + " }}\n",
}


def timed(syntax: YamlSyntax, started: float) -> YamlSyntax:
    assert time.perf_counter() - started < SECONDS
    return syntax


@pytest.mark.parametrize("name", DEEP)
def test_depth_is_bounded(name: str) -> None:
    started = time.perf_counter()
    syntax = timed(parse(source(DEEP[name])), started)
    assert [problem.message for problem in syntax.problems] == [f"the document nests deeper than {MAX_DEPTH} levels"]
    assert syntax.documents == ()


def test_the_deepest_document() -> None:
    (document,) = parse(source("[" * MAX_DEPTH + "]" * MAX_DEPTH)).documents
    assert len(list(nodes(document.root))) == MAX_DEPTH


@pytest.mark.parametrize("name", BOMBS)
def test_aliases_cannot_make_a_small_file_large(name: str) -> None:
    started = time.perf_counter()
    syntax = timed(parse(source(BOMBS[name])), started)
    assert f"repeat more than {MAX_ALIASED:,} values" in syntax.problems[0].message
    assert sum(1 for document in syntax.documents for _ in nodes(document.root)) < 2 * MAX_ALIASED


@pytest.mark.parametrize("name", LONG)
def test_time_grows_with_length_alone(name: str) -> None:
    started = time.perf_counter()
    timed(parse(source(LONG[name])), started)
    timed(parse_template(source(LONG[name])), started)


@pytest.mark.parametrize("name", LONG_JSON)
def test_json_too(name: str) -> None:
    started = time.perf_counter()
    timed(parse(source(LONG_JSON[name], "x.json")), started)


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_too(name: str) -> None:
    started = time.perf_counter()
    file = source(TEMPLATES[name])
    timed(parse_template(file), started)
    timed(parse_either(file), started)
    is_template(file.text)
