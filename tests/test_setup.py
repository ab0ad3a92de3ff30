"""`gpulint setup`: what the machines print becomes [machines], which a run then judges by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_repository import gpulint, spoken, write

from gpulint.config import load_config
from gpulint.model.machines import Machines, Pool

SMI = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Tue Mar  3 10:00:00 2026</timestamp>
	<driver_version>550.90.07</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>2</attached_gpus>
	<gpu id="00000000:01:00.0"><product_name>NVIDIA GeForce RTX 4090</product_name></gpu>
	<gpu id="00000000:02:00.0"><product_name>NVIDIA GeForce RTX 4090</product_name></gpu>
</nvidia_smi_log>
"""


def node(name: str, labels: dict[str, str], offered: dict[str, str] | None = None, taint: str = "") -> dict[str, Any]:
    """A node as the API server tells of it; `taint` is `key=value:Effect`."""
    key, _, rest = taint.partition("=")
    value, _, effect = rest.partition(":")
    taints = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    if taint:
        taints.insert(0, {"key": key, "value": value, "effect": effect})
    own = {"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**own, **labels}},
        "spec": {"taints": taints},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", **(offered or {})}, "images": [{"names": ["a/b:1"], "sizeBytes": 1}]},
    }


def cards(product: str, driver: str = "550.90.07", count: int = 1, **more: str) -> dict[str, str]:
    """The labels of GPU feature discovery."""
    labels = {"gpu.present": "true", "gpu.product": product, "gpu.count": str(count), "cuda.driver-version.full": driver, **more}
    return {f"nvidia.com/{key.replace('mig_', 'mig.')}": value for key, value in labels.items()}


def listed(*nodes: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}, indent=4)


def machines(folder: Path, given: str) -> Machines:
    """What a run takes from the printed TOML."""
    shown = gpulint(folder, "setup", "-", given=given)
    assert (shown.exit_code, shown.stderr) == (0, "")
    write(folder, {"gpulint.toml": shown.stdout})
    return load_config(str(folder / "gpulint.toml")).machines


L4 = {**cards("NVIDIA-L4", "550.90.07"), "acme.example/gpu": "l4"}
V100 = {**cards("Tesla-V100-SXM2-16GB", "535.161.07", count=8), "acme.example/gpu": "v100"}


def test_a_machine_by_nvidia_smi(tmp_path: Path) -> None:
    assert gpulint(tmp_path, "setup", "-", given=SMI).stdout == (
        '# What nvidia-smi says of this machine.\n[machines]\ndriver = "550.90.07"\ngpus = ["NVIDIA GeForce RTX 4090"]\ngpus_per_node = 2\n'
    )
    assert machines(tmp_path, SMI) == Machines(driver="550.90.07", gpus=("NVIDIA GeForce RTX 4090",), gpus_per_node=2)


def test_nodes_that_are_alike_are_one_table(tmp_path: Path) -> None:
    nodes = [node(f"gpu-{n}", L4, {"nvidia.com/gpu": "1"}, "nvidia.com/gpu=present:NoSchedule") for n in range(4)]
    given = listed(node("cpu-1", {}), *nodes)
    assert gpulint(tmp_path, "setup", "-", given=given).stdout == (
        "# What the nodes say of themselves: 4 of 5 nodes have a GPU.\n"
        "[machines]\n"
        'driver = "550.90.07"\n'
        'gpus = ["NVIDIA-L4"]\n'
        "gpus_per_node = 1\n"
        "gpus_total = 4\n"
        'gpu_taint = "nvidia.com/gpu=present:NoSchedule"\n'
        'platform = "linux/amd64"\n'
        "# autoscaled = true  # where nodes come and go\n"
    )
    assert machines(tmp_path, given).gpus_total == 4


