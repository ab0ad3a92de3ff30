"""The flag tables of docker, podman and nerdctl, and which words name their sub-commands."""

from __future__ import annotations

import pytest

from gpulint.facts.docker_cli import appends_words, build_action, flags, gpus_are_ids, names_image, program, sub_command


@pytest.mark.parametrize(
    ("kin", "command", "spelling", "name", "takes_value"),
    [
        ("docker", "run", "-e", "env", True),
        ("docker", "run", "--net", "network", True),
        ("docker", "run", "-t", "tty", False),
        ("docker", "", "-c", "context", True),
        ("docker", "build", "-t", "tag", True),
        ("docker", "build", "--load", "load", False),
        ("docker", "compose", "-f", "file", True),
        ("docker", "compose up", "-d", "detach", False),
        ("podman", "run", "-e", "env", True),
        ("podman", "run", "--tls-verify", "tls-verify", False),
        ("podman", "run", "--systemd", "systemd", True),
        ("podman", "build", "--pull", "pull", False),
        ("podman", "compose", "-f", "file", True),
        ("nerdctl", "", "-n", "namespace", True),
        ("nerdctl", "run", "--gpus", "gpus", True),
    ],
)
def test_flags(kin: str, command: str, spelling: str, name: str, takes_value: bool) -> None:
    assert flags(kin, command)[spelling] == (name, takes_value)


def test_a_spelling_stands_in_one_row_of_its_command() -> None:
    for kin in ("docker", "podman", "nerdctl"):
        switches = {flag.name for flag in flags(kin, "run").values() if not flag.takes_value}
        assert switches.isdisjoint(flag.name for flag in flags(kin, "run").values() if flag.takes_value)


@pytest.mark.parametrize(
    ("name", "arguments", "found"),
    [
        ("docker", ["run", "x"], ("run", 1)),
        ("docker", ["container", "run", "x"], ("run", 2)),
        ("docker", ["buildx", "build", "."], ("build", 2)),
        ("docker", ["container", "ls"], None),
        ("docker", [], None),
        ("docker-compose", ["up"], ("compose", 0)),
        ("podman", ["compose", "up"], ("compose", 1)),
        ("buildah", ["bud", "."], ("build", 1)),
        ("buildah", ["run", "x"], None),
    ],
)
def test_sub_commands(name: str, arguments: list[str], found: tuple[str, int] | None) -> None:
    called = program(name)
    assert called is not None
    assert sub_command(called, arguments) == found


def test_programs_are_known_by_their_path_too() -> None:
    assert program("/usr/bin/docker") == program("docker")
    assert program("dockerd") is None
    wrapper = program("nvidia-docker")
    assert wrapper is not None
    assert wrapper.runtime == "nvidia"


def test_only_podman_takes_ids_alone() -> None:
    assert [gpus_are_ids(kin) for kin in ("docker", "nerdctl", "podman")] == [False, False, True]


@pytest.mark.parametrize(
    ("expansion", "expected"),
    [
        ("$IMAGE", True),
        ("${IMG_NAME}", True),
        ("$dockerImage", True),
        ("${TAG}", True),
        ("$OPTS", False),
        ("$@", False),
        ("$(BUILDIMAGE)", True),
        ("$(IMAGE_ARGS)", False),
    ],
)
def test_variables_called_after_an_image(expansion: str, expected: bool) -> None:
    assert names_image(expansion) == expected


def test_actions_that_build() -> None:
    action = build_action("docker/build-push-action")
    assert action is not None
    assert (action.dockerfile, action.tags) == ("file", "tags")
    assert build_action("actions/checkout") is None
    assert appends_words("xargs")
