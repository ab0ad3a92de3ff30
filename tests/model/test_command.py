"""Commands by hand: what `docker run`, `docker build` and `docker compose` lines say, and what stays open."""

from __future__ import annotations

import pytest
from gpus_values import GPUS_VALUES
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.model.command import CommandLines, ImageBuild, RunCommand, read_commands
from gpulint.model.container import Container, GpuRequest, RequestKind, RequestState
from gpulint.model.script import read_script
from gpulint.parse.shell import UnknownWord
from gpulint.source import Source, Unknown, Value


def read(text: str) -> CommandLines:
    source = Source("run.sh", text.encode())
    return read_commands(read_script(source.cut(0, len(source.text)), {}))


def container(text: str) -> Container:
    (found,) = read(text).containers
    return found


def shown(value: Value | None) -> str | None:
    if isinstance(value, Unknown):
        return ("??" if isinstance(value, UnknownWord) and value.many else "?") + value.raw
    return None if value is None else str(value)


def all_shown(values: tuple[Value, ...] | None) -> list[str | None] | None:
    return None if values is None else [shown(value) for value in values]


def image(found: Container) -> str | None:
    """The image as it is written, with a question mark where its name is not known."""
    if found.image is None:
        return None
    return f"?{found.image.name.raw}" if isinstance(found.image.name, Unknown) else found.image.shown


def request(text: str) -> GpuRequest:
    (found,) = container(text).requests
    return found


@pytest.mark.parametrize(("value", "state", "count", "ids", "capabilities"), GPUS_VALUES)
def test_the_value_of_gpus(value: str, state: str, count: str | None, ids: list[str], capabilities: list[str]) -> None:
    quoted = "'" + value.replace("'", "'\\''") + "'"
    found = request(f"docker run --gpus={quoted} img")
    assert found.kind is RequestKind.GPUS
    assert (found.state.value, shown(found.count)) == (state, count)
    assert (all_shown(found.ids), all_shown(found.capabilities)) == (ids, capabilities)
    assert bool(found.faults) == (state == "broken")


def test_a_flag_that_is_given_twice_asks_twice() -> None:
    (container,) = read("docker run --gpus all --gpus 1 img").containers
    assert [(each.state, shown(each.count)) for each in container.requests] == [(RequestState.ASKED, "all"), (RequestState.ASKED, "1")]


@pytest.mark.parametrize(
    ("written", "state"),
    [
        ("--gpus '\"device=0,1\"'", RequestState.ASKED),
        (r"--gpus \"device=0,1\"", RequestState.ASKED),
        (r'--gpus "\"device=0,1\""', RequestState.ASKED),
        ('--gpus "device=0,1"', RequestState.BROKEN),
        ("--gpus=all", RequestState.ASKED),
        ("--gpus $N", RequestState.ASKED),
        ("N=0; docker run --gpus $N", RequestState.ZERO),
        ("docker run --gpus ${N:-0}", RequestState.ZERO),
    ],
)
def test_quotes_that_reach_docker_decide(written: str, state: RequestState) -> None:
    command = written if "docker" in written else f"docker run {written}"
    assert request(f"{command} img").state is state


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("docker run --gpus device=0,1 i", "the comma ends `device=0`, `1` becomes a count, and a request has either devices or a count"),
        ("docker run --gpus 1,2 i", "`1,2` picks no cards: docker takes bare numbers for counts, and the last one, 2, is what it uses"),
        ("docker run --gpus device= i", "`device=` names no device"),
        ("docker run --gpus gpu=0 i", "`gpu` is no key of the flag"),
        ("docker run --gpus true i", "`true` is neither `all` nor a whole number"),
        (
            "docker run --gpus all,capabilities=compute,utility i",
            "the comma ends `capabilities=compute`, and `utility` is neither `all` nor a whole number",
        ),
        ("docker run --gpus", "`--gpus` has no value"),
        ("docker run --gpu all i", "there is no flag `--gpu`"),
        ("docker run --gpu=all i", "there is no flag `--gpu`"),
        ("docker run -gpus all i", "there is no flag `-gpus`"),
        ("podman run --gpus device=0 i", "`device=0` is neither `all` nor the name of a device"),
    ],
)
def test_a_broken_request_says_why(text: str, reason: str) -> None:
    found = request(text)
    assert found.state is RequestState.BROKEN
    assert [fault.reason for fault in found.faults] == [reason]


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("device=0,1", '"device=0,1"'),
        ("1,2", '"device=1,2"'),
        ("all,capabilities=compute,utility", 'all,"capabilities=compute,utility"'),
        ("device=0,1,capabilities=utility", '"device=0,1",capabilities=utility'),
        ("'\"device=0,1\"'", '"device=0,1"'),
        ("all,device=0", ""),
        ("device=", ""),
        ("true", ""),
    ],
)
def test_a_broken_request_says_what_to_write_where_that_is_plain(value: str, remedy: str) -> None:
    quoted = "'" + value.replace("'", "'\\''") + "'"
    (fault,) = request(f"docker run --gpus {quoted} img").faults
    assert fault.remedy == remedy