def test_kinds_of_nodes_are_pools_with_the_labels_that_pick_them(tmp_path: Path) -> None:
    given = listed(
        node("v-1", V100, {"nvidia.com/gpu": "8"}, "dedicated=training:NoSchedule"),
        *(node(f"l-{n}", L4, {"nvidia.com/gpu": "1"}) for n in range(5)),
    )
    assert gpulint(tmp_path, "setup", "-", given=given).stdout == (
        "# What the nodes say of themselves: 6 of 6 nodes have a GPU.\n"
        "[machines]\n"
        "gpus_total = 13\n"
        'platform = "linux/amd64"\n'
        "# autoscaled = true  # where nodes come and go\n"
        "\n"
        "# l-0, l-1, l-2 and 2 more\n"
        "[machines.pools.l4]\n"
        'labels = { "acme.example/gpu" = "l4", "nvidia.com/gpu.product" = "NVIDIA-L4" }\n'
        'driver = "550.90.07"\n'
        'gpus = ["NVIDIA-L4"]\n'
        "gpus_per_node = 1\n"
        "gpus_total = 5\n"
        "\n"
        "# v-1\n"
        "[machines.pools.v100-sxm2-16gb]\n"
        'labels = { "acme.example/gpu" = "v100", "nvidia.com/gpu.product" = "Tesla-V100-SXM2-16GB" }\n'
        'driver = "535.161.07"\n'
        'gpus = ["Tesla-V100-SXM2-16GB"]\n'
        "gpus_per_node = 8\n"
        "gpus_total = 8\n"
        'gpu_taint = "dedicated=training:NoSchedule"\n'
    )
    assert machines(tmp_path, given).gpus_total == 13


POD = """
    apiVersion: v1
    kind: Pod
    metadata:
      name: train
    spec:
      nodeSelector:
        acme.example/gpu: {pool}
      containers:
        - name: train
          image: nvidia/cuda:12.9.1-base-ubuntu24.04
          command: [./train]
          resources:
            limits: {{nvidia.com/gpu: 1, cpu: 4, memory: 8Gi}}
    """


def test_a_pod_is_judged_by_the_pool_that_it_picks(tmp_path: Path) -> None:
    nodes = (
        node("v-1", {**cards("Tesla-V100-SXM2-16GB", "470.256.02"), "acme.example/gpu": "v100"}, {"nvidia.com/gpu": "8"}),
        node("l-1", {**cards("NVIDIA-L4", "580.95.05"), "acme.example/gpu": "l4"}, {"nvidia.com/gpu": "1"}),
    )
    machines(tmp_path, listed(*nodes))
    write(tmp_path, {"old.yaml": POD.format(pool="v100"), "new.yaml": POD.format(pool="l4")})
    assert spoken(tmp_path, "--select", "GPU122") == ["old.yaml:10:14 error GPU122"]


def test_a_pod_must_tolerate_the_taint_of_its_own_pool(tmp_path: Path) -> None:
    nodes = (
        node("v-1", V100, {"nvidia.com/gpu": "8"}, "dedicated=training:NoSchedule"),
        node("l-1", L4, {"nvidia.com/gpu": "1"}, "nvidia.com/gpu=present:NoSchedule"),
    )
    machines(tmp_path, listed(*nodes))
    tolerant = "  tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n      nodeSelector"
    write(tmp_path, {f"{pool}.yaml": POD.format(pool=pool).replace("  nodeSelector", tolerant) for pool in ("v100", "l4")})
    assert spoken(tmp_path, "--select", "GPU404") == ["v100.yaml:6:16 warning GPU404"]


def test_a_folder_of_that_name_is_checked_by_its_path(tmp_path: Path) -> None:
    write(tmp_path, {"setup/pod.yaml": POD.format(pool="l4"), "nodes.json": listed(node("l-1", L4))})
    shown = gpulint(tmp_path, "setup", "nodes.json")
    assert shown.stderr == "gpulint: running the verb setup; to check what lies there, write gpulint ./setup\n"
    assert "[machines]" in shown.stdout
    assert "1 manifest" in gpulint(tmp_path, "./setup").stderr


