"""What one value or file may cost where thousands of places use it: each bound holds, and what is real lies below it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_repository import concise, gpulint, write

from gpulint import facts
from gpulint.engine import LONGEST_SENTENCE
from gpulint.facts import LONGEST_WORD, fullmatch
from gpulint.model.image import LONGEST_REFERENCE, parse_image
from gpulint.model.interpolation import LONGEST_INSERTED, interpolate
from gpulint.parse import dockerfile, shell, yaml
from gpulint.parse.quantity import parse_natural
from gpulint.project.builds import _MOST_LAYERS
from gpulint.project.compose import compose_containers
from gpulint.project.compose_reader import _MOST_ENV_VARIABLES, _MOST_INCLUDED, ComposeReader
from gpulint.project.kubernetes import kubernetes_containers
from gpulint.project.tree import Tree
from gpulint.project.variants import _MOST_SIBLINGS
from gpulint.report.run import Run
from gpulint.report.sarif import LONGEST_LINE, render
from gpulint.rule import Finding, Problem, Severity
from gpulint.source import Location, Source, Text, Unknown
from gpulint.suppress import LONGEST_REASON

IMAGE = "nvidia/cuda:12.4.1-runtime-ubuntu22.04"

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    - name: a\n      image: acme/a:1.0\n"


def text(written: str) -> Text:
    return Text(written, Location("compose.yaml", 1, 1, 1, 1 + len(written)))


def tree(files: dict[str, str]) -> Tree:
    return Tree(Path(), (), {path: data.encode() for path, data in files.items()})


def read(path: str, content: str) -> Source:
    return Source(path, content.encode())


@pytest.mark.parametrize(("length", "times", "is_read"), [(100, 1_000, True), (1_000_000, 10, True), (1_000_000, 20, False)])
def test_aliases_repeat_no_more_characters_than_values(length: int, times: int, is_read: bool) -> None:
    syntax = yaml.parse(read("a.yaml", f"x: &x {'x' * length}\ny: [{'*x, ' * times}]\n"))
    assert (syntax.problems == ()) is is_read


@pytest.mark.parametrize(("length", "is_known"), [(LONGEST_INSERTED, True), (LONGEST_INSERTED + 20, False)])
def test_a_reference_puts_no_more_into_a_scalar_than_anyone_writes(length: int, is_known: bool) -> None:
    value = interpolate(text("python $A"), {"A": text("a" * length)}).value()
    assert isinstance(value, Text) is is_known


@pytest.mark.parametrize(("length", "is_known"), [(400, True), (LONGEST_REFERENCE + 1, False)])
def test_nothing_is_known_of_an_image_that_no_registry_takes(length: int, is_known: bool) -> None:
    image = parse_image(text(f"acme/{'a' * (length - 9)}:gpu"))
    assert isinstance(image.name, Text) is is_known
    assert len(image.shown) <= LONGEST_REFERENCE


def test_a_word_that_no_table_tells_of_is_tried_on_no_pattern() -> None:
    assert fullmatch("a*", "a" * LONGEST_WORD)
    assert fullmatch("a*", "a" * LONGEST_WORD + "a") is None


@pytest.mark.parametrize(
    ("written", "number"),
    [("0", 0), ("08", 8), ("9" * 60, int("9" * 60)), ("9" * 5_000, None), ("²", None), ("٣", None), ("-1", None), ("", None)],
)
def test_digits_are_a_number_as_far_as_a_real_one_goes(written: str, number: int | None) -> None:
    assert parse_natural(written) == number


@pytest.mark.parametrize("module", sorted(Path(facts.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_every_pattern_of_a_table_is_tried_on_words_of_that_length(module: Path) -> None:
    assert "re.fullmatch(row[" not in module.read_text(encoding="utf-8")


def test_a_script_has_no_more_commands_than_anyone_writes() -> None:
    assert shell.parse(text("a;" * 5_000)).error == ""
    assert shell.parse(text("a;" * 5_001)).error == "there are more than 5,000 commands"


def test_a_dockerfile_has_no_more_instructions_than_anyone_writes() -> None:
    syntax = dockerfile.parse(read("Dockerfile", "FROM a\n" + "RUN b\n" * 6_000))
    assert len(syntax.instructions) == 5_000
    assert [(problem.message, problem.location.line) for problem in syntax.problems] == [
        ("The file has more than 5,000 instructions.", 5_001)
    ]


def test_a_container_has_no_more_siblings_beside_it_than_anyone_writes() -> None:
    containers = "".join(f"    - {{name: c{at}, image: {IMAGE}}}\n" for at in range(_MOST_SIBLINGS + 50))
    pod = tree({"pod.yaml": f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n{containers}"})
    assert {len(container.siblings) for container in kubernetes_containers(pod)} == {_MOST_SIBLINGS}


def test_the_services_of_a_run_are_given_no_more_variables_than_anyone_writes() -> None:
    services = "".join(f"  s{at}: {{image: a, env_file: a.env}}\n" for at in range(20))
    files = {"compose.yaml": f"services:\n{services}", "a.env": "".join(f"A{at}=1\n" for at in range(9_000))}
    containers = compose_containers(tree(files))
    assert sum(len(container.env) for container in containers) < _MOST_ENV_VARIABLES + 9_000
    assert ("env" in containers[0].open, "env" in containers[-1].open) == (False, True)


def test_a_file_that_everyone_includes_does_not_grow_with_them() -> None:
    services = "".join(f"  s{at}: {{image: a}}\n" for at in range(2_000))
    mains = {f"{at}/compose.yaml": "include: [../lib/compose.yaml]\nservices: {main: {image: a}}\n" for at in range(40)}
    reader = ComposeReader(tree({**mains, "lib/compose.yaml": f"services:\n{services}"}))
    sizes = [len(reader.merged((path,))) for path in mains]
    assert (sizes[0], sizes[-1]) == (2_001, 1)
    assert sum(sizes) < _MOST_INCLUDED + 5_000


@pytest.mark.parametrize(("copies", "links"), [(_MOST_LAYERS - 1, 1), (_MOST_LAYERS, 0)])
def test_a_program_is_looked_for_in_no_more_layers_than_an_image_has(tmp_path: Path, copies: int, links: int) -> None:
    others = "".join(f"COPY other{at} /other{at}/\n" for at in range(copies))
    write(
        tmp_path,
        {
            "Dockerfile": f"FROM {IMAGE}\nCOPY train.py /app/run.py\n{others}",
            "train.py": 'import torch\nmodel.to("cuda")\n',
            "compose.yaml": "services:\n  a:\n    build: .\n    gpus: all\n    command: python /app/run.py\n",
        },
    )
    assert f"{links} to a program" in gpulint(tmp_path, ".").stderr


@pytest.mark.parametrize(
    "files",
    [
        {"pod.yaml": f"{POD}      resources: {{limits: {{nvidia.com/gpu: {'x' * 5_000}}}}}\n"},
        {"compose.yaml": f"services:\n  a:\n    image: {IMAGE}\n    gpus: *{'x' * 5_000}\n"},
        {"compose.yaml": f"# gpulint: ignore[{'x' * 5_000}]\nservices:\n  a:\n    image: acme/a:1.0\n    gpus: all\n"},
    ],
    ids=["rule", "syntax", "ignore"],
)
def test_a_message_is_no_longer_than_a_person_reads(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    (line,) = concise(tmp_path)
    assert LONGEST_SENTENCE < len(line) < LONGEST_SENTENCE + 100


def test_a_reason_is_no_longer_than_a_person_reads(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"compose.yaml": f"services:\n  a:\n    # gpulint: ignore[GPU101] {'x' * 5_000}\n    image: acme/a:latest-gpu\n    gpus: all\n"},
    )
    log = json.loads(gpulint(tmp_path, ".", "--format", "sarif").stdout)
    (suppression,) = (each for result in log["runs"][0]["results"] for each in result.get("suppressions", ()))
    assert len(suppression["justification"]) == LONGEST_REASON


def test_findings_on_one_long_line_share_it() -> None:
    source = read("a.yaml", "\n" + "a" * 1_000_000 + "\n")
    assert source.line(2) is source.line(2)


def test_a_column_counts_in_utf16() -> None:
    source = read("a.yaml", "😀b\nx😀é😀z\n")
    assert [source.utf16_column(2, column) for column in range(1, 7)] == [1, 2, 4, 5, 7, 8]


def test_a_finding_on_a_long_line_is_known_by_what_stands_around_it() -> None:
    def fingerprint(line: str) -> str:
        source, place = read("a.yaml", line), Location("a.yaml", 1, line.index("@") + 1, 1, line.index("@") + 2)
        finding = Finding("GPU101", "a", Problem(place, "b", Severity.WARNING))
        run = Run((finding,), (), {}, lambda _: source, Path(), "1")
        return str(json.loads(render(run))["runs"][0]["results"][0]["partialFingerprints"])

    near, far = "b" * LONGEST_LINE, "c" * 10_000
    assert fingerprint(f"{far}{near}@{near}") == fingerprint(f"{far}d{near}@{near}")
    assert fingerprint(f"{far}{near}@{near}") != fingerprint(f"{far}{near[:-1]}d@{near}")


def test_an_unknown_image_is_still_one() -> None:
    image = parse_image(text("a" * (LONGEST_REFERENCE + 1)))
    assert all(isinstance(part, Unknown) for part in (image.name, image.tag, image.digest))
