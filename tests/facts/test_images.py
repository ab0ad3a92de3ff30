"""What is known of an image by its name and tag, and which words of these say GPU, CPU, or that a tag moves."""

from __future__ import annotations

import pytest

from gpulint.facts.images import (
    Need,
    brought_packages,
    cpu_word,
    glibc,
    gpu_tag_word,
    gpu_word,
    image_facts,
    is_jetson_base,
    is_moving_tag,
    normalised,
    repository_facts,
)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cu124", "cu124"),
        ("1.2.0-cu118", "cu118"),
        ("2.4.1-cuda12.4-cudnn9-runtime", "cuda"),
        ("12.4-cuda", "cuda"),
        ("cuda_12", "cuda"),
        ("latest-gpu-py3", "gpu"),
        ("server-gpus", "gpus"),
        ("app_NVIDIA", "nvidia"),
        ("stable-tensorrt", "tensorrt"),
        ("6.2-rocm", "rocm"),
        ("acme/trainer-cuda", "cuda"),
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", "cuda"),
    ],
)
def test_words_that_say_gpu(text: str, word: str) -> None:
    assert gpu_word(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "",
        "accuracy",
        "cup",
        "cute",
        "icu72",
        "focus12",
        "vgpu-free",
        "gpustack",
        "nvcr.io/nvidia/tritonserver:24.05-py3",
        "nvidia/k8s:1.2",
        "gpu-operator",
        "nvidia-device-plugin",
        "nvidia-driver",
        "gpu-exporter",
        "cuda-client",
        "nogpu",
        "no-gpu",
        "non_gpu",
        "without-cuda",
        "cpu-only",
        "2022-CU",
        "cu2",
        "3.11-slim-bookworm",
    ],
)
def test_look_alikes_of_gpu_words(text: str) -> None:
    assert gpu_word(text) == ""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cpu-1.6", "cpu"),
        ("2.1-cpu", "cpu"),
        ("cpu-only", "cpu"),
        ("cuda-cpu", "cpu"),
        ("nogpu", "nogpu"),
        ("no-gpu", "no-gpu"),
        ("without-cuda", "without-cuda"),
    ],
)
def test_words_that_say_cpu(text: str, word: str) -> None:
    assert cpu_word(text) == word


@pytest.mark.parametrize("text", ["", "cpus2", "tcpu", "vcpunode", "gpu", "1.2.3", "acme-cpu/app"])
def test_look_alikes_of_cpu_words(text: str) -> None:
    assert cpu_word(text) == ""


@pytest.mark.parametrize(
    "tag",
    [
        "latest",
        "nightly",
        "main",
        "stable",
        "edge",
        "dev",
        "gpu",
        "cuda",
        "cuda12-latest",
        "latest-gpu-py3",
        "main-cuda12.4",
        "LATEST",
        "runtime",
        "devel",
        "py3.12-gpu",
        "main-cuda12.4-devel",
        "cpu",
    ],
)
def test_tags_that_move(tag: str) -> None:
    assert is_moving_tag(tag)


@pytest.mark.parametrize(
    "tag",
    [
        "v2",
        "2",
        "1.2.3",
        "12.4.1-runtime",
        "2.4.1-cuda12.4",
        "nightly-20260801",
        "main-1a2b3c4",
        "sha-9f8e7d6",
        "cuda-1.9",
        "base-cu130-devel",
        "rocm6.4-devel",
        "tf18-gpu",
        "gpu-torch2.6",
        "stable-2.1",
        "bookworm",
        "jammy",
        "r35.2.1-pth2.0",
        "",
    ],
)
def test_tags_that_do_not_move(tag: str) -> None:
    assert not is_moving_tag(tag)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docker.io/library/ubuntu", "ubuntu"),
        ("index.docker.io/nvidia/cuda", "nvidia/cuda"),
        ("library/python", "python"),
        ("ghcr.io/library/python", "ghcr.io/library/python"),
        ("pytorch/pytorch", "pytorch/pytorch"),
    ],
)
def test_names_are_normalised(name: str, expected: str) -> None:
    assert normalised(name) == expected


