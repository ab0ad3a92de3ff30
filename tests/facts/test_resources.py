"""Resource names, node labels and taints of accelerators, and what only looks like one."""

from __future__ import annotations

import pytest

from gpulint.facts.resources import (
    ANY_VENDOR,
    Resource,
    device_class,
    gpu_label,
    gpu_resource,
    gpu_taint,
    legacy_resource,
    looks_like_gpu,
    nearest_resource,
    ray_counts,
)


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("nvidia.com/gpu", Resource("nvidia", shared=False, mig=False, whole=True)),
        ("nvidia.com/gpu.shared", Resource("nvidia", shared=True, mig=False, whole=True)),
        ("nvidia.com/mig-1g.5gb", Resource("nvidia", shared=False, mig=True, whole=True)),
        ("nvidia.com/mig-1g.10gb.me", Resource("nvidia", shared=False, mig=True, whole=True)),
        ("nvidia.com/mig-2g.20gb.shared", Resource("nvidia", shared=True, mig=True, whole=True)),
        ("nvidia.com/gpumem", Resource("nvidia", shared=True, mig=False, whole=False)),
        ("volcano.sh/vgpu-memory", Resource("nvidia", shared=True, mig=False, whole=False)),
        ("amd.com/gpu", Resource("amd", shared=False, mig=False, whole=True)),
        ("gpu.intel.com/i915", Resource("intel", shared=False, mig=False, whole=True)),
        ("habana.ai/gaudi", Resource("habana", shared=False, mig=False, whole=True)),
        ("google.com/tpu", Resource("google", shared=False, mig=False, whole=True)),
        ("aws.amazon.com/neuroncore", Resource("aws", shared=False, mig=False, whole=True)),
    ],
)
def test_known_resources(name: str, resource: Resource) -> None:
    assert gpu_resource(name) == resource


@pytest.mark.parametrize(
    "name",
    [
        "cpu",
        "memory",
        "gpu",
        "nvidia.com/gpus",
        "nvidia.com/GPU",
        "nvidia.com/mig1g.5gb",
        "rdma/hca_shared_devices_a",
        "vpc.amazonaws.com/pod-eni",
        "intel.com/gpu",
        "",
    ],
)
def test_names_of_no_known_resource(name: str) -> None:
    assert gpu_resource(name) is None


@pytest.mark.parametrize(
    ("name", "legacy"),
    [
        ("alpha.kubernetes.io/nvidia-gpu", True),
        ("gpu", True),
        ("nvidia-gpu", True),
        ("cpu", False),
        ("memory", False),
        ("nvidia.com/gpu", False),
    ],
)
def test_legacy_names(name: str, legacy: bool) -> None:
    assert legacy_resource(name) is legacy


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("nvidia.com/GPU", "nvidia.com/gpu"),
        ("nvida.com/gpu", "nvidia.com/gpu"),
        ("nvidia.com/mig1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("requests.nvidia.com/gpu", "nvidia.com/gpu"),
        ("nvidia/gpu", "nvidia.com/gpu"),
        ("amd-gpu", "amd.com/gpu"),
        ("gpu", "nvidia.com/gpu"),
        ("intel.com/gpu", "gpu.intel.com/i915"),
        ("nvidia.com/gpu", None),
        ("nvidia.com/tesla-t4", None),
        ("example.com/widget", None),
        ("cpu", None),
    ],
)
def test_near_misses(name: str, nearest: str | None) -> None:
    assert nearest_resource(name) == nearest


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("nvidia.com/gpu", True),
        ("gpu", True),
        ("nvidia.com/tesla-t4", True),
        ("example.com/gpu-share", True),
        ("nvidia.com/rdma_shared_device_a", False),
        ("nvidia.com/hostdev", False),
        ("memory", False),
        ("hugepages-2Mi", False),
    ],
)
def test_what_looks_like_a_gpu(name: str, looks: bool) -> None:
    assert looks_like_gpu(name) is looks


@pytest.mark.parametrize(
    ("key", "value", "vendor"),
    [
        ("cloud.google.com/gke-accelerator", "nvidia-l4", "nvidia"),
        ("cloud.google.com/gke-tpu-accelerator", "tpu-v5-lite-podslice", "google"),
        ("nvidia.com/gpu.product", "NVIDIA-A10", "nvidia"),
        ("nvidia.com/gpu.present", "true", "nvidia"),
        ("nvidia.com/gpu.present", None, "nvidia"),
        ("karpenter.k8s.aws/instance-gpu-name", "a10g", "nvidia"),
        ("accelerator", "nvidia", "nvidia"),
        ("kubernetes.azure.com/accelerator", "nvidia", "nvidia"),
        ("node.kubernetes.io/instance-type", "g5.2xlarge", "nvidia"),
        ("node.kubernetes.io/instance-type", "Standard_NC24ads_A100_v4", "nvidia"),
        ("feature.node.kubernetes.io/pci-10de.present", "true", "nvidia"),
        ("amd.com/gpu.device-id", "74a1", "amd"),
        ("gpu", "true", ANY_VENDOR),
        ("example.com/pool", "gpu-large", ANY_VENDOR),
        ("gpu-type", "a100", ANY_VENDOR),
    ],
)
def test_labels_that_pick_gpu_nodes(key: str, value: str | None, vendor: str) -> None:
    assert gpu_label(key, value) == vendor


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("disktype", "ssd"),
        ("gpu", "false"),
        ("nvidia.com/gpu.present", "false"),
        ("nvidia.com/gpu.deploy.driver", "true"),
        ("accelerator", "none"),
        ("node.kubernetes.io/instance-type", "m5.large"),
        ("node.kubernetes.io/instance-type", None),
        ("kubernetes.io/arch", "arm64"),
        ("pool", "cpu"),
        ("pool", "no-gpu"),
    ],
)
def test_labels_that_pick_other_nodes(key: str, value: str | None) -> None:
    assert gpu_label(key, value) == ""


@pytest.mark.parametrize(
    ("key", "value", "vendor"),
    [
        ("nvidia.com/gpu", None, "nvidia"),
        ("nvidia.com/mig-1g.5gb", None, "nvidia"),
        ("amd.com/gpu", None, "amd"),
        ("google.com/tpu", None, "google"),
        ("sku", "gpu", ANY_VENDOR),
        ("gpu-nodes", None, ANY_VENDOR),
        ("sku", "memory", ""),
        ("node-role.kubernetes.io/control-plane", None, ""),
        ("dedicated", None, ""),
    ],
)
def test_taints(key: str, value: str | None, vendor: str) -> None:
    assert gpu_taint(key, value) == vendor


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("nvidia.com/gpu", True),
        ("amd.com/gpu", True),
        ("nvidia.com/mig-1g.5gb", True),
        ("nvidia.com/gpu.shared", False),
        ("nvidia.com/mig-1g.10gb.me", False),
        ("cpu", False),
    ],
)
def test_what_kuberay_counts(name: str, counts: bool) -> None:
    assert ray_counts(name) is counts


@pytest.mark.parametrize(
    ("name", "vendor"), [("gpu.nvidia.com", "nvidia"), ("mig.nvidia.com", "nvidia"), ("gpu.amd.com", "amd"), ("net.example.com", "")]
)
def test_device_classes(name: str, vendor: str) -> None:
    assert device_class(name) == vendor
