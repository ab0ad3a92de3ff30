"""Charts, values and releases: images in one piece or in parts, GPU resources wherever they stand, everything open."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gpulint.model.container import ASPECTS, Container, RequestKind
from gpulint.project.kubernetes import kubernetes_containers
from gpulint.project.tree import Tree
from gpulint.source import Text, Unknown, Value

CHART = 'apiVersion: v2\nname: demo\nversion: 1.0.0\nappVersion: "2.5.0"\n'


def containers(files: dict[str, str]) -> list[Container]:
    given = {path: dedent(text).encode() for path, text in files.items()}
    return list(kubernetes_containers(Tree(Path(), (), given)))


def of_values(values: str, chart: str = CHART) -> list[Container]:
    return containers({"chart/Chart.yaml": chart, "chart/values.yaml": values})


def of_release(values: str) -> list[Container]:
    head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app, namespace: media}\n"
    return containers({"app/release.yaml": f"{head}spec: {{values: {values}}}\n"})


def image_of(container: Container) -> tuple[str | None, str | None, str | None]:
    assert container.image
    return shown(container.image.name), shown(container.image.tag), shown(container.image.digest)


def shown(value: Value | None) -> str | None:
    return f"?{value.raw}" if isinstance(value, Unknown) else None if value is None else str(value)


@pytest.mark.parametrize(
    ("values", "image"),
    [
        ("image: {repository: example/app, tag: v1}", ("example/app", "v1", None)),
        ("image: {registry: ghcr.io, repository: example/app, tag: v1}", ("ghcr.io/example/app", "v1", None)),
        ("image: {repository: example/app, tag: ''}", ("example/app", "2.5.0", None)),
        ("image: {repository: example/app, tag: }", ("example/app", "2.5.0", None)),
        ("image: {repository: example/app, pullPolicy: Always}", ("example/app", "?tag", None)),
        ("image: {repository: example/app, digest: sha256:ab}", ("example/app", "?tag", "sha256:ab")),
        ("image: {repository: example, image: app, tag: v1}", ("example/app", "v1", None)),
        ("image: {name: example/app, tag: v1}", ("example/app", "v1", None)),
        ("image: example/app:v1", ("example/app", "v1", None)),
        ("image: example/app", ("example/app", "?tag", None)),
        ("image: example/app\ntag: v2", ("example/app", "v2", None)),
        ("image: example/app\nimageTag: ''", ("example/app", "2.5.0", None)),
        ("image: {repository: example/app, tag: '{{ .Chart.AppVersion }}'}", ("example/app", "?{{ .Chart.AppVersion }}", None)),
        ("models: [{name: one, repository: example/app, tag: latest}]", ("example/app", "latest", None)),
        ("images: {main: {repository: example/app, tag: v1}}", ("example/app", "v1", None)),
    ],
)
def test_images(values: str, image: tuple[str | None, str | None, str | None]) -> None:
    (found,) = of_values(values)
    assert image_of(found) == image


@pytest.mark.parametrize(
    "values",
    [
        "",
        "[]",
        "image: {}\nresources: {}\nenabled: true",
        "image: ''",
        "image: true false",
        "repository: https://charts.example.com\ntag: x",
        "repository: oci://example.com/chart\nversion: 1",
        "repository: example/app",
        "name: app\nversion: 1",
        "resources: {limits: {cpu: 1}}",
        "image: [1]\nresources: [x]\nnodeSelector: 1",
        "image: {repository: [x], tag: {}}",
    ],
)
def test_no_images(values: str) -> None:
    assert of_values(values) == []


def test_a_tag_from_the_chart_stands_there() -> None:
    (found,) = of_values("image: {repository: example/app, tag: ''}")
    assert found.image and isinstance(found.image.tag, Text)
    assert str(found.image.tag.location) == "chart/Chart.yaml:4:14"
    assert str(found.location) == "chart/values.yaml:1:21"


def test_without_an_app_version_an_empty_tag_is_not_known() -> None:
    (found,) = of_values("image: {repository: example/app, tag: ''}", chart="name: demo\n")
    assert image_of(found) == ("example/app", "?appVersion", None)


def test_image_and_resources_of_one_mapping_are_one_container() -> None:
    (found,) = of_values(
        """
        server:
          image: {repository: example/app, tag: v1}
          resources: {limits: {nvidia.com/gpu: 1}}
          tolerations: []
          nodeSelector: {nvidia.com/gpu.present: "true"}
          runtimeClassName: nvidia
          env: [{name: A, value: b}]
        """
    )
    assert (shown(found.name), image_of(found)[0], found.open) == ("server", "example/app", ASPECTS)
    assert [request.kind for request in found.requests] == [RequestKind.LIMIT, RequestKind.RUNTIME]
    assert found.pod and (found.pod.kind, shown(found.pod.name)) == ("Chart", "demo")
    assert found.pod.open == ASPECTS and found.pod.tolerations == () and found.pod.tolerations_location
    assert [str(label.key) for label in found.pod.labels] == ["nvidia.com/gpu.present"]
    assert [str(name) for name, _ in found.env] == ["A"]


@pytest.mark.parametrize(
    "values",
    [
        "resources: {limits: {nvidia.com/gpu: 0.5}}",
        "worker: {resources: {requests: {nvidia.com/gpu: 0.5}}}",
        "gpuResources: {limits: {nvidia.com/gpu: 0.5}}",
        "pools: [{limits: {nvidia.com/gpu: 0.5}}]",
    ],
)
def test_gpu_resources_wherever_they_stand(values: str) -> None:
    (found,) = of_values(values)
    (request,) = found.requests
    assert shown(request.limit if request.limit is not None else request.request) == "0.5"
    assert found.location == request.location


def test_other_values_files_of_a_chart() -> None:
    found = containers(
        {
            "chart/Chart.yaml": CHART,
            "chart/values-gpu.yaml": "image: {repository: a/b, tag: ''}\n",
            "chart/ci/gpu-values.yaml": "image: {repository: c/d, tag: ''}\n",
        }
    )
    assert [image_of(each)[:2] for each in found] == [("c/d", "2.5.0"), ("a/b", "2.5.0")]


def test_a_release() -> None:
    (found,) = of_release(
        "{controllers: {main: {containers: {app: {image: {repository: a/b, tag: v1},"
        " env: {NVIDIA_VISIBLE_DEVICES: all}, resources: {limits: {gpu.intel.com/i915: 1}}}}}}}"
    )
    assert (shown(found.name), image_of(found), found.open) == ("app", ("a/b", "v1", None), ASPECTS)
    assert found.pod and (found.pod.kind, shown(found.pod.name), shown(found.pod.namespace)) == ("HelmRelease", "app", "media")
    assert [(request.kind, request.vendor) for request in found.requests] == [
        (RequestKind.LIMIT, "intel"),
        (RequestKind.VISIBLE_DEVICES, "nvidia"),
    ]


def test_the_tag_of_a_release_may_be_the_charts() -> None:
    (found,) = of_release("{image: {repository: a/b, tag: ''}}")
    assert image_of(found) == ("a/b", "?appVersion", None)


@pytest.mark.parametrize(
    "spec",
    [
        "source: {helm: {valuesObject: {image: {repository: a/b, tag: v1}}}}",
        "source: {helm: {values: 'image: {repository: a/b, tag: v1}'}}",
        "sources: [{}, {helm: {values: 'image: {repository: a/b, tag: v1}'}}]",
    ],
)
def test_applications(spec: str) -> None:
    for text in (f"kind: Application\nspec: {{{spec}}}\n", f"kind: ApplicationSet\nspec: {{template: {{spec: {{{spec}}}}}}}\n"):
        (found,) = containers({"app.yaml": f"apiVersion: argoproj.io/v1alpha1\n{text}"})
        assert image_of(found) == ("a/b", "v1", None)


def test_values_in_a_block_of_text_stand_where_they_are_written() -> None:
    (found,) = containers(
        {
            "app.yaml": """\
            apiVersion: helm.cattle.io/v1
            kind: HelmChart
            metadata: {name: app}
            spec:
              valuesContent: |-
                image:
                  repository: a/b
                  tag: v1
                resources:
                  limits:
                    nvidia.com/gpu: 2
            """
        }
    )
    assert str(found.location) == "app.yaml:7:19"
    assert [str(request.location) for request in found.requests] == ["app.yaml:11:9"]


def test_a_kustomization_patches_a_release_too() -> None:
    head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app}\n"
    (found,) = containers(
        {
            "base/kustomization.yaml": "resources: [release.yaml]\n",
            "base/release.yaml": f"{head}spec: {{values: {{image: {{repository: a/b, tag: v1}}}}}}\n",
            "over/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n",
            "over/p.yaml": f"{head}spec: {{values: {{image: {{tag: v2}}}}}}\n",
        }
    )
    assert image_of(found) == ("a/b", "v2", None)


def test_literal_containers_of_a_template_and_what_it_renders() -> None:
    found, rendered = containers(
        {
            "chart/Chart.yaml": CHART,
            "chart/templates/pod.yaml": """\
            apiVersion: v1
            kind: Pod
            metadata:
              name: {{ .Release.Name }}
            spec:
              containers:
                - name: main
                  image: "example/app:{{ .Values.tag }}"
                  resources:
                    limits:
                      nvidia.com/gpu: 0.5
            """,
        }
    )
    assert (shown(found.name), found.open) == ("main", ASPECTS)
    assert (shown(rendered.name), rendered.open, rendered.location) == ("main", frozenset(), found.location)
    assert [shown(request.limit) for each in (found, rendered) for request in each.requests] == ["0.5", "0.5"]


TEMPLATE = """\
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
spec:
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: main
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      resources: {{- toYaml .Values.resources | nindent 8 }}
"""
VALUES = "image: {repository: vllm/vllm-openai, tag: v0.8.5}\nresources: {}\ntolerations: []\n"
FLUX = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: one}
spec:
  chart:
    spec: {chart: ./charts/demo, sourceRef: {kind: GitRepository, name: repo}}
  values:
    resources: {limits: {nvidia.com/gpu: 2}}
"""
ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one}
spec:
  source:
    path: charts/demo
    helm:
      valueFiles: [values-large.yaml]
      values: |
        resources: {limits: {nvidia.com/gpu: 2}}
      parameters:
        - {name: image.tag, value: v0.9.0}
