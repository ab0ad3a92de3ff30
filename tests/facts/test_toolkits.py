"""What brings the CUDA toolkit, cuDNN and compilers, and how sources are built with them."""

from __future__ import annotations

import pytest

from gpulint.facts.source_builds import build_of_address, build_of_package, option_meanings, read_setup_script
from gpulint.facts.toolkits import Brought, brought, may_hold, parts_by_hand

PACKAGES = {
    ("apt", "cuda-toolkit-12-4", None): Brought(frozenset({"cuda", "nvcc", "cc"}), "12.4", None, recommended=False),
    ("yum", "cuda-libraries-12-4", None): Brought(frozenset({"cuda"}), "12.4", None, recommended=False),
    ("apt", "libcudnn9-cuda-12", None): Brought(frozenset({"cudnn"}), None, "9", recommended=False),
    ("apt", "cudnn9-cuda-12", None): Brought(frozenset({"cudnn"}), None, "9", recommended=False),
    ("conda", "cudatoolkit", "11.8.0"): Brought(frozenset({"cuda"}), "11.8", None, recommended=False),
    ("uv", "nvidia-cudnn-cu12", "9.1.0.70"): Brought(frozenset({"cudnn"}), None, "9", recommended=False),
    ("apt", "build-essential", None): Brought(frozenset({"cc"}), None, None, recommended=False),
    ("apt", "python3-pip", None): Brought(frozenset({"cc"}), None, None, recommended=True),
}


@pytest.mark.parametrize(("package", "parts"), PACKAGES.items(), ids=[name for _, name, _ in PACKAGES])
def test_packages_bring_parts(package: tuple[str, str, str | None], parts: Brought) -> None:
    assert brought(*package) == parts


@pytest.mark.parametrize(
    ("manager", "name"),
    [("apt", "cuda-keyring"), ("apt", "cuda-drivers"), ("apt", "python3-dev"), ("pip", "nvidia-cuda-nvcc-cu12"), ("pip", "gcc")],
)
def test_others_bring_none(manager: str, name: str) -> None:
    assert brought(manager, name, None) is None


def test_a_distribution_has_a_toolkit_of_one_version() -> None:
    found = brought("apt", "nvidia-cuda-toolkit", None, "cuda-12.4.1-runtime-ubuntu22.04")

    assert found is not None
    assert found.cuda == "11.5"


def test_what_comes_by_hand() -> None:
    assert parts_by_hand("cudnn-linux-x86_64-8.9.7.29_cuda11-archive.tar.xz") >= {"cudnn"}
    assert parts_by_hand("cuda_12.4.1_550.54.15_linux.run") == {"cuda", "nvcc"}
    assert parts_by_hand("cuda-keyring_1.1-1_all.deb") == frozenset()
    assert parts_by_hand("nginx") == frozenset()


def test_a_copied_environment_holds_libraries_and_no_compiler() -> None:
    assert may_hold("/srv/venv", "cudnn")
    assert not may_hold("/srv/venv", "cc")
    assert may_hold("/usr", "cc")
    assert not may_hold("/out/app", "cuda")


def test_sources_are_known_by_name_and_address() -> None:
    by_name, by_address = build_of_package("detectron2"), build_of_address("git+https://github.com/facebookresearch/detectron2.git@v0.6")

    assert by_name == by_address
    assert by_name is not None
    assert (by_name.cuda, by_name.forced_by, by_name.architectures) == ("probed", "FORCE_CUDA", "TORCH_CUDA_ARCH_LIST")
    assert build_of_address("https://github.com/acme/detectron2-tools") is None


def test_what_a_setup_script_says() -> None:
    plain = read_setup_script('CUDAExtension("ops", ["ops.cu"])')
    asking = read_setup_script('CUDAExtension("ops", ["ops.cu"]) if torch.cuda.is_available() else CppExtension("ops", [])')
    fixed = read_setup_script('CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": ["-gencode=arch=compute_80,code=sm_80"]})')

    assert (plain.compiles, plain.asks, plain.has_architectures) == (True, False, False)
    assert asking.asks
    assert fixed.has_architectures


def test_how_nvcc_links() -> None:
    assert option_meanings(["-O3", "-lcublas"]) == {"libraries"}
    assert option_meanings(["-cudart=shared"]) == {"shared"}
    assert option_meanings(["--cudart=static", "-lcublas_static"]) == {"static"}
    assert option_meanings(["--version"]) == {"information"}
