"""Ignores: where a comment or an annotation holds a finding back, how far it reaches, and what is said of one that is of no use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_repository import concise, gpulint, spoken, write

POD = """
    apiVersion: v1
    kind: Pod
    metadata:
      name: {name}
      annotations: {annotations}
    spec:
      containers:
        - name: {name}
          image: acme/render:latest-gpu
          resources: {{limits: {{nvidia.com/gpu: 1}}}}
    """


# --- Comments -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "comment",
    [
        "# gpulint: ignore[GPU101] demo",
        "# gpulint: ignore[unpinned-gpu-image] demo",
        "# gpulint: ignore[GPU1] demo",
        "# gpulint: ignore[ALL]",
        "# gpulint: ignore[GPU202, GPU101] demo",
        "#gpulint:ignore[GPU101]",
    ],
)
def test_a_comment_behind_a_line_holds_for_that_line(tmp_path: Path, comment: str) -> None:
    write(
        tmp_path,
        {
            "compose.yaml": f"""
                services:
                  a:
                    image: acme/render:latest-gpu  {comment}
                    gpus: all
                  b:
                    image: acme/render:latest-gpu
                    gpus: all
                """
        },
    )
    assert spoken(tmp_path) == ["compose.yaml:6:12 warning GPU101"]


def test_a_comment_of_another_rule_holds_nothing_back(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": "services:\n  a:\n    image: acme/render:latest-gpu  # gpulint: ignore[GPU202] demo\n    gpus: all\n"})
    assert spoken(tmp_path) == ["compose.yaml:3:12 warning GPU101", "compose.yaml:3:36 warning GPU004"]


@pytest.mark.parametrize(
    "lines",
    [
        "# gpulint: ignore[GPU201] the CPU host\n{}",
        "# gpulint: ignore[GPU201] the CPU host\n\n# and more of it\n{}",
        "{}  # gpulint: ignore[GPU201] the CPU host",
    ],
    ids=["above", "above, with blank lines and comments between", "behind"],
)
def test_on_a_key_a_comment_holds_for_its_block(tmp_path: Path, lines: str) -> None:
    service = "    image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\n"
    block = "".join(f"  {line}\n" for line in lines.format("a:").splitlines())
    write(tmp_path, {"compose.yaml": f"services:\n{block}{service}  b:\n{service}"})
    assert [line.split()[1:] for line in spoken(tmp_path)] == [["warning", "GPU201"]]
    assert concise(tmp_path)[0].startswith(f"compose.yaml:{3 + block.count(chr(10))}:3:")


def test_on_an_item_of_a_sequence_it_holds_for_the_item(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pod.yaml": """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: render
                spec:
                  containers:
                    - name: a  # gpulint: ignore[GPU101] demo
                      resources: {limits: {nvidia.com/gpu: 1}}
                      image: acme/render:latest-gpu
                    # gpulint: ignore[GPU101] demo
                    - name: b
                      image: acme/render:latest-gpu
                      resources: {limits: {nvidia.com/gpu: 1}}
                    - name: c
                      image: acme/render:latest-gpu
                      resources: {limits: {nvidia.com/gpu: 1}}
                """
        },
    )
    assert spoken(tmp_path) == ["pod.yaml:15:14 warning GPU101"]


def test_on_a_key_whose_list_stands_at_its_column_it_holds_for_the_list(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pod.yaml": """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: render
                spec:
                  initContainers:  # gpulint: ignore[GPU101] demo
                  - name: a
                    image: acme/render:latest-gpu
                  containers:
                  - name: b
                    image: acme/render:latest-gpu
                    resources: {limits: {nvidia.com/gpu: 1}}
                """
        },
    )
    assert spoken(tmp_path) == ["pod.yaml:11:12 warning GPU101"]


def test_actions_of_a_template_do_not_end_a_block(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Chart.yaml": "apiVersion: v2\nname: render\nversion: 1.0.0\n",
            "values.yaml": "big: true\n",
            "templates/pod.yaml": """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: render
                spec:
                  # gpulint: ignore[GPU101] demo
                  containers:
                {{- if .Values.big }}
                    - name: a
                      image: acme/render:latest-gpu
                      resources: {limits: {nvidia.com/gpu: 1}}
                {{- end }}
                    - name: b
                      image: acme/render:latest-gpu
                      resources: {limits: {nvidia.com/gpu: 1}}
                """,
        },
    )
    assert spoken(tmp_path) == []
    assert spoken(tmp_path, "--no-ignores") == ["templates/pod.yaml:10:14 warning GPU101", "templates/pod.yaml:14:14 warning GPU101"]


PROGRAM = """
    import torch
    import click

    {}
        model = torch.nn.Linear(8, 8)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        optimizer = torch.optim.Adam(model.to(device).parameters())
        for batch in range(10):
            loss = model(torch.rand(8).to(device)).sum()
            loss.backward()
            optimizer.step()

    if __name__ == "__main__":
        main()
    """


@pytest.mark.parametrize(
    "definition",
    [
        "def main():  # gpulint: ignore[GPU601] the CPU will do",
        "# gpulint: ignore[GPU601] the CPU will do\n    def main():",
        "def main(  # gpulint: ignore[GPU601] the CPU will do\n        size=8,\n    ) -> None:",
        "# gpulint: ignore[GPU601] no\n    @click.command()\n    @click.option(\n        '--size',\n    )\n    def main(size=8):",
    ],
    ids=["behind a def", "above a def", "on a def of several lines", "above decorators"],
)
def test_on_a_definition_it_holds_for_all_of_it(tmp_path: Path, definition: str) -> None:
    write(tmp_path, {"train.py": PROGRAM.format(definition)})
    assert spoken(tmp_path, "train.py") == []
    assert [line.split()[1:] for line in spoken(tmp_path, "train.py", "--no-ignores")] == [["warning", "GPU601"]]


def test_a_definition_ends_where_the_next_begins(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": PROGRAM.format("def other():  # gpulint: ignore[GPU601] no\n        return 1\n\n    def main():")})
    assert [line.split()[1:] for line in spoken(tmp_path, "train.py")] == [["warning", "GPU601"]]


def test_above_a_command_it_holds_for_all_lines_of_the_command(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "run.sh": """
                # gpulint: ignore[GPU101] demo
                docker run --rm --gpus all \\
                  -v models:/models \\
                  acme/render:latest-gpu
                docker run --gpus all acme/render:latest-gpu
                """
        },
    )
    assert spoken(tmp_path) == ["run.sh:5:23 warning GPU101"]


def test_a_comment_works_within_a_block_of_text(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitlab-ci.yml": """
                render:
                  script:
                    - |
                      # gpulint: ignore[GPU101] demo
                      docker run --gpus all acme/render:latest-gpu
                      docker run --gpus all acme/render:latest-gpu
                """
        },
    )
    assert [line for line in spoken(tmp_path) if "GPU101" in line] == [".gitlab-ci.yml:6:29 warning GPU101"]


def test_ignore_file_holds_for_the_file_wherever_it_stands(tmp_path: Path) -> None:
    service = "  {0}:\n    image: acme/render:latest-gpu\n    gpus: all\n"
    write(
        tmp_path,
        {
            "a/compose.yaml": "services:\n" + service.format("a") + service.format("b") + "# gpulint: ignore-file[GPU101] demo\n",
            "b/compose.yaml": "services:\n" + service.format("c"),
        },
    )
    assert spoken(tmp_path) == ["b/compose.yaml:3:12 warning GPU101"]


# --- Dockerfiles ----------------------------------------------------------------------------------------------------------------


def test_above_an_instruction_it_holds_for_all_of_its_lines(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Dockerfile": """
                # gpulint: ignore[GPU102] it is on our mirror
                FROM --platform=linux/amd64 \\
                # the base of all
                    nvidia/cuda:12.4.0-cudnn-devel-ubuntu22.04
                CMD ["nvidia-smi"]
                """
        },
    )
    assert spoken(tmp_path) == []
    assert spoken(tmp_path, "--no-ignores") == ["Dockerfile:4:17 error GPU102"]


def test_above_from_it_holds_for_the_stage(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Dockerfile": """
                # syntax=docker/dockerfile:1
                # gpulint: ignore[GPU101] demo
                FROM acme/render:latest-gpu AS one
                RUN <<END
                psql -c 'SELECT size
                FROM models'
                END
                COPY --from=acme/tools:latest-gpu /bin/tool /bin/tool
                # The second one.
                FROM acme/render:latest-gpu
                CMD ["render"]
                """
        },
    )
    assert spoken(tmp_path) == ["Dockerfile:10:6 warning GPU101"]


def test_above_the_stage_does_not_mean_above_its_instructions(tmp_path: Path) -> None:
    write(tmp_path, {"Dockerfile": 'FROM acme/render:latest-gpu\n# gpulint: ignore[GPU101] too late\nCMD ["render"]\n'})
    assert spoken(tmp_path) == ["Dockerfile:1:6 warning GPU101", "Dockerfile:2:1 warning GPU004"]


def test_behind_an_instruction_it_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"Dockerfile": "FROM acme/render:latest-gpu\nENTRYPOINT render  # gpulint: ignore[GPU101] demo\n"})
    assert concise(tmp_path)[1:] == [
        "Dockerfile:2:20: warning: GPU004 this ignore stands behind an instruction, where a Dockerfile has no comments: "
        "put it alone on the line above"
    ]


@pytest.mark.parametrize("directive", ["# syntax=docker/dockerfile:1", "#escape = `"])
def test_above_a_directive_it_is_reported_and_holds(tmp_path: Path, directive: str) -> None:
    write(tmp_path, {"Dockerfile": f'# gpulint: ignore-file[GPU101] demo\n{directive}\nFROM acme/render:latest-gpu\nCMD ["render"]\n'})
    assert concise(tmp_path) == [
        "Dockerfile:1:1: warning: GPU004 this ignore stands above a parser directive, which is then a plain comment: put it below"
    ]


# --- Annotations ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "annotations",
    [
        '{gpulint/ignore: "GPU101 demo"}',
        "{gpulint/ignore: GPU101 it's a demo}",
        '{gpulint/ignore: "GPU101: it\'s a demo"}',
        "{gpulint/ignore: 'unpinned-gpu-image, GPU202'}",
        "\n        gpulint/ignore: >-\n          GPU101 what a\n          demo",
    ],
)
def test_an_annotation_holds_for_its_object(tmp_path: Path, annotations: str) -> None:
    pods = POD.format(name="a", annotations=annotations) + "---" + POD.format(name="b", annotations="{}")
    write(tmp_path, {"pods.yaml": pods.replace("\n    ---", "\n---").replace("\n    ", "\n").lstrip()})
    assert [line.split()[1:] for line in spoken(tmp_path)] == [["warning", "GPU101"]]
    assert len(spoken(tmp_path, "--no-ignores")) == 2


def _listed(name: str, annotations: dict[str, str]) -> dict[str, object]:
    container = {"name": name, "image": "acme/render:latest-gpu", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [container]},
    }


@pytest.mark.parametrize("indent", [2, None], ids=["indented", "on one line"])
def test_an_annotation_in_json_holds_for_its_object_alone(tmp_path: Path, indent: int | None) -> None:
    pods = [_listed("a", {"gpulint/ignore": "GPU101 it's a demo"}), _listed("b", {})]
    text = "\n".join(
        [
            "{",
            '"apiVersion": "v1", "kind": "List", "items": [',
            *",\n".join(json.dumps(pod, indent=indent) for pod in pods).splitlines(),
            "]}",
        ]
    )
    write(tmp_path, {"pods.json": text})
    (left,) = spoken(tmp_path)
    assert left.endswith("warning GPU101")
    before = "".join(text.splitlines()[: int(left.split(":")[1])])
    assert before.rpartition('"name": ')[2].startswith('"b"')


def test_an_annotation_on_a_pod_of_a_list_from_standard_input(tmp_path: Path) -> None:
    given = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      gpulint/ignore: GPU101 demo
    name: a
  spec:
    containers:
    - image: acme/render:latest-gpu
      name: a
      resources: {limits: {nvidia.com/gpu: "1"}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: b
  spec:
    containers:
    - image: acme/render:latest-gpu
      name: b
      resources: {limits: {nvidia.com/gpu: "1"}}
"""
    assert spoken(tmp_path, "-", given=given) == ["stdin.yaml:22:14 warning GPU101"]