@pytest.mark.parametrize(
    ("repository", "tag", "need", "vendor"),
    [
        ("nvidia/cuda", "12.4.1-base-ubuntu22.04", Need.CERTAIN, "nvidia"),
        ("nvcr.io/nvidia/pytorch", "24.05-py3", Need.CERTAIN, "nvidia"),
        ("nvcr.io/nvidia/pytorch", "24.05-py3-igpu", Need.CERTAIN, "jetson"),
        ("nvcr.io/nvidia/tritonserver", "24.05-py3", Need.LIKELY, "nvidia"),
        ("nvcr.io/nvidia/tritonserver", "24.05-py3-sdk", Need.POSSIBLE, "nvidia"),
        ("pytorch/pytorch", "2.5.1-cuda12.4-cudnn9-runtime", Need.CERTAIN, "nvidia"),
        ("tensorflow/tensorflow", None, Need.NONE, "cpu"),
        ("tensorflow/tensorflow", "2.15.0", Need.NONE, "cpu"),
        ("tensorflow/tensorflow", "2.15.0-gpu-jupyter", Need.CERTAIN, "nvidia"),
        ("tensorflow/serving", "2.14.1-gpu", Need.CERTAIN, "nvidia"),
        ("vllm/vllm-openai", "v0.8.5", Need.CERTAIN, "nvidia"),
        ("vllm/vllm-tpu", "nightly", Need.LIKELY, "google"),
        ("rocm/pytorch", "latest", Need.CERTAIN, "amd"),
        ("ghcr.io/huggingface/text-embeddings-inference", "cpu-1.6", Need.NONE, "cpu"),
        ("ghcr.io/huggingface/text-embeddings-inference", "89-1.6", Need.LIKELY, "nvidia"),
        ("ghcr.io/ggml-org/llama.cpp", "server", Need.NONE, "cpu"),
        ("ghcr.io/ggml-org/llama.cpp", "server-cuda", Need.LIKELY, "nvidia"),
        ("ollama/ollama", "0.5.7", Need.POSSIBLE, "nvidia"),
        ("ollama/ollama", "rocm", Need.LIKELY, "amd"),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training", "2.5-gpu-py311-cu124-ubuntu22.04-ec2", Need.CERTAIN, "nvidia"),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training", "2.5-cpu-py311-ubuntu22.04-ec2", Need.NONE, "cpu"),
        ("python", "3.12-slim", Need.POSSIBLE, ""),
        ("mcr.microsoft.com/mssql/server", "2022-CU12-ubuntu-22.04", Need.NONE, ""),
        ("registry.example.com/team/app", "1.3-cu124", Need.LIKELY, "nvidia"),
        ("registry.example.com/team/app", "1.3-rocm6.2", Need.LIKELY, "amd"),
        ("registry.example.com/team/app", "1.3-gpu-cu124", Need.LIKELY, "nvidia"),
        ("registry.example.com/team/app", "1.3-gpu", Need.LIKELY, ""),
        ("registry.example.com/team/app", "1.3-cpu", Need.NONE, "cpu"),
        ("registry.example.com/team/app-cpu", "1.3", Need.NONE, "cpu"),
        ("registry.example.com/team/app", "1.3", Need.UNKNOWN, ""),
        ("registry.example.com/team/app", None, Need.UNKNOWN, ""),
    ],
)
def test_need_and_vendor(repository: str, tag: str | None, need: Need, vendor: str) -> None:
    facts = image_facts(repository, tag)
    assert (facts.need, facts.vendor) == (need, vendor)


def test_a_mirror_under_the_full_name_is_the_same_image() -> None:
    assert image_facts("harbor.example.com/hub/vllm/vllm-openai", "v0.8.5").need is Need.CERTAIN
    assert image_facts("localhost:5000/nvcr.io/nvidia/pytorch", "24.05-py3").need is Need.CERTAIN


@pytest.mark.parametrize("repository", ["team/vllm/vllm-openai", "registry.example.com/vllm-openai", "registry.example.com/python"])
def test_what_only_ends_like_a_known_name_is_not_known(repository: str) -> None:
    assert not image_facts(repository, "1.0").listed


