"""What packages say of the GPU, and what compiles when it runs."""

from __future__ import annotations

import pytest

from gpulint.facts.packages import Compilation, compiles_at_run_time, cuda_switch, package_facts, prebuilds, run_time_compilation


@pytest.mark.parametrize(
    ("name", "extras", "specifier", "implies"),
    [
        ("torch", (), "", "gpu-capable"),
        ("torch", (), "==2.4.1+cpu", "cpu-only"),
        ("torch", (), "==2.4.1+cu121", "nvidia-gpu"),
        ("torch", (), "==2.4.1+rocm6.1", "amd"),
        ("tensorflow", (), "", "gpu-capable"),
        ("tensorflow", ("and-cuda",), "", "nvidia-gpu"),
        ("tensorflow-cpu", (), "", "cpu-only"),
        ("jax", (), "", "cpu-by-default"),
        ("jax", ("cuda12",), "", "nvidia-gpu"),
        ("jax", ("tpu",), "", "cpu-by-default"),
        ("onnxruntime", (), "", "cpu-only"),
        ("onnxruntime-gpu", (), "", "nvidia-gpu"),
        ("nvidia-cublas-cu12", (), "", "nvidia-gpu"),
        ("cudf-cu12", (), "", "nvidia-gpu"),
        ("faiss-cpu", (), "", "cpu-only"),
        ("transformers", (), "", "neutral"),
        ("nvidia-ml-py", (), "", "monitoring"),
    ],
)
def test_what_a_package_implies(name: str, extras: tuple[str, ...], specifier: str, implies: str) -> None:
    facts = package_facts(name, extras, specifier)
    assert facts and facts.implies == implies


@pytest.mark.parametrize("name", ["requests", "torch-like", "nvidia", "cudf", "gpu", ""])
def test_packages_without_a_row(name: str) -> None:
    assert package_facts(name) is None


@pytest.mark.parametrize(
    ("name", "extras", "cuda", "cudnn"),
    [
        ("tensorflow", (), True, True),
        ("tensorflow", ("and-cuda",), False, False),
        ("onnxruntime-gpu", ("cuda",), True, True),
        ("onnxruntime-gpu", ("cuda", "cudnn"), False, False),
        ("cupy-cuda12x", (), True, False),
        ("cupy-cuda12x", ("ctk",), False, False),
        ("torch", (), False, False),
    ],
)
def test_what_a_package_needs_of_the_image(name: str, extras: tuple[str, ...], cuda: bool, cudnn: bool) -> None:
    facts = package_facts(name, extras)
    assert facts and (facts.needs_cuda_libraries, facts.needs_cudnn) == (cuda, cudnn)


def test_packages_that_compile() -> None:
    flash, scatter, vllm = package_facts("flash-attn"), package_facts("torch-scatter"), package_facts("vllm")
    assert flash and scatter and vllm
    assert (flash.built_with_nvcc, flash.own_architectures) == (True, True)
    assert (scatter.built_with_nvcc, scatter.own_architectures) == (True, False)
    assert (vllm.built_with_nvcc, vllm.compiles_at_run_time) == (False, True)


@pytest.mark.parametrize(
    ("word", "c_compiler", "nvcc"),
    [
        ("triton", True, False),
        ("triton.language", True, False),
        ("torch.compile", True, False),
        ("torch.utils.cpp_extension.load", True, True),
        ("deepspeed", True, True),
        ("numba.cuda.jit", False, False),
        ("cupy.RawKernel", False, False),
        ("nvcc", False, True),
        ("vllm", True, False),
    ],
)
def test_what_compiles_at_run_time(word: str, c_compiler: bool, nvcc: bool) -> None:
    assert run_time_compilation(word) == Compilation(c_compiler, nvcc)
    assert compiles_at_run_time(word)


@pytest.mark.parametrize(
    "word",
    ["torch", "torch.compiler", "torch.utils.cpp_extension.CUDAExtension", "numba", "numba.jit", "cupy", "xformers", "re.compile", ""],
)
def test_what_does_not_compile_at_run_time(word: str) -> None:
    assert not compiles_at_run_time(word)


@pytest.mark.parametrize(
    ("word", "on"),
    [
        ("-DGGML_CUDA=on", True),
        ("-DGGML_CUDA=OFF", False),
        ("-DWITH_CUDA:BOOL=ON", True),
        ("WITH_CUDA=0", False),
        ("USE_CUDA=1", True),
        ("-DGGML_CUDA=$USE", None),
        ("-DWITH_OPENMP=ON", None),
        ("CUDA_HOME=/usr/local/cuda", None),
    ],
)
def test_build_switches(word: str, on: bool | None) -> None:
    assert cuda_switch(word) is on


def test_what_compiles_ahead() -> None:
    assert prebuilds("deepspeed", "DS_BUILD_OPS")
    assert not prebuilds("deepspeed", "MAX_JOBS")
    assert not prebuilds("vllm", "DS_BUILD_OPS")