def test_podman_takes_devices_and_no_counts() -> None:
    zero = request("podman run --gpus 0,1 img")
    assert (zero.state, zero.count, all_shown(zero.ids)) == (RequestState.ASKED, None, ["0", "1"])
    assert shown(request("podman run --gpus all img").count) == "all"
    assert request("nerdctl run --gpus 0 img").state is RequestState.ZERO


def test_a_device_from_a_variable_is_a_device() -> None:
    found = request('docker run --gpus "device=$GPU" img')
    assert (found.count, all_shown(found.ids)) == (None, ["?$GPU"])
    assert all_shown(request("docker run --gpus '\"device='$GPU'\"' img").ids) == ["?$GPU"]
    assert shown(request("docker run --gpus $GPU img").count) == "??$GPU"


def test_the_place_of_a_request_is_its_flag_with_quotes_and_all() -> None:
    assert request("docker run --gpus '\"device=0,1\"' img").location[1:] == (1, 12, 1, 33)
    assert request("docker run --gpus=all img").location[1:] == (1, 12, 1, 22)


def test_every_way_to_ask_for_a_gpu() -> None:
    text = (
        "docker run --gpus all --runtime=nvidia --device nvidia.com/gpu=0 --device=/dev/kfd --device /dev/dri:/dev/dri:rw"
        " --device /dev/snd -e NVIDIA_VISIBLE_DEVICES=0,1 img"
    )
    assert [(each.kind.value, each.vendor) for each in container(text).requests] == [
        ("gpus", ""),
        ("runtime", "nvidia"),
        ("cdi", "nvidia"),
        ("raw-device", "amd"),
        ("raw-device", ""),
        ("visible-devices", "nvidia"),
    ]


def test_a_variable_that_names_no_device_asks_for_nothing() -> None:
    assert container("docker run -e NVIDIA_VISIBLE_DEVICES=void -e AMD_VISIBLE_DEVICES=none img").requests == ()


def test_nvidia_docker_sets_the_runtime() -> None:
    (found,) = container("nvidia-docker run --rm img").requests
    assert (found.kind, found.vendor, shown(found.resource)) == (RequestKind.RUNTIME, "nvidia", "nvidia")


@pytest.mark.parametrize(
    ("text", "expected_image", "arguments"),
    [
        ("docker run img", "img", None),
        ("docker run -it --rm img bash -c 'a b'", "img", ["bash", "-c", "a b"]),
        ("docker run --rm img --gpus all", "img", ["--gpus", "all"]),
        ("docker run -itv/a:/b -p80:80 --name x img a", "img", ["a"]),
        ("docker run -e A=1 --env=B=2 -eC img", "img", None),
        ("docker run --rm=true --privileged=false img", "img", None),
        ("docker run -- img -x", "img", ["-x"]),
        ("docker container run img a", "img", ["a"]),
        ("docker --context x -H tcp://h create img", "img", None),
        ("/usr/bin/docker run img", "img", None),
        ("sudo -E docker run img", "img", None),
        ("sudo -u me env A=b timeout 10 docker run img a", "img", ["a"]),
        ('exec docker run img "$@"', "img", ["??$@"]),
        ("$SUDO docker run img", "img", None),
        ("time docker run img", "img", None),
        ("docker run --unknown=x img a", "img", ["a"]),
        ('docker run "$IMAGE" a', "?$IMAGE", ["a"]),
        ("docker run repo/img:$TAG a", "repo/img:$TAG", ["a"]),
        ("docker run --rm $IMAGE a", "?$IMAGE", ["a"]),
        ("docker run --rm $X /bin/sh", "?$X", ["/bin/sh"]),
        ("docker run $OPTS nvcr.io/img a", "nvcr.io/img", ["a"]),
        ("docker run $OPTS repo/img a", "?$OPTS", None),
        ("docker run $OPTS img:1 a", "img:1", ["a"]),
        ('docker run "${OPTS[@]}" "$NAME" a', "?$NAME", ["a"]),
        ("docker run $OPTS --rm img a", "?$OPTS", None),
        ("docker run $OPTS", "?$OPTS", None),
        ("docker run $X bash", "?$X", None),
        ("docker run --gpus img bash", None, None),
        ("bash -c 'docker run img a'", "img", ["a"]),
        ("eval 'docker run img a'", "img", ["a"]),
        ("eval docker run img a", "img", ["a"]),
        ("x=$(docker run -q img a)", "img", ["a"]),
        ("echo x | xargs -n 1 docker run img a", "img", ["a", "??xargs"]),
        ("IMG=a/b:1\ndocker run $IMG c", "a/b:1", ["c"]),
    ],
)
def test_image_and_arguments(text: str, expected_image: str | None, arguments: list[str] | None) -> None:
    found = container(text)
    assert image(found) == expected_image
    assert all_shown(found.arguments) == arguments


