"""Files made to harm: each ends quickly, in a problem or in a tree that is safe to walk."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from work import calls
from yaml_trees import nodes, source

from gpulint.parse.compose_nodes import MAX_ALIASED, MAX_DEPTH
from gpulint.parse.template import is_template, parse_template
from gpulint.parse.yaml import parse
from gpulint.source import Source

SMALL, LARGE = 2_000, 8_000
"""How long the same file is made twice: reading four times as much may take four times as long, and not sixteen times."""

DEEP = {
    "brackets": "[" * LARGE,
    "brackets on lines": "[\n" * LARGE,
    "braces": "{a: " * LARGE,
    "dashes": "- " * LARGE + "a",
    "question marks": "? " * LARGE,
    "indentation": "".join(" " * level + "a:\n" for level in range(1000)),
    "one level too many": "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
}
BOMBS = {
    "lists": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 99)),
    "merges": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: 1}}\n" for n in range(1, 99)),
    "a chain": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: 1}}\n" for n in range(1, LARGE)),
    "in many documents": ("a: &a [" + "x," * 1000 + "]\nb: [" + "*a," * 90 + "]\n---\n") * 9,
}
LONG: dict[str, Callable[[int], str | bytes]] = {
    "documents": lambda n: "---\na: 1\n" * n,
    "broken documents": lambda n: "---\na: 'x\n" * n,
    "empty documents": lambda n: "---\n" * n,
    "ends": lambda n: "...\n" * n,
    "comments": lambda n: "# x\n---\n" * n,
    "directives": lambda n: "".join(f"%TAG !a{k}! tag:x,{k}\n" for k in range(n)) + "--- a\n",
    "anchors": lambda n: "".join(f"- &a{k} x\n" for k in range(n)),
    "aliases": lambda n: "a: &a x\nb:\n" + "- *a\n" * n,
    "aliases within their anchor": lambda n: "&a [" + "*a," * n + "]",
    "duplicate keys": lambda n: "a: 1\n" * n,
    "tags": lambda n: "a: " + "!t\n" * n,
    "blanks behind a tag": lambda n: "a: !t" + "\n" * n + " b: c",
    "comments behind a tag": lambda n: "a: !t\n" + "# x\n" * n + " b: c",
    "plain lines": lambda n: "a: b\n" + "  c\n" * n,
    "folded lines": lambda n: "a: >\n" + "  c\n" * n,
    "literal lines": lambda n: "a: |\n" + "  c\n" * n,
    "blank lines": lambda n: "a: |\n" + "  \n" * n + "  x",
    "quoted lines": lambda n: 'a: "' + "b\n  " * n + '"',
    "an open quote": lambda n: 'a: "' + "\\n" * n,
    "carriage returns": lambda n: "a: b\r" * n,
    "control characters": lambda n: "\0" * n,
    "every byte": lambda n: bytes(range(256)) * (n // 50),
    "blanks": lambda n: " " * n,
    "tabs": lambda n: "\t" * n,
    "a wide flow in a deep one": lambda n: "[" * (MAX_DEPTH - 1) + "a," * n,
    "bad at its end": lambda n: "k: [x, 'y']\n" * (n // 8) + "@",
    "bad flow at its end": lambda n: "[" + "{a: b}," * (n // 5) + "@",
}
LONG_JSON: dict[str, Callable[[int], str | bytes]] = {
    "open comments": lambda n: '{"a": 1 ' + "/*" * n,
    "comments": lambda n: "{" + "/*x*/ //\n" * n + "}",
    "escapes": lambda n: '{"a": "//' + '\\"' * n,
    "halves of characters": lambda n: '["' + "\\ud83d" * n + '"]',
}
TEMPLATES: dict[str, Callable[[int], str | bytes]] = {
    "open actions": lambda n: "{{ " * n,
    "open strings": lambda n: '{{ "' * n,
    "open raw strings": lambda n: "{{ ` " * n,
    "open comments": lambda n: "{{/* " * n,
    "escaped quotes on one line": lambda n: '{{ "\\"}}' + ' {{ \\"}}' * (n // 4),
    "brackets and an action": lambda n: "[" * n + "{{ x }}",
    "commas and an action": lambda n: "[" + "a," * n + " x {{ y }}",
    "values": lambda n: "a: {{ x }}\n" * n,
    "lines": lambda n: "{{ x }}\n" * n,
    "keys": lambda n: "{{ x }}: a\n" * n,
    "blocks in blocks": lambda n: "".join(f"{{{{ if x }}}}\nk{k}: v\n" for k in range(n // 4)) + "{{ end }}\n" * (n // 4),
    "ends of nothing": lambda n: "{{ end }}\n" * n,
    "lines after a deep mapping": lambda n: "".join(" " * k + "k:\n" for k in range(190)) + "{{ toYaml x }}\n" * (n // 4),
    "lines in texts": lambda n: "- |\n  x\n  {{ y }}\n" * n,
    "lines in place of values": lambda n: "- a:\n  {{ y }}\n" * n,
    "one action of many lines": lambda n: "a: {{ x\n" + "y\n" * n + "}}\n",
    "literals on one line": lambda n: '- {{ "x" }}' * (n // 4),
    "documents": lambda n: "---\n{{ if x }}\na: {{ b }}\n{{ end }}\n" * (n // 4),
    "huge indentation": lambda n: "a:\n  {{ x | nindent " + "9" * n + " }}\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_depth_is_bounded(name: str) -> None:
    syntax = parse(source(DEEP[name]))
    assert [problem.message for problem in syntax.problems] == [f"the document nests deeper than {MAX_DEPTH} levels"]
    assert syntax.documents == ()


def test_the_deepest_document() -> None:
    (document,) = parse(source("[" * MAX_DEPTH + "]" * MAX_DEPTH)).documents
    assert len(list(nodes(document.root))) == MAX_DEPTH


def test_the_deepest_template() -> None:
    (document,) = parse_template(source("[" * MAX_DEPTH + "{{x}}" + "]" * MAX_DEPTH)).documents
    assert len(list(nodes(document.root))) == MAX_DEPTH + 1


@pytest.mark.parametrize("name", BOMBS)
def test_aliases_cannot_make_a_small_file_large(name: str) -> None:
    syntax = parse(source(BOMBS[name]))
    assert f"repeat more than {MAX_ALIASED:,} values" in syntax.problems[0].message
    assert sum(1 for document in syntax.documents for _ in nodes(document.root)) < 2 * MAX_ALIASED


def check_growth(read: Callable[[Source], object], make: Callable[[int], str | bytes], path: str = "file.yaml") -> None:
    small, large = source(make(SMALL), path), source(make(LARGE), path)
    assert calls(lambda: read(large)) < 1.25 * LARGE / SMALL * calls(lambda: read(small)) + 1_000


@pytest.mark.parametrize("name", LONG)
def test_work_grows_with_length_alone(name: str) -> None:
    check_growth(parse, LONG[name])


@pytest.mark.parametrize("name", LONG_JSON)
def test_json_too(name: str) -> None:
    check_growth(parse, LONG_JSON[name], "x.json")


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_too(name: str) -> None:
    check_growth(parse_template, TEMPLATES[name])
    check_growth(lambda file: is_template(file.text), TEMPLATES[name])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\n---\n" * 10_001, 20_000, "the file holds more than 10,000 documents"),
        ("a: 1\n---\na: [" + "a," * 500_001 + "]\n", 2, "the document holds more than 500,000 values"),
    ],
)
def test_a_file_of_more_than_anyone_writes_is_read_to_a_bound(text: str, line: int, message: str) -> None:
    syntax = parse(source(text))
    (problem,) = syntax.problems
    assert (problem.message, problem.location.line) == (message, line)
    assert syntax.documents