"""


def of_installed(manifest: str) -> list[tuple[str | None, str | None]]:
    """The tags and the GPU limits of the containers that a chart renders, as it is and as the manifest installs it."""
    files = {
        "charts/demo/Chart.yaml": CHART,
        "charts/demo/values.yaml": VALUES,
        "charts/demo/values-large.yaml": "tolerations: [{operator: Exists}]\n",
        "charts/demo/templates/pod.yaml": TEMPLATE,
        "clusters/one.yaml": manifest,
    }
    found = [each for each in containers(files) if each.location.path.endswith("pod.yaml") and each.image]
    rendered = [each for each in found if each.image and not isinstance(each.image.name, Unknown)]
    return [(image_of(each)[1], shown(each.requests[0].limit) if each.requests else None) for each in rendered]


@pytest.mark.parametrize(
    ("manifest", "installed"),
    [
        (FLUX, [("v0.8.5", "2")]),
        (ARGO, [("v0.9.0", "2")]),
        (ARGO.replace("kind: Application", "kind: AppProject"), []),
        (FLUX.replace("  values:", "  valuesFrom: [{kind: Secret, name: x}]\n  values:"), []),
        (FLUX.replace("GitRepository", "HelmRepository"), []),
        (FLUX.replace("./charts/demo", "./charts/other"), []),
        (ARGO.replace("values-large.yaml", "$other/values.yaml"), []),
        (ARGO.replace("values-large.yaml", "missing.yaml"), []),
        (ARGO.replace("image.tag", "image\\\\.tag"), []),
    ],
)
def test_a_release_of_a_chart_of_the_tree(manifest: str, installed: list[tuple[str | None, str | None]]) -> None:
    assert of_installed(manifest) == [("v0.8.5", None), ("v0.8.5", None), *installed]


def test_what_a_release_supplies_is_open_in_the_chart_as_it_is() -> None:
    files = {
        "chart/Chart.yaml": CHART,
        "chart/values.yaml": VALUES.replace("resources: {}", "resources: {limits: {cpu: 1}}"),
        "chart/templates/pod.yaml": TEMPLATE,
        "one.yaml": FLUX.replace("./charts/demo", "./chart"),
    }
    default, installed = (each for each in containers(files) if each.location.path.endswith("pod.yaml") and each.open != ASPECTS)
    assert default.requests == () and "gpu" in default.open
    assert [shown(request.limit) for request in installed.requests] == ["2"]
    assert str(installed.requests[0].location) == "one.yaml:8:26"