def test_an_annotation_of_a_pod_template_holds_for_the_template(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "job.yaml": """
                apiVersion: batch/v1
                kind: Job
                metadata: {name: render}
                spec:
                  template:
                    metadata:
                      annotations: {gpulint/ignore: GPU101 demo}
                    spec:
                      containers:
                        - name: render
                          image: acme/render:latest-gpu
                          resources: {limits: {nvidia.com/gpu: 1}}
                """
        },
    )
    assert spoken(tmp_path) == []


def test_x_gpulint_holds_for_its_service_and_at_the_top_for_the_file(tmp_path: Path) -> None:
    service = "  {0}:\n    image: acme/render:latest-gpu\n    gpus: all\n"
    write(
        tmp_path,
        {
            "a/compose.yaml": "services:\n" + service.format("a") + "    x-gpulint: GPU101 demo  # since May\n" + service.format("b"),
            "b/compose.yaml": "x-gpulint: GPU101 demo\nservices:\n" + service.format("c"),
        },
    )
    assert spoken(tmp_path) == ["a/compose.yaml:7:12 warning GPU101"]


def test_x_gpulint_of_an_anchor_holds_for_all_that_merge_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "compose.yaml": """
                x-common: &common
                  x-gpulint: GPU201 the CPU host
                services:
                  a:
                    <<: *common
                    image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
                  b:
                    <<: *common
                    image: vllm/vllm-openai:v0.8.5
                  c:
                    image: vllm/vllm-openai:v0.8.5
                """
        },
    )
    assert spoken(tmp_path) == ["compose.yaml:10:3 warning GPU201"]


