"""Tags of nvidia/cuda: which are provably missing and what comes nearest, and which are left alone."""

from __future__ import annotations

import pytest

from gpulint.facts import table
from gpulint.facts.cuda_tags import (
    cuda_repository,
    cudnn_major,
    cures_key,
    library_path,
    revoked_key,
    signing_key,
    tag_state,
    updates_lists,
)


@pytest.mark.parametrize(
    ("tag", "nearest"),
    [
        ("11.0-base-ubuntu20.04", "11.0.3-base-ubuntu20.04"),
        ("10.2-cudnn7-devel-ubuntu18.04", "11.8.0-cudnn8-devel-ubuntu18.04"),
        ("9.0-base-ubuntu16.04", "11.8.0-base-ubuntu18.04"),
        ("10.2-base", "11.8.0-base-ubuntu22.04"),
        ("10.2-cudnn7.6.5-devel-ubuntu18.04", "11.8.0-cudnn8-devel-ubuntu18.04"),
        ("11.2-cudnn8.1-ubuntu18.04", "11.2.2-cudnn8-base-ubuntu18.04"),
        ("12.4", "12.4.1-base-ubuntu22.04"),
        ("12.4-runtime-ubuntu22.04", "12.4.1-runtime-ubuntu22.04"),
        ("12.0-base-ubuntu20.04", "12.0.1-base-ubuntu20.04"),
        ("11-base", "11.8.0-base-ubuntu22.04"),
        ("12.4.0-cudnn-runtime-ubuntu22.04", "12.4.1-cudnn-runtime-ubuntu22.04"),
        ("12.4.1-cudnn8-devel-ubuntu22.04", "12.4.1-cudnn-devel-ubuntu22.04"),
        ("12.4.1-cudnn9-devel-ubuntu22.04", "12.4.1-cudnn-devel-ubuntu22.04"),
        ("12.3.2-cudnn8-devel-ubuntu22.04", "12.3.2-cudnn9-devel-ubuntu22.04"),
        ("12.2.2-cudnn-devel-ubuntu22.04", "12.2.2-cudnn8-devel-ubuntu22.04"),
        ("12.2.0-cudnn8-devel-ubuntu22.04", "12.2.2-cudnn8-devel-ubuntu22.04"),
        ("12.5.1-cudnn-devel-ubuntu24.04", "12.5.1-cudnn-devel-ubuntu22.04"),
        ("11.6.2-base-ubuntu22.04", "11.6.2-base-ubuntu20.04"),
        ("12.4.1-base-ubuntu24.04", "12.4.1-base-ubuntu22.04"),
        ("12.2.2-base-ubuntu18.04", "12.2.2-base-ubuntu20.04"),
        ("12.4.1-devel-debian12", "12.4.1-devel-ubuntu22.04"),
        ("12.1.1-base-centos8", "12.1.1-base-rockylinux8"),
        ("12.7.1-base-ubuntu22.04", "12.6.3-base-ubuntu22.04"),
        ("11.4.2-devel-ubuntu20.04", "11.4.3-devel-ubuntu20.04"),
        ("11.2.0-cudnn8-runtime-ubuntu20.04", "11.2.2-cudnn8-runtime-ubuntu20.04"),
        ("11.8.1-base-ubuntu22.04", "11.8.0-base-ubuntu22.04"),
        ("12.2.0-base", "12.2.2-base-ubuntu22.04"),
    ],
)
def test_missing_tags_and_the_nearest_that_exists(tag: str, nearest: str) -> None:
    state = tag_state(tag)
    assert state.verdict == "missing"
    assert state.reason and not state.reason.endswith(".")
    assert state.nearest == nearest


@pytest.mark.parametrize("tag", [None, "latest"])
def test_there_is_no_latest_tag(tag: str | None) -> None:
    state = tag_state(tag)
    assert state.verdict == "missing"
    assert state.nearest and tag_state(state.nearest).verdict == "exists"


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ("10.2-base", "NVIDIA deleted the images of CUDA 10 and older"),
        ("12.4.1-cudnn8-devel-ubuntu22.04", "the cuDNN images of CUDA 12.4.1 are called cudnn, not cudnn8"),
        ("12.4.0-cudnn-devel-ubuntu22.04", "CUDA 12.4.0 has no cuDNN images"),
        ("11.6.2-base-ubuntu22.04", "CUDA 11.6.2 was not published for ubuntu22.04"),
        ("11.4.2-devel-ubuntu20.04", "NVIDIA deleted the images of CUDA 11.4.2"),
        ("12.10.0-base-ubuntu24.04", "no image of CUDA 12.10.0 was published"),
    ],
)
def test_reasons(tag: str, reason: str) -> None:
    assert tag_state(tag).reason == reason


@pytest.mark.parametrize(
    "tag",
    [
        "11.8.0-cudnn8-devel-ubuntu22.04",
        "12.3.2-cudnn9-devel-ubuntu22.04",
        "12.4.1-base-ubuntu22.04",
        "12.6.3-runtime-rockylinux9",
        "13.0.3-base-ubuntu24.04",
    ],
)
def test_tags_that_exist(tag: str) -> None:
    assert tag_state(tag) == ("exists", "", None)


@pytest.mark.parametrize(
    "tag",
    [
        "13.4.1-base-ubuntu24.04",
        "13.6-base-ubuntu24.04",
        "14.0.0-base-ubuntu26.04",
        "12.8.2-base-ubuntu24.04",
        "13.0.3-base-ubi9",
        "13.3.0-base-ubuntu26.04",
        "13.0.0-tensorrt-devel-ubuntu24.04",
        "11.8.0-base",
        "12.4.1-base-ubuntu22.04-custom",
        "my-own-tag",
        "",
        "12foo",
        "9" * 5000,
    ],
)
def test_what_the_facts_do_not_tell_is_left_alone(tag: str) -> None:
    assert tag_state(tag).verdict == "unknown"


