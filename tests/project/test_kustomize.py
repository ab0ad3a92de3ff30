"""Kustomizations: what they build of their bases, what stays where it was written, and what is open in between."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gpulint.model.container import ASPECTS, Container
from gpulint.project.kubernetes import kubernetes_containers
from gpulint.project.tree import Tree
from gpulint.source import Text, Unknown, Value

BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {tier: web}}
spec:
  template:
    spec:
      containers:
        - name: main
          image: example/app:1.0
          env: [{name: A, value: "1"}]
        - name: side
          image: example/side:1.0
"""
HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\n"
LIMIT = HEAD + "spec: {template: {spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"


def containers(files: dict[str, str], matters: set[str] | None = None) -> list[Container]:
    given = {path: dedent(text).encode() for path, text in files.items()}
    return list(kubernetes_containers(Tree(Path(), (), given), (lambda _path: True) if matters is None else matters.__contains__))


def overlay(kustomization: str, **files: str) -> dict[str, str]:
    """A base, and an overlay of that kustomization and those files (`gpu` is overlay/gpu.yaml)."""
    return {
        "base/kustomization.yaml": "resources: [app.yaml]\n",
        "base/app.yaml": BASE,
        "overlay/kustomization.yaml": "resources: [../base]\n" + dedent(kustomization),
        **{f"overlay/{name}.yaml": text for name, text in files.items()},
    }


def main(found: list[Container]) -> Container:
    (container,) = [each for each in found if shown(each.name) == "main"]
    return container


def shown(value: Value | None) -> str | None:
    return f"?{value.raw}" if isinstance(value, Unknown) else None if value is None else str(value)


def places(container: Container) -> list[str]:
    return [str(request.location) for request in container.requests]


def test_a_base_alone() -> None:
    found = containers({"base/kustomization.yaml": "resources: [app.yaml]\n", "base/app.yaml": BASE})
    assert [str(each.location) for each in found] == ["base/app.yaml:8:11", "base/app.yaml:11:11"]


@pytest.mark.parametrize(
    "kustomization",
    [
        "patches: [{path: gpu.yaml}]",
        "patches: [gpu.yaml]",
        "patchesStrategicMerge: [gpu.yaml]",
        "patches: [{path: gpu.yaml, target: {kind: Deployment}}]",
        "patches: [{path: gpu.yaml, target: {kind: Deployment, name: 'ap.*'}}]",
        "patches: [{path: gpu.yaml, target: {group: apps, labelSelector: tier=web}}]",
        "components: [../with-gpu]",
    ],
)
def test_a_strategic_merge(kustomization: str) -> None:
    component = {
        "with-gpu/kustomization.yaml": "kind: Component\npatches: [{path: ../overlay/gpu.yaml}]\n",
    }
    files = {**overlay(kustomization, gpu=LIMIT), **(component if "components" in kustomization else {})}
    app = main(containers(files))
    assert (str(app.location), places(app)) == ("base/app.yaml:8:11", ["overlay/gpu.yaml:4:73"])
    assert app.open == frozenset() and app.image and shown(app.image.name) == "example/app"


@pytest.mark.parametrize(
    "target",
    ["{kind: StatefulSet}", "{name: other}", "{name: ap}", "{group: batch}", "{labelSelector: tier=db}", "{namespace: prod}"],
)
def test_a_patch_for_others(target: str) -> None:
    assert main(containers(overlay(f"patches: [{{path: gpu.yaml, target: {target}}}]", gpu=LIMIT))).requests == ()


@pytest.mark.parametrize(
    "target", ["name: app", "name: pre-new", "name: (app|b)", "kind: Deploy.*", "version: v1", "name: new", "name: pre-app"]
)
def test_an_object_is_found_under_the_first_and_the_last_of_its_names(target: str) -> None:
    files = overlay(f"patches: [{{path: gpu.yaml, target: {{{target}}}}}]", gpu=LIMIT)
    files["base/kustomization.yaml"] += dedent(
        """\
        namePrefix: pre-
        patches: [{target: {kind: Deployment}, patch: '[{"op": "replace", "path": "/metadata/name", "value": "new"}]'}]
        """
    )
    found = main(containers(files)).requests
    assert len(found) == (0 if target in ("name: new", "name: pre-app") else 1)