# --- Ignores of no use ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "comment", ["# gpulint: ignore", "# gpulint: ignore[]", "# gpulint: ignore-file the whole", "# gpulint: ignore GPU101"]
)
def test_an_ignore_without_a_rule_is_refused(tmp_path: Path, comment: str) -> None:
    write(tmp_path, {"compose.yaml": f"services:\n  a:\n    image: acme/render:latest-gpu  {comment}\n    gpus: all\n"})
    assert concise(tmp_path)[1:] == [
        "compose.yaml:3:36: warning: GPU004 this ignore names no rule: "
        "write ignore[GPU201] with the rule it is meant for, and a reason behind it"
    ]


@pytest.mark.parametrize("value", ["it is a demo", "", "[GPU101]", "{rule: GPU101}"])
def test_an_annotation_without_a_rule_is_refused(tmp_path: Path, value: str) -> None:
    write(tmp_path, {"compose.yaml": f"services:\n  a:\n    image: acme/render:latest-gpu\n    gpus: all\n    x-gpulint: {value}\n"})
    assert [line.split(": ", 2)[2] for line in concise(tmp_path)][1:] == [
        'GPU004 this ignore names no rule: write "GPU201 reason" with the rule it is meant for'
    ]


def test_an_ignore_in_other_words_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": "services:\n  a:\n    image: acme/render:latest-gpu  # gpulint: disable=GPU101\n    gpus: all\n"})
    assert concise(tmp_path)[1:] == [
        "compose.yaml:3:36: warning: GPU004 this ignore says disable, which is no word for it: "
        "write ignore[GPU201] with the rule it is meant for, and a reason behind it"
    ]


