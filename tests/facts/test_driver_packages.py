"""What brings the driver or parts of it into an image, and what only sounds like it."""

from __future__ import annotations

import pytest

from gpulint.facts.driver_packages import (
    compat_folder,
    driver_installer,
    driver_library,
    driver_package,
    host_image,
    host_package,
    stub_folder,
)


@pytest.mark.parametrize(
    ("manager", "package", "brings", "instead"),
    [
        ("apt", "nvidia-driver-535", "libcuda", ""),
        ("apt", "nvidia-headless-550-server", "libcuda", ""),
        ("apt", "libnvidia-compute-550", "libcuda", ""),
        ("apt", "libnvidia-compute", "libcuda", ""),
        ("apt", "cuda", "libcuda", "cuda-toolkit"),
        ("apt", "cuda=12.4.1-1", "libcuda", "cuda-toolkit"),
        ("apt", "cuda-12-4", "libcuda", "cuda-toolkit-12-4"),
        ("apt", "cuda-runtime-12-4", "libcuda", "cuda-libraries-12-4"),
        ("apt", "cuda-drivers", "libcuda", ""),
        ("yum", "cuda-drivers-535", "libcuda", ""),
        ("dnf", "nvidia-driver:latest-dkms", "libcuda", ""),
        ("dnf", "cuda-12.4.1-1", "libcuda", "cuda-toolkit"),
        ("pacman", "nvidia-utils", "libcuda", ""),
        ("apt", "nvidia-utils-535", "tools", ""),
        ("apt", "nvidia-utils-535=535.161.07-0ubuntu0.22.04.1", "tools", ""),
        ("apt", "libnvidia-gl-535", "tools", ""),
        ("apt", "nvidia-container-toolkit", "host", ""),
        ("apt", "nvidia-modprobe", "host", ""),
    ],
)
def test_packages_that_belong_to_the_host(manager: str, package: str, brings: str, instead: str) -> None:
    part = driver_package(manager, package)
    assert part and (part.brings, part.instead) == (brings, instead)
    assert part.sourced


@pytest.mark.parametrize(
    ("manager", "package"),
    [
        ("apt", "cuda-toolkit-12-4"),
        ("apt", "cuda-toolkit"),
        ("apt", "cuda-nvcc-12-4"),
        ("apt", "cuda-libraries-dev-12-4"),
        ("apt", "cuda-driver-dev-12-4"),
        ("apt", "cuda-nvml-dev-12-4"),
        ("apt", "cuda-compat-12-4"),
        ("apt", "cuda-keyring"),
        ("apt", "libcudnn9-cuda-12"),
        ("apt", "libnccl2=2.21.5-1+cuda12.4"),
        ("apt", "libgl1"),
        ("apt", "nvtop"),
        ("apt", "curl"),
        ("conda", "cuda"),
        ("conda", "cudatoolkit"),
        ("pip", "nvidia-cuda-runtime-cu12"),
        ("npm", "cuda"),
        ("apt", ""),
    ],
)
def test_packages_that_may_be_installed(manager: str, package: str) -> None:
    assert driver_package(manager, package) is None


def test_what_no_source_tells_is_marked() -> None:
    part = driver_package("apk", "nvidia-driver")
    assert part and not part.sourced


@pytest.mark.parametrize(
    ("path", "brings"),
    [
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda"),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.07", "libcuda"),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so*", "libcuda"),
        ("/usr/bin/nvidia-smi", "tools"),
        ("/usr/lib/libnvidia-encode.so.1", "tools"),
        ("/usr/lib/libnvidia-*.so*", "tools"),
    ],
)
def test_files_that_belong_to_the_host(path: str, brings: str) -> None:
    part = driver_library(path)
    assert part and part.brings == brings


@pytest.mark.parametrize(
    "path",
    [
        "/usr/local/cuda/lib64/stubs/libcuda.so",
        "/usr/local/cuda-12.4/compat/libcuda.so.1",
        "/usr/local/cuda/lib64/libcudart.so.12",
        "libcudnn.so.9",
        "nvidia-smi.txt",
        "",
    ],
)
def test_files_that_do_not(path: str) -> None:
    assert driver_library(path) is None


@pytest.mark.parametrize(
    "command",
    [
        "/tmp/NVIDIA-Linux-x86_64-535.161.07.run -s --no-kernel-module",
        "./nvidia-installer --silent",
        "ubuntu-drivers autoinstall",
        "cuda_12.4.1_550.54.15_linux.run --silent",
        "cuda_12.4.1_550.54.15_linux.run --silent --toolkit --driver",
    ],
)
def test_installers_that_bring_the_driver(command: str) -> None:
    part = driver_installer(command.split())
    assert part and part.brings == "libcuda"


@pytest.mark.parametrize(
    "command",
    [
        "cuda_12.4.1_550.54.15_linux.run --silent --toolkit",
        "cuda_9.0.176_384.81_linux-run -silent -toolkit",
        "cuda_7.5.18_linux.run -silent -extract=/tmp/parts",
        "NVIDIA-Linux-x86_64-535.161.07.run --extract-only",
        "ubuntu-drivers devices",
        "app.run",
        "",
    ],
)
def test_installers_that_do_not(command: str) -> None:
    assert driver_installer(command.split()) is None


def test_images_that_are_hosts_of_containers() -> None:
    assert host_package("docker-ce") and not host_package("curl")
    assert host_image("docker") and host_image("rancher/k3s") and host_image("quay.io/fedora/fedora-bootc")
    assert not host_image("nvidia/cuda")


def test_folders() -> None:
    assert stub_folder("/usr/local/cuda/lib64/stubs/") and stub_folder("/usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs")
    assert stub_folder("${CUDA_HOME}/lib64/stubs") and not stub_folder("/usr/local/cuda/lib64")
    assert compat_folder("/usr/local/cuda/compat") and compat_folder("/usr/local/cuda-12.4/compat")
    assert not compat_folder("/usr/local/cuda/lib64")
