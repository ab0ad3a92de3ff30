"""GitHub workflows, composite actions and GitLab CI files: jobs, containers, builds, and where each stands."""

from __future__ import annotations

import pytest
from work import calls

from gpulint.model.ci import Job, Pipeline
from gpulint.model.command import RunCommand
from gpulint.model.container import Container, Dialect, RequestState
from gpulint.model.github import read_workflow, split_arguments
from gpulint.model.gitlab import read_gitlab
from gpulint.parse.shell import UnknownWord
from gpulint.parse.yaml import parse
from gpulint.source import Source, Text, Unknown, Value


def github(text: str) -> Pipeline:
    return read_workflow(".github/workflows/ci.yml", parse(Source(".github/workflows/ci.yml", text.encode())))


def gitlab(text: str) -> Pipeline:
    return read_gitlab(".gitlab-ci.yml", parse(Source(".gitlab-ci.yml", text.encode())))


def job(pipeline: Pipeline) -> Job:
    (found,) = pipeline.jobs
    return found


def shown(value: Value | None) -> str | None:
    if isinstance(value, Unknown):
        return ("??" if isinstance(value, UnknownWord) and value.many else "?") + value.raw
    return None if value is None else str(value)


def all_shown(values: tuple[Value, ...] | None) -> list[str | None] | None:
    return None if values is None else [shown(value) for value in values]


def commands(found: Job) -> list[list[str | None]]:
    return [[shown(word) for word in command.words] for step in found.steps if step.script for command in step.script.commands]


def own_container(found: Job) -> Container:
    assert found.container is not None
    return found.container


WORKFLOW = """\
on: push
env:
  IMAGE: nvidia/cuda
  TAG: ${{ github.sha }}
jobs:
  test:
    runs-on: [self-hosted, gpu]
    env:
      TAG: 12.4.1-base
    container:
      image: nvcr.io/nvidia/pytorch:24.07-py3
      options: --gpus all --shm-size "16gb" -v /a:/b
      env:
        A: 1
        NVIDIA_VISIBLE_DEVICES: all
      volumes:
        - /data:/data
    services:
      db:
        image: postgres:16
        options: >-
          --health-cmd pg_isready
    steps:
      - uses: actions/checkout@v4
      - name: run it
        run: |
          docker run --gpus '"device=0,1"' \\
            $IMAGE:$TAG nvidia-smi
      - run: docker run $IMAGE:${{ matrix.tag }} $TAG
        env:
          TAG: x
      - shell: python
        run: print("docker run x")
"""


def test_a_job_of_a_workflow() -> None:
    found = job(github(WORKFLOW))
    assert (found.name, all_shown(found.runner)) == ("test", ["self-hosted", "gpu"])
    assert commands(found) == [
        ["docker", "run", "--gpus", '"device=0,1"', "nvidia/cuda:12.4.1-base", "nvidia-smi"],
        ["docker", "run", "?nvidia/cuda:${{ matrix.tag }}", "x"],
    ]
    assert len(found.containers) == 4


def test_the_container_of_a_job() -> None:
    container = own_container(job(github(WORKFLOW)))
    assert (container.dialect, shown(container.name)) == (Dialect.CI, "test")
    assert container.image is not None
    assert container.image.shown == "nvcr.io/nvidia/pytorch:24.07-py3"
    assert [(request.kind.value, request.location[1:3]) for request in container.requests] == [
        ("gpus", (12, 16)),
        ("visible-devices", (15, 33)),
    ]
    assert [(str(each.name), shown(each.value)) for each in container.env] == [("A", "1"), ("NVIDIA_VISIBLE_DEVICES", "all")]
    assert container.shared_memory is not None
    assert shown(container.shared_memory.size) == "16gb"
    assert container.shared_memory.location[1:3] == (12, 39)
    assert [shown(mount.target) for mount in container.mounts] == ["/data", "/b"]
    assert container.open == {"gpu", "command"}
    assert container.location[1:] == (10, 5, 10, 14)
    assert isinstance(container.command, RunCommand)
    assert (container.command.context, all_shown(container.command.runner)) == ("github", ["self-hosted", "gpu"])


def test_a_service_is_a_container_beside_it() -> None:
    (service,) = job(github(WORKFLOW)).services
    assert service.image is not None
    assert (shown(service.name), service.image.shown, service.location[1:3]) == ("db", "postgres:16", (19, 7))


def test_commands_stand_in_their_block_scalar() -> None:
    run = job(github(WORKFLOW)).started[0].containers[0]
    assert run.location[1:] == (27, 11, 28, 35)
    assert isinstance(run.command, RunCommand)
    assert (run.command.context, all_shown(run.command.runner)) == ("github", ["self-hosted", "gpu"])
    (request,) = run.requests
    assert (request.state, request.location[1:]) == (RequestState.ASKED, (27, 22, 27, 43))


