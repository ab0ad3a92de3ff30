"""Lists of objects that are too long for one document are read item by item."""

from __future__ import annotations

import json

import pytest
import yaml as pyyaml

from gpulint.parse import yaml
from gpulint.parse.nodes import Mapping
from gpulint.parse.object_list import items
from gpulint.source import Source

OBJECTS = [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{number}"},
        "spec": {"containers": [{"name": "a", "args": ["x\n- y\n", "{"]}]},
    }
    for number in range(30)
]
LIST = {"apiVersion": "v1", "items": OBJECTS, "kind": "List", "metadata": {"resourceVersion": ""}}
AS_YAML, AS_JSON = pyyaml.safe_dump(LIST), json.dumps(LIST, indent=4) + "\n"


@pytest.mark.parametrize("text", [AS_YAML, AS_JSON], ids=["YAML", "JSON"])
def test_each_item_is_a_document_at_its_place(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = yaml.parse(Source("list.yaml", text.encode())).documents
    monkeypatch.setattr(yaml, "MAX_VALUES", 100)
    syntax = yaml.parse(Source("list.yaml", text.encode()))
    assert syntax.problems == ()
    assert isinstance(whole.root, Mapping)
    alike = [document.root for document in syntax.documents]
    assert [_shown(root) for root in alike] == [_shown(root) for root in whole.root.sequence("items")]
    assert len(alike) == 30


def _shown(root: object) -> tuple[str, str, str]:
    assert isinstance(root, Mapping)
    name, argument = root.scalar("metadata", "name"), root.sequence("spec", "containers")
    assert name is not None
    return str(root.location), str(name.location), str(argument.location)


def test_items_that_are_not_wanted_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "MAX_VALUES", 100)
    syntax = yaml.parse(Source("list.yaml", AS_YAML.encode()), lambda text: "name: p7" in text)
    assert len(syntax.documents) == 1


def test_too_many_items_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "MAX_VALUES", 100)
    monkeypatch.setattr(yaml, "MAX_DOCUMENTS", 20)
    syntax = yaml.parse(Source("list.yaml", AS_YAML.encode()))
    assert [problem.message for problem in syntax.problems] == ["the list holds more than 20 objects"]
    assert len(syntax.documents) == 20


@pytest.mark.parametrize(
    "text", ["", "items:\n- a: 1\n", "kind: List\n", "a:\n  items:\n- b\nkind: Pod\n", '{"items": [{}], "kind": "List"}']
)
def test_what_is_no_such_list(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(items(text)) == []
    monkeypatch.setattr(yaml, "MAX_VALUES", 10)
    long = yaml.parse(Source("list.yaml", (text + "# \n" * 20).encode()))
    assert [problem.message for problem in long.problems if "values" in problem.message] == [
        "the document holds more than 10 values"
    ] * bool(text)
