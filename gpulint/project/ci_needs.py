"""What commands of CI jobs need a GPU for: tools that do nothing without one, and tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from posixpath import basename, normpath
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.facts.ci import excludes_tests, hosted_without_gpu, selects_gpu_tests
from gpulint.facts.commands import gpu_program, launched, plain_tool, program_index, program_name
from gpulint.project.conditions import uncertain_commands
from gpulint.source import Location, Source, Text, Unknown, Value, as_written

if TYPE_CHECKING:
    from gpulint.model.command import CommandLine
    from gpulint.parse.shell import Script, SimpleCommand
    from gpulint.project import Project


class Need(NamedTuple):
    """What a command needs a GPU for, as the subject of a clause; `certain` where it fails without one. `place` is a test that does."""

    says: str
    certain: bool
    place: Location | None = None


def hosted(runner: tuple[Value, ...] | None) -> Text | None:
    """The label of the standard runner that a job runs on; None for any other, and where that is not known."""
    label = runner[0] if runner is not None and len(runner) == 1 else None
    return label if isinstance(label, Text) and hosted_without_gpu(label) else None


def fails_job(line: CommandLine) -> bool:
    """Whether the job fails with the command: it always gets there, and nothing takes the failure away."""
    return line.unconditional and id(line.command) in _failing(line.script)


def commands_around(place: Location, project: Project) -> list[CommandLine]:
    """The commands that a place lies in: one, and those of a shell that runs it."""
    lines = _commands_by_line(project).get((place.path, place.end_line), ())
    return [line for line in lines if line.location[1:3] <= place[1:3] and place[3:] <= line.location[3:]]


@lru_cache(maxsize=1)
def _commands_by_line(project: Project) -> dict[tuple[str, int], list[CommandLine]]:
    """The commands of CI jobs by their file and each line that they stand on."""
    found: dict[tuple[str, int], list[CommandLine]] = {}
    for line in project.command_lines:
        if line.runner is not None:
            for number in range(line.location.line, line.location.end_line + 1):
                found.setdefault((line.location.path, number), []).append(line)
    return found


@lru_cache(maxsize=1000)
def _failing(script: Script) -> frozenset[int]:
    """The ids of the commands that end a script where they fail."""
    if any(map(_ignores_errors, script.commands)):
        return frozenset()
    uncertain = uncertain_commands(script.commands)
    found: set[int] = set()
    following: dict[tuple[str, ...], str] = {}
    for command in reversed(script.commands):
        is_asked = command.negated or not _QUESTIONS.isdisjoint(command.block)
        if not is_asked and id(command) not in uncertain and following.get(command.block, "") not in ("||", "|", "&"):
            found.add(id(command))
        following[command.block] = command.operator
    return frozenset(found)


_QUESTIONS = frozenset({"if", "while", "until", "substitution"})


def _ignores_errors(command: SimpleCommand) -> bool:
    return [as_written(word) for word in command.words[:2]] == ["set", "+e"]


def needs(line: CommandLine, project: Project) -> Iterator[Need]:
    """What the command needs a GPU for."""
    words = [as_written(word) for word in line.command.words]
    at = program_index(words)
    if at == len(words) or any(isinstance(word, Unknown) for word in line.command.words[at : at + 1]):
        return
    launch = launched(words)
    if launch is None and gpu_program(words) and not plain_tool(words):
        yield Need(program_name(words[at]), certain=True)
    elif launch is not None and launch.form == "code":
        yield from _of_code(line.command.words[launch.at])
    else:
        tool = launch.at if launch is not None and launch.form == "module" else at
        yield from _of_tests(program_name(words[tool]), words[tool + 1 :], project)


def _of_code(code: Value) -> Iterator[Need]:
    if not isinstance(code, Text) or "cuda" not in code:
        return
    from gpulint.project.build_probes import read_snippet

    program = read_snippet(code)
    if program is not None and program.raises_without_cuda:
        yield Need("its Python code", certain=True)


def _of_tests(tool: str, arguments: list[str], project: Project) -> Iterator[Need]:
    """Tests that are picked because they need a GPU, unless the repository's own skip without one; or some that need one among all."""
    chosen = selects_gpu_tests(tool, arguments)
    if chosen:
        if not any(map(_skips, _test_sources(project))):
            yield Need(f"`{tool} {chosen}`", certain=False)
    elif tool == "pytest" and not excludes_tests(tool, arguments) and not _is_configured(project):
        sources = _test_sources(project, tuple(word for word in arguments if not word.startswith("-")))
        found = next(filter(None, map(_unguarded, sources)), None) if not any(map(_guards, sources)) else None
        if found is not None:
            yield Need(f"a test in {found.path}", certain=False, place=found)


_TEST_FILE = regex(r"test_.*\.py|.*_test\.py|conftest\.py")
_SKIPS = regex(r"skip|xfail|importorskip")
_ASKS = regex(r"is_available|device_count|nvidia-smi|has_cuda|cuda_available|has_gpu|requires_(?:gpu|cuda)")
_GUARDS = regex(r"skip|xfail|mock|patch|fixture|parametrize|raises|is_available|device_count|\bmark\b|meta", re.IGNORECASE)
_USES = regex(r"""^\s+.*(?:device\s*=\s*["']cuda|\.cuda\(\)|\.to\(["']cuda)""", re.MULTILINE)
_SELECTING = regex(rb"(?i)(?:addopts|markers)[^\]]*(?:gpu|cuda)")


@lru_cache(maxsize=100)
def _test_sources(project: Project, arguments: tuple[str, ...] = ()) -> tuple[Source, ...]:
    """The test files, and the conftest files beside them, that name a GPU; below the paths that the arguments name, if any."""
    found: list[Source] = []
    folders = [normpath(word.partition("::")[0]) for word in arguments]
    for path in project.tree.paths(Kind.PYTHON):
        if not _TEST_FILE.fullmatch(basename(path)) or not project.relevance.names_gpu(path):
            continue
        is_below = not folders or any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)
        source = project.tree.source(path) if is_below or basename(path) == "conftest.py" else None
        if source is not None:
            found.append(source)
    return tuple(found)


@lru_cache(maxsize=10_000)
def _skips(source: Source) -> bool:
    """Whether a file of tests leaves some out where there is no GPU."""
    return bool(_SKIPS.search(source.text) and _ASKS.search(source.text))


def _guards(source: Source) -> bool:
    """Whether the files beside the tests decide which of them run."""
    return basename(source.path) == "conftest.py"


@lru_cache(maxsize=10_000)
def _unguarded(source: Source) -> Location | None:
    """The first line of a test file that uses CUDA, where nothing in the file makes that depend on anything."""
    match = _USES.search(source.text) if not _GUARDS.search(source.text) else None
    return source.line_location(source.position(match.start())[0] + match[0].count("\n")) if match else None


@lru_cache(maxsize=1)
def _is_configured(project: Project) -> bool:
    """Whether the settings of the test runner speak of tests for a GPU."""
    sources = (project.tree.source(path) for path in project.tree.paths(Kind.PYPROJECT))
    return any(source is not None and _SELECTING.search(source.data) for source in sources)