@pytest.mark.parametrize(
    ("runs_on", "labels"),
    [
        ("ubuntu-latest", ["ubuntu-latest"]),
        ("[self-hosted, gpu]", ["self-hosted", "gpu"]),
        ("{group: g, labels: [a, b]}", ["a", "b"]),
        ("{group: g}", []),
        ("${{ matrix.os }}", ["??${{ matrix.os }}"]),
        ("gpu-${{ matrix.n }}", ["?gpu-${{ matrix.n }}"]),
    ],
)
def test_labels_of_a_runner(runs_on: str, labels: list[str]) -> None:
    assert all_shown(job(github(f"jobs:\n  a:\n    runs-on: {runs_on}\n")).runner) == labels


@pytest.mark.parametrize(
    ("container", "image"),
    [
        ("ubuntu:22.04", "ubuntu:22.04"),
        ("{image: ubuntu}", "ubuntu"),
        ("''", None),
        ("{image: ''}", None),
        ("null", None),
        ("repo/img:${{ matrix.tag }}", "repo/img:${{ matrix.tag }}"),
    ],
)
def test_images_of_a_job(container: str, image: str | None) -> None:
    found = job(github(f"jobs:\n  a:\n    container: {container}\n")).container
    assert (found and found.image and found.image.shown) == image


def test_an_expression_as_image_or_options_is_open() -> None:
    found = own_container(
        job(github("jobs:\n  a:\n    container:\n      image: ${{ matrix.image }}\n      options: ${{ matrix.options }} --gpus all\n"))
    )
    assert "image" in found.open
    assert found.requests == ()


@pytest.mark.parametrize(
    ("shell", "read"),
    [("bash", True), ("sh -e {0}", True), ("bash -el {0}", True), ("pwsh", False), ("python", False), ("cmd", False), ("", True)],
)
def test_only_scripts_of_a_posix_shell_are_read(shell: str, read: bool) -> None:
    for text in (
        f"jobs:\n  a:\n    steps:\n      - run: docker run img\n        shell: {shell}\n",
        f"jobs:\n  a:\n    defaults: {{run: {{shell: '{shell}'}}}}\n    steps:\n      - run: docker run img\n",
        f"defaults: {{run: {{shell: '{shell}'}}}}\njobs:\n  a:\n    steps:\n      - run: docker run img\n",
    ):
        assert bool(commands(job(github(text)))) == read


def test_a_windows_runner_has_another_shell() -> None:
    text = (
        "jobs:\n  a:\n    runs-on: windows-latest\n    steps:\n      - run: docker run a\n      - run: docker run b\n        shell: bash\n"
    )
    assert commands(job(github(text))) == [["docker", "run", "b"]]


ACTION = """\
runs:
  using: composite
  steps:
    - run: |
        docker build -t app .
      shell: bash
    - uses: docker/build-push-action@v6
      with:
        context: ./app
        file: ./app/Dockerfile.gpu
        target: runtime
        push: true
        tags: |
          app:1
          registry/app:${{ github.sha }}
        build-args: |
          CUDA=12.4
          REF=${{ github.ref }}
"""


def test_builds_of_a_composite_action() -> None:
    found = job(github(ACTION))
    first, second = (build for lines in found.started for build in lines.builds)
    assert (all_shown(first.names), shown(first.context)) == (["app"], ".")
    assert all_shown(second.names) == ["app:1", "?registry/app:${{ github.sha }}"]
    assert (shown(second.dockerfile), shown(second.context), shown(second.target)) == ("./app/Dockerfile.gpu", "./app", "runtime")
    assert [(str(each.name), shown(each.value)) for each in second.arguments] == [("CUDA", "12.4"), ("REF", "?${{ github.ref }}")]
    assert (second.pushed, second.location[1:3], second.names[0].location[1:]) == (True, (7, 13), (14, 11, 14, 16))


def test_tags_may_stand_in_one_line() -> None:
    text = "jobs:\n  a:\n    steps:\n      - uses: docker/build-push-action@v6\n        with: {tags: 'a:1, b:2', push: 'false'}\n"
    ((build,),) = (lines.builds for lines in job(github(text)).started)
    assert (all_shown(build.names), build.context, build.pushed) == (["a:1", "b:2"], None, False)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--gpus all  --ipc host", ["--gpus", "all", "--ipc", "host"]),
        ('--shm-size "16gb"', ["--shm-size", "16gb"]),
        ('--gpus "\\"device=0,1\\""', ["--gpus", '"device=0,1"']),
        ('--gpus \\"device=0,1\\"', ["--gpus", '"device=0,1"']),
        ("--gpus '\"device=0,1\"'", ["--gpus", "'device=0,1'"]),
        ("-e 'A=b c'", ["-e", "'A=b", "c'"]),
        ('-e "A=b c"d', ["-e", "A=b cd"]),
        ("-v C:\\a:\\b", ["-v", "C:\\a:\\b"]),
        ('"a\\\\" b', ["a\\", "b"]),
        ('"a""b" ""', ['a"b', ""]),
        ("a\nb", ["a", "b"]),
        ('"a b', ["a b"]),
        ("--gpus ${{ a && 'b c' }} x${{ d }}", ["--gpus", "??${{ a && 'b c' }}", "?x${{ d }}"]),
        ("", []),
    ],
)
def test_options_are_split_as_the_runner_splits_them(options: str, expected: list[str]) -> None:
    text = Source("x", options.encode()).cut(0, len(options))
    assert [shown(word) for word, _ in split_arguments(text)] == expected