@pytest.mark.parametrize(
    ("tag", "verdict", "nearest"),
    [
        ("12.4.0-base-ubuntu22.04", "superseded", "12.4.1-base-ubuntu22.04"),
        ("12.9.1-devel-ubuntu24.04", "superseded", "12.9.2-devel-ubuntu24.04"),
        ("11.3.1-base-ubuntu20.04", "unsupported", None),
    ],
)
def test_tags_that_exist_and_yet_should_go(tag: str, verdict: str, nearest: str | None) -> None:
    state = tag_state(tag)
    assert (state.verdict, state.nearest) == (verdict, nearest)
    assert state.reason


def test_each_published_tag_is_taken_to_exist_and_each_nearest_does() -> None:
    for row in table("cuda_tags")["published"]:
        for system in row["os"]:
            for flavour in ("base", "runtime", "devel"):
                state = tag_state(f"{row['cuda']}-{flavour}-{system}")
                assert state.verdict in ("exists", "superseded", "unsupported"), (row["cuda"], system)
                if state.nearest:
                    assert tag_state(state.nearest).verdict in ("exists", "unsupported"), state.nearest


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("nvidia/cuda", True),
        ("nvcr.io/nvidia/cuda", True),
        ("registry.example.com/nvidia/cuda", False),
        ("nvidia/cudagl", False),
        ("cuda", False),
    ],
)
def test_only_nvidias_own_repositories_are_judged(repository: str, expected: bool) -> None:
    assert cuda_repository(repository) is expected


@pytest.mark.parametrize(
    ("repository", "tag", "key"),
    [
        ("nvidia/cuda", "10.2-devel-ubuntu18.04", "old"),
        ("nvidia/cuda", "11.3.0-cudnn8-devel-ubuntu18.04", "old"),
        ("nvidia/cuda", "11.1.1-cudnn8-devel-ubuntu18.04", "maybe"),
        ("nvidia/cuda", "11.7.1-devel-ubuntu22.04", "new"),
        ("nvidia/cuda", "11.1.1-devel-centos7", "new"),
        ("pytorch/pytorch", "1.10.0-cuda11.3-cudnn8-devel", "old"),
        ("pytorch/pytorch", "1.10.0-cuda11.3-cudnn8-runtime", "new"),
        ("pytorch/pytorch", "2.1.0-cuda12.1-cudnn8-devel", "new"),
        ("tensorflow/tensorflow", "2.6.1-gpu", "old"),
        ("tensorflow/tensorflow", "2.6.1", "new"),
        ("tensorflow/tensorflow", "2.8.4-gpu", "new"),
        ("tensorflow/tensorflow", "1.15.2-gpu-py3", "old"),
        ("mirror.acme.example/nvidia/cuda", "10.2-devel-ubuntu18.04", "old"),
        ("nvcr.io/nvidia/pytorch", "22.02-py3", "new"),
    ],
)
def test_which_images_trust_the_old_signing_key(repository: str, tag: str, key: str) -> None:
    assert signing_key(repository, tag) == key


def test_the_revoked_key_is_known_by_its_name() -> None:
    assert revoked_key("https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64/7fa2af80.pub")
    assert not revoked_key("https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64/3bf863cc.pub")


def test_the_machine_learning_repository_keeps_the_key() -> None:
    assert not revoked_key("https://developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1804/x86_64/7fa2af80.pub")


@pytest.mark.parametrize(
    ("command", "cures"),
    [
        ("dpkg -i /tmp/cuda-keyring_1.1-1_all.deb", True),
        ("apt-key adv --keyserver keyserver.ubuntu.com --recv-keys A4B469963BF863CC", True),
        ("rm -f /etc/apt/sources.list.d/cuda.list", True),
        ("sudo sed -i s/^deb/#deb/ /etc/apt/sources.list.d/cuda.list", True),
        ("apt-get update --allow-insecure-repositories", True),
        ("apt-get -o Acquire::AllowInsecureRepositories=true update", True),
        ("cat /etc/apt/sources.list.d/cuda.list", False),
        ("apt-get update", False),
        ("apt-key del 7fa2af80", False),
    ],
)
def test_what_makes_apt_accept_or_leave_out_the_repositories(command: str, cures: bool) -> None:
    assert cures_key(command.split()) is cures


def test_what_reads_the_lists_anew() -> None:
    assert updates_lists(["sudo", "apt-get", "-qq", "update"]) and not updates_lists(["apt-get", "install", "-y", "git"])


def test_the_library_path_of_a_base() -> None:
    old = library_path("nvidia/cuda", "12.4.1-base-ubuntu22.04")
    new = library_path("nvidia/cuda", "12.9.1-base-ubuntu22.04")
    assert old and new
    assert old.folders == ("/usr/local/nvidia/lib", "/usr/local/nvidia/lib64")
    assert (old.needed, new.needed) == ((), ("/usr/local/cuda/lib64",))
    assert library_path("python", "3.12") is None


@pytest.mark.parametrize(
    ("tag", "major"),
    [
        ("12.4.1-cudnn-devel-ubuntu22.04", "9"),
        ("12.2.2-cudnn8-devel-ubuntu22.04", "8"),
        ("12.3.2-cudnn9-devel-ubuntu22.04", "9"),
        ("12.4.1-devel-ubuntu22.04", ""),
        ("latest", None),
    ],
)
def test_the_cudnn_of_a_tag(tag: str, major: str | None) -> None:
    assert cudnn_major(tag) == major
