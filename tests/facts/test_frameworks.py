"""Which build an install brings, which CUDA it needs of the image, and where its wheels run."""

from __future__ import annotations

import pytest

from gpulint.facts.frameworks import (
    Build,
    SystemCuda,
    computes_by_itself,
    conda_build_meaning,
    conda_meaning,
    cpu_build,
    family,
    has_cuda_builds,
    has_source,
    index_variant,
    is_conda_override,
    is_known_index,
    jax_build,
    newest,
    system_cuda,
    torch_architectures,
    torch_build,
    torch_companion,
    torch_indexes,
    torch_requirement,
    wheel_glibc,
)

PYTORCH = "https://download.pytorch.org/whl"


@pytest.mark.parametrize(
    ("version", "index", "platform", "build"),
    [
        ("2.4.1", None, "linux/amd64", Build("cuda", "12.1", "9.1.0.70")),
        ("2.4.1", "https://pypi.org/simple", "linux/amd64", Build("cuda", "12.1", "9.1.0.70")),
        ("2.11.0", None, "linux/amd64", Build("cuda", "13.0", "9.19.0.56")),
        ("2.10.0", None, "linux/arm64", Build("cpu")),
        ("2.11.0", None, "linux/arm64", Build("cuda", "13.0", "9.19.0.56")),
        ("2.4.1", f"{PYTORCH}/cpu", "linux/amd64", Build("cpu")),
        ("2.4.1", f"{PYTORCH}/cu118", "linux/amd64", Build("cuda", "11.8")),
        (None, f"{PYTORCH}/nightly/cu130", "linux/amd64", Build("cuda", "13.0")),
        ("2.4.1", f"{PYTORCH}/rocm6.1", "linux/amd64", Build("rocm")),
        ("2.4.1+cpu", None, "linux/amd64", Build("cpu")),
        ("2.4.1+cu121", f"{PYTORCH}/torch_stable.html", "linux/amd64", Build("cuda", "12.1")),
        ("1.12.1", None, "linux/amd64", Build("cuda", "10.2")),
        ("2.3.0", None, "linux/amd64", Build("cuda", "12.1", "8.9.2.26")),
        ("2.4.1", "https://pypi.example.com/simple", "linux/amd64", Build("")),
        ("2.4.1", f"{PYTORCH}", "linux/amd64", Build("")),
        ("99.0", None, "linux/amd64", Build("")),
        ("nonsense", None, "linux/amd64", Build("")),
    ],
)
def test_builds_of_torch(version: str | None, index: str | None, platform: str, build: Build) -> None:
    assert torch_build(version, index, platform) == build


def test_an_unpinned_torch_is_the_newest() -> None:
    assert torch_build(None) == torch_build(newest("torch"))


@pytest.mark.parametrize(
    ("index", "variant"),
    [
        (f"{PYTORCH}/cu124", "cu124"),
        (f"{PYTORCH}/cu124/", "cu124"),
        (f"{PYTORCH}/test/cpu", "cpu"),
        (f"{PYTORCH}", ""),
        ("https://abetlen.github.io/llama-cpp-python/whl/cu124", "cu124"),
        ("https://pypi.org/simple", ""),
        ("https://example.com/whl/cpu", ""),
    ],
)
def test_what_an_index_names(index: str, variant: str) -> None:
    assert index_variant(index) == variant


@pytest.mark.parametrize(
    ("package", "version", "extras", "needed"),
    [
        ("tensorflow", "2.15.0", (), SystemCuda("12.2", "8.9")),
        ("tensorflow", "2.15.0.post1", (), SystemCuda("12.2", "8.9")),
        ("tensorflow", "2.15.0", ("and-cuda",), None),
        ("tensorflow", "2.10.1", ("and-cuda",), SystemCuda("11.2", "8.1")),
        ("tensorflow", None, (), SystemCuda("12.5", "9.3")),
        ("tensorflow", "1.13.1", (), None),
        ("tensorflow-gpu", "1.13.1", (), SystemCuda("10.0", "7.4")),
        ("onnxruntime-gpu", "1.18.1", (), SystemCuda("11.8", "8")),
        ("onnxruntime-gpu", "1.20.1", (), SystemCuda("12.0", "9")),
        ("onnxruntime-gpu", "1.27.0", (), SystemCuda("13.0", "9")),
        ("onnxruntime-gpu", "1.22.0", ("cuda", "cudnn"), None),
        ("jax", "0.4.34", ("cuda12_local",), SystemCuda("12.1", "9.8")),
        ("jax", "0.4.34", ("cuda12",), None),
        ("cupy-cuda11x", None, (), SystemCuda("11.0", None)),
        ("ctranslate2", "4.4.0", (), SystemCuda("12.0", "8")),
        ("ctranslate2", "4.5.0", (), SystemCuda("12.0", "9")),
        ("torch", "2.4.1", (), None),
        ("requests", None, (), None),
    ],
)
def test_the_cuda_a_package_takes_from_the_image(
    package: str, version: str | None, extras: tuple[str, ...], needed: SystemCuda | None
) -> None:
    assert system_cuda(package, version, extras) == needed


