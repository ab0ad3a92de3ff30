"""Charts as helm renders them: wherever gpulint claims to know a workload it is the one that helm renders."""

from __future__ import annotations

from pathlib import Path

import pytest
from chart_rendering import by_gpulint, by_helm, differences, unseen
from generated_charts import CONSTRUCTS, Construct, mixtures, write_chart
from small_repository import write

from gpulint.discover import list_files
from gpulint.project.helm_chart import Charts
from gpulint.project.tree import Tree


def compared(folder: Path) -> tuple[list[str], int]:
    """How what gpulint makes of the chart in a folder differs from what helm renders, and how many workloads it does not see."""
    charts = Charts(Tree(folder, list_files(folder, None)))
    chart = charts.load("Chart.yaml")
    assert chart is not None and chart.is_readable
    theirs = by_helm(folder, chart, None)
    assert theirs, "helm renders no such chart"
    ours = by_gpulint(charts, chart, None)
    return list(differences(ours, theirs)), unseen(ours, theirs)


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda each: each.name)
def test_a_construct_is_evaluated_as_by_helm(construct: Construct, tmp_path: Path) -> None:
    write_chart(tmp_path, [construct])
    assert compared(tmp_path) == ([], 0)


@pytest.mark.parametrize("constructs", list(mixtures(seed=7, count=12)), ids=len)
def test_constructs_together_are_evaluated_as_by_helm(constructs: tuple[Construct, ...], tmp_path: Path) -> None:
    write_chart(tmp_path, constructs)
    assert compared(tmp_path) == ([], 0)


ENGINE = {
    "Chart.yaml": "apiVersion: v2\nname: engine\nversion: 0.1.0\n",
    "values.yaml": "image: example/engine:1\nenabled: false\ngpus: 1\nglobal: {pool: own, own: kept}\n",
    "templates/_engine.tpl": '{{ define "engine.name" }}engine{{ end }}{{ define "shared" }}of-engine{{ end }}',
    "templates/pod.yaml": """\
        apiVersion: v1
        kind: Pod
        metadata: {name: "{{ .Release.Name }}-engine"}
        spec:
          nodeSelector: {pool: {{ .Values.global.pool }}, own: {{ .Values.global.own }}}
          containers:
            - name: {{ include "engine.name" . }}-{{ include "shared" . }}
              image: {{ .Values.image }}
              resources: {limits: {nvidia.com/gpu: {{ .Values.gpus }}}}
        """,
}
ABOVE = {
    "values.yaml": "global: {pool: gpu}\nengine: {gpus: 2}\nsecond: {gpus: 3, enabled: false}\n",
    "templates/pod.yaml": """\
        {{ define "shared" }}of-above{{ end }}
        apiVersion: v1
        kind: Pod
        metadata: {name: above}
        spec:
          containers:
            - name: {{ include "shared" . }}
              image: {{ .Values.engine.image | quote }}
              args: ["{{ .Values.engine.gpus }}"]
        """,
}
DEPENDENCIES = {
    "not named": "",
    "named": "[{name: engine, version: 0.1.0}]",
    "under an alias": "[{name: engine, version: 0.1.0, alias: second}, {name: engine, version: 0.1.0}]",
    "turned off": "[{name: engine, version: 0.1.0, alias: second, condition: second.enabled}, {name: engine, version: 0.1.0}]",
    "turned off by the first that is there": "[{name: engine, version: 0.1.0, condition: 'none.at,second.enabled'}]",
    "turned off by its own values": "[{name: engine, version: 0.1.0, condition: engine.enabled}]",
    "not turned off by a path with a blank": "[{name: engine, version: 0.1.0, condition: 'none.at, second.enabled'}]",
}


@pytest.mark.parametrize("dependencies", DEPENDENCIES.values(), ids=DEPENDENCIES.keys())
@pytest.mark.parametrize("folder", ["charts/engine", "charts/renamed"])
def test_charts_below_a_chart(dependencies: str, folder: str, tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/{path}": text for path, text in ENGINE.items()})
    write(tmp_path, {"Chart.yaml": f"apiVersion: v2\nname: above\nversion: 0.1.0\ndependencies: {dependencies}\n", **ABOVE})
    assert compared(tmp_path) == ([], 0)
