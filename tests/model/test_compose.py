"""Compose services as containers: every field, its place, and what shapes nobody should write are taken for."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from gpulint.model.compose import read_container, read_services
from gpulint.model.container import ASPECTS, Container, RequestKind, RequestState
from gpulint.model.service import RawService
from gpulint.parse.yaml import parse
from gpulint.source import Location, Source, Text, Unknown, Value

ASKED, OPTIONAL, ZERO, BROKEN = RequestState.ASKED, RequestState.OPTIONAL, RequestState.ZERO, RequestState.BROKEN


def services(text: str) -> dict[str, RawService]:
    document = parse(Source("compose.yaml", text.encode())).documents[0]
    return read_services(document.root, {}, document.template)


def container(body: str) -> Container:
    """The container of a service `app` of that body."""
    return read_container(services(file_of(body))["app"])


def file_of(body: str) -> str:
    return "services:\n  app:\n    image: example/app:1.0\n" + indent(dedent(body), "    ")


def shown(value: Value | None) -> str | None:
    return f"?{value.raw}" if isinstance(value, Unknown) else None if value is None else str(value)


def at(body: str, location: Location) -> str:
    """The characters of the file at a place on one line."""
    assert location.line == location.end_line
    return file_of(body).splitlines()[location.line - 1][location.column - 1 : location.end_column - 1]


def test_a_service_has_its_name_and_place() -> None:
    app = container("profiles: [gpu]\n")
    assert (shown(app.name), app.location) == ("app", Location("compose.yaml", 2, 3, 2, 6))
    assert app.service and app.service.name == "app" and [shown(each) for each in app.service.profiles] == ["gpu"]
    assert app.image and (shown(app.image.name), shown(app.image.tag)) == ("example/app", "1.0")
    assert app.open == frozenset()


@pytest.mark.parametrize(
    ("body", "entrypoint", "arguments"),
    [
        ("command: serve --device cuda 'a b'", None, ["serve", "--device", "cuda", "a b"]),
        ("command: [serve, --device, cuda]", None, ["serve", "--device", "cuda"]),
        ("command: [serve, 2, null]", None, ["serve", "2", "null"]),
        ("command: []", None, []),
        ("command:", None, None),
        ("command: {a: b}", None, None),
        ("entrypoint: python -m app\ncommand: [--port, '80']", ["python", "-m", "app"], ["--port", "80"]),
        ("command: run ${MODEL}", None, ["run", "?${MODEL}"]),
    ],
)
def test_command_and_entrypoint(body: str, entrypoint: list[str] | None, arguments: list[str] | None) -> None:
    app = container(body)
    assert (app.entrypoint and [shown(word) for word in app.entrypoint]) == entrypoint
    assert (None if app.arguments is None else [shown(word) for word in app.arguments]) == arguments


def test_a_word_of_a_command_has_its_own_place() -> None:
    body = "command: serve --device ${DEVICE:-cuda}"
    words = container(body).arguments
    assert words and at(body, words[2].location) == "cuda"


@pytest.mark.parametrize(
    "body",
    [
        "environment: [A=1, B, C=, 'D=${X}']",
        "environment: {A: 1, B: , C: '', D: '${X}'}",
    ],
)
def test_environment_as_list_and_as_mapping(body: str) -> None:
    env = container(body).env
    assert [(str(name), shown(value)) for name, value in env] == [("A", "1"), ("B", None), ("C", ""), ("D", "?${X}")]


def test_a_variable_has_its_own_place() -> None:
    body = "environment:\n  - CUDA_VISIBLE_DEVICES=0,1\n"
    variable = container(body).variable("CUDA_VISIBLE_DEVICES")
    assert variable and variable.value is not None
    assert (at(body, variable.name.location), at(body, variable.value.location)) == ("CUDA_VISIBLE_DEVICES", "0,1")


def test_a_variable_of_a_name_that_is_not_known_leaves_the_environment_open() -> None:
    assert container("environment: ['${EXTRA}']").open == {"env"}


@pytest.mark.parametrize(
    ("body", "context", "dockerfile", "target"),
    [
        ("build: ./app", "./app", None, None),
        ("build: {context: app, dockerfile: gpu.Dockerfile, target: run}", "app", "gpu.Dockerfile", "run"),
        ("build: {dockerfile: gpu.Dockerfile}", ".", "gpu.Dockerfile", None),
        ("build: {context: '${DIR:-app}'}", "app", None, None),
    ],
)
def test_build(body: str, context: str, dockerfile: str | None, target: str | None) -> None:
    build = container(body).build
    assert build and (shown(build.context), shown(build.dockerfile), shown(build.target)) == (context, dockerfile, target)


def test_build_arguments_and_an_inline_dockerfile() -> None:
    build = container("build:\n  args: [CUDA=12.4.1, MORE]\n  dockerfile_inline: FROM scratch\n").build
    assert build and [(str(name), shown(value)) for name, value in build.arguments] == [("CUDA", "12.4.1"), ("MORE", None)]
    assert shown(build.inline) == "FROM scratch"


@pytest.mark.parametrize("written", ["true", "True", "yes", '"true"', "${PRIVILEGED:-true}"])
def test_privileged(written: str) -> None:
    assert container(f"privileged: {written}").privileged is not None


@pytest.mark.parametrize("written", ["false", "no", "", "${PRIVILEGED}", "[true]"])
def test_not_privileged(written: str) -> None:
    assert container(f"privileged: {written}").privileged is None


def test_volumes_and_devices_in_both_forms() -> None:
    app = container(
        r"""
        volumes: [./models:/models:ro, 'C:\data:/data', cache, {type: bind, source: /srv, target: /srv}, '${DIR}:/x']
        devices: [/dev/dri, /dev/a:/dev/b, {source: /dev/c, target: /dev/d}]
        """
    )
    assert [(shown(source), shown(target)) for source, target, _ in app.mounts] == [
        ("./models", "/models"),
        ("C:\\data", "/data"),
        (None, "cache"),
        ("/srv", "/srv"),
        ("?${DIR}", "/x"),
    ]
    assert [(shown(source), shown(target)) for source, target, _ in app.devices] == [
        ("/dev/dri", "/dev/dri"),
        ("/dev/a", "/dev/b"),
        ("/dev/c", "/dev/d"),
    ]


@pytest.mark.parametrize(
    ("body", "size", "in_memory"),
    [
        ("shm_size: 8gb", "8gb", True),
        ("shm_size: ${SHM}", "?${SHM}", True),
        ("tmpfs: /dev/shm:size=2g,mode=1777", "2g", True),
        ("tmpfs: [/tmp, /dev/shm]", None, True),
        ("volumes: [/dev/shm:/dev/shm]", None, True),
        ("volumes: [cache:/dev/shm]", None, False),
        ("volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 1000000}}]", "1000000", True),
    ],
)
def test_shared_memory(body: str, size: str | None, in_memory: bool) -> None:
    given = container(body).shared_memory
    assert given and (shown(given.size), given.in_memory) == (size, in_memory)


@pytest.mark.parametrize(("ipc", "is_open"), [("host", False), ("private", False), ("service:db", True), ("${IPC}", True)])
def test_shared_memory_of_another_namespace_is_open(ipc: str, is_open: bool) -> None:
    app = container(f"ipc: {ipc}")
    assert shown(app.ipc) is not None
    assert ("shm" in app.open) is is_open


@pytest.mark.parametrize("body", ["runtime: ${RUNTIME}", "devices: ['${DEVICE}']"])
def test_what_a_variable_may_bring_is_open(body: str) -> None:
    assert container(body).open == {"gpu"}
    assert container(body).requests == ()


@pytest.mark.parametrize(
    ("body", "kind", "state", "vendor", "count", "ids"),
    [
        ("gpus: all", RequestKind.GPUS, ASKED, "", "all", []),
        ("gpus: ${GPUS}", RequestKind.GPUS, ASKED, "", "?${GPUS}", []),
        ("gpus: [{count: 2}]", RequestKind.GPUS, ASKED, "", "2", []),
        ("gpus: [{driver: nvidia, device_ids: ['0', GPU-1]}]", RequestKind.GPUS, ASKED, "nvidia", None, ["0", "GPU-1"]),
        ("gpus: [{count: 0}]", RequestKind.GPUS, ZERO, "", "0", []),
        ("gpus: [{count: '${N:-0}'}]", RequestKind.GPUS, OPTIONAL, "", "0", []),
        ("gpus: [{count: '${N:-1}'}]", RequestKind.GPUS, ASKED, "", "1", []),
        ("runtime: nvidia", RequestKind.RUNTIME, ASKED, "nvidia", None, []),
        ("runtime: ${RUNTIME:-nvidia}", RequestKind.RUNTIME, ASKED, "nvidia", None, []),
        ("devices: [nvidia.com/gpu=all]", RequestKind.CDI, ASKED, "nvidia", "all", []),
        ("devices: [nvidia.com/gpu=1]", RequestKind.CDI, ASKED, "nvidia", None, ["1"]),
        ("devices: [/dev/nvidia0]", RequestKind.RAW_DEVICE, ASKED, "nvidia", None, []),
        ("devices: [/dev/kfd:/dev/kfd]", RequestKind.RAW_DEVICE, ASKED, "amd", None, []),
        ("devices: [/dev/dri/renderD128]", RequestKind.RAW_DEVICE, ASKED, "", None, []),
        ("environment: [NVIDIA_VISIBLE_DEVICES=all]", RequestKind.VISIBLE_DEVICES, ASKED, "nvidia", "all", []),
        ("environment: {NVIDIA_VISIBLE_DEVICES: '0,1'}", RequestKind.VISIBLE_DEVICES, ASKED, "nvidia", None, ["0", "1"]),
        ("environment: {NVIDIA_VISIBLE_DEVICES: '${GPU}'}", RequestKind.VISIBLE_DEVICES, ASKED, "nvidia", "?${GPU}", []),
        ("environment: [NVIDIA_VISIBLE_DEVICES]", RequestKind.VISIBLE_DEVICES, ASKED, "nvidia", None, []),
    ],
)
def test_short_requests(body: str, kind: RequestKind, state: RequestState, vendor: str, count: str | None, ids: list[str]) -> None:
    (request,) = container(body).requests
    assert (request.kind, request.state, request.vendor) == (kind, state, vendor)
    assert (shown(request.count), [shown(each) for each in request.ids], request.faults) == (count, ids, ())


@pytest.mark.parametrize(
    "body",
    [
        "gpus: []",
        "runtime: runc",
        "environment: [NVIDIA_VISIBLE_DEVICES=void]",
        "environment: {NVIDIA_VISIBLE_DEVICES: none}",
        "environment: {NVIDIA_VISIBLE_DEVICES: ''}",
        "devices: [/dev/ttyUSB0, /dev/video0, {}]",
        "devices: [example.com/nic=eth1]",
        "deploy: {resources: {limits: {cpus: '2'}, reservations: {memory: 1g, generic_resources: []}}}",
        "deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec: {kind: SSD, value: 1}}]}}}",
        "deploy: gpu",
        "deploy: [gpu]",
    ],
)
def test_no_request(body: str) -> None:
    assert container(body).requests == ()


RESERVED = "deploy: {{resources: {{reservations: {{devices: [{}]}}}}}}"


def test_a_reservation_with_all_its_parts() -> None:
    body = RESERVED.format("{driver: nvidia, count: 2, capabilities: [gpu, utility], options: {a: b}}")
    (request,) = container(body).requests
    assert (request.kind, request.state, request.vendor) == (RequestKind.RESERVATION, ASKED, "nvidia")
    assert (shown(request.count), shown(request.driver), [shown(each) for each in request.capabilities]) == (
        "2",
        "nvidia",
        ["gpu", "utility"],
    )
    assert request.count is not None and at(body, request.count.location) == "2"
    assert at(body, request.location).startswith("{driver: nvidia")


@pytest.mark.parametrize(
    "item",
    [
        "{capabilities: [gpu]}",
        "{capabilities: [gpu], count: all}",
        "{capabilities: [gpu], count: ALL}",
        "{capabilities: [gpu], count: '1'}",
        "{capabilities: [gpu], count: -1}",
        "{capabilities: [gpu], count: 0x2}",
        "{capabilities: [gpu], count: '${COUNT}'}",
        "{capabilities: ['${CAPABILITY}'], count: 1}",
        "{capabilities: '${CAPABILITIES}', count: 1}",
        "{capabilities: [compute, utility], count: 1}",
        "{capabilities: [tpu], driver: nvidia}",
        "{capabilities: [gpu], driver: '${DRIVER}'}",
        "{capabilities: [gpu], device_ids: ['0', '${GPU}']}",
        "{capabilities: [gpu], driver: cdi, device_ids: [nvidia.com/gpu=0]}",
        "{capabilities: [gpu], x-note: mine}",
    ],
)
def test_well_formed_reservations(item: str) -> None:
    (request,) = container(RESERVED.format(item)).requests
    assert (request.state, request.faults) == (ASKED, ())


@pytest.mark.parametrize(
    ("item", "place", "says"),
    [
        ("{count: 1}", "{count: 1}", "`capabilities` is missing"),
        ("{capabilities: gpu}", "gpu", "`capabilities` is no list of strings"),
        ("{capabilities: [[gpu]]}", "[gpu]", "`capabilities` holds a list or mapping, which is no string"),
        ("{capabilities: [gpu, gpu]}", "gpu", "`capabilities` holds `gpu` twice"),
        ("{capabilities: }", "", "`capabilities` is no list of strings"),
        ("{capabilities: [1]}", "1", "`capabilities` holds `1`, which is no string"),
        ("{capabilities: [gpu], count: two}", "two", "`count: two` is neither a whole number nor `all`"),
        ("{capabilities: [gpu], count: 1.5}", "1.5", "`count: 1.5` is neither a whole number nor `all`"),
        ("{capabilities: [gpu], count: [1]}", "[1]", "`count` is no number"),
        ("{capabilities: [gpu], count: }", "", "`count` is no number"),
        ("{capabilities: [gpu], driver: }", "driver", "`driver` is empty"),
        ("{capabilities: [gpu], count: 1, device_ids: ['0']}", "count", "`count` and `device_ids` exclude each other"),
        ("{capabilities: [gpu], device_ids: [0]}", "0", "`device_ids` holds `0`, which is no string"),
        ("{capabilities: [gpu], device_ids: ['0', [1]]}", "[1]", "`device_ids` holds a list or mapping, which is no string"),
        ("{capabilities: [gpu], device_ids: '0'}", "0", "`device_ids` is no list of strings"),
        ("{capabilities: [gpu], counts: 1}", "counts", "`counts` is no key of a device"),
        ("{capabilities: [gpu], driver: cuda}", "cuda", "no device driver is named `cuda`"),
        ("{capabilities: [gpu], driver: NVIDIA}", "NVIDIA", "no device driver is named `NVIDIA`"),
        ("{capabilities: [tpu]}", "tpu", "no device driver has the capability `tpu`"),
        ("{capabilities: [gpu], driver: cdi, count: 1}", "1", "the driver `cdi` takes no `count`"),
        ("{capabilities: [gpu], driver: cdi}", "cdi", "the driver `cdi` needs `device_ids`"),
        ("{capabilities: [gpu], driver: cdi, device_ids: ['0']}", "0", "`0` is no CDI name such as vendor/class=device"),
        ("gpu", "gpu", "a device is no mapping"),
    ],
)
def test_malformed_reservations(item: str, place: str, says: str) -> None:
    body = RESERVED.format(item)
    (request,) = container(body).requests
    (fault,) = request.faults
    assert (request.state, fault.reason, fault.misplaced) == (BROKEN, says, False)
    assert at(body, fault.location) == place


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("gpus: 1", "1"),
        ("gpus:", "gpus"),
        ("deploy: {resources: {reservations: {devices: }}}", "devices"),
        ("gpus: '1'", "1"),
        ("gpus: true", "true"),
        ("gpus: ALL", "ALL"),
        ("gpus: [all]", "all"),
        ("gpus: {count: 1}", "{count: 1}"),
        ("gpus: [{count: 1, device_ids: ['0']}]", "count"),
        ("deploy: {resources: {reservations: {devices: {capabilities: [gpu]}}}}", "{capabilities: [gpu]}"),
        ("deploy: {resources: {reservations: {devices: nvidia}}}", "nvidia"),
    ],
)
def test_malformed_forms(body: str, place: str) -> None:
    (request,) = container(body).requests
    assert (request.state, at(body, request.faults[0].location)) == (BROKEN, place)


DEVICE = "[{driver: nvidia, capabilities: [gpu]}]"


@pytest.mark.parametrize(
    ("body", "key", "where"),
    [
        (f"deploy: {{resources: {{limits: {{devices: {DEVICE}}}}}}}", "devices", "under `deploy.resources.limits`"),
        (f"deploy: {{resources: {{devices: {DEVICE}}}}}", "devices", "under `deploy.resources`"),
        (f"deploy: {{devices: {DEVICE}}}", "devices", "under `deploy`"),
        (f"deploy: {{reservations: {{devices: {DEVICE}}}}}", "devices", "under `deploy.reservations`"),
        (f"resources: {{reservations: {{devices: {DEVICE}}}}}", "devices", "under `resources.reservations`"),
        (f"reservations: {{devices: {DEVICE}}}", "devices", "under `reservations`"),
        (f"devices: {DEVICE}", "devices", "under the service itself"),
        (f"deploy: {{resources: {{reservations: {{device: {DEVICE}}}}}}}", "device", "under `deploy.resources.reservations`"),
        ("deploy: {resources: {reservations: {gpus: all}}}", "gpus", "under `deploy.resources.reservations`"),
        ("deploy: {gpus: all}", "gpus", "under `deploy`"),
        ("deploy: {runtime: nvidia}", "runtime", "under `deploy`"),
    ],
)
def test_misplaced_blocks(body: str, key: str, where: str) -> None:
    (request,) = container(body).requests
    (fault,) = request.faults
    assert (request.state, fault.misplaced, fault.reason) == (BROKEN, True, f"`{key}` stands {where}")
    assert at(body, fault.location) == key


def test_generic_resources_of_a_swarm() -> None:
    body = "deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec: {kind: NVIDIA-GPU, value: 2}}]}}}"
    (request,) = container(body).requests
    assert (request.kind, request.state, shown(request.resource), shown(request.count)) == (
        RequestKind.RESERVATION,
        ASKED,
        "NVIDIA-GPU",
        "2",
    )


def test_people_ask_twice() -> None:
    kinds = [request.kind for request in container("gpus: all\nruntime: nvidia\nenvironment: [NVIDIA_VISIBLE_DEVICES=0]\n").requests]
    assert kinds == [RequestKind.GPUS, RequestKind.RUNTIME, RequestKind.VISIBLE_DEVICES]


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("services:\n  a: {image: a}\n  b: {image: b}\n  deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}\n", "b"),
        ("services:\n  a: {image: a}\n  b: {image: b}\ndeploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}\n", "b"),
        ("deploy: {resources: {limits: {devices: [{capabilities: [gpu]}]}}}\nservices:\n  a: {image: a}\n  b: {image: b}\n", "a"),
    ],
)
def test_a_block_beside_the_services_belongs_to_the_one_before_it(text: str, owner: str) -> None:
    found = {name: read_container(service) for name, service in services(text).items()}
    assert sorted(found) == ["a", "b"]
    (request,) = found.pop(owner).requests
    assert request.state is BROKEN and request.faults[0].reason == "`deploy` stands outside of a service"
    assert all(not other.requests for other in found.values())


def test_a_service_may_be_named_deploy() -> None:
    found = services("services:\n  deploy: {image: a, gpus: all, deploy: {replicas: 2}}\n")
    assert [request.state for request in read_container(found["deploy"]).requests] == [ASKED]


def test_anchors_merge_and_extension_fields_are_no_services() -> None:
    text = "x-gpu: &gpu\n  gpus: all\nservices:\n  x-base: &base {restart: always}\n  a:\n    <<: [*gpu, *base]\n    image: a\n"
    found = services(text)
    assert list(found) == ["a"]
    (request,) = read_container(found["a"]).requests
    assert request.location == Location("compose.yaml", 2, 9, 2, 12)


def test_a_fragment_has_no_image() -> None:
    found = services("services:\n  a: {gpus: all}\n  b: {build: .}\n  c: {image: }\n")
    assert [name for name, service in found.items() if service.has_image] == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        "services:\n",
        "services: [a]\n",
        "services: {a: null, b: [1], c: text, 1: {image: 2}}\n",
        "[]\n",
        "services: {a: {image: [x], build: [y], command: 1, entrypoint: {}, environment: 7, devices: x, volumes: {a: b}}}\n",
        "services: {a: {image: x, gpus: [null, 1, [2]], runtime: [nvidia], privileged: {}, deploy: {resources: [1]}, tmpfs: {}}}\n",
        "services: {a: {image: x, env_file: {path: 1}, shm_size: [1], ipc: {}, profiles: gpu, build: {args: [1, [2]], context: []}}}\n",
        "services: {a: {image: x, environment: [[], {A: 1}, null, =], volumes: [null, [], ':', ''], devices: ['', ':']}}\n",
        "services: {a: {image: x, image: y, deploy: {}, deploy: null}}\n",
    ],
)
def test_hostile_shapes(text: str) -> None:
    for service in services(text).values():
        assert isinstance(read_container(service), Container)


def test_in_a_template_everything_is_open() -> None:
    document = parse(Source("compose.yaml", b"services: {a: {image: x}}\n")).documents[0]
    assert read_container(read_services(document.root, {}, template=True)["a"]).open == ASPECTS


def test_texts_are_texts() -> None:
    app = container("command: [a]\nworking_dir: /srv\n")
    assert isinstance(app.working_directory, Text) and app.arguments and isinstance(app.arguments[0], Text)