def test_yaml_and_a_single_node_are_read_too(tmp_path: Path) -> None:
    given = yaml.safe_dump(node("gpu-1", L4, {"nvidia.com/gpu": "1"}))
    assert machines(tmp_path, given) == Machines(
        driver="550.90.07", gpus=("NVIDIA-L4",), gpus_per_node=1, gpus_total=1, platform="linux/amd64"
    )
    (tmp_path / "nodes.json").write_text(listed(node("gpu-1", L4)))
    assert gpulint(tmp_path, "setup", "nodes.json").stdout.startswith(
        "# What the nodes say of themselves: 1 of 1 node has a GPU.\n[machines]\n"
    )


def test_node_pools_of_one_kind_stay_apart_where_kinds_differ(tmp_path: Path) -> None:
    pool = "cloud.google.com/gke-nodepool"
    found = machines(
        tmp_path,
        listed(
            node("a-1", {"cloud.google.com/gke-accelerator": "nvidia-l4", pool: "batch"}, {"nvidia.com/gpu": "2"}),
            node("b-1", {"cloud.google.com/gke-accelerator": "nvidia-l4", pool: "serve"}, {"nvidia.com/gpu": "2"}),
            node("c-1", {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4", pool: "dev"}, {"nvidia.com/gpu": "1"}),
        ),
    )
    accelerator = "cloud.google.com/gke-accelerator"
    assert found.adds_tolerations is True
    assert found.pools == (
        Pool("batch", {accelerator: "nvidia-l4", pool: "batch"}, Machines(gpus=("nvidia-l4",), gpus_per_node=2, gpus_total=2)),
        Pool("dev", {accelerator: "nvidia-tesla-t4", pool: "dev"}, Machines(gpus=("nvidia-tesla-t4",), gpus_per_node=1, gpus_total=1)),
        Pool("serve", {accelerator: "nvidia-l4", pool: "serve"}, Machines(gpus=("nvidia-l4",), gpus_per_node=2, gpus_total=2)),
    )


def test_slices_and_shares_are_no_cards(tmp_path: Path) -> None:
    single = cards("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", count=56, mig_strategy="single")
    found = machines(tmp_path, listed(node("mig", single, {"nvidia.com/gpu": "56"})))
    assert (found.gpus, found.gpus_per_node, found.mig_strategy, found.mig_profiles) == (
        ("NVIDIA-A100-SXM4-40GB",),
        None,
        "single",
        ("1g.5gb",),
    )
    mixed = cards("NVIDIA-A100-SXM4-40GB", count=8, mig_strategy="mixed")
    found = machines(tmp_path, listed(node("mig", mixed, {"nvidia.com/gpu": "0", "nvidia.com/mig-3g.20gb": "2"})))
    assert (found.mig_strategy, found.mig_profiles, found.gpus_total) == ("mixed", ("3g.20gb",), None)
    shared = cards("Tesla-T4-SHARED", count=1, mig_strategy="none")
    found = machines(tmp_path, listed(node("shared", shared, {"nvidia.com/gpu": "4"})))
    assert (found.gpus, found.gpus_per_node, found.gpus_total) == (("Tesla-T4",), 1, 4)


def test_older_labels_of_the_driver_and_nodes_that_come_and_go(tmp_path: Path) -> None:
    labels = {f"nvidia.com/cuda.driver.{part}": value for part, value in (("major", "470"), ("minor", "57"), ("rev", "02"))}
    found = machines(tmp_path, listed(node("k-1", {**labels, "karpenter.sh/nodepool": "gpu"}, {"nvidia.com/gpu": "1"})))
    assert (found.driver, found.autoscaled, found.gpus_total) == ("470.57.02", True, None)


def test_other_vendors_have_no_driver_of_nvidia(tmp_path: Path) -> None:
    found = machines(tmp_path, listed(node("mi-1", {}, {"amd.com/gpu": "8"}, "amd.com/gpu=present:NoSchedule")))
    assert found == Machines(gpus_per_node=8, gpus_total=8, gpu_taint="amd.com/gpu=present:NoSchedule", platform="linux/amd64")


def test_kinds_that_no_label_tells_apart_are_named_and_no_pools(tmp_path: Path) -> None:
    nodes = [node(f"n-{count}", {}, {"nvidia.com/gpu": count}) for count in ("1", "2")]
    shown = gpulint(tmp_path, "setup", "-", given=listed(*nodes)).stdout
    assert "pools" not in shown
    assert shown.endswith("# No pool, since no label of theirs picks them alone: n-1, n-2\n")


def test_a_label_that_another_kind_has_in_part_picks_no_pool(tmp_path: Path) -> None:
    shared = {"team.example/name": "vision"}
    found = machines(tmp_path, listed(node("l", {**L4, **shared}), node("v-1", {**V100, **shared}), node("v-2", V100)))
    assert [sorted(pool.labels) for pool in found.pools] == [["acme.example/gpu", "nvidia.com/gpu.product"]] * 2


def test_labels_that_no_api_server_takes_do_not_reach_the_toml(tmp_path: Path) -> None:
    odd = {'a"]\n[x': "1", "team": 'b"\n[y]', **L4}
    assert machines(tmp_path, listed(node('l\n[evil"]', odd), node("v", V100))).pools[0].labels.keys() == {
        "acme.example/gpu",
        "nvidia.com/gpu.product",
    }


TAKES = "it takes what this prints: kubectl get nodes -o json, or nvidia-smi -q -x"
BAD = {
    "": f"standard input is empty: did the command before the pipe fail? {TAKES}",
    "NAME   STATUS   ROLES    AGE\ngpu-1  Ready    <none>   1d\n": (
        "standard input is kubectl's table for people; give it as JSON: kubectl get nodes -o json"
    ),
    "==============NVSMI LOG==============\nDriver Version : 550.90.07\n": (
        "standard input is nvidia-smi's report for people; give it as XML: nvidia-smi -q -x"
    ),
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n": (
        "standard input: nvidia-smi found no driver to ask: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    ),
    "<html></html>": "standard input is XML, but no report of nvidia-smi -q -x",
    "<nvidia_smi_log></nvidia_smi_log>": "standard input: the report of nvidia-smi names neither a driver nor a GPU",
    '<!DOCTYPE x [<!ENTITY a "b">]><nvidia_smi_log>&a;</nvidia_smi_log>': "standard input is XML, but no report of nvidia-smi -q -x",
    listed(): f"standard input holds no node; {TAKES}",
    '{"items": [1, {"kind": "Pod"}, null]}': f"standard input holds no node; {TAKES}",
    listed(node("cpu-1", {}), node("cpu-2", {})): (
        "standard input: of 2 nodes none offers a GPU or has a label of one: is the device plugin running?"
    ),
    '{"kind": "Node", "metadata": {"labels": [1]}, "spec": {"taints": 3}, "status": null}': (
        "standard input: of 1 node none offers a GPU or has a label of one: is the device plugin running?"
    ),
}


@pytest.mark.parametrize(("given", "message"), BAD.items(), ids=range(len(BAD)))
def test_bad_input_is_told(given: str, message: str, tmp_path: Path) -> None:
    shown = gpulint(tmp_path, "setup", "-", given=given)
    assert (shown.exit_code, shown.stdout, shown.stderr) == (2, "", f"gpulint: {message}\n")


@pytest.mark.parametrize("given", ['{"items": [', "{" * 100_000, "a: [1\nb", "\x00\x01"])
def test_what_cannot_be_read_is_told(given: str, tmp_path: Path) -> None:
    shown = gpulint(tmp_path, "setup", "-", given=given)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith("gpulint: standard input cannot be read: ")


def test_a_file_that_is_not_there_and_none_at_all(tmp_path: Path) -> None:
    assert gpulint(tmp_path, "setup", "nodes.json").stderr == "gpulint: nodes.json: cannot be read: no such file or directory\n"
    assert "Missing argument 'FILE'" in gpulint(tmp_path, "setup").stderr