@pytest.mark.parametrize(
    ("ignore", "complaint"),
    [
        ("# gpulint: ignore[GPU1O1] demo", "no rule 'GPU1O1' (did you mean 'GPU101'?)"),
        ("# gpulint: ignore-file[gpu101] demo", "no rule 'gpu101' (did you mean 'GPU101'?)"),
        ("# gpulint: ignore[unpinned-gpu-images] demo", "no rule 'unpinned-gpu-images' (did you mean 'unpinned-gpu-image'?)"),
        ("\n    x-gpulint: unpinned-images demo", "no rule 'unpinned-images' (did you mean 'unpinned-gpu-image'?)"),
        ("\n    x-gpulint: ACME7 demo", "no rule 'ACME7'"),
    ],
)
def test_an_ignore_of_a_rule_that_does_not_exist_is_reported_with_the_nearest(tmp_path: Path, ignore: str, complaint: str) -> None:
    write(tmp_path, {"compose.yaml": f"services:\n  a:\n    image: acme/render:latest-gpu  {ignore}\n    gpus: all\n"})
    assert [line.split(": ", 2)[2] for line in concise(tmp_path)][1:] == [f"GPU004 this ignore cannot work: {complaint}"]


def test_beside_a_rule_that_does_not_exist_the_others_hold(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"compose.yaml": "services:\n  a:\n    image: acme/render:latest-gpu  # gpulint: ignore[GPU101, GPU999] demo\n    gpus: all\n"},
    )
    assert spoken(tmp_path) == ["compose.yaml:3:36 warning GPU004"]


