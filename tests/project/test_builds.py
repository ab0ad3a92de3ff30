"""Which Dockerfile an image is built from here, and which file of the repository stands at a path in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.project.builds import Built, container_path

DOCKERFILE = "FROM python:3.12 AS run\nFROM python:3.12 AS test\n"


def built(folder: Path, files: dict[str, str], name: str = "app") -> Built | None:
    """How the image of the container of that name is built."""
    whole = project(folder, files, everything=True)
    (container,) = (each for each in whole.containers if each.name == name)
    return whole.build_of(container)


def recipe(folder: Path, files: dict[str, str], name: str = "app") -> str:
    """The Dockerfile, the stage by its number and the context folder of a container's image; "" where no link is certain."""
    found = built(folder, files, name)
    return f"{found.stage.path} {found.stage.index} {found.context or '.'}" if found else ""


# --- build: beside it -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compose", "build", "expected"),
    [
        ("compose.yaml", ".", "Dockerfile 1 ."),
        ("compose.yaml", "./app", "app/Dockerfile 1 app"),
        ("compose.yaml", "app/", "app/Dockerfile 1 app"),
        ("deploy/compose.yaml", "..", "Dockerfile 1 ."),
        ("deploy/compose.yaml", "../app", "app/Dockerfile 1 app"),
        ("compose.yaml", "{context: app}", "app/Dockerfile 1 app"),
        ("compose.yaml", "{context: ., dockerfile: app/Dockerfile}", "app/Dockerfile 1 ."),
        ("compose.yaml", "{context: app, dockerfile: ../docker/gpu.Dockerfile}", "docker/gpu.Dockerfile 1 app"),
        ("compose.yaml", "{context: ., target: run}", "Dockerfile 0 ."),
        ("compose.yaml", "{context: ., target: RUN}", "Dockerfile 0 ."),
        ("compose.yaml", "{target: run}", "Dockerfile 0 ."),
        ("compose.yaml", "{context: lower}", "lower/dockerfile 1 lower"),
        ("compose.yaml", "{context: red}", "red/Containerfile 1 red"),
        ("compose.yaml", "${CONTEXT:-app}", "app/Dockerfile 1 app"),
    ],
)
def test_a_build_beside_the_container(tmp_path: Path, compose: str, build: str, expected: str) -> None:
    paths = ("Dockerfile", "app/Dockerfile", "docker/gpu.Dockerfile", "lower/dockerfile", "red/Containerfile")
    files = {compose: f"services:\n  app:\n    build: {build}\n", **dict.fromkeys(paths, DOCKERFILE)}
    assert recipe(tmp_path, files) == expected


@pytest.mark.parametrize(
    "build",
    [
        "../outside",
        "/srv/app",
        "https://github.com/acme/app.git",
        "empty",
        "${CONTEXT}",
        "{context: ., dockerfile: nowhere.Dockerfile}",
        "{context: ., dockerfile: ../../outside/Dockerfile}",
        "{context: ., dockerfile: '${DOCKERFILE}'}",
        "{context: ., target: nowhere}",
        "{context: ., target: '${TARGET}'}",
        "{context: ., dockerfile_inline: 'FROM python:3.12'}",
    ],
)
def test_a_build_that_is_not_certain_is_no_link(tmp_path: Path, build: str) -> None:
    files = {"compose.yaml": f"services:\n  app:\n    build: {build}\n", "Dockerfile": DOCKERFILE, "empty/notes.txt": ""}
    assert recipe(tmp_path, files) == ""


def test_an_own_build_goes_before_the_name(tmp_path: Path) -> None:
    files = {
        "compose.yaml": "services:\n  app:\n    image: acme/app\n    build: here\n",
        "build.sh": "docker build -t acme/app there\n",
        "here/Dockerfile": DOCKERFILE,
        "there/Dockerfile": DOCKERFILE,
    }
    found = built(tmp_path, files)
    assert found is not None
    assert (found.stage.path, found.how) == ("here/Dockerfile", "build: beside it")


