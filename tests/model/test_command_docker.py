"""The docker program itself as the judge: what it would send to its engine for a command, beside what is read of the same command.

An engine's stand-in on the loopback takes the request and starts nothing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from gpus_values import GPUS_VALUES
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.facts.docker_cli import flags
from gpulint.model.command import read_commands
from gpulint.model.container import Container, RequestState
from gpulint.parse.shell import parse
from gpulint.source import Source

pytestmark = pytest.mark.skipif(not shutil.which("docker"), reason="docker is the judge here")

Create = Callable[[list[str]], "dict[str, Any] | None"]


class _Engine(BaseHTTPRequestHandler):
    """Answers what docker asks before it creates a container, and keeps the last request to create one."""

    created: dict[str, Any] | None = None

    def do_HEAD(self) -> None:
        self._answer(b"")

    def do_GET(self) -> None:
        self._answer(b"{}")

    def do_POST(self) -> None:
        _Engine.created = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(b'{"Id": "0", "Warnings": []}', 201)

    def _answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Api-Version", "1.48")
        self.send_header("Ostype", "linux")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def create() -> Iterator[Create]:
    """What `docker create` with these words would have the engine create; None where docker refuses them."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Engine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {"PATH": os.environ["PATH"], "DOCKER_HOST": f"tcp://127.0.0.1:{server.server_port}"}

    def run(arguments: list[str]) -> dict[str, Any] | None:
        _Engine.created = None
        subprocess.run(["docker", "create", *arguments], env=environment, capture_output=True, check=False, timeout=60)
        return _Engine.created

    yield run
    server.shutdown()
    server.server_close()


def read(arguments: list[str]) -> Container:
    source = Source("run.sh", f"docker run {shlex.join(arguments)}\n".encode())
    (container,) = read_commands(parse(source.cut(0, len(source.text)))).containers
    return container


MISREAD = {"0,1", "1,2", "device=", "device=GPU-1a,"}
"""What docker takes without a word and in another sense than it has."""


@pytest.mark.parametrize("value", [row[0] for row in GPUS_VALUES])
def test_requests_are_what_docker_sends(value: str, create: Create) -> None:
    (request,) = read(["--gpus", value, "img"]).requests
    created = create(["--gpus", value, "img"])
    if created is None:
        assert request.state is RequestState.BROKEN
        return
    (sent,) = created["HostConfig"]["DeviceRequests"]
    engine_refuses = sent["Count"] != 0 and bool(sent["DeviceIDs"])
    assert (request.state is RequestState.BROKEN) == (engine_refuses or value in MISREAD)
    if sent["DeviceIDs"] == ["all"]:
        sent = {**sent, "DeviceIDs": None, "Count": -1}
    if request.count is not None:
        assert sent["Count"] == (-1 if str(request.count) == "all" else int(str(request.count)))
    assert [str(each) for each in request.ids] == (sent["DeviceIDs"] or [])
    assert [[*map(str, request.capabilities), "gpu"]] == sent["Capabilities"]


_OPTIONS = st.sampled_from(
    [
        ["-it"],
        ["--rm"],
        ["-e", "A=b c"],
        ["--env=D="],
        ["-eE=f"],
        ["-itv/a:/b"],
        ["-v", "/c:/d:ro"],
        ["--volume=/e:/f"],
        ["--privileged"],
        ["--privileged=false"],
        ["--shm-size", "8g"],
        ["--shm-size=1m"],
        ["--ipc=host"],
        ["--runtime", "nvidia"],
        ["--entrypoint", "x"],
        ["--entrypoint="],
        ["-w", "/g"],
        ["--gpus", "all"],
        ["--gpus=2"],
        ["--device", "/dev/kfd"],
        ["--device=/dev/dri:/dev/dri:rw"],
        ["--device", "nvidia.com/gpu=all"],
        ["--network", "host"],
        ["-p80:80"],
        ["-u", "1000"],
        ["--memory=1g"],
        ["--init=true"],
        ["-h", "name"],
        ["--ulimit", "memlock=-1"],
        ["--cap-add=SYS_ADMIN"],
        ["--security-opt", "seccomp=unconfined"],
    ]
)
_ARGUMENTS = st.lists(st.sampled_from(["bash", "-c", "--gpus", "all", "a b", "-e", "--"]), max_size=4)


@given(st.lists(_OPTIONS, max_size=6, unique_by=tuple), _ARGUMENTS)
@settings(max_examples=60, deadline=None)
def test_containers_are_what_docker_sends(create: Create, options: list[list[str]], arguments: list[str]) -> None:
    words = [word for option in options for word in option]
    created = create([*words, "img:1", *arguments])
    assert created is not None
    container, host = read([*words, "img:1", *arguments]), created["HostConfig"]
    assert container.image is not None
    assert container.image.shown == created["Image"]
    assert list(map(str, container.arguments or ())) == (created["Cmd"] or [])
    assert (list(map(str, container.entrypoint)) or [""] if container.entrypoint is not None else None) == created["Entrypoint"]
    assert sorted(f"{each.name}={each.value}" for each in container.env) == sorted(created["Env"] or [])
    assert (container.privileged is not None) == host["Privileged"]
    binds = sorted(tuple(each.split(":")[:2]) for each in host["Binds"] or ())
    assert sorted((str(each.source), str(each.target)) for each in container.mounts) == binds
    assert {"8g": 8 << 30, "1m": 1 << 20, None: 0}[str(container.shared_memory.size) if container.shared_memory else None] == host[
        "ShmSize"
    ]
    assert str(container.ipc or "") == host["IpcMode"]
    assert str(container.working_directory or "") == created["WorkingDir"]
    sent = [each["DeviceIDs"] or each["Count"] for each in host["DeviceRequests"] or ()]
    kinds = [each.kind.value for each in container.requests]
    assert len(sent) == sum(kind in ("gpus", "cdi") for kind in kinds)
    assert len(host["Devices"]) == kinds.count("raw-device")
    assert (host.get("Runtime", "") == "nvidia") == ("runtime" in kinds)


@pytest.mark.parametrize(("command", "arguments"), [("", []), ("run", ["run"]), ("build", ["build"])])
def test_the_table_has_every_flag_of_the_installed_docker(command: str, arguments: list[str]) -> None:
    help_text = subprocess.run(["docker", *arguments, "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^ {2,6}(?:(-\w), |    )(--[\w-]+)(?: (\w[\w-]*))?(?=\s{2,}|$)", help_text, re.MULTILINE)
    assert listed
    for short, long, value in listed:
        flag = flags("docker", command)[long]
        assert flag.takes_value == bool(value), long
        assert not short or flags("docker", command)[short] == flag
