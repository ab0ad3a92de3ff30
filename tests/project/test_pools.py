"""The machines that a container may run on."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.model.machines import Machines, Pool

L4 = Pool("inference", {"acme.example/gpu": "l4", "zone": "a"}, Machines(gpus=("L4",)))
V100 = Pool("training", {"acme.example/gpu": "v100", "zone": "a"}, Machines(gpus=("V100",), driver="535"))
MACHINES = Machines(driver="580.95.05", pools=(L4, V100))


@pytest.mark.parametrize(
    ("selector", "driver", "gpus"),
    [
        ("{acme.example/gpu: l4}", "580.95.05", ("L4",)),
        ("{acme.example/gpu: v100}", "535", ("V100",)),
        ("{acme.example/gpu: v100, disk: fast}", "535", ("V100",)),
        ("{acme.example/gpu: l4, zone: b}", "580.95.05", None),
        ("{zone: a}", None, None),
        ("{disk: fast}", "580.95.05", None),
        ("{}", "580.95.05", None),
    ],
)
def test_the_pool_that_a_pod_selects(tmp_path: Path, selector: str, driver: str | None, gpus: tuple[str, ...] | None) -> None:
    pod = f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: a}}
        spec:
          nodeSelector: {selector}
          containers:
            - {{name: a, image: vllm/vllm-openai:v0.8.5, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
        """
    whole = project(tmp_path, {"pod.yaml": pod}, MACHINES)
    machines = whole.machines_of(whole.containers[0])
    assert (machines.driver, machines.gpus) == (driver, gpus)


def test_outside_pods_the_general_facts_hold(tmp_path: Path) -> None:
    whole = project(tmp_path, {"compose.yaml": "services: {a: {image: acme/a:1.0.0, gpus: all}}"}, MACHINES)
    assert whole.machines_of(whole.containers[0]) is whole.machines