def test_a_strategic_merge_merges_lists_by_their_keys() -> None:
    patch = HEAD + (
        "spec: {template: {spec: {tolerations: [{key: x}], containers: [{name: new, image: n},"
        " {name: main, args: [b], env: [{name: A, value: '2'}, {name: B, value: '3'}]}, {name: side, $patch: delete}]}}}\n"
    )
    found = containers(overlay("patches: [{path: p.yaml}]", p=patch))
    assert [shown(each.name) for each in found] == ["new", "main"]
    assert {str(name): shown(value) for name, value in main(found).env} == {"A": "2", "B": "3"}
    assert main(found).pod and [shown(toleration.key) for toleration in main(found).pod.tolerations] == ["x"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("patch", "left"),
    [
        ("spec: {template: {spec: {containers: [{name: main, image: null}]}}}", ["main", "side"]),
        ("spec: {template: {spec: {containers: [{$patch: replace}, {name: main, image: x}]}}}", ["main"]),
        ("spec: {template: {spec: {$patch: replace, containers: [{name: z, image: x}]}}}", ["z"]),
        ("spec: {template: null}", []),
        ("$patch: delete", []),
    ],
)
def test_what_a_patch_takes_away(patch: str, left: list[str]) -> None:
    assert [shown(each.name) for each in containers(overlay("patches: [{path: p.yaml}]", p=f"{HEAD}{patch}\n"))] == left


OPERATIONS = """\
- op: test
  path: /kind
  value: Deployment
- op: add
  path: /spec/template/spec/containers/0/resources
  value: {limits: {nvidia.com/gpu: 2}}
"""


@pytest.mark.parametrize("key", ["patches", "patchesJson6902"])
def test_json_operations_in_a_file(key: str) -> None:
    app = main(containers(overlay(f"{key}: [{{path: ops.yaml, target: {{kind: Deployment, name: app}}}}]", ops=OPERATIONS)))
    assert places(app) == ["overlay/ops.yaml:6:20"]


def test_json_operations_inline_stand_where_they_are_written() -> None:
    kustomization = """\
    patches:
      - target: {kind: Deployment}
        patch: |-
          - op: replace
            path: /spec/template/spec/containers/0/image
            value: example/app:2.0-cuda12.4
          - {op: add, path: /spec/template/spec/containers/0/resources, value: {limits: {amd.com/gpu: 1}}}
          - {op: remove, path: /spec/template/spec/containers/1}
    """
    app = main(containers(overlay(kustomization)))
    assert places(app) == ["overlay/kustomization.yaml:8:86"]
    assert app.image and isinstance(app.image.tag, Text) and str(app.image.tag.location) == "overlay/kustomization.yaml:7:28"
    assert app.siblings == ()


def test_a_pointer_with_an_escaped_slash() -> None:
    base = BASE.replace("image: example/app:1.0", "image: example/app:1.0\n          resources: {limits: {cpu: 1}}")
    kustomization = """\
    patches:
      - target: {kind: Deployment}
        patch: '[{"op": "add", "path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu", "value": "1"}]'
    """
    (request,) = main(containers({**overlay(kustomization), "base/app.yaml": base})).requests
    assert shown(request.resource) == "nvidia.com/gpu"
    assert request.resource is not None and request.resource.location.line == 4


@pytest.mark.parametrize(
    "operation",
    [
        "{op: replace, path: /spec/template/spec/containers/7/image, value: x}",
        "{op: add, path: /spec/missing/deep, value: x}",
        "{op: move, from: /a, path: /b}",
        "{op: remove, path: /nothing}",
        "{op: add, path: /spec/template/spec/containers/x, value: 1}",
        "{op: add, path: '/spec/template/spec/containers/\u00b2', value: 1}",
        "{op: [add], path: 1}",
        "7",
        "{op: replace, path: '', value: 1}",
        "{op: add, path: " + "/a" * 5_000 + ", value: 1}",
    ],
)
def test_an_operation_that_cannot_be_applied_leaves_everything_open(operation: str) -> None:
    app = main(containers(overlay("patches: [{path: ops.yaml, target: {kind: Deployment}}]", ops=f"- {operation}\n")))
    assert app.open == ASPECTS and app.requests == ()


