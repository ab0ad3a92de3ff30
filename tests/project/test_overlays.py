"""Overlays of one base in whole runs: each is judged as it is built, what several build alike once, and an odd one is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import gpulint, spoken, write

BASE = """
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: dubbing}
    spec:
      template:
        spec:
          containers:
            - name: dubbing
              image: registry.acme.example/dubbing:1.3.0
              command: [python, -m, dubbing, --device, "cuda:0"]
    """
STRONG = BASE.replace("registry.acme.example/dubbing:1.3.0", "vllm/vllm-openai:v0.8.5").replace(
    '              command: [python, -m, dubbing, --device, "cuda:0"]\n', ""
)
LIMIT = """
    resources: [../base]
    patches:
      - target: {kind: Deployment}
        patch: |-
          - op: add
            path: /spec/template/spec/containers/0/resources
            value: {limits: {nvidia.com/gpu: 1, cpu: 1, memory: 1Gi}}
    """
PLAIN = "resources: [../base]\nnamespace: plain\n"


def repository(folder: Path, base: str = BASE, **overlays: str) -> Path:
    files = {f"{name.replace('_', '-')}/kustomization.yaml": text for name, text in overlays.items()}
    (folder / ".git").mkdir(exist_ok=True)
    write(folder, {"base/kustomization.yaml": "resources: [app.yaml]\n", "base/app.yaml": base, **files})
    return folder


def test_a_base_is_silent_where_all_overlays_bring_what_it_lacks(tmp_path: Path) -> None:
    assert spoken(repository(tmp_path, prod=LIMIT, staging=LIMIT)) == []


def test_the_overlay_that_lacks_it_is_named(tmp_path: Path) -> None:
    report = gpulint(repository(tmp_path, prod=LIMIT, dev=PLAIN), "--format", "text", "--color", "never").stdout

    assert report.count("GPU201") == 1
    assert "base/app.yaml:8:11: warning GPU201" in report
    assert "dev/kustomization.yaml:1:1: this kustomization builds it so, others build it otherwise" in report


def test_a_fault_in_all_overlays_is_said_once_and_names_none(tmp_path: Path) -> None:
    report = gpulint(repository(tmp_path, one=PLAIN, two=PLAIN.replace("plain", "two")), "--format", "text", "--color", "never").stdout

    assert report.count("GPU201") == 1
    assert "kustomization.yaml" not in report


@pytest.mark.parametrize("name", ["cpu", "render_cpu"])
def test_an_overlay_that_says_cpu_is_a_twin(tmp_path: Path, name: str) -> None:
    assert spoken(repository(tmp_path, gpu=LIMIT, **{name: PLAIN})) == []


def test_an_image_alone_says_nothing_where_another_overlay_runs_it_with_a_gpu(tmp_path: Path) -> None:
    assert spoken(repository(tmp_path, STRONG, gpu=LIMIT, local=PLAIN)) == []
    assert spoken(repository(tmp_path, STRONG, gpu=PLAIN, local=PLAIN.replace("plain", "x"))) == ["base/app.yaml:8:11 warning GPU201"]


def test_a_file_of_an_overlay_that_is_named_reports_what_it_builds(tmp_path: Path) -> None:
    assert spoken(repository(tmp_path, prod=LIMIT, dev=PLAIN), "dev/kustomization.yaml") == ["base/app.yaml:8:11 warning GPU201"]
    assert spoken(tmp_path, "prod/kustomization.yaml") == []


def test_a_tag_of_another_overlay_stays_where_it_is_written(tmp_path: Path) -> None:
    nightly = f"{LIMIT.rstrip()}\n    images: [{{name: registry.acme.example/dubbing, newTag: nightly}}]\n"

    assert spoken(repository(tmp_path, prod=LIMIT, edge=nightly)) == ["edge/kustomization.yaml:8:56 warning GPU101"]


def test_a_component_that_is_elsewhere_may_bring_anything(tmp_path: Path) -> None:
    assert spoken(repository(tmp_path, prod="resources: [../base]\ncomponents: ['https://example.com/gpu']\n")) == []


PLAIN_BASE = """
    apiVersion: v1
    kind: Pod
    metadata: {name: a}
    spec:
      containers:
        - name: a
          image: acme/a:1
          envFrom: [{configMapRef: {name: settings}}]
    """


def test_what_a_kustomization_alone_says_of_a_gpu_is_found(tmp_path: Path) -> None:
    patch = (
        "patches: [{target: {kind: Pod}, patch: '[{op: add, path: /spec/containers/0/resources, value: {limits: {nvidia.com/gpu: 0.5}}}]'}]"
    )
    (tmp_path / ".git").mkdir()
    write(tmp_path, {"pod.yaml": PLAIN_BASE, "kustomization.yaml": f"resources: [pod.yaml]\n{patch}\n"})
    assert spoken(tmp_path) == ["kustomization.yaml:2:121 error GPU402"]

    generator = "configMapGenerator: [{name: settings, literals: [DEVICE=cuda]}]"
    write(tmp_path, {"kustomization.yaml": f"resources: [pod.yaml]\n{generator}\n"})
    assert spoken(tmp_path) == ["pod.yaml:6:7 warning GPU201"]


FLUX = """
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata: {{name: {0}}}
    spec:
      path: ./apps/dubbing
      {1}
    """
FLUX_PATCH = """patches:
        - target: {kind: Deployment, name: dub.*}
          patch: |
            - op: add
              path: /spec/template/spec/containers/0/resources
              value: {limits: {nvidia.com/gpu: 1, cpu: 1, memory: 1Gi}}
"""


@pytest.mark.parametrize("kustomization", [{}, {"apps/dubbing/kustomization.yaml": "resources: [app.yaml]\n"}])
def test_flux_patches_what_a_folder_holds(tmp_path: Path, kustomization: dict[str, str]) -> None:
    write(tmp_path, {"apps/dubbing/app.yaml": BASE, "clusters/prod.yaml": FLUX.format("prod", FLUX_PATCH), **kustomization})
    assert spoken(tmp_path) == []

    write(tmp_path, {"clusters/dev.yaml": FLUX.format("dev", "prune: true")})
    report = gpulint(tmp_path, "--format", "text", "--color", "never").stdout
    assert report.count("GPU201") == 1
    assert "apps/dubbing/app.yaml:8:11: warning GPU201" in report
    assert "clusters/dev.yaml:5:3: this kustomization builds it so" in report


def test_what_flux_substitutes_is_not_known(tmp_path: Path) -> None:
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    pod = head + "spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: '%s'}}}]}\n"
    substituted = FLUX.format("a", "postBuild: {substitute: {GPUS: '0.5'}}\n      namePrefix: a-")
    write(tmp_path, {"apps/dubbing/a.yaml": pod % "${GPUS}", "apps/dubbing/b.yaml": pod % "0.5", "flux.yaml": substituted})

    assert spoken(tmp_path) == ["apps/dubbing/b.yaml:4:79 error GPU402"]


def test_a_manifest_that_becomes_data_is_not_judged(tmp_path: Path) -> None:
    generator = "configMapGenerator: [{name: template, files: [pod.yaml=app.yaml]}]\n"
    write(tmp_path, {"app.yaml": BASE, "kustomization.yaml": generator})

    assert spoken(tmp_path) == []
