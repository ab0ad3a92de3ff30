"""The words with which a container starts, in the dialects of the tools."""

from __future__ import annotations

import pytest
from python_files import word

from gpulint.model.container import Container, Dialect
from gpulint.model.variable import EnvVar
from gpulint.project.entrypoint import Words, effective_words, own_commands
from gpulint.source import Location, Text, Unknown


def words(text: str | None) -> Words | None:
    return None if text is None else tuple(map(word, text.split()))


@pytest.mark.parametrize("dialect", [Dialect.COMPOSE, Dialect.KUBERNETES, Dialect.RUN])
@pytest.mark.parametrize(
    ("entrypoint", "arguments", "effective"),
    [
        (None, None, "init serve --port 80"),
        (None, "fit --epochs 3", "init fit --epochs 3"),
        ("python fit.py", None, "python fit.py"),
        ("python fit.py", "--epochs 3", "python fit.py --epochs 3"),
    ],
)
def test_container_over_image(dialect: Dialect, entrypoint: str | None, arguments: str | None, effective: str) -> None:
    found = effective_words(dialect, words(entrypoint), words(arguments), words("init"), words("serve --port 80"))
    assert found == words(effective)


@pytest.mark.parametrize(
    ("dialect", "entrypoint", "arguments", "effective"),
    [
        (Dialect.COMPOSE, None, "", "init"),
        (Dialect.COMPOSE, "", None, ""),
        (Dialect.RUN, "", "fit.py", "fit.py"),
        (Dialect.KUBERNETES, "", "", "init serve"),
        (Dialect.KUBERNETES, "", "fit", "init fit"),
        (Dialect.CI, None, None, ""),
        (Dialect.CI, "sh -c", "fit", "sh -c fit"),
    ],
)
def test_empty_words_and_tools_that_run_a_shell(dialect: Dialect, entrypoint: str | None, arguments: str | None, effective: str) -> None:
    assert effective_words(dialect, words(entrypoint), words(arguments), words("init"), words("serve")) == words(effective)


def test_an_image_that_gives_nothing() -> None:
    assert effective_words(Dialect.COMPOSE, None, words("fit"), None, None) == words("fit")
    assert effective_words(Dialect.COMPOSE, None, None, None, None) == ()


def commands(container_words: list[str | Unknown], **env: str) -> list[list[str]]:
    place = Location("compose.yaml", 1, 1, 1, 2)
    given = tuple(each if isinstance(each, Unknown) else word(each) for each in container_words)
    variables = tuple(EnvVar(word(name), Text(value, place)) for name, value in env.items())
    container = Container(Dialect.COMPOSE, None, place, arguments=given, env=variables)
    return [["?" if isinstance(each, Unknown) else str(each) for each in command] for command in own_commands(container)]


def test_own_commands() -> None:
    assert commands(["python", "fit.py", "--epochs", "3"]) == [["python", "fit.py", "--epochs", "3"]]
    assert commands([]) == []


def test_own_commands_within_a_shell() -> None:
    assert commands(["sh", "-c", "pip install . && python fit.py --device cuda"]) == [
        ["pip", "install", "."],
        ["python", "fit.py", "--device", "cuda"],
    ]
    assert commands(["bash", "-lc", "python fit.py --device $KIND"], KIND="cuda") == [["python", "fit.py", "--device", "cuda"]]
    assert commands(["bash", "-c", "echo $(date); exec python fit.py"]) == [["echo", "?"], ["exec", "python", "fit.py"]]


def test_own_commands_with_unknown_words() -> None:
    unknown = Unknown("${SCRIPT}", Location("compose.yaml", 1, 1, 1, 2))
    assert commands(["python", unknown, "--epochs", "3"]) == [["python", "?", "--epochs", "3"]]
    assert commands([unknown]) == [["?"]]