@pytest.mark.parametrize(
    ("package", "version", "glibc"),
    [
        ("torch", "2.7.0", "2.28"),
        ("torch", "2.6.0", None),
        ("torch", "2.10.0+cu128", "2.28"),
        ("vllm", "0.12.0", "2.31"),
        ("vllm", "0.8.5", None),
        ("requests", "2.0", None),
    ],
)
def test_the_glibc_of_wheels(package: str, version: str, glibc: str | None) -> None:
    assert wheel_glibc(package, version) == glibc


@pytest.mark.parametrize(
    ("package", "version", "specifier"),
    [
        ("vllm", "0.8.5", "==2.6.0"),
        ("vllm", None, "==2.14.0"),
        ("vllm", "0.1", None),
        ("xformers", None, ">=2.10"),
        ("accelerate", "1.15.0", ">=2.0.0"),
        ("timm", None, ""),
        ("requests", None, None),
    ],
)
def test_what_packages_ask_of_torch(package: str, version: str | None, specifier: str | None) -> None:
    assert torch_requirement(package, version) == specifier


def test_torch_and_its_family() -> None:
    assert torch_companion("torchvision", "2.4.1") == "0.19"
    assert torch_companion("torchaudio", "2.4.1") == "2.4"
    assert torch_companion("torchvision", "0.1") is None
    assert "cu124" in torch_indexes("2.5.1")
    assert torch_indexes("2.15.0") == ()


def test_architectures_in_wheels() -> None:
    assert "12.0+PTX" in torch_architectures("2.13.0", "13.0")
    assert "7.0" not in torch_architectures("2.13.0", "13.0")
    assert torch_architectures("2.13.0", "11.8") == ()


@pytest.mark.parametrize(
    ("extras", "build"),
    [
        ((), "cpu"),
        (("cuda12",), "cuda12"),
        (("cuda",), "cuda12"),
        (("cuda13-local",), "cuda13"),
        (("tpu",), "tpu"),
        (("minimum-jaxlib",), "cpu"),
    ],
)
def test_builds_of_jax(extras: tuple[str, ...], build: str) -> None:
    assert jax_build(extras) == build


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("cpuonly", "cpu"), ("pytorch-cuda", "cuda"), ("cudatoolkit", "cuda"), ("pytorch-gpu", "cuda"), ("pytorch", "solver"), ("numpy", "")],
)
def test_conda_packages(name: str, meaning: str) -> None:
    assert conda_meaning(name) == meaning


@pytest.mark.parametrize(
    ("package", "version", "instead"),
    [
        ("tensorflow-cpu", None, "tensorflow[and-cuda]"),
        ("tensorflow", "1.14.0", "tensorflow-gpu of that version, or a release from 2.14 on with the extra and-cuda"),
        ("tensorflow", "1.15.5", None),
        ("tensorflow", "2.0.4", "tensorflow-gpu of that version, or a release from 2.14 on with the extra and-cuda"),
        ("tensorflow", "2.1.0", None),
        ("tensorflow", None, None),
        ("onnxruntime", "1.20.1", "onnxruntime-gpu, and not both"),
        ("onnxruntime-gpu", "1.20.1", None),
    ],
)
def test_packages_without_gpu_code(package: str, version: str | None, instead: str | None) -> None:
    found = cpu_build(package, version)
    assert (found.instead if found else None) == instead


@pytest.mark.parametrize(
    ("specifier", "meaning"),
    [("=2.4.1=cuda120*", "cuda"), ("=*=*cpu*", "cpu"), ("==2.4.1=py3.11_cpu_0", "cpu"), ("=2.4.1=py311_0", ""), (">=2.4", ""), ("", "")],
)
def test_build_strings_of_conda(specifier: str, meaning: str) -> None:
    assert conda_build_meaning(specifier) == meaning


def test_channels_and_variables_of_conda() -> None:
    assert has_cuda_builds("pytorch") and has_cuda_builds("https://conda.anaconda.org/nvidia") and not has_cuda_builds("conda-forge")
    assert is_conda_override("CONDA_OVERRIDE_CUDA") and not is_conda_override("CUDA_VERSION")


def test_what_computes_by_itself() -> None:
    assert [family(name) for name in ("torchvision", "pytorch", "tensorflow-cpu", "jaxlib", "numpy")] == [
        "torch",
        "torch",
        "tensorflow",
        "jax",
        "numpy",
    ]
    packages = ("cupy-cuda12x", "onnxruntime-gpu", "nvidia-dali-cuda120", "flash-attn", "nvidia-cudnn-cu12", "cuda-toolkit", "xformers")
    assert [name for name in packages if computes_by_itself(name)] == ["cupy-cuda12x", "onnxruntime-gpu", "nvidia-dali-cuda120"]


def test_known_indexes() -> None:
    assert is_known_index("https://pypi.org/simple") and is_known_index(f"{PYTORCH}/cu124")
    assert not is_known_index("https://pypi.acme.example/simple")


def test_what_can_be_built_from_source() -> None:
    assert has_source("xgboost", "3.2.0") and has_source("numpy", "2.0.0") and has_source("torch", "2.6.0")
    assert not has_source("torch", "2.7.1")
    assert not has_source("torch", "2.7")