@pytest.mark.parametrize("path", ["missing.yaml", "../../outside.yaml", "https://example.com/patch.yaml"])
def test_a_patch_that_cannot_be_read_leaves_everything_open(path: str) -> None:
    assert main(containers(overlay(f"patches: [{{path: '{path}', target: {{kind: Deployment}}}}]"))).open == ASPECTS


def test_each_overlay_is_as_it_is_built() -> None:
    files = {**overlay("patches: [{path: gpu.yaml}]", gpu=LIMIT), "dev/kustomization.yaml": "resources: [../base]\nnamespace: dev\n"}
    dev, gpu = (each for each in containers(files) if shown(each.name) == "main")
    assert dev.pod and shown(dev.pod.namespace) == "dev" and not dev.requests and dev.open == frozenset()
    assert (len(gpu.requests), gpu.open) == (1, frozenset())


def test_an_overlay_that_adds_a_toleration_alone_leaves_the_base_without_a_limit() -> None:
    patch = HEAD + "spec: {template: {spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}}}\n"
    app = main(containers(overlay("patches: [{path: t.yaml}]", t=patch)))
    assert (app.requests, app.open, str(app.location)) == ((), frozenset(), "base/app.yaml:8:11")
    assert app.pod and app.pod.tolerations[0].location.path == "overlay/t.yaml"


@pytest.mark.parametrize(
    ("entry", "name", "tag", "digest"),
    [
        ("{name: example/app, newTag: '2.1'}", "example/app", "2.1", None),
        ("{name: example/app, newName: mirror/app}", "mirror/app", "1.0", None),
        ("{name: example/app, digest: sha256:abc}", "example/app", None, "sha256:abc"),
        ("{name: app, newTag: '2.1'}", "example/app", "1.0", None),
        ("{name: docker.io/example/app, newTag: '2.1'}", "example/app", "1.0", None),
        ("7", "example/app", "1.0", None),
    ],
)
def test_image_pins(entry: str, name: str, tag: str | None, digest: str | None) -> None:
    image = main(containers(overlay(f"images: [{entry}]"))).image
    assert image and (shown(image.name), shown(image.tag), shown(image.digest)) == (name, tag, digest)


def test_pins_of_base_and_overlay_follow_each_other() -> None:
    files = overlay("images: [{name: mirror/app, newTag: '3'}]")
    files["base/kustomization.yaml"] += "images: [{name: example/app, newName: mirror/app, newTag: '2'}]\n"
    image = main(containers(files)).image
    assert image and (shown(image.name), shown(image.tag)) == ("mirror/app", "3")
    assert isinstance(image.tag, Text) and image.tag.location.path == "overlay/kustomization.yaml"


