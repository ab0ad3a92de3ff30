"""What runs on which driver and which GPU."""

from __future__ import annotations

import pytest

from gpulint.facts.drivers import (
    below,
    compiler_range,
    driver_cuda,
    forward_compatible,
    gpu,
    major_floor,
    passes_start_check,
    refuses_older_branches,
    start_check,
    toolkit_driver,
)


@pytest.mark.parametrize(
    ("driver", "minimum", "is_below"),
    [
        ("470.82.01", "525", True),
        ("525", "525", False),
        ("525.60.13", "525", False),
        ("450", "450.80.02", False),
        ("450.51.06", "450.80.02", True),
        ("570.26", "570.124.06", True),
        ("575", "570.124.06", False),
    ],
)
def test_drivers_compare_as_numbers_and_a_branch_is_not_below_its_releases(driver: str, minimum: str, is_below: bool) -> None:
    assert below(driver, minimum) is is_below


@pytest.mark.parametrize(
    ("cuda", "driver"),
    [
        ("12.4", "550.54.14"),
        ("12.4.1", "550.54.15"),
        ("12.8", "570.26"),
        ("11.8.0", "520.61.05"),
        ("13.4.1", "615"),
        ("10.2", "440.33"),
        ("13.5", None),
        ("12.7", None),
        ("99.1", None),
    ],
)
def test_the_driver_of_a_toolkit(cuda: str, driver: str | None) -> None:
    assert toolkit_driver(cuda) == driver


@pytest.mark.parametrize(
    ("cuda", "driver"), [("11.8", "450.80.02"), ("12.4.1", "525"), ("12", "525"), ("13.0", "580"), ("10.2", "440.33"), ("14.0", None)]
)
def test_the_floor_of_a_major(cuda: str, driver: str | None) -> None:
    assert major_floor(cuda) == driver


@pytest.mark.parametrize(
    ("driver", "cuda"), [("535.161.07", "12.2"), ("535", "12.2"), ("540.10", "12.2"), ("580.65.06", "13.0"), ("100", None)]
)
def test_the_cuda_that_a_driver_reports(driver: str, cuda: str | None) -> None:
    assert driver_cuda(driver) == cuda


@pytest.mark.parametrize(
    ("image", "driver", "brand", "passes"),
    [
        ("12.2.2", "525.60.13", "geforce", True),
        ("12.8.1", "535.161.07", "tesla", True),
        ("12.8.1", "535.161.07", "geforce", False),
        ("12.8.1", "525.60.13", "tesla", False),
        ("12.8.1", "575.57.08", "geforce", True),
        ("12.9.1", "470.82.01", "tesla", False),
        ("13.0.0", "560.35.05", "tesla", False),
        ("11.5.0", "450.80.02", "tesla", True),
        ("11.5.0", "450.80.02", "geforce", False),
        ("11.0.3", "418.39", "tesla", True),
        ("99.0.0", "535", "tesla", None),
    ],
)
def test_the_start_check_of_cuda_images(image: str, driver: str, brand: str, passes: bool | None) -> None:
    assert passes_start_check(image, driver, brand) is passes


def test_the_start_check_as_a_whole() -> None:
    check = start_check("12.4.1")
    assert check and check.cuda == "12.4"
    assert check.branches["535"] == ("tesla", "quadro", "geforce")


@pytest.mark.parametrize(
    ("cuda", "driver", "compatible"),
    [
        ("12.4.1", "535.161.07", True),
        ("12.4", "525", False),
        ("13.0", "570", True),
        ("12.2", "525", False),
        ("11.8", "450", True),
        ("11.5", "450", False),
    ],
)
def test_forward_compatibility(cuda: str, driver: str, compatible: bool) -> None:
    assert forward_compatible(cuda, driver) is compatible


@pytest.mark.parametrize(
    ("model", "capability", "first", "oldest", "brand"),
    [
        ("T4", "7.5", "10.0", "10.0", "tesla"),
        ("Tesla T4", "7.5", "10.0", "10.0", "tesla"),
        ("NVIDIA A100-SXM4-80GB", "8.0", "11.0", "11.0", "tesla"),
        ("A10G", "8.6", "11.1", "11.0", "tesla"),
        ("L4", "8.9", "11.8", "11.0", "tesla"),
        ("RTX 4090", "8.9", "11.8", "11.0", "geforce"),
        ("NVIDIA GeForce RTX 3080 Ti", "8.6", "11.1", "11.0", "geforce"),
        ("RTX A6000", "8.6", "11.1", "11.0", "quadro"),
        ("NVIDIA H100 80GB HBM3", "9.0", "11.8", "11.8", "tesla"),
        ("B200", "10.0", "12.8", "12.8", "tesla"),
        ("RTX 5090", "12.0", "12.8", "12.8", "geforce"),
        ("Jetson AGX Orin", "8.7", "11.4", "11.0", "jetson"),
    ],
)
def test_gpu_models(model: str, capability: str, first: str, oldest: str, brand: str) -> None:
    known = gpu(model)
    assert known and (known.capability, known.first_cuda, known.oldest_cuda, known.brand) == (capability, first, oldest, brand)


@pytest.mark.parametrize("model", ["", "GPU", "T400", "RTX", "A1000", "L400", "Radeon"])
def test_gpus_that_are_not_known(model: str) -> None:
    assert gpu(model) is None


def test_compilers_forget_old_gpus() -> None:
    assert compiler_range("7.0") == ("9.0", "12.9")
    assert compiler_range("8.0") == ("11.0", None)
    assert compiler_range("1.0") is None


@pytest.mark.parametrize(
    ("image_cuda", "requirement", "refuses"),
    [
        ("12.4.1", "cuda>=12.4", True),
        ("12.4.1", "cuda>=12.1", True),
        ("12.4.1", "cuda>=12.0", False),
        ("12.4.1", "cuda>=12.4 brand=tesla,driver>=535,driver<536", False),
        ("12.4.1", "cuda>=12.4 cuda>=11.8", False),
        ("12.4.1", "arch>=7.0", False),
        ("9.2", "cuda>=9.2", False),
        ("99.9", "cuda>=99.9", False),
    ],
)
def test_start_checks_that_refuse_what_the_image_admits(image_cuda: str, requirement: str, refuses: bool) -> None:
    assert refuses_older_branches(image_cuda, requirement) is refuses