@pytest.mark.parametrize("account", ["123456789012", "000000000000"])
def test_another_account_of_the_same_registry_is_not_known(account: str) -> None:
    assert not image_facts(f"{account}.dkr.ecr.us-east-1.amazonaws.com/pytorch-training", "2.5").listed


@pytest.mark.parametrize(
    ("repository", "tag", "cuda"),
    [
        ("nvidia/cuda", "12.4.1-base-ubuntu22.04", "12.4.1"),
        ("nvcr.io/nvidia/pytorch", "24.05-py3", "12.4.1"),
        ("nvcr.io/nvidia/pytorch", "23.05-py3", "12.1.1"),
        ("nvcr.io/nvidia/pytorch", "22.04-py3", None),
        ("pytorch/pytorch", "2.5.1-cuda12.4-cudnn9-runtime", "12.4"),
        ("tensorflow/tensorflow", "2.15.0-gpu", "12.2"),
        ("tensorflow/tensorflow", "2.15.0", None),
        ("vllm/vllm-openai", "v0.8.5", "12.4"),
        ("vllm/vllm-openai", "v0.9.9", None),
        ("lmsysorg/sglang", "v0.5.2-cu130", "13.0"),
        ("runpod/pytorch", "0.7.0-dev-cu1241-torch240-ubuntu2204", "12.4"),
        (
            "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-4.ubuntu2204.py311",
            None,
            "12.4",
        ),
        ("mambaorg/micromamba", "1.5.8-jammy-cuda-12.4.1", "12.4.1"),
    ],
)
def test_the_cuda_inside(repository: str, tag: str | None, cuda: str | None) -> None:
    assert image_facts(repository, tag).cuda == cuda


@pytest.mark.parametrize(
    ("repository", "tag", "flavour", "twin"),
    [
        ("nvidia/cuda", "12.4.1-devel-ubuntu22.04", "devel", "12.4.1-runtime-ubuntu22.04"),
        ("nvidia/cuda", "12.4.1-cudnn-devel-ubuntu22.04", "devel", "12.4.1-cudnn-runtime-ubuntu22.04"),
        ("pytorch/pytorch", "2.5.1-cuda12.4-cudnn9-devel", "devel", "2.5.1-cuda12.4-cudnn9-runtime"),
        ("nvidia/cuda", "12.4.1-runtime-ubuntu22.04", "runtime", None),
        ("nvidia/cuda", "12.4.1-base-ubuntu22.04", "base", None),
        ("nvcr.io/nvidia/pytorch", "24.05-py3", "devel-like", None),
        ("vllm/vllm-openai", "v0.8.5", "devel-like", None),
        ("python", "3.12", None, None),
    ],
)
def test_flavour_and_its_smaller_twin(repository: str, tag: str, flavour: str | None, twin: str | None) -> None:
    facts = image_facts(repository, tag)
    assert (facts.flavour, facts.runtime_tag) == (flavour, twin)


@pytest.mark.parametrize(
    ("repository", "tag", "minimal"),
    [
        ("scratch", None, "scratch"),
        ("busybox", "1.36", "busybox"),
        ("alpine", "3.20", "musl"),
        ("python", "3.12-alpine3.20", "musl"),
        ("node", "22-alpine", "musl"),
        ("gcr.io/distroless/python3-debian12", "nonroot", "distroless"),
        ("cgr.dev/chainguard/static", "latest", "distroless"),
        ("rust", "1.80-alpine", "musl"),
        ("python", "3.12-slim", ""),
        ("team/alpinist", "1.0", ""),
    ],
)
def test_minimal_bases(repository: str, tag: str | None, minimal: str) -> None:
    assert image_facts(repository, tag).minimal == minimal


