"""What a user reads of a chart: findings where values and templates together decide, each once and at the line to edit."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from small_repository import gpulint, write

CHART = "apiVersion: v2\nname: app\nversion: 1.0.0\nappVersion: v0.8.5\n"
VALUES = "image: {repository: vllm/vllm-openai, tag: ''}\n"
IMAGE = 'image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"\n'


def template(container: str, pod: str = "") -> str:
    """A pod with these lines of its container behind the image, which stands on line 9, and of its spec, from line 6 on."""
    spec = indent(pod, "  ") or "  restartPolicy: Never\n"
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n"
        f"{spec}  containers:\n    - name: main\n      {IMAGE}{indent(container, '      ')}"
    )


def findings(folder: Path, container: str = "", values: str = "", pod: str = "", **others: str) -> list[str]:
    """Place, severity and rule of each finding; `others` are further files by their names, with `__` for a slash and `_` for a dot."""
    files = {"Chart.yaml": CHART, "values.yaml": VALUES + values, "templates/pod.yaml": template(container, pod)}
    files |= {name.replace("__", "/").replace("_yaml", ".yaml").replace("_tpl", ".tpl"): text for name, text in others.items()}
    write(folder, files)
    lines = gpulint(folder, "--format", "concise", "--isolated").stdout.splitlines()
    return [" ".join((line.split(" ")[0].rpartition(":")[0].rpartition(":")[0], *line.split(" ")[1:3])) for line in lines]


MISSING = "templates/pod.yaml:8 warning: GPU201"
FROM_VALUES = "resources: {{- toYaml .Values.resources | nindent 8 }}\n"
BY_FLAG = "{{- if .Values.gpu.enabled }}\nresources: {limits: {nvidia.com/gpu: {{ .Values.gpu.count }}}}\n{{- end }}\n"


def test_a_chart_that_cannot_give_a_gpu(tmp_path: Path) -> None:
    assert findings(tmp_path) == [MISSING]


def test_resources_of_the_values_without_a_gpu(tmp_path: Path) -> None:
    assert findings(tmp_path, FROM_VALUES, "resources: {limits: {memory: 16Gi}}\n") == [MISSING]


@pytest.mark.parametrize(
    ("container", "values"),
    [
        (FROM_VALUES, "resources: {limits: {nvidia.com/gpu: 1}}\n"),
        (FROM_VALUES, "resources: {}\n"),
        (FROM_VALUES, "resources:\n"),
        (FROM_VALUES, ""),
        ("{{- with .Values.resources }}\nresources: {{- toYaml . | nindent 8 }}\n{{- end }}\n", "resources: {}\n"),
        ("{{- with .Values.resources }}\nresources: {{- toYaml . | nindent 8 }}\n{{- end }}\n", ""),
        (BY_FLAG, "gpu: {enabled: false, count: 1}\n"),
        (BY_FLAG, "gpu: {enabled: true, count: 1}\n"),
        (BY_FLAG, ""),
        ("{{- if .Release.IsInstall }}\nresources: {limits: {nvidia.com/gpu: 1}}\n{{- end }}\n", ""),
        ('{{- include "elsewhere.resources" . | nindent 6 }}\n', ""),
        ("resources: {limits: {{ randAlpha 3 }}}\n", ""),
        ("{{- range .Values.extra }}\n{{- toYaml . | nindent 6 }}\n{{- end }}\n", "extra: []\nresources: {}\n" + "gpuType: ''\n"),
    ],
)
def test_what_may_yet_be_given_is_not_missed(tmp_path: Path, container: str, values: str) -> None:
    found = findings(tmp_path, container, values)
    assert found == ([] if "extra" not in container else [MISSING])


def test_a_values_file_that_turns_the_gpu_on(tmp_path: Path) -> None:
    values = "gpu: {enabled: false, count: 1}\n"
    assert findings(tmp_path, BY_FLAG, values, **{"values-gpu_yaml": "gpu: {enabled: true}\n"}) == []


def test_a_values_file_that_takes_a_gpu_image_and_gives_no_gpu(tmp_path: Path) -> None:
    others = {"values_yaml": "image: {repository: example/app, tag: 1.0.0-cpu}\n", "values-gpu_yaml": "image: {tag: 1.0.0-cuda12}\n"}
    assert findings(tmp_path, **others) == [MISSING]


def test_one_line_through_several_values_files_is_one_finding(tmp_path: Path) -> None:
    others = {f"values-{name}_yaml": f"replicas: {name}\n" for name in ("1", "2", "3")}
    assert findings(tmp_path, "args: ['{{ .Values.replicas }}']\n", "replicas: 0\n", **others) == [MISSING]


def test_what_comes_from_the_values_is_reported_there(tmp_path: Path) -> None:
    container = (
        FROM_VALUES + "securityContext: {{- toYaml .Values.securityContext | nindent 8 }}\nenv:\n  {{- toYaml .Values.env | nindent 8 }}\n"
    )
    values = (
        "securityContext:\n  privileged: true\n"
        "env:\n  - name: NVIDIA_VISIBLE_DEVICES\n    value: all\n"
        "resources:\n  limits:\n    nvidia.com/gpu: 1\n"
    )
    assert findings(tmp_path, container, values) == ["values.yaml:3 warning: GPU202", "values.yaml:5 warning: GPU205"]


def test_what_a_helper_writes_is_reported_there(tmp_path: Path) -> None:
    helpers = (
        '{{- define "app.resources" -}}\nresources:\n  limits:\n    nvidia.com/gpu: {{ .Values.gpus }}\n'
        "  requests:\n    nvidia.com/gpu: 2\n{{- end }}\n"
    )
    found = findings(tmp_path, '{{- include "app.resources" . | nindent 6 }}\n', "gpus: 1\n", templates___helpers_tpl=helpers)
    assert found == ["templates/_helpers.tpl:6 error: GPU401"]


def test_requests_and_limits_that_differ_by_values(tmp_path: Path) -> None:
    container = "resources:\n  requests: {nvidia.com/gpu: {{ .Values.gpus }}}\n  limits: {nvidia.com/gpu: 1}\n"
    assert findings(tmp_path, container, "gpus: 2\n") == ["values.yaml:2 error: GPU401"]
    assert findings(tmp_path, container, "gpus: 1\n") == []


def test_a_chart_that_helm_refuses_claims_nothing(tmp_path: Path) -> None:
    assert findings(tmp_path, '{{- required "say which model" .Values.model }}\n', "model: ''\n") == []


def test_a_template_is_no_syntax_error(tmp_path: Path) -> None:
    container = (
        "{{- if .Values.a }}\n{{- else }}\n{{- end }}\nargs: [{{ range .Values.b }}{{ . }},{{ end }}]\n{{ toYaml .Values.c }}\n"
        + FROM_VALUES
    )
    found = findings(tmp_path, container, "a: 1\nb: [1, 2]\nc: {}\nresources: {}\n")
    assert not [each for each in found if "GPU001" in each]
