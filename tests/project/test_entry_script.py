"""Entry scripts: where they refuse to start without a GPU, where they choose the CPU, and what is neither."""

from __future__ import annotations

import pytest

from gpulint.parse.shell import SimpleCommand, parse
from gpulint.project.entry_script import read_checks, words_of
from gpulint.source import Source


def fails(command: SimpleCommand) -> bool:
    return words_of(command) == ["python", "check.py"]


def checked(script: str, errexit: bool = False) -> tuple[list[int], list[int]]:
    """The lines of the assertions and of the fallbacks of a script."""
    source = Source("start.sh", script.encode())
    checks = read_checks(parse(source.cut(0, len(source.text))).commands, fails, errexit)
    return [each.location.line for each in checks.assertions], [each.location.line for each in checks.fallbacks]


@pytest.mark.parametrize(
    "script",
    [
        "nvidia-smi || exit 1\nexec app\n",
        "nvidia-smi -L > /dev/null 2>&1 || exit 1\nexec app\n",
        'nvidia-smi || { echo "no GPU" >&2; exit 1; }\nexec app\n',
        'nvidia-smi || (echo "no GPU"; sleep 5; exit 1)\nexec app\n',
        "if ! nvidia-smi; then exit 1; fi\nexec app\n",
        "if nvidia-smi; then\n  echo found\nelse\n  exit 1\nfi\nexec app\n",
        "if ! command -v nvidia-smi > /dev/null; then echo no; exit 2; fi\nexec app\n",
        "command -v nvidia-smi || exit 1\nexec app\n",
        "nvidia-smi -L | grep -q GPU || exit 1\nexec app\n",
        "nvidia-smi && exec app\n",
        "[ -e /dev/nvidia0 ] || exit 1\nexec app\n",
        "if [ ! -c /dev/nvidiactl ]; then exit 1; fi\nexec app\n",
        "until nvidia-smi; do sleep 1; done\nexec app\n",
        "while ! nvidia-smi; do sleep 1; done\nexec app\n",
        "python check.py || exit 1\nexec app\n",
        "check() { nvidia-smi || exit 1; }\ncheck\nexec app\n",
        "exec nvidia-smi\n",
        "nvidia-smi -L\n",
        "python check.py\n",
        "{ nvidia-smi; }\n",
    ],
)
def test_refuses(script: str) -> None:
    assert checked(script) == ([1], [])


@pytest.mark.parametrize("head", ["set -e", "set -euo pipefail", "set -o errexit"])
def test_a_bare_question_refuses_where_errors_end_the_script(head: str) -> None:
    assert checked(f"{head}\nnvidia-smi\nexec app\n") == ([2], [])
    assert checked(f"{head}\npython check.py\nexec app\n") == ([2], [])
    assert checked(f"{head}\nset +e\nnvidia-smi\nexec app\n") == ([], [])
    assert checked("nvidia-smi\nexec app\n", errexit=True) == ([1], [])


@pytest.mark.parametrize(
    "script",
    [
        "nvidia-smi\nexec app\n",
        "nvidia-smi || true\nexec app\n",
        'nvidia-smi || echo "no GPU"\nexec app\n',
        "nvidia-smi; exec app\n",
        "nvidia-smi && echo found\nexec app\n",
        'if ! nvidia-smi; then echo "no GPU"; fi\nexec app\n',
        "if nvidia-smi; then echo found; fi\nexec app\n",
        "check() { nvidia-smi || exit 1; }\nexec app\n",
        "echo $(nvidia-smi || exit 1)\nexec app\n",
        "set -e\nnvidia-smi || true\nexec app\n",
        "[ -e /data/model ] || exit 1\nexec app\n",
        '[ "$MODE" = serve ] || exit 1\nexec app\n',
        'if nvidia-smi; then TEXT="GPU found"; else TEXT="no GPU"; fi\nexec app\n',
        "command -v jq || exit 1\nexec app\n",
        'if [ "$1" = list ]; then exec nvidia-smi; fi\nexec app\n',
        "(nvidia-smi)\nexec app\n",
        "app --serve\nif [ -n $LIST ]; then nvidia-smi; fi\n",
        "",
    ],
)
def test_neither_refuses_nor_chooses(script: str) -> None:
    assert checked(script) == ([], [])


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("if nvidia-smi; then\n  LAYERS=99\nelse\n  LAYERS=0\nfi\nexec app\n", 4),
        ("if nvidia-smi; then\n  export DEVICE=cuda\nelse\n  echo slow\n  export DEVICE=cpu\nfi\nexec app\n", 5),
        ("if ! nvidia-smi; then\n  export CUDA_VISIBLE_DEVICES=\nfi\nexec app\n", 2),
        ("DEVICE=cpu\nif nvidia-smi; then\n  DEVICE=cuda\nfi\nexec app\n", 1),
        ("nvidia-smi && DEVICE=cuda || DEVICE=cpu\nexec app\n", 1),
        ("nvidia-smi || DEVICE=cpu\nexec app\n", 1),
        ("nvidia-smi || { echo slow; export USE_GPU=false; }\nexec app\n", 1),
        ("if command -v nvidia-smi; then\n  exec app --device cuda\nelse\n  exec app --device cpu\nfi\n", 4),
        ("if nvidia-smi; then\n  exec app --n-gpu-layers 35\nelse\n  exec app\nfi\n", 4),
        ('ARGS=""\nif nvidia-smi; then\n  ARGS="--device cuda"\nfi\nexec app $ARGS\n', 1),
        ("N=$(nvidia-smi -L | wc -l)\nif [ $N -gt 0 ]; then\n  DEVICE=cuda\nelse\n  DEVICE=cpu\nfi\nexec app\n", 5),
    ],
)
def test_chooses_the_cpu_on_that_line(script: str, line: int) -> None:
    assert checked(script) == ([], [line])


@pytest.mark.parametrize(
    "test",
    [
        '[ "$N" -eq 0 ]',
        "[ $N -lt 1 ]",
        '[[ "$N" == 0 ]]',
        'test "${N}" = 0',
        '[ "$(nvidia-smi -L | wc -l)" -eq 0 ]',
        '[ -z "$LIST" ]',
        '[ ! -n "$LIST" ]',
    ],
)
def test_a_variable_that_holds_what_the_tool_printed(test: str) -> None:
    script = f"N=$(nvidia-smi -L | wc -l)\nLIST=$(nvidia-smi -L)\nif {test}; then exit 1; fi\nexec app\n"
    assert checked(script) == ([3], [])


def test_a_variable_that_was_set_anew() -> None:
    assert checked("N=$(nvidia-smi -L | wc -l)\nN=$COUNT\nif [ $N -eq 0 ]; then exit 1; fi\nexec app\n") == ([], [])


def test_words_as_they_are_written() -> None:
    source = Source("start.sh", b'exec app "$@"\n')
    (command,) = parse(source.cut(0, len(source.text))).commands
    assert words_of(command) == ["exec", "app", "$@"]
