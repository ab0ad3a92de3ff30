"""Which release of docker compose takes which form of a GPU request."""

from __future__ import annotations

import pytest

from gpulint.facts.compose_cli import is_older, needs_compose
from gpulint.facts.confinement import engine_of_socket, switched_off


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("1.17.1", "1.28.0", True),
        ("1.28", "1.28.0", False),
        ("v2.29.7", "2.30.0", True),
        ("2", "2.30.0", False),
        ("1.29.2", "1.28.0", False),
    ],
)
def test_releases_are_ordered_by_their_numbers(version: str, than: str, older: bool) -> None:
    assert is_older(version, than) is older


def test_a_file_of_version_2_may_say_runtime_earlier() -> None:
    assert needs_compose("runtime", "2.3") < needs_compose("runtime", "3.8") == needs_compose("runtime", "")


def test_what_opens_a_container_to_its_host() -> None:
    off = switched_off("seccomp:Unconfined")

    assert off is not None and off.name == "seccomp"
    assert switched_off("seccomp=./profile.json") is None
    assert engine_of_socket("/var/run/docker.sock") == "Docker"
    assert engine_of_socket("/run/postgresql") is None