@pytest.mark.parametrize(
    "text",
    [
        "docker run --unknown x img",
        "docker run -Z img",
        "docker run --help",
        "docker run",
        "docker run --rm",
        "docker --unknown x run img",
        "docker exec x nvidia-smi",
        "docker ps",
        "docker",
        "buildah run x -- y",
        "echo docker run img",
        "echo 'docker run img'",
        "# docker run img",
        "ssh host 'docker run img'",
        "cat <<EOF\ndocker run img\nEOF",
        "$DOCKER run img",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert read(text).containers == ()


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("docker run img a", set()),
        ("docker run --env-file .env img", {"env"}),
        ("podman run --env-host img", {"env"}),
        ('docker run -e "$X" img', {"env"}),
        ("docker run -e X=$Y img", set()),
        ("docker run --device $DEV img", {"gpu"}),
        ("docker run --runtime=$R img", {"gpu"}),
        ("docker run --ipc=$I img", {"shm"}),
        ("docker run -v $PWD:/x --name $N img", set()),
        ('docker run img "$@"', {"command"}),
        ("docker run img a $B", {"command"}),
        ('docker run "$IMAGE"', {"image"}),
        ("docker run img:$TAG", set()),
        ("docker run $OPTS img:1", {"gpu", "env", "shm"}),
        ('docker run "${OPTS[@]}" "$IMAGE" "$@"', {"gpu", "env", "shm", "image", "command"}),
        ("docker run $X bash", {"gpu", "env", "shm", "image", "command"}),
        ("docker run --gpus", {"image", "command"}),
    ],
)
def test_open_aspects(text: str, aspects: set[str]) -> None:
    assert container(text).open == aspects


def test_the_rest_of_a_container() -> None:
    found = container(
        "docker run --name n -w /w --entrypoint e -e A=1 -e B -e C=$X --privileged --ipc=host --shm-size 8g"
        " -v $PWD/a:/b:ro -v cache:/c -v /d --mount type=bind,src=/e,target=/f img"
    )
    assert (shown(found.name), shown(found.working_directory), all_shown(found.entrypoint)) == ("n", "/w", ["e"])
    assert [(str(each.name), shown(each.value)) for each in found.env] == [("A", "1"), ("B", None), ("C", "?$X")]
    assert (shown(found.privileged), shown(found.ipc)) == ("--privileged", "host")
    assert found.shared_memory is not None
    assert (shown(found.shared_memory.size), found.shared_memory.in_memory) == ("8g", True)
    assert [(shown(each.source), shown(each.target)) for each in found.mounts] == [
        ("?$PWD/a", "/b"),
        ("cache", "/c"),
        (None, "/d"),
        ("/e", "/f"),
    ]


def test_an_empty_entrypoint_takes_the_images_away() -> None:
    assert container("docker run --entrypoint '' img a").entrypoint == ()
    assert container("docker run --entrypoint= img a").entrypoint == ()


@pytest.mark.parametrize(
    ("option", "size", "in_memory"),
    [
        ("--tmpfs /dev/shm:rw,size=4g", "4g", True),
        ("--tmpfs /dev/shm", None, True),
        ("--mount type=tmpfs,dst=/dev/shm,tmpfs-size=1g", "1g", True),
        ("-v /dev/shm:/dev/shm", None, True),
        ("-v /tmp/x:/dev/shm", None, False),
    ],
)
def test_what_stands_at_dev_shm(option: str, size: str | None, in_memory: bool) -> None:
    memory = container(f"docker run {option} img").shared_memory
    assert memory is not None
    assert (shown(memory.size), memory.in_memory) == (size, in_memory)


def test_the_command_keeps_its_place_and_its_options() -> None:
    command = container("if x; then\n  sudo docker run --rm \\\n    -e A='b c' img a >log\nfi").command
    assert isinstance(command, RunCommand)
    assert (command.program, command.context, command.location[1:]) == ("docker", "shell", (2, 8, 3, 21))
    assert [(each.name, shown(each.value), each.location[1:3]) for each in command.options] == [
        ("rm", None, (2, 19)),
        ("env", "A=b c", (3, 5)),
    ]


def build(text: str) -> ImageBuild:
    (found,) = read(text).builds
    return found