# --- Build commands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "command", "expected"),
    [
        ("build.sh", "docker build -t acme/app:1.0.0 .", "Dockerfile 1 ."),
        ("build.sh", "docker buildx build --push --tag acme/app app", "app/Dockerfile 1 app"),
        ("build.sh", "docker build -t acme/app -f docker/gpu.Dockerfile .", "docker/gpu.Dockerfile 1 ."),
        ("build.sh", "docker build -t acme/app --file=docker/gpu.Dockerfile app", "docker/gpu.Dockerfile 1 app"),
        ("build.sh", "docker build -t acme/app --target run .", "Dockerfile 0 ."),
        ("build.sh", "IMAGE=acme/app\ndocker build -t $IMAGE:$(git rev-parse HEAD) .", "Dockerfile 1 ."),
        ("build.sh", "podman build -t acme/app app", "app/Dockerfile 1 app"),
        ("build.sh", "docker build -t acme/other -t acme/app:2 app", "app/Dockerfile 1 app"),
        ("scripts/build.sh", "docker build -t acme/app app", "app/Dockerfile 1 app"),
        ("app/build.sh", "docker build -t acme/app -f Dockerfile.gpu .", "app/Dockerfile.gpu 1 app"),
        ("Makefile", "IMAGE := acme/app\n\nbuild:\n\tdocker build -t $(IMAGE):1 app", "app/Dockerfile 1 app"),
        ("justfile", "build:\n    docker build -t acme/app app", "app/Dockerfile 1 app"),
        (".gitlab-ci.yml", "build:\n  script:\n    - docker build -t acme/app app", "app/Dockerfile 1 app"),
    ],
)
def test_a_build_command_gives_the_image_its_name(tmp_path: Path, script: str, command: str, expected: str) -> None:
    paths = ("Dockerfile", "app/Dockerfile", "app/Dockerfile.gpu", "docker/gpu.Dockerfile")
    files = {script: f"{command}\n", "compose.yaml": "services:\n  app:\n    image: acme/app:1.0.0\n", **dict.fromkeys(paths, DOCKERFILE)}
    assert recipe(tmp_path, files) == expected


def test_the_action_that_builds_gives_the_image_its_name(tmp_path: Path) -> None:
    files = {
        ".github/workflows/build.yml": """
            on: push
            jobs:
              build:
                runs-on: ubuntu-latest
                steps:
                  - uses: docker/build-push-action@v6
                    with:
                      context: app
                      file: docker/gpu.Dockerfile
                      target: run
                      tags: ghcr.io/acme/app:latest
            """,
        "docker/gpu.Dockerfile": DOCKERFILE,
        "compose.yaml": "services:\n  app:\n    image: ghcr.io/acme/app:1.0.0\n",
    }
    assert recipe(tmp_path, files) == "docker/gpu.Dockerfile 0 app"


@pytest.mark.parametrize(
    "command",
    [
        "docker build -t acme/app $FOLDER",
        "docker build -t acme/app -f $FILE .",
        "docker build -t acme/app --target $TARGET .",
        "docker build -t $IMAGE .",
        "docker build .",
        "docker build -t acme/app -",
        "docker build -t acme/app ../outside",
        "docker build -t acme/app nowhere",
    ],
)
def test_a_build_command_that_is_not_certain_is_no_link(tmp_path: Path, command: str) -> None:
    files = {"build.sh": f"{command}\n", "Dockerfile": DOCKERFILE, "compose.yaml": "services:\n  app:\n    image: acme/app:1.0.0\n"}
    assert recipe(tmp_path, files) == ""


def test_a_context_that_fits_the_root_and_the_folder_of_the_script_is_not_certain(tmp_path: Path) -> None:
    files = {
        "app/build.sh": "docker build -t acme/app .\n",
        "compose.yaml": "services:\n  app:\n    image: acme/app\n",
        "app/Dockerfile": DOCKERFILE,
    }
    assert recipe(tmp_path, files) == "app/Dockerfile 1 app"
    assert recipe(tmp_path, {**files, "Dockerfile": DOCKERFILE}) == ""


def test_how_a_link_was_found_names_the_place(tmp_path: Path) -> None:
    found = built(
        tmp_path,
        {
            "build.sh": "set -e\ndocker build -t acme/app:1 .\n",
            "Dockerfile": DOCKERFILE,
            "compose.yaml": "services:\n  app:\n    image: acme/app\n",
        },
    )
    assert found is not None
    assert found.how == "built as acme/app:1 at build.sh:2:1"