@pytest.mark.parametrize(
    ("kustomization", "is_open"),
    [
        ("components: [../missing]", ASPECTS),
        ("components: ['https://example.com/gpu']", ASPECTS),
        ("transformers: [own.yaml]", ASPECTS),
        ("transformers: [missing.yaml]", ASPECTS),
        ("transformers: [{a: b}]", ASPECTS),
        ("openapi: {path: schema.json}", ASPECTS),
        ("replacements: [{path: missing.yaml}]", ASPECTS),
        ("replacements: [{targets: [{select: {kind: Deployment}, fieldPaths: [{a: b}]}]}]", ASPECTS),
        ("replacements: [{targets: [{select: {kind: Pod}, fieldPaths: [spec.a]}]}]", frozenset()),
        ("configurations: [names.yaml]", {"image"}),
        ("crds: [crd.yaml]\nvars: []\nhelmCharts: [{name: x}]\nresources: [../base, 'https://example.com/x']", frozenset()),
        ("patches: [{path: gpu.yaml, target: {name: '(a+)+'}}]", ASPECTS),
        ("patches: [{path: gpu.yaml, target: {labelSelector: 'a ~ b'}}]", ASPECTS),
        ("patches: [{path: other.yaml}]", ASPECTS),
    ],
)
def test_what_cannot_be_decided_leaves_the_object_open(kustomization: str, is_open: frozenset[str]) -> None:
    own = "apiVersion: example.com/v1\nkind: AddGpus\nmetadata: {name: x}\n"
    texts = {"own": own, "gpu": LIMIT, "other": LIMIT.replace("apps/v1", "apps/v1beta1")}
    files = overlay("", **{name: text for name, text in texts.items() if f"{name}.yaml" in kustomization})
    files["overlay/kustomization.yaml"] = ("" if "../base" in kustomization else "resources: [../base]\n") + kustomization
    assert main(containers(files)).open == is_open


@pytest.mark.parametrize(
    "path",
    [
        "spec.template.spec.containers.[name=main].image",
        "spec.template.spec.containers.0.image",
        "spec.template.spec.containers.*.image",
        "spec.template.spec.*.0.image",
        "spec.template",
    ],
)
def test_what_a_replacement_writes_is_unknown(path: str) -> None:
    replacement = f"replacements: [{{source: {{kind: Pod}}, targets: [{{select: {{name: app}}, fieldPaths: ['{path}']}}]}}]"
    found = containers(overlay(replacement))
    assert [shown(each.image.name) for each in found if each.image and shown(each.name) == "main"] in ([], [f"?${{{path}}}"])
    assert not any(each.image is None for each in found)


def test_an_unused_component_may_be_for_anything() -> None:
    files = {"gpu/kustomization.yaml": "kind: Component\nresources: [app.yaml]\n", "gpu/app.yaml": BASE}
    assert main(containers(files)).open == ASPECTS


def test_what_two_kustomizations_build_alike_is_given_once() -> None:
    files = {
        **overlay(""),
        "again/kustomization.yaml": "resources: [../base]\n",
        "nested/kustomization.yaml": "resources: [../base, ../again]\n",
    }
    assert len(containers(files)) == 2


def test_lists_of_custom_resources_are_replaced() -> None:
    ray = (
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec: {workerGroupSpecs: [{template: {spec: {containers: [%s]}}}]}\n"
    )
    files = {
        "base/kustomization.yaml": "resources: [ray.yaml]\n",
        "base/ray.yaml": ray % "{name: main, image: a}",
        "over/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n",
        "over/p.yaml": ray % "{name: main, resources: {limits: {nvidia.com/gpu: 1}}}",
    }
    app = main(containers(files))
    assert (app.image, app.open, str(app.location)) == (None, ASPECTS, "over/p.yaml:4:59")


def test_patches_are_never_read_alone() -> None:
    patch = LIMIT.replace("name: main,", "name: main, image: x,")
    found = containers({"kustomization.yaml": "patches: [{path: gpu.yaml}]\n", "gpu.yaml": patch})
    assert found == []


def test_cycles_and_remote_bases_end() -> None:
    files = {
        "a/kustomization.yaml": "resources: [../b, app.yaml, https://example.com/x, github.com/a/b?ref=v1, ., ../../..]\n",
        "a/app.yaml": BASE,
        "b/kustomization.yaml": "resources: [../a]\ncomponents: [../c, .]\n",
        "c/Kustomization": "kind: Component\ncomponents: [../b, ../c]\n",
    }
    assert len(containers(files)) == 2


def test_a_base_that_everything_doubles_is_built_once() -> None:
    files = {"0/kustomization.yaml": "resources: [app.yaml]\n", "0/app.yaml": BASE}
    for level in range(1, 40):
        files[f"{level}/kustomization.yaml"] = f"resources: [../{level - 1}, ../{level - 1}]\nnamespace: n{level}\n"
    assert len(containers(files)) == 2


