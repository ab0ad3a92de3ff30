"""Driver capabilities, device nodes, settings of the device plugin, and who reads which variable."""

from __future__ import annotations

import pytest

from gpulint.facts.environment import (
    device_nodes,
    disables_start_check,
    driver_capabilities,
    image_may_set,
    in_every_stage,
    known_capabilities,
    plugin_values,
    read_at,
    speaks_of_gpu,
)


@pytest.mark.parametrize(
    ("value", "granted"),
    [
        (None, {"compute", "utility"}),
        ("", {"compute", "utility"}),
        ("utility", {"utility"}),
        ("video,utility", {"video", "utility"}),
        ("compute, video", {"compute", "video"}),
    ],
)
def test_capabilities(value: str | None, granted: set[str]) -> None:
    assert driver_capabilities(value) == granted


def test_all_capabilities() -> None:
    assert driver_capabilities("all") == known_capabilities()
    assert "graphics" in known_capabilities()


def test_device_nodes() -> None:
    amd = device_nodes("amd")
    assert amd and amd.paths == ("/dev/kfd", "/dev/dri")
    assert device_nodes("nvidia") is None


def test_settings_of_the_device_plugin() -> None:
    assert "mixed" in plugin_values("migStrategy")
    assert plugin_values("resourcePrefix") == ()


@pytest.mark.parametrize(
    ("variable", "when"),
    [
        ("NVIDIA_VISIBLE_DEVICES", "start"),
        ("NVIDIA_REQUIRE_CUDA", "start"),
        ("CUDA_VISIBLE_DEVICES", "process"),
        ("TORCH_CUDA_ARCH_LIST", "build"),
        ("PATH", ""),
    ],
)
def test_when_a_variable_is_read(variable: str, when: str) -> None:
    assert read_at(variable) == when


def test_what_turns_the_start_check_off() -> None:
    assert disables_start_check("NVIDIA_DISABLE_REQUIRE", "true") and disables_start_check("NVIDIA_REQUIRE_CUDA", "")
    assert not disables_start_check("NVIDIA_DISABLE_REQUIRE", "0") and not disables_start_check("NVIDIA_REQUIRE_CUDA", "cuda>=12.4")


def test_variables_that_an_image_may_set() -> None:
    assert image_may_set("nvidia/cuda", "CUDA_VERSION") and image_may_set("mirror.acme.example/nvidia/cuda", "NV_CUDNN_VERSION")
    assert image_may_set("nvidia/cuda", "TORCH_VERSION") is False
    assert image_may_set("acme/base", "CUDA_VERSION") is None


def test_arguments_that_every_stage_has() -> None:
    assert in_every_stage("HTTP_PROXY") and in_every_stage("no_proxy") and not in_every_stage("TARGETARCH")


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("cuda-libraries-${PKG}", True),
        ("TORCH_CUDA_ARCH_LIST=${ARCHS}", True),
        ("torch==$V", True),
        ("whl/cu${CU}", False),
        ("whl/cu124", True),
        ("USE_GPU", True),
        ("--output", False),
        ("torchless", False),
        ("barracuda", False),
    ],
)
def test_what_speaks_of_gpu_software(text: str, speaks: bool) -> None:
    assert speaks_of_gpu(text) is speaks