# --- Names ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("one/app", "one/Dockerfile 1 one"),
        ("one/app:2.0.0", "one/Dockerfile 1 one"),
        ("mirror.example.com/team/app", ""),
        ("mirror.example.com/team/tool:3", "tool/Dockerfile 1 tool"),
        ("mirror.example.com/tool/other", ""),
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", ""),
        ("acme/cuda:1.0.0", "cuda/Dockerfile 1 cuda"),
        ("${REGISTRY}/tool", ""),
    ],
    ids=[
        "the whole name",
        "with another tag",
        "the last part of two",
        "the last part of one",
        "another last part",
        "a public image of the same last part",
        "the whole name of one that shares it",
        "a name that is not known",
    ],
)
def test_the_last_part_of_a_name_links_where_one_recipe_gives_it(tmp_path: Path, image: str, expected: str) -> None:
    names = {"one": "one/app", "two": "two/app", "tool": "acme/tool", "cuda": "acme/cuda"}
    files = {
        "build.sh": "".join(f"docker build -t {name} {folder}\n" for folder, name in names.items()),
        **{f"{folder}/Dockerfile": DOCKERFILE for folder in names},
        "compose.yaml": f"services:\n  app:\n    image: {image}\n",
    }
    assert recipe(tmp_path, files) == expected


def test_the_same_recipe_in_two_places_is_one(tmp_path: Path) -> None:
    files = {
        "build.sh": "docker build -t one/app app\n",
        "Makefile": "build:\n\tdocker build -t two/app app\n",
        "app/Dockerfile": DOCKERFILE,
        "compose.yaml": "services:\n  app:\n    image: three/app\n",
    }
    assert recipe(tmp_path, files) == "app/Dockerfile 1 app"


def test_the_name_of_a_service_that_builds_links_the_others(tmp_path: Path) -> None:
    files = {
        "compose.yaml": "services:\n  first:\n    image: acme/app\n    build: {context: ., target: run}\n",
        "pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: app\n      image: registry.example.com/app:1\n",
        "Dockerfile": DOCKERFILE,
    }
    assert recipe(tmp_path, files) == "Dockerfile 0 ."


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("acme/app:gpu", "gpu.Dockerfile 1 ."),
        ("acme/app:cpu", "cpu.Dockerfile 1 ."),
        ("mirror.acme.example/app:gpu", "gpu.Dockerfile 1 ."),
        ("acme/app", "plain.Dockerfile 1 ."),
        ("acme/app:latest", "plain.Dockerfile 1 ."),
        ("acme/app:1.0.0", ""),
        ("acme/app:$TAG", ""),
        ("acme/app@sha256:" + "a" * 64, ""),
    ],
)
def test_the_tag_tells_recipes_of_one_name_apart(tmp_path: Path, image: str, expected: str) -> None:
    files = {
        "build.sh": "docker build -t acme/app:cpu -f cpu.Dockerfile .\n"
        "docker build -t acme/app:gpu -f gpu.Dockerfile .\n"
        "docker build -t acme/app -f plain.Dockerfile .\n",
        **dict.fromkeys(("cpu.Dockerfile", "gpu.Dockerfile", "plain.Dockerfile"), DOCKERFILE),
        "compose.yaml": f"services:\n  app:\n    image: {image}\n",
    }
    assert recipe(tmp_path, files) == expected


def test_recipes_of_one_name_and_tag_are_not_certain(tmp_path: Path) -> None:
    files = {
        "build.sh": "docker build -t acme/app:gpu -f a.Dockerfile .\ndocker build -t acme/app:gpu -f b.Dockerfile .\n",
        **dict.fromkeys(("a.Dockerfile", "b.Dockerfile"), DOCKERFILE),
        "compose.yaml": "services:\n  app:\n    image: acme/app:gpu\n",
    }
    assert recipe(tmp_path, files) == ""


