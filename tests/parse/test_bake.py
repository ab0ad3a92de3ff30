"""Bake files: targets with what they inherit, variables with defaults, and what is no plain value."""

from __future__ import annotations

import pytest

from gpulint.parse.bake import BakeTarget, parse_bake
from gpulint.source import Source, Text, Unknown


def targets(text: str, name: str = "docker-bake.hcl") -> dict[str, BakeTarget]:
    return {target.name: target for target in parse_bake(Source(name, text.encode()))}


HCL = """
variable "TAG" { default = "1.4" }  # of the release
variable "PLACE" {}
group "default" { targets = ["app"] }
target "_base" {
  context = "images"
  args = { A = "1" }
  /* target = "none" */
}
target "app" {
  inherits = ["_base"]
  dockerfile = "gpu.Dockerfile" // beside it
  target = "serve"
  tags = ["acme/app:${TAG}", "${PLACE}/app:2",]
}
"""


def test_a_target_with_what_it_inherits() -> None:
    app = targets(HCL)["app"]
    assert (app.value("context"), app.value("dockerfile"), app.value("target")) == ("images", "gpu.Dockerfile", "serve")
    assert app.location.line == 10
    known, unknown = app.settings["tags"]
    assert known == "acme/app:1.4" and isinstance(unknown, Unknown)


def test_json_says_the_same() -> None:
    text = '{"target": {"base": {"context": "images"}, "app": {"inherits": ["base"], "target": "serve", "tags": ["acme/app:1"]}}}'
    app = targets(text, "docker-bake.json")["app"]
    assert (app.value("context"), app.value("target"), app.settings["tags"]) == ("images", "serve", ("acme/app:1",))


@pytest.mark.parametrize("value", ["${lower(NAME)}", "${item.stage}", "%{ if GPU }gpu%{ endif }"])
def test_an_expression_is_unknown(value: str) -> None:
    assert isinstance(targets(f'target "a" {{ target = "{value}" }}')["a"].value("target"), Unknown)


def test_a_variable_alone() -> None:
    found = targets('variable "STAGE" { default = "gpu" }\ntarget "a" { target = STAGE }\ntarget "b" { target = OTHER }')
    stage = found["a"].value("target")
    assert isinstance(stage, Text) and stage == "gpu"
    assert isinstance(found["b"].value("target"), Unknown)


@pytest.mark.parametrize("text", ["", "target", 'target "a" {', 'target "a" { x = [', "}}}", '{"target": [', '"', "target a = {"])
def test_what_is_broken_gives_no_settings(text: str) -> None:
    assert all(not target.settings.get("target") for target in targets(text).values())


def test_targets_that_inherit_one_another_end() -> None:
    chain = "".join(f'target "t{at}" {{ inherits = ["t{at + 1}", "t{at + 1}"] }}\n' for at in range(200))
    ring = 'target "a" { inherits = ["b"] }\ntarget "b" { inherits = ["a"]\n target = "x" }\n'
    assert targets(chain + ring)["a"].value("target") == "x"
