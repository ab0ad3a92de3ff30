"""Quadlets and services of systemd as the containers that they start."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.model.container import Container, Dialect, RequestState
from gpulint.parse.unit import LONGEST, parse_unit
from gpulint.source import Source, as_written


def read(tmp_path: Path, name: str, text: str) -> tuple[Container, ...]:
    containers: tuple[Container, ...] = project(tmp_path, {name: f"{text}\n# gpu, docker\n"}).containers
    return containers


def test_settings_with_their_places() -> None:
    source = Source("a.container", b"# top\n[Container]\nImage = acme/a:1 \r\nExec=one \\\n; aside\n  two\nnothing\n[Service]\nA=\n")
    settings = parse_unit(source)
    assert [(each.section, str(each.key), str(each.value)) for each in settings] == [
        ("Container", "Image", "acme/a:1"),
        ("Container", "Exec", "one    two"),
        ("Service", "A", ""),
    ]
    assert [str(each.value.location) for each in settings[:2]] == ["a.container:3:9", "a.container:4:6"]
    command = settings[1].value
    assert str(command.cut(command.index("two"), len(command)).location) == "a.container:6:3"


def test_what_is_no_unit() -> None:
    assert parse_unit(Source("a.service", b"\\\n\\")) == ()
    assert parse_unit(Source("a.service", b"[Service]\n" + b"A=b\n" * LONGEST)) == ()


def test_a_quadlet_with_everything(tmp_path: Path) -> None:
    text = (
        "[Container]\nContainerName=train\nImage=docker.io/acme/train:2.1.0\nEntrypoint=/bin/tini\n"
        "Exec=python 'train me.py' --home %h\nEnvironment=A=1 \"B=two words\"\nEnvironment=C=3\nEnvironmentFile=/etc/train.env\n"
        "AddDevice=/dev/fuse\nAddDevice=-nvidia.com/gpu=0\nVolume=/data:/in:ro\nMount=type=tmpfs,destination=/dev/shm\nShmSize=8g\n"
        "SecurityLabelDisable=true\nSecurityLabelType=spc_t\nUser=1000\nGroupAdd=video\nWorkingDir=/srv\nEnvironmentHost=no\n"
        "PodmanArgs=--privileged --pid host\n"
    )
    (container,) = read(tmp_path, "train.container", text)
    assert (container.dialect, str(container.location), container.open) == (Dialect.QUADLET, "train.container:3:1", {"env"})
    assert container.image is not None and container.image.shown == "docker.io/acme/train:2.1.0"
    assert [as_written(word) for word in (*(container.entrypoint or ()), *(container.arguments or ()))] == [
        *("/bin/tini", "python", "train me.py", "--home", "%h"),
    ]
    assert [(str(each.name), str(each.value)) for each in container.env] == [("A", "1"), ("B", "two words"), ("C", "3")]
    assert [str(each.source) for each in container.devices] == ["/dev/fuse", "nvidia.com/gpu=0"]
    assert [(each.state, [str(name) for name in each.ids]) for each in container.requests] == [(RequestState.OPTIONAL, ["0"])]
    assert [str(each.source) for each in container.mounts if each.source] == ["/data"] and container.shared_memory is not None
    assert [str(each) for each in container.security_options] == ["label=disable", "label=type:spc_t"]
    assert (container.user, [str(each) for each in container.groups], container.working_directory) == ("1000", ["video"], "/srv")
    assert (container.name, container.privileged, container.pid) == ("train", "--privileged", "host")


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("Image=acme/a:1", frozenset()),
        ("Image=a.image", {"image"}),
        ("Image=acme/%i:1", {"image"}),
        ("Image=acme/a:1\nEnvironmentHost=true", {"env"}),
        ("Image=acme/a:1\nContainersConfModule=nvidia.conf", {"gpu"}),
    ],
)
def test_what_is_not_known_stays_open(text: str, opened: frozenset[str], tmp_path: Path) -> None:
    (container,) = read(tmp_path, "a.container", f"[Container]\n{text}")
    assert container.open == opened


def test_what_is_no_quadlet(tmp_path: Path) -> None:
    assert read(tmp_path, "a.container", "[Container]\nExec=nvidia-smi") == ()
    assert read(tmp_path, "a.service", "[Container]\nImage=acme/a:1") == ()


def test_the_commands_of_a_service(tmp_path: Path) -> None:
    text = (
        "[Service]\nExecStartPre=-/usr/bin/docker pull acme/a:1\nExecStart=@!/usr/bin/docker run --gpus '\"device=0,1\"' \\\n"
        "  -e HOME=%h acme/a:1 serve\nExecStart=\nExecStop=/usr/bin/docker run acme/b:1\n"
    )
    (container,) = read(tmp_path, "a@.service", text)
    assert str(container.location) == "a@.service:3:13" and [str(each) for each in container.arguments or ()] == ["serve"]
    assert [(str(each.location), [str(name) for name in each.ids]) for each in container.requests] == [("a@.service:3:33", ["0", "1"])]
    assert [as_written(each.value) for each in container.env if each.value is not None] == ["%h"]