def test_compilers_and_cudnn_inside() -> None:
    devel = image_facts("nvidia/cuda", "12.4.1-cudnn-devel-ubuntu22.04")
    base = image_facts("nvidia/cuda", "12.4.1-base-ubuntu22.04")
    runtime = image_facts("pytorch/pytorch", "2.5.1-cuda12.4-cudnn9-runtime")
    assert (devel.nvcc, devel.c_compiler, devel.cudnn) == (True, True, True)
    assert (base.nvcc, base.c_compiler, base.cudnn) == (False, False, False)
    assert (runtime.nvcc, runtime.c_compiler) == (False, True)
    assert image_facts("python", "3.12").c_compiler is True
    assert image_facts("python", "3.12-slim").c_compiler is False


def test_who_sets_visible_devices() -> None:
    assert image_facts("nvidia/cuda", "12.4.1-base-ubuntu22.04").sets_visible_devices is True
    assert image_facts("python", "3.12").sets_visible_devices is False
    assert image_facts("registry.example.com/team/app", "1.0").sets_visible_devices is None


def test_infrastructure_and_optional_gpus() -> None:
    assert image_facts("nvcr.io/nvidia/k8s/dcgm-exporter", "3.3.5").infrastructure
    assert image_facts("ollama/ollama", "latest").optional_gpu
    assert not image_facts("vllm/vllm-openai", "latest").optional_gpu
    assert image_facts("jellyfin/jellyfin", "10.9").capabilities == ("video",)


def test_a_cpu_word_silences_the_gpu_word_of_a_tag() -> None:
    assert gpu_tag_word("cuda-cpu") == ""
    assert gpu_tag_word("1.0-cuda") == "cuda"


def test_what_holds_for_every_tag() -> None:
    assert repository_facts("vllm/vllm-openai").listed
    assert repository_facts("tensorflow/tensorflow").need is Need.UNKNOWN
    assert repository_facts("nvidia/cuda").need is Need.CERTAIN
    assert repository_facts("nvidia/cuda").cuda is None
    assert repository_facts("team/app") == image_facts("team/app", None)


@pytest.mark.parametrize(
    ("repository", "tag", "version"),
    [
        ("nvidia/cuda", "12.4.1-base-ubuntu22.04", "2.35"),
        ("ubuntu", "18.04", "2.27"),
        ("python", "3.11-slim-bookworm", "2.36"),
        ("centos", "7", "2.17"),
        ("registry.access.redhat.com/ubi8/ubi", "8.9", "2.28"),
        ("amazonlinux", "2", "2.26"),
        ("amazonlinux", "2023", "2.34"),
        ("python", "3.11", None),
        ("python", "3.11-alpine", None),
        ("team/model-8", "1.0", None),
    ],
)
def test_glibc(repository: str, tag: str, version: str | None) -> None:
    assert glibc(repository, tag) == version


@pytest.mark.parametrize(
    ("repository", "tag", "is_one"),
    [
        ("nvcr.io/nvidia/l4t-jetpack", "r36.4.0", True),
        ("mirror.acme.example/nvcr.io/nvidia/l4t-base", "r32.7.1", True),
        ("nvcr.io/nvidia/l4t-cuda", "12.2.12-devel", True),
        ("nvcr.io/nvidia/l4t-jetpack", "r38.2.0", False),
        ("dustynv/l4t-pytorch", "r36.2.0", False),
        ("nvidia/cuda", "12.4.1-base-ubuntu22.04", False),
    ],
)
def test_bases_for_jetson(repository: str, tag: str, is_one: bool) -> None:
    assert is_jetson_base(repository, tag) is is_one


@pytest.mark.parametrize(
    ("repository", "tag", "first"),
    [
        ("pytorch/pytorch", "2.4.1-cuda12.1-cudnn9-runtime", ("torch", "2.4.1")),
        ("pytorch/pytorch", "latest", ("torch", None)),
        ("nvcr.io/nvidia/pytorch", "24.05-py3", ("torch", None)),
        ("vllm/vllm-openai", "v0.9.2", ("vllm", "0.9.2")),
        ("tensorflow/tensorflow", "2.15.0-gpu", ("tensorflow", "2.15.0")),
    ],
)
def test_what_images_bring(repository: str, tag: str, first: tuple[str, str | None]) -> None:
    assert brought_packages(repository, tag)[0] == first
    assert brought_packages("python", "3.11") == ()