IDLE = {
    "gpulint.toml": "",
    "a/compose.yaml": "services:\n  a:\n    image: acme/render:1.0.0-gpu  # gpulint: ignore[GPU101] demo\n    gpus: all\n",
    "b/compose.yaml": "services:\n  b:\n    image: acme/render:1.0.0-gpu  # gpulint: ignore\n    gpus: all\n",
}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["a/compose.yaml:3:35 warning GPU004", "b/compose.yaml:3:35 warning GPU004"]),
        (("a",), []),
        (("b",), ["b/compose.yaml:3:35 warning GPU004"]),
        (("b/compose.yaml",), ["b/compose.yaml:3:35 warning GPU004"]),
        (("--ignore", "GPU101"), ["b/compose.yaml:3:35 warning GPU004"]),
        (("--select", "GPU2,GPU004"), ["b/compose.yaml:3:35 warning GPU004"]),
        (("--ignore", "GPU004"), []),
        (("--no-ignores",), []),
    ],
)
def test_an_idle_ignore_is_reported_where_it_could_have_matched(tmp_path: Path, arguments: tuple[str, ...], expected: list[str]) -> None:
    write(tmp_path, IDLE)
    assert spoken(tmp_path, *arguments) == expected


def test_an_ignore_of_a_rule_that_also_speaks_in_notes_is_idle_only_where_notes_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "# gpulint: ignore[GPU601] no\nimport torch\n"})
    assert spoken(tmp_path) == []
    assert spoken(tmp_path, "--min-severity", "note") == ["train.py:1:1 warning GPU004"]


def test_the_second_ignore_of_one_finding_is_idle(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "compose.yaml": """
                services:
                  a:  # gpulint: ignore[GPU101] demo
                    image: acme/render:latest-gpu  # gpulint: ignore[GPU101] demo
                    gpus: all
                """
        },
    )
    assert spoken(tmp_path) == ["compose.yaml:3:36 warning GPU004"]


def test_an_ignore_does_not_reach_into_another_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.Dockerfile": '# gpulint: ignore-file[GPU101] demo\nFROM acme/render:latest-gpu\nCMD ["render"]\n',
            "b.Dockerfile": 'FROM acme/render:latest-gpu\nCMD ["render"]\n',
        },
    )
    assert spoken(tmp_path) == ["b.Dockerfile:1:6 warning GPU101"]


# --- What becomes of a finding that is held back --------------------------------------------------------------------------------


def test_the_last_line_counts_what_is_ignored_and_the_run_is_clean(tmp_path: Path) -> None:
    write(tmp_path, {"Dockerfile": '# gpulint: ignore[GPU101] demo\nFROM acme/render:latest-gpu\nCMD ["render"]\n'})
    run = gpulint(tmp_path)
    assert (run.exit_code, run.stdout) == (0, "")
    assert run.stderr == "no findings (1 ignored): 1 Dockerfile\n"


def test_sarif_keeps_the_finding_with_the_reason(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Dockerfile": '# gpulint: ignore[GPU101] pinned by the nightly job\nFROM acme/render:latest-gpu\nCMD ["render"]\n',
            "compose.yaml": "services:\n  a:\n    image: acme/other:latest-gpu\n    gpus: all\n    x-gpulint: GPU101 it's a demo\n",
        },
    )
    (run,) = json.loads(gpulint(tmp_path, "--format", "sarif").stdout)["runs"]
    kept = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: result for result in run["results"]}
    assert [kept[path]["suppressions"][0]["justification"] for path in ("Dockerfile", "compose.yaml")] == [
        "pinned by the nightly job",
        "it's a demo",
    ]
    assert {result["suppressions"][0]["kind"] for result in kept.values()} == {"inSource"}


def test_of_comments_without_number_a_thousand_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "@step\n# gpulint: ignore[GPU101] \\\n" * 20_000 + "def main(): torch.cuda\n"})
    assert len(concise(tmp_path)) == 1000