@pytest.mark.parametrize(
    "kustomization",
    [
        "",
        "[]",
        "resources: {a: b}\npatches: 1\nimages: [1, {name: [x]}]\nnamespace: [y]\n",
        "resources: [null, [x], {}]\npatches: [null, [x], {}, {path: [1]}, {patch: 7}, {patch: '{'}, {patch: \"\\n\"}]\n",
        "resources: [app.yaml]\npatches: [{path: app.yaml, target: {name: '(((', kind: [x]}}, {patch: '- 1', target: 7}]\n",
        "resources: [app.yaml]\npatches: [{path: app.yaml, target: {name: '(a+)+$'}}]\n",
        "resources: [app.yaml]\npatches: [{path: app.yaml, target: {labelSelector: '!x, a in (b), =='}}]\n",
    ],
)
def test_hostile_kustomizations(kustomization: str) -> None:
    containers({"kustomization.yaml": kustomization, "app.yaml": BASE})


def test_only_what_matters_is_read() -> None:
    files = overlay("patches: [{path: gpu.yaml}]", gpu=LIMIT)
    assert containers(files, set()) == []
    assert len(containers(files, {"base/app.yaml"})) == 2
    assert len(containers(files, {"overlay/gpu.yaml"})) == 2


def test_a_component_that_matters_makes_what_it_changes_matter() -> None:
    files = {
        **overlay("components: [../with-gpu]", gpu=LIMIT),
        "with-gpu/kustomization.yaml": "kind: Component\npatches: [{path: ../overlay/gpu.yaml}]\n",
    }
    assert main(containers(files, {"overlay/gpu.yaml"})).requests


@pytest.mark.parametrize("key", ["resources", "components"])
def test_overlays_that_double_one_another_end_at_a_bound(key: str) -> None:
    kind = "Component" if key == "components" else "Kustomization"
    head = f"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: {kind}\nnamePrefix: a\n"
    files = {f"{at}{side}/kustomization.yaml": f"{head}{key}: [../{at + 1}a, ../{at + 1}b]\n" for at in range(30) for side in "ab"}
    app = {"app/app.yaml": BASE, "app/kustomization.yaml": "resources: [app.yaml]\n"}
    last = {f"30{side}/kustomization.yaml": "resources: [../app]\nnamePrefix: b\n" for side in "ab"}
    top = {"top/kustomization.yaml": f"resources: [../app]\n{key}: [../0a]\n"} if key == "components" else {}

    assert len(containers({**files, **last, **app, **top})) < 100_000


@pytest.mark.parametrize(
    "change",
    [
        "patches: [{each}]\n".format(each="{target: {kind: Deployment}, patch: '[{op: add, path: /spec/replicas, value: 2}]'}, " * 400),
        "images: [{each}]\n".format(each="{name: other, newTag: '2'}, " * 400),
        "replacements: [{each}]\n".format(each="{source: {kind: Job}, targets: [{select: {kind: Job}}, {select: {kind: Pod}}]}, " * 200),
    ],
    ids=["patches", "images", "replacements"],
)
@pytest.mark.parametrize(("copies", "is_open"), [(20, False), (300, True)])
def test_objects_that_are_changed_more_often_than_anyone_writes_are_open(change: str, copies: int, is_open: bool) -> None:
    many = "---\n".join(BASE.replace("name: app", f"name: app{at}") for at in range(copies))
    found = containers({"app/app.yaml": many, "app/kustomization.yaml": f"resources: [app.yaml]\n{change}"})

    assert {container.open == ASPECTS for container in found} == {is_open}


def test_a_patch_of_more_operations_than_any_real_one_leaves_everything_open() -> None:
    operations = "[" + "{op: add, path: /spec/a, value: 1}, " * 1001 + "]"

    assert main(containers(overlay(f"patches: [{{target: {{kind: Deployment}}, patch: '{operations}'}}]"))).open == ASPECTS


