"""Charts as helm renders them: wherever gpulint claims to know a workload it is the one that helm renders."""

from __future__ import annotations

from pathlib import Path

import pytest
from chart_rendering import by_gpulint, by_helm, differences, unseen
from generated_charts import CONSTRUCTS, Construct, mixtures, write_chart

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
