"""The commands that install packages: which words make one, what their options take, and how they name a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table


class Installer(NamedTuple):
    """One way to install, or with `removes` to remove.

    `reads` says what its operands are: python (a requirement of pip), poetry, conda (a match specification), system (a package of the
    distribution), or requirement (files of requirements). `operands` is the number of words, behind the program, that choose it.
    `implies` is the file that it reads where it is told no package, "" for none.
    """

    manager: str
    reads: str
    operands: int
    implies: str
    removes: bool


@cache
def option_roles(program: str) -> Mapping[str, str] | None:
    """The options of an installing program that take a value, each with what the value is; None for any other program.

    The roles are requirement, constraint, index, extra-index (one that adds to the others), package and value (none of these).
    """
    rows = _rows_of(program)
    if not rows:
        return None
    return {word: row["role"] for row in table("installers")["options"] if row["options"] == rows[0]["options"] for word in row["words"]}


def installer(program: str, operands: Sequence[str], switches: Sequence[str]) -> Installer | None:
    """What a program does with these operands and options, None if it neither installs nor removes."""
    for row in _rows_of(program):
        verbs = row["name"].split()[1:]
        by_switch = "switch" in row and any(fullmatch(row["switch"], switch) for switch in switches)
        if by_switch or row.get("always", False) or (verbs and list(operands[: len(verbs)]) == verbs):
            return Installer(row["manager"], row["reads"], len(verbs), row.get("implies", ""), row.get("removes", False))
    return None


@cache
def variables_of(program: str) -> tuple[tuple[str, str], ...]:
    """The environment variables that stand for options of the program, each with the role of its value."""
    options = {row["options"] for row in _rows_of(program)}
    return tuple((row["variable"], row["role"]) for row in table("installers")["variables"] if row["options"] in options)


@cache
def option_meaning(manager: str, option: str) -> str:
    """What an option of a manager's commands says of the packages, "" for any other option.

    environment (its value is what they go into), replaces (also what is there already), upgrades (what is there already, of those that are
    named, where a newer one is), nothing (none is installed), alone (without what they need), group (its value is an extra or group of the
    project that is installed too), left-out (its value is one that is not).
    """
    rows = table("installers")["meanings"]
    return next((str(row["means"]) for row in rows if row["manager"] == manager and option in row["words"]), "")


def environment_of_tool(command: Sequence[str]) -> str:
    """The environment that a command makes by itself: "project" for the one of the project it is run in, a name for one of its own; ""
    where it installs into the one that is there."""
    called = [command[0].rpartition("/")[2], *command[1:]] if command else []
    rows = table("installers")["tools"]
    return next((str(row["environment"]) for row in rows if called[:2] == row["command"].split()), "")


@cache
def python_managers() -> frozenset[str]:
    """The managers that install Python packages of an index such as PyPI."""
    return frozenset(row["manager"] for row in table("installers")["commands"] if row["reads"] in ("python", "poetry", "requirement"))


def configuration_files(manager: str) -> tuple[str, ...]:
    """The files by which a manager is configured for all who use the machine, and for root."""
    return next((tuple(row["files"]) for row in table("installers")["configurations"] if row["manager"] == manager), ())


def backend_setting(manager: str) -> tuple[str, str] | None:
    """The option and the variable by which a manager is told for which accelerator to install PyTorch; None where it has none."""
    rows = table("installers")["backends"]
    return next(((row["option"], row["variable"]) for row in rows if row["manager"] == manager), None)


def configuration_variable(manager: str) -> str:
    """The variable that names a configuration file, "" where the manager has none."""
    return next((str(row["variable"]) for row in table("installers")["configurations"] if row["manager"] == manager), "")


def stand_ins(name: str) -> tuple[str, ...]:
    """The files that may stand for one of that name, where it is not there."""
    return next((tuple(row["files"]) for row in table("installers")["stand_ins"] if row["of"] == name), ())


def lock_files(name: str) -> tuple[str, ...]:
    """The lock files that choose the versions of what a project's file of that name asks for, where they lie beside it."""
    return next((tuple(row["locks"]) for row in table("installers")["locks"] if row["of"] == name), ())


@cache
def _rows_of(program: str) -> tuple[Row, ...]:
    return tuple(row for row in table("installers")["commands"] if row["name"].split()[0] == program)
