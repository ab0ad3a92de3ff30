"""How a script sets up a machine for GPU containers: the NVIDIA container toolkit, Docker, and what brings the two together."""

from __future__ import annotations

from collections.abc import Sequence

from gpulint.facts import fullmatch, table, words


def toolkit_package(word: str) -> bool:
    """Whether a word is the package of the NVIDIA container toolkit, with its version or without."""
    return any(fullmatch(row["pattern"], word) for row in table("host_setup")["toolkit_packages"])


def names_docker(word: str) -> bool:
    """Whether a word is a package, service, program or address of Docker."""
    return any(fullmatch(row["pattern"], word) for row in table("host_setup")["docker_words"])


def wires_toolkit(word: str) -> bool:
    """Whether a word shows that an engine is told of the toolkit: its configuring program, or the engine's settings."""
    return any(fullmatch(row["pattern"], word) for row in table("host_setup")["wiring"])


def configures_toolkit(program: str, arguments: Sequence[str]) -> bool:
    """Whether a command is the toolkit's own that tells an engine of it."""
    return any(
        program in row["words"] and row["verbs"] == list(arguments[: len(row["verbs"])]) for row in table("host_setup")["configuring"]
    )


def sets_default(option: str) -> bool:
    """Whether an option of that command makes nvidia the runtime of containers that name none."""
    return option in words("host_setup", "default_options")


def names_other_engine(word: str) -> bool:
    """Whether a word is an engine beside Docker, which may be what the toolkit is for."""
    return word in words("host_setup", "other_engines")


def restarts_docker(program: str, arguments: Sequence[str]) -> bool:
    """Whether a command starts Docker anew, or the machine."""
    row = next((row for row in table("host_setup")["restarts"] if program in row["words"]), None)
    if row is None:
        return False
    return not row["verbs"] or (any(word in row["verbs"] for word in arguments) and any(map(names_docker, arguments)))