def test_quotes_for_a_shell_break_options() -> None:
    text = "jobs:\n  a:\n    container:\n      image: i\n      options: --gpus '\"device=0,1\"'\n"
    (request,) = own_container(job(github(text))).requests
    assert request.state is RequestState.BROKEN


GITLAB = """\
variables:
  REGISTRY: registry.example
  IMAGE: $REGISTRY/app
  TAG: {value: "1.2", description: the tag}
image: python:3.11
default:
  services: [docker:dind]
.build:
  image:
    name: $IMAGE:$TAG
    entrypoint: [""]
train:
  tags: [gpu, $RUNNER]
  services:
    - name: nvidia/cuda:12.4.1-base
      alias: card
      command: [nvidia-smi]
      variables: {NVIDIA_VISIBLE_DEVICES: all}
  variables:
    TAG: "2.0"
  before_script:
    - export WHO=me
  script:
    - docker run --gpus all $IMAGE:$TAG $WHO
    - [docker build -t a ., [echo x]]
    - !reference [.build, script]
    - |
      docker run \\
        b
  after_script: docker run $WHO
"""


def test_jobs_of_a_gitlab_file() -> None:
    pipeline = gitlab(GITLAB)
    assert [str(each.name) for each in pipeline.jobs] == ["image", "default", ".build", "train"]
    train = pipeline.jobs[-1]
    assert all_shown(train.runner) == ["gpu", "?$RUNNER"]
    assert commands(train) == [
        ["export", "WHO=me"],
        ["docker", "run", "--gpus", "all", "registry.example/app:2.0", "me"],
        ["docker", "build", "-t", "a", "."],
        ["echo", "x"],
        ["docker", "run", "b"],
        ["docker", "run", "??$WHO"],
    ]
    assert [run.location[1:] for lines in train.started for run in lines.containers] == [(24, 7, 24, 45), (28, 7, 29, 10), (30, 17, 30, 32)]


def test_containers_of_a_gitlab_file() -> None:
    found = [own for each in gitlab(GITLAB).jobs for own in (each.container, *each.services) if own]
    names = [own.image.shown if own.image else None for own in found]
    assert names == ["python:3.11", "docker:dind", "registry.example/app:1.2", "nvidia/cuda:12.4.1-base"]
    build, service = found[2:]
    assert (all_shown(build.entrypoint), build.location[1:3]) == ([""], (9, 3))
    assert (shown(service.name), all_shown(service.arguments)) == ("card", ["nvidia-smi"])
    assert [request.kind.value for request in service.requests] == ["visible-devices"]
    assert "gpu" in service.open


def test_a_line_that_may_set_a_variable_leaves_it_unknown_below() -> None:
    text = "a:\n  script:\n    - X=1\n    - if y; then X=2; fi\n    - b $X\n"
    assert commands(job(gitlab(text)))[-1] == ["b", "??$X"]


OTHER_FORMS = """
[]
a
jobs: []
jobs: {a: []}
jobs: {a: {steps: {}}}
jobs: {a: {container: [x], services: [y]}}
jobs: {a: {steps: [{run: [x], with: y, env: z, uses: {}}], runs-on: {labels: {}}}}
runs: x
a: &a [*a]
a: {script: {x: y}, image: [], services: {}}
"""


@pytest.mark.parametrize("text", OTHER_FORMS.splitlines())
def test_files_of_another_form_are_read_without_an_error(text: str) -> None:
    for pipeline in (github(text), gitlab(text)):
        assert list(pipeline.lines) is not None


def test_reading_hostile_options_takes_no_more_calls_than_their_length() -> None:
    for unit in ('"', "\\", "${{", "a ", '"a" ', "${{a}}", "a ${{a}} ", '"a"${{a}}'):
        options = unit * (60_000 // len(unit))
        text = Text(options, Source("x", options.encode()).location(0, len(options)))
        workflow = Source("x", f"jobs: {{a: {{container: {{image: b, options: {options!r}}}}}}}".encode())
        assert calls(lambda text=text: split_arguments(text)) < 100 * len(text)
        assert calls(lambda workflow=workflow: read_workflow("x", parse(workflow))) < 100 * len(text)