@pytest.mark.parametrize(
    ("path", "script", "expected"),
    [
        ("build.sh", "cd app && docker build -t acme/app .", "app/Dockerfile 1 app"),
        ("build.sh", "cd app\ndocker build -t acme/app .", "app/Dockerfile 1 app"),
        ("build.sh", "cd app\ndocker build -t acme/app ..", "Dockerfile 1 ."),
        ("build.sh", "cd app\ndocker build -t acme/app -f Dockerfile ..", "app/Dockerfile 1 ."),
        ("build.sh", "(cd app && true)\ndocker build -t acme/app .", "Dockerfile 1 ."),
        ("build.sh", "cd $WHERE\ndocker build -t acme/app .", ""),
        ("ci/build.sh", "cd app && docker build -t acme/app .", "app/Dockerfile 1 app"),
        ("ci/build.sh", 'cd "$(dirname "$0")/.."\ndocker build -t acme/app app', "app/Dockerfile 1 app"),
        ("app/build.sh", 'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\ndocker build -t acme/app "$HERE"', "app/Dockerfile 1 app"),
        ("app/build.sh", 'HERE=$(dirname $0)\ndocker build -t acme/app -f "$HERE/Dockerfile" "$HERE/.."', "app/Dockerfile 1 ."),
        ("ci/build.sh", "cd $(git rev-parse --show-toplevel)/app\ndocker build -t acme/app .", "app/Dockerfile 1 app"),
        ("app/build.sh", "docker build -t acme/app .", ""),
        ("Makefile", "image:\n\tcd app && docker build -t acme/app .", "app/Dockerfile 1 app"),
        ("Makefile", "image:\n\tcd app\n\tdocker build -t acme/app .", "Dockerfile 1 ."),
        ("Makefile", "image:\n\tdocker build -t acme/app $(CURDIR)/app", "app/Dockerfile 1 app"),
        (".gitlab-ci.yml", "build:\n  script:\n    - cd app\n    - docker build -t acme/app .", "app/Dockerfile 1 app"),
    ],
)
def test_a_command_counts_from_where_its_script_went(tmp_path: Path, path: str, script: str, expected: str) -> None:
    compose = "services:\n  app:\n    image: acme/app\n"
    files = {path: f"{script}\n", "Dockerfile": DOCKERFILE, "app/Dockerfile": DOCKERFILE, "compose.yaml": compose}
    assert recipe(tmp_path, files) == expected


@pytest.mark.parametrize(
    ("workflow", "expected"),
    [
        ("jobs:\n  a:\n    steps:\n      - run: docker build -t acme/app .\n", "Dockerfile 1 ."),
        ("jobs:\n  a:\n    steps:\n      - run: docker build -t acme/app .\n        working-directory: app\n", "app/Dockerfile 1 app"),
        (
            "jobs:\n  a:\n    defaults: {run: {working-directory: app}}\n    steps:\n      - run: docker build -t acme/app .\n",
            "app/Dockerfile 1 app",
        ),
        (
            "defaults: {run: {working-directory: app}}\njobs:\n  a:\n    steps:\n      - run: cd .. && docker build -t acme/app .\n",
            "Dockerfile 1 .",
        ),
        ("jobs:\n  a:\n    steps:\n      - run: docker build -t acme/app .\n        working-directory: ${{ matrix.folder }}\n", ""),
        (
            "jobs:\n  a:\n    steps:\n      - uses: docker/build-push-action@v6\n        with: {tags: acme/app, file: app/Dockerfile}\n",
            "app/Dockerfile 1 .",
        ),
    ],
)
def test_a_step_counts_from_its_working_directory(tmp_path: Path, workflow: str, expected: str) -> None:
    files = {
        ".github/workflows/build.yml": f"on: push\n{workflow}",
        "Dockerfile": DOCKERFILE,
        "app/Dockerfile": DOCKERFILE,
        "compose.yaml": "services:\n  app:\n    image: acme/app\n",
    }
    assert recipe(tmp_path, files) == expected