@pytest.mark.parametrize(
    ("text", "names", "dockerfile", "context", "target"),
    [
        ("docker build -t a:1 -t b .", ["a:1", "b"], None, ".", None),
        ("docker build . -f d/Dockerfile.gpu --tag=a", ["a"], "d/Dockerfile.gpu", ".", None),
        ("docker buildx build --platform linux/amd64 --target t -ta ctx", ["a"], None, "ctx", "t"),
        ("docker image build --no-cache ctx", [], None, "ctx", None),
        ("podman build -t a --layers ctx", ["a"], None, "ctx", None),
        ("buildah bud -t a -f F ctx", ["a"], "F", "ctx", None),
        ("nerdctl build -t a -q .", ["a"], None, ".", None),
        ("docker build -t $N $CTX", ["??$N"], None, "??$CTX", None),
        ("docker build -t a - < Dockerfile.x", ["a"], "Dockerfile.x", "-", None),
    ],
)
def test_builds(text: str, names: list[str], dockerfile: str | None, context: str, target: str | None) -> None:
    found = build(text)
    assert (all_shown(found.names), shown(found.dockerfile)) == (names, dockerfile)
    assert (shown(found.context), shown(found.target)) == (context, target)


def test_the_rest_of_a_build() -> None:
    found = build("sudo docker build --build-arg A=1 --build-arg B=$X --build-arg C $MORE --push -t a .")
    assert [(str(each.name), shown(each.value)) for each in found.arguments] == [("A", "1"), ("B", "?$X"), ("C", None)]
    assert (found.pushed, found.open, found.location[1:3]) == (True, True, (1, 6))
    assert read("docker build --unknown x .").builds == ()


@pytest.mark.parametrize(
    ("text", "action", "files", "services"),
    [
        ("docker compose -f a.yml -f b.yml up -d", "up", ["a.yml", "b.yml"], []),
        ("docker-compose --file=a.yml -p x run --rm -e A=1 web cmd -x", "run", ["a.yml"], ["web"]),
        ("docker compose up --build web db", "up", [], ["web", "db"]),
        ("docker compose -f a.yml config", "config", ["a.yml"], []),
        ("COMPOSE_FILE=a.yml:b.yml docker compose up", "up", ["a.yml", "b.yml"], []),
        ("export COMPOSE_FILE=a.yml\npodman-compose up", "up", ["a.yml"], []),
        ("nerdctl compose -f $F up", "up", ["??$F"], []),
    ],
)
def test_compose_calls(text: str, action: str, files: list[str], services: list[str]) -> None:
    (call,) = read(text).compose_calls
    assert (shown(call.action), all_shown(call.files), all_shown(call.services)) == (action, files, services)


def test_profiles_and_the_folder_of_a_compose_call() -> None:
    (call,) = read("docker compose --profile gpu --profile x --project-directory d up").compose_calls
    assert (all_shown(call.profiles), shown(call.project_directory)) == (["gpu", "x"], "d")


_PROGRAMS = st.sampled_from(["docker", "podman", "run", "build", "compose", "up", "sudo", "eval", "xargs", "A=$B"])
_FLAGS = st.sampled_from(
    ["-it", "-t", "-e", "--gpus", "--gpus=all", "--env-file", "--device", "--mount", "--tmpfs", "--entrypoint", "--", "-f"]
)
_KNOWN = st.sampled_from(
    ["all", "0", "device=0,1", "'\"device=0\"'", "img:1", "repo/img", ".", "type=tmpfs,dst=/dev/shm", "/a:/b", "nvidia"]
)
_UNKNOWN = st.sampled_from(["$X", '"$X"', '"${A[@]}"', '"$@"', "$P:/w", "repo/$I", "$(docker run --ipc)", "type=tmpfs,dst=$X"])
_HALF_KNOWN = st.sampled_from(["--gpus=$G", "--shm-size=$S", "--privileged=$B", "-e$X", "-eA=$X", "--ipc=$Y", "--runtime=$R", "-v$A:$B"])
_OPERATORS = st.sampled_from([">", "<", "&&", ";", "|"])
_WORD = st.one_of(_PROGRAMS, _FLAGS, _KNOWN, _UNKNOWN, _HALF_KNOWN, _OPERATORS)


@given(st.lists(_WORD, max_size=14).map(" ".join))
@settings(max_examples=400, deadline=None)
def test_no_command_raises_and_every_place_is_in_the_file(line: str) -> None:
    lines = read(f"docker run {line}\n{line}\n")
    for container in lines.containers:
        places = [container.location, *(request.location for request in container.requests)]
        assert all((1, 1) <= place[1:3] <= place[3:5] <= (2, len(line) + 12) for place in places)