def test_long_lists_are_merged() -> None:
    items = "".join(f"        - {{name: c{index}, image: nvidia/cuda}}\n" for index in range(1000))
    patch = f"{HEAD}spec:\n  template:\n    spec:\n      containers:\n{items}"

    assert len(containers(overlay("patches: [{path: gpu.yaml}]", gpu=patch))) == 1002


TAKING = BASE.replace(
    'env: [{name: A, value: "1"}]',
    "envFrom: [{configMapRef: {name: settings}}, {prefix: X_, configMapRef: {name: settings}}]\n          env: [{name: A, value: own}]",
)


def environment(container: Container) -> dict[str, str | None]:
    return {str(name): shown(value) for name, value in container.env}


@pytest.mark.parametrize("layer", ["base", "overlay"])
def test_the_environment_is_that_of_generated_config_maps(layer: str) -> None:
    files = overlay("namePrefix: pre-\nnamespace: prod\n")
    files["base/app.yaml"] = TAKING
    files[f"{layer}/kustomization.yaml"] += (
        "configMapGenerator: [{name: settings, literals: [DEVICE=cuda, A=1, \"B='b'\"], envs: [own.env]}]\n"
    )
    files[f"{layer}/own.env"] = '# first\nC="c"\n\nnone\n  D=d=e\n'
    app = main(containers(files))

    assert environment(app) == {
        "DEVICE": "cuda",
        "B": "b",
        "C": '"c"',
        "D": "d=e",
        "X_DEVICE": "cuda",
        "X_A": "1",
        "X_B": "b",
        "X_C": '"c"',
        "X_D": "d=e",
        "A": "own",
    }
    assert app.open == frozenset()
    assert {str(name): name.location.path for name, _ in app.env}["C"] == f"{layer}/own.env"
    assert str(app.env[0].name.location) == f"{layer}/kustomization.yaml:{2 if layer == 'base' else 4}:50"


@pytest.mark.parametrize(("others", "is_open"), [(99, False), (100, True)])
def test_of_more_generated_config_maps_than_anyone_writes_nothing_is_known(others: int, is_open: bool) -> None:
    more = "".join(f"  - {{name: other{at}, literals: [A=1]}}\n" for at in range(others))
    files = overlay("namePrefix: pre-\n")
    files["base/app.yaml"] = TAKING
    files["base/kustomization.yaml"] += f"configMapGenerator:\n  - {{name: settings, literals: [DEVICE=cuda]}}\n{more}"

    assert ("env" in main(containers(files)).open) == is_open


def test_an_overlay_merges_or_replaces_generated_data() -> None:
    files = overlay("configMapGenerator: [{name: settings, behavior: merge, literals: [B=2]}]")
    files["base/app.yaml"] = TAKING.replace(", {prefix: X_, configMapRef: {name: settings}}", "")
    files["base/kustomization.yaml"] += "configMapGenerator: [{name: settings, literals: [B=1, C=1]}]\n"
    assert environment(main(containers(files))) == {"B": "2", "C": "1", "A": "own"}

    files["overlay/kustomization.yaml"] = files["overlay/kustomization.yaml"].replace("merge", "replace")
    assert environment(main(containers(files))) == {"B": "2", "A": "own"}


@pytest.mark.parametrize(
    "generator",
    [
        "secretGenerator: [{name: settings, literals: [B=2]}]",
        "configMapGenerator: [{name: other, literals: [B=2]}]",
        "configMapGenerator: [{name: settings, behavior: merge, literals: [B=2]}]",
        "configMapGenerator: [{name: settings, envs: [missing.env]}]",
        "configMapGenerator: [{name: settings, namespace: other, literals: [B=2]}]",
        f"configMapGenerator: [{{name: settings, behavior: create, literals: [{', '.join(f'A{at}=1' for at in range(1001))}]}}]",
    ],
)
def test_an_environment_that_is_not_known_stays_open(generator: str) -> None:
    app = main(containers({**overlay(generator), "base/app.yaml": TAKING}))
    assert (environment(app), app.open) == ({"A": "own"}, {"env"})