# --- Paths in the image ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instructions", "path", "expected"),
    [
        ("COPY . /app", "/app/train.py", "train.py"),
        ("COPY . /app/", "/app/src/run.py", "src/run.py"),
        ("WORKDIR /app\nCOPY . .", "/app/src/run.py", "src/run.py"),
        ("WORKDIR /app\nWORKDIR code\nCOPY src ./", "/app/code/run.py", "src/run.py"),
        ("COPY train.py /app/", "/app/train.py", "train.py"),
        ("COPY train.py /app/main.py", "/app/main.py", "train.py"),
        ("COPY src/run.py train.py /app/", "/app/run.py", "src/run.py"),
        ("COPY src/ /app/", "/app/run.py", "src/run.py"),
        ("COPY src /app/src", "/app/src/run.py", "src/run.py"),
        ("COPY --chown=app:app /src /app", "/app/run.py", "src/run.py"),
        ('COPY ["src", "/app"]', "/app/run.py", "src/run.py"),
        ("ADD src /app", "/app/run.py", "src/run.py"),
        ("ARG HOME=/srv\nENV APP=$HOME/app\nCOPY src ${APP}", "/srv/app/run.py", "src/run.py"),
        ("COPY train.py /app/run.py\nCOPY src/run.py /app/run.py", "/app/run.py", "src/run.py"),
        ("COPY . /", "/train.py", "train.py"),
    ],
)
def test_a_path_in_the_image_is_mapped_by_what_is_copied(tmp_path: Path, instructions: str, path: str, expected: str) -> None:
    assert mapped(tmp_path, f"FROM python:3.12\n{instructions}\n", path) == expected


def test_what_an_earlier_stage_copies_counts_where_a_stage_builds_on_it(tmp_path: Path) -> None:
    dockerfile = "FROM python:3.12 AS base\nCOPY src /app\nFROM base\nCOPY train.py /app/\n"
    assert mapped(tmp_path, dockerfile, "/app/run.py") == "src/run.py"
    assert mapped(tmp_path, dockerfile, "/app/train.py") == "train.py"


@pytest.mark.parametrize(
    ("instructions", "path"),
    [
        ("COPY src /app", "/app/train.py"),
        ("COPY src /application", "/app/run.py"),
        ("COPY $SOURCE /app", "/app/train.py"),
        ("COPY . $TARGET", "/app/train.py"),
        ("COPY --from=build . /app", "/app/train.py"),
        ("COPY . /app", "/app/../../etc/passwd"),
        ("RUN git clone https://example.com/app /app", "/app/train.py"),
    ],
)
def test_what_is_not_copied_from_the_context_is_not_mapped(tmp_path: Path, instructions: str, path: str) -> None:
    assert mapped(tmp_path, f"FROM python:3.12\n{instructions}\n", path) is None


@pytest.mark.parametrize(
    ("source", "path", "expected"),
    [
        ("*.py", "/app/train.py", "train.py"),
        ("train.p[xy]", "/app/train.py", "train.py"),
        ("[^a-s]rain.py", "/app/train.py", "train.py"),
        ("*.py", "/app/run.py", None),
        ("*.py", "/app/src/run.py", None),
        ("s*/", "/app/run.py", "src/run.py"),
        ("s*", "/app/run.py", "src/run.py"),
        ("s*", "/app/src/run.py", None),
        ("src/ru?.py", "/app/run.py", "src/run.py"),
        ("*/run.py", "/app/run.py", "src/run.py"),
        ("/src/*", "/app/run.py", "src/run.py"),
        ("*", "/app/train.py", "train.py"),
        ("*", "/app/run.py", "src/run.py"),
        ("../*.py", "/app/train.py", None),
    ],
)
def test_wild_cards_of_a_copy_stand_for_the_files_that_fit(tmp_path: Path, source: str, path: str, expected: str | None) -> None:
    assert mapped(tmp_path, f"FROM python:3.12\nCOPY {source} /app/\n", path) == expected


def test_the_context_is_where_sources_count_from(tmp_path: Path) -> None:
    files = {
        "compose.yaml": "services:\n  app:\n    build: {context: app, dockerfile: ../docker/Dockerfile}\n",
        "docker/Dockerfile": "FROM python:3.12\nCOPY train.py /\n",
        "app/train.py": "",
        "train.py": "",
    }
    whole = project(tmp_path, files, everything=True)
    found = whole.build_of(whole.containers[0])
    assert found is not None
    assert container_path(found, "/train.py", whole.tree) == "app/train.py"


def mapped(folder: Path, dockerfile: str, path: str) -> str | None:
    """The file of the repository that stands at a path of an image built in the root."""
    files = {"compose.yaml": "services:\n  app:\n    build: .\n", "Dockerfile": dockerfile, "train.py": "", "src/run.py": ""}
    whole = project(folder, files, everything=True)
    found = whole.build_of(whole.containers[0])
    assert found is not None
    return container_path(found, path, whole.tree)
