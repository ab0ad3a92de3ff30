"""Compose files together: overrides, siblings, extends, include, env files; what is known and what is open."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gpulint.model.container import ASPECTS, Container, RequestState
from gpulint.project.compose import compose_containers
from gpulint.project.tree import Tree
from gpulint.source import Text, Unknown, Value

GPU = "gpus: all"
APP = "services:\n  app:\n    image: example/app:1.0\n"


def containers(files: dict[str, str], together: tuple[tuple[str, ...], ...] = ()) -> list[Container]:
    given = {path: dedent(text).encode() for path, text in files.items()}
    return list(compose_containers(Tree(Path(), (), given), together=together))


def only(files: dict[str, str]) -> Container:
    (container,) = containers(files)
    return container


def places(container: Container) -> list[str]:
    return [str(request.location) for request in container.requests]


def shown(value: Value | None) -> str | None:
    return f"?{value.raw}" if isinstance(value, Unknown) else None if value is None else str(value)


def test_a_lone_file() -> None:
    app = only({"compose.yaml": APP})
    assert (str(app.location), app.requests, app.open) == ("compose.yaml:2:3", (), frozenset())


@pytest.mark.parametrize(
    ("base", "override"),
    [
        ("compose.yaml", "compose.override.yaml"),
        ("docker-compose.yml", "docker-compose.override.yml"),
        ("compose.yml", "docker-compose.override.yaml"),
    ],
)
def test_an_override_file_is_merged_by_itself(base: str, override: str) -> None:
    app = only({base: APP, override: f"services:\n  app:\n    {GPU}\n"})
    assert str(app.location) == f"{base}:2:3"
    assert places(app) == [f"{override}:3:11"]
    assert app.open == frozenset()


def test_each_value_keeps_its_file_and_the_last_wins() -> None:
    app = only(
        {
            "compose.yaml": "services: {app: {image: a:1, command: [one], environment: [A=1, B=1], runtime: nvidia}}",
            "compose.override.yaml": "services: {app: {image: a:2, command: [two], environment: {A: 2}, runtime: null}}",
        }
    )
    assert app.image and isinstance(app.image.tag, Text) and app.image.tag.location.path == "compose.override.yaml"
    assert app.arguments and [shown(word) for word in app.arguments] == ["two"]
    variable = app.variable("A")
    assert variable and shown(variable.value) == "2"
    assert places(app) == ["compose.yaml:1:80"]


def test_sequences_are_appended() -> None:
    override = "services: {app: {gpus: [{count: 1}], volumes: ['./b:/data'], devices: ['/dev/b:/dev/x']}}"
    app = only(
        {"compose.yaml": f"{APP}    {GPU}\n    volumes: ['./a:/data']\n    devices: ['/dev/a:/dev/x']\n", "compose.override.yaml": override}
    )
    assert [request.location.path for request in app.requests] == ["compose.yaml", "compose.override.yaml"]
    assert [shown(mount.source) for mount in app.mounts] == ["./b"]
    assert [shown(device.source) for device in app.devices] == ["/dev/b"]


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("gpus: !reset null", []),
        ("gpus: !override [{count: 2}]", ["2"]),
        ("gpus: [{count: 2}]", ["all", "2"]),
        ("deploy: !reset {}", ["all"]),
    ],
)
def test_reset_and_override(override: str, expected: list[str]) -> None:
    app = only({"compose.yaml": f"{APP}    {GPU}\n", "compose.override.yaml": f"services:\n  app:\n    {override}\n"})
    assert [shown(request.count) for request in app.requests] == expected


def test_a_reset_reaches_what_is_below() -> None:
    base = f"{APP}    deploy: {{resources: {{reservations: {{devices: [{{capabilities: [gpu]}}]}}}}}}\n"
    assert only({"compose.yaml": base, "compose.override.yaml": "services:\n  app:\n    deploy: !reset null\n"}).requests == ()


def test_a_reset_variable_is_gone() -> None:
    base = f"{APP}    environment: {{NVIDIA_VISIBLE_DEVICES: all}}\n"
    override = "services:\n  app:\n    environment: {NVIDIA_VISIBLE_DEVICES: !reset null}\n"
    assert only({"compose.yaml": base, "compose.override.yaml": override}).requests == ()


def test_a_fragment_completes_the_service_of_its_name() -> None:
    base, with_gpu = containers({"docker-compose.yml": APP, "docker-compose.gpu.yml": f"services:\n  app:\n    {GPU}\n"})
    assert not base.requests and base.open == {"gpu"}
    assert (str(with_gpu.location), places(with_gpu)) == ("docker-compose.yml:2:3", ["docker-compose.gpu.yml:3:11"])
    assert with_gpu.open == frozenset()


def test_a_fragment_that_adds_nothing_of_ours_changes_nothing() -> None:
    app = only({"docker-compose.yml": APP, "docker-compose.dev.yml": "services:\n  app:\n    ports: ['80:80']\n    volumes: ['.:/src']\n"})
    assert app.open == frozenset()


def test_a_fragment_of_another_service_opens_nothing() -> None:
    base = f"{APP}  other:\n    image: example/other:1.0\n"
    found = containers({"compose.yaml": base, "compose.gpu.yaml": f"services:\n  other:\n    {GPU}\n"})
    assert [(shown(each.name), sorted(each.open)) for each in found] == [("app", []), ("other", ["gpu"]), ("other", [])]


def test_the_file_that_names_the_image_is_where_the_service_stands() -> None:
    (prod,) = containers({"compose.yaml": "services: {app: {command: [serve]}}", "compose.prod.yaml": f"{APP}    {GPU}\n"})
    assert str(prod.location) == "compose.prod.yaml:2:3"
    assert prod.arguments and [shown(word) for word in prod.arguments] == ["serve"]


def test_whole_services_of_one_name_in_sibling_files_open_each_other() -> None:
    cpu, gpu = containers({"docker-compose.cpu.yml": APP, "docker-compose.gpu.yml": f"{APP}    {GPU}\n    shm_size: 8g\n"})
    assert (sorted(cpu.open), sorted(gpu.open)) == (["gpu", "image", "shm"], ["image"])


def test_files_of_other_folders_do_not() -> None:
    assert [each.open for each in containers({"a/compose.yaml": APP, "b/compose.yaml": f"{APP}    {GPU}\n"})] == [frozenset(), frozenset()]


def test_files_that_a_command_line_puts_together() -> None:
    files = {"a/compose.yaml": APP, "b/gpu.compose.yaml": f"services:\n  app:\n    {GPU}\n"}
    base, fragment, whole = containers(files, together=(("a/compose.yaml", "b/gpu.compose.yaml"),))
    assert "gpu" in base.open and fragment.open == ASPECTS
    assert (str(whole.location), places(whole)) == ("a/compose.yaml:2:3", ["b/gpu.compose.yaml:3:11"])


def test_an_include_merges_its_list_of_files() -> None:
    files = {
        "compose.yaml": "include:\n  - path: [lib/compose.yaml, gpu.compose.yaml]\n  - other.yaml\n",
        "lib/compose.yaml": APP,
        "gpu.compose.yaml": f"services:\n  app:\n    {GPU}\n",
    }
    assert ["gpu.compose.yaml:3:11"] in [places(each) for each in containers(files) if str(each.location) == "lib/compose.yaml:2:3"]


def test_what_is_included_is_a_part_of_the_project() -> None:
    """The way to change what is included is an override file, which is put over it with the rest."""
    files = {
        "compose.yaml": "include: [lib/compose.yaml]\nservices: {main: {image: a}}\n",
        "compose.override.yaml": "services: {app: {gpus: [{count: '${N}', device_ids: ['${M}']}]}}",
        "lib/compose.yaml": f"{APP}    environment: ['N=${{N}}', 'M=${{M}}']\n",
        ".env": "N=1\n",
        "lib/.env": "N=2\nM=2\n",
    }
    app, main, alone = containers(files)
    assert [(str(each.name), places(each)) for each in (app, main)] == [("app", ["compose.override.yaml:1:25"]), ("main", [])]
    assert "gpu" in alone.open
    assert app.service and app.service.run == ("compose.yaml", "compose.override.yaml", "lib/compose.yaml")
    assert [shown(app.variable(name).value) for name in "NM"] == ["1", "2"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ("lib/compose.yaml", "lib"),
        ("{path: lib/compose.yaml, project_directory: other}", "other"),
        ("{path: lib/compose.yaml, env_file: [first.env, last.env]}", "last"),
        ("{path: lib/compose.yaml, env_file: missing.env}", "?${N}"),
    ],
)
def test_variables_of_what_is_included(item: str, value: str) -> None:
    files = {
        "compose.yaml": f"include: [{item}]\nservices: {{main: {{image: a}}}}\n",
        "lib/compose.yaml": f"{APP}    environment: ['N=${{N}}']\n",
    }
    env = {"lib/.env": "N=lib\n", "other/.env": "N=other\n", "first.env": "N=first\n", "last.env": "N=last\n"}
    app, _ = containers({**files, **env})
    assert shown(app.variable("N").value) == value  # type: ignore[union-attr]


def test_files_that_include_one_another_end() -> None:
    both = {"a/compose.yaml": f"include: [../b/compose.yaml]\n{APP}", "b/compose.yaml": f"include: [../a/compose.yaml]\n{APP}    {GPU}\n"}
    assert containers(both)
    many = {f"{n}/compose.yaml": f"include: [../{n + 1}/compose.yaml, ../{n + 1}/../{n + 1}/compose.yaml]\n{APP}" for n in range(40)}
    assert len(containers({**many, "40/compose.yaml": APP})) < 200


def test_the_files_that_the_env_file_names_are_those_by_default() -> None:
    files = {
        "compose.yaml": APP,
        "gpu/more.compose.yaml": f"services:\n  app:\n    {GPU}\n",
        ".env": "COMPOSE_FILE=compose.yaml:gpu/more.compose.yaml\n",
    }
    assert ["gpu/more.compose.yaml:3:11"] in [places(each) for each in containers(files) if str(each.location) == "compose.yaml:2:3"]
    assert containers({**files, ".env": "COMPOSE_FILE=compose.yaml:missing.yaml\n"})[0].requests == ()


def test_documents_of_one_file_are_put_over_one_another() -> None:
    assert places(only({"compose.yaml": f"{APP}---\nservices:\n  app:\n    {GPU}\n"})) == ["compose.yaml:7:11"]


def test_a_variable_without_a_value_is_given_the_one_of_the_project() -> None:
    text = "services: {app: {image: a, environment: [N, M], build: {args: {N: }}}}"
    app = only({"compose.yaml": text, ".env": "N=1\n"})
    assert app.build and shown(app.build.arguments[0].value) == "1"
    assert [(str(each.name), shown(each.value)) for each in app.env] == [("N", "1"), ("M", None)]
    assert str(app.env[0].value.location) == "compose.yaml:1:42"  # type: ignore[union-attr]


def test_what_another_program_provides_is_no_container() -> None:
    assert containers({"compose.yaml": "services: {llm: {provider: {type: model, options: {model: acme/chat}}}}"}) == []


def test_a_reset_reaches_no_variable_of_a_list() -> None:
    base = f"{APP}    environment: [NVIDIA_VISIBLE_DEVICES=all]\n"
    override = "services:\n  app:\n    environment: {NVIDIA_VISIBLE_DEVICES: !reset null}\n"
    assert places(only({"compose.yaml": base, "compose.override.yaml": override})) == ["compose.yaml:4:42"]


@pytest.mark.parametrize(("body", "replicas"), [("deploy: {replicas: 2}", "2"), ("scale: 3", "3"), ("deploy: {replicas: '${N}'}", "?${N}")])
def test_replicas(body: str, replicas: str) -> None:
    app = only({"compose.yaml": f"{APP}    {body}\n"})
    assert app.service and shown(app.service.replicas) == replicas


@pytest.mark.parametrize("include", ["missing.yaml", "../outside.yaml", "oci://example.com/x", "{path: [lib.yaml, missing.yaml]}", "[]"])
def test_an_include_that_cannot_be_read_leaves_everything_open(include: str) -> None:
    (app,) = containers({"compose.yaml": f"include: [{include}]\n{APP}", "lib.yaml": "services: {}\n"})
    assert app.open == (frozenset() if include == "[]" else ASPECTS)


def test_a_fragment_that_nothing_completes_is_judged_for_what_it_says() -> None:
    orphan = only({"compose.gpu.yaml": "services:\n  app:\n    gpus: 1\n  other:\n    command: [x]\n"})
    assert (orphan.image, orphan.open, orphan.requests[0].state) == (None, ASPECTS, RequestState.BROKEN)


def test_extends_in_the_same_file() -> None:
    base, app = containers({"compose.yaml": f"services:\n  base:\n    image: a\n    {GPU}\n  app:\n    extends: base\n    command: [x]\n"})
    assert (str(base.location), str(app.location)) == ("compose.yaml:2:3", "compose.yaml:5:3")
    assert places(app) == ["compose.yaml:4:11"]
    assert app.image and shown(app.image.name) == "a"


def test_extends_of_another_file_in_a_chain() -> None:
    files = {
        "app/compose.yaml": "services: {app: {extends: {file: ../common/base.yaml, service: mid}, image: a:1}}",
        "common/base.yaml": "services: {mid: {extends: {service: low}}, low: {gpus: all, environment: [A=1]}}",
    }
    app = only(files)
    assert places(app) == ["common/base.yaml:1:56"]
    assert app.variable("A") and app.open == frozenset()


@pytest.mark.parametrize(
    "extends",
    [
        "{file: missing.yaml, service: x}",
        "{file: ../outside.yaml, service: x}",
        "{file: /etc/passwd, service: x}",
        "{file: '${FILE}', service: x}",
        "{file: compose.yaml, service: missing}",
        "{file: compose.yaml}",
        "app",
        "other",
        "[1]",
    ],
)
def test_extends_that_cannot_be_followed_leaves_everything_open(extends: str) -> None:
    found = containers({"compose.yaml": f"services:\n  app: {{image: a, extends: {extends}}}\n  other: {{image: b, extends: app}}\n"})
    assert found[0].open == ASPECTS


def test_a_long_chain_ends() -> None:
    chain = "".join(f"  s{number}: {{image: a, extends: s{number + 1}}}\n" for number in range(300))
    assert containers({"compose.yaml": f"services:\n{chain}  s300: {{image: a, {GPU}}}\n"})[0].open == ASPECTS


def test_variables_come_from_the_env_file_beside() -> None:
    files = {
        "compose.yaml": "services: {app: {image: 'a:${TAG}', command: 'run --gpu ${N}', gpus: [{count: '${N}'}]}}",
        ".env": "# tags\nexport TAG='1.2' # pinned\nN=0\nBROKEN LINE\n",
    }
    app = only(files)
    assert app.image and shown(app.image.tag) == "1.2"
    assert app.arguments and [shown(word) for word in app.arguments] == ["run", "--gpu", "0"]
    assert app.requests[0].state is RequestState.OPTIONAL


def test_env_files_are_read_in_their_order_and_below_the_environment() -> None:
    files = {
        "compose.yaml": "services: {app: {image: a, env_file: [one.env, {path: sub/two.env}], environment: {C: 3}}}",
        "one.env": "A=1\nB=1\nC=1\nD\n",
        "sub/two.env": 'B="2"\n',
    }
    app = only(files)
    assert {name: shown(app.variable(name).value) for name in "ABCD"} == {"A": "1", "B": "2", "C": "3", "D": None}  # type: ignore[union-attr]
    assert app.variable("B").name.location.path == "sub/two.env"  # type: ignore[union-attr]
    assert app.open == frozenset()


@pytest.mark.parametrize("env_file", ["missing.env", "../out.env", "'${FILE}'", "[{path: x.env, required: false}]", "[[]]"])
def test_an_env_file_that_is_not_there_leaves_the_environment_open(env_file: str) -> None:
    assert only({"compose.yaml": f"services: {{app: {{image: a, env_file: {env_file}}}}}"}).open == {"env"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "services: 1\n",
        "include: [1, {path: [[]]}, {path: x}, null]\nservices: {a: {image: b}}\n",
        "services: {a: {image: b, extends: {service: [1], file: {}}}}\n",
        "services:\n  app: &a\n    image: b\n    <<: *a\n",
    ],
)
def test_hostile_files(text: str) -> None:
    containers({"compose.yaml": text, "compose.override.yaml": text, "compose.gpu.yaml": text})
