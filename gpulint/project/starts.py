"""From the words with which a container starts to the programs of the repository that they run.

The words lead through `sh -c`, wrappers, launchers and entry scripts to a Python file, a module, a server's `module:object` or a console
script. What an entry script makes of a missing GPU on the way belongs to the start too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gpulint.deferred import NamedTuple, dataclass
from gpulint.facts.commands import is_shell, launched, plain_tool, program_index, program_name, search_path
from gpulint.model.module import Assertion, Fallback, Gate
from gpulint.model.python_reader import read_module
from gpulint.model.script import read_script
from gpulint.parse.python import parse
from gpulint.parse.shell import SimpleCommand
from gpulint.project.entry_script import is_certain, read_checks, words_of
from gpulint.project.entrypoint import Words, script_of
from gpulint.project.places import Files, Places
from gpulint.project.programs import Modules, Program, read_program
from gpulint.source import Location, Source, Text, Unknown, Value, as_written

_DEEPEST = 5  # entry scripts and shells that start one another


class ProgramLink(NamedTuple):
    """A program of the repository that a start runs.

    `path` is its entry module and `function` what of it the launcher names; `roots` are the folders that its imports are looked up in.
    `how` says how the link was found, and `location` is the word that names the program. `launcher` are the words in front of it,
    `arguments` those behind it, and `optimized` says that the interpreter strips assert statements (`-O`).
    """

    path: str
    function: str
    roots: tuple[str, ...]
    how: str
    location: Location
    arguments: Words
    optimized: bool
    launcher: tuple[str, ...] = ()

    def read(self, modules: Modules) -> Program | None:
        """The program's start path."""
        return read_program(modules, self.path, self.function, self.roots)


@dataclass(frozen=True, eq=False)
class Start:
    """What a container's words start: the programs of the repository in order, the entry scripts on the way, and what those scripts
    make of a missing GPU before the last program starts. `ends_elsewhere` says that a program follows that is none of the repository."""

    programs: tuple[ProgramLink, ...]
    scripts: tuple[str, ...]
    assertions: tuple[Assertion, ...]
    fallbacks: tuple[Fallback, ...]
    ends_elsewhere: bool = False

    @property
    def program(self) -> ProgramLink | None:
        """The program that keeps running: the last one, where it is one of the repository."""
        return self.programs[-1] if self.programs and not self.ends_elsewhere else None


def read_start(
    words: Words,
    files: Files,
    working_directory: str = "",
    mapped: Callable[[str], str | None] | None = None,
    variables: Mapping[str, Value] | None = None,
) -> Start:
    """Follow a container's words to the programs and entry scripts of the repository.

    `mapped` gives the file of the repository that stands at an absolute path in the container, None for none; it is None itself where the
    image is not known. `working_directory` is the container's, "" where it is not known. `variables` are the container's environment.
    """
    known = variables or {}
    follower = _Follower(Places(files, working_directory, mapped, _search_path(known.get("PATH"))), known)
    follower.follow_words(words, 0)
    return Start(
        tuple({link.location: link for link in follower.programs}.values()),
        tuple(dict.fromkeys(follower.scripts)),
        tuple(follower.assertions),
        tuple(follower.fallbacks),
        follower.ends_elsewhere,
    )


class _Follower:
    """Follows one start, and keeps what it meets."""

    def __init__(self, places: Places, variables: Mapping[str, Value]) -> None:
        self._places = places
        self._variables = variables
        self.programs: list[ProgramLink] = []
        self.scripts: list[str] = []
        self.assertions: list[Assertion] = []
        self.fallbacks: list[Fallback] = []
        self.ends_elsewhere = False

    def follow_words(self, words: Words, depth: int) -> None:
        """Follow a command line. A GPU tool that is itself what the container runs fails with it."""
        if not words or depth > _DEEPEST:
            return
        script = script_of(words, self._variables)
        if len(script.commands) > 1:
            self._follow_script(script.commands[1:], (), _has_errexit(words_of(script.commands[0])), depth)
            return
        self._note_checks(script.commands, errexit=True, fails=_code_fails)
        self._follow_command(words, depth)

    def _follow_command(self, words: Words, depth: int) -> None:
        plain = [as_written(word) for word in words]
        start = program_index(plain)
        launch = launched(plain)
        if launch is None:
            if start < len(words):
                self._follow_program(words[start:], depth)
            return
        target = words[launch.at]
        if isinstance(target, Unknown):
            return
        behind = words[launch.at + 1 :]
        if launch.form == "command":
            self.follow_words(words[launch.at :], depth + 1)
        elif launch.form == "shell-script":
            path = self._places.file(target) or self._places.executable(target)
            self._follow_script_file(path, behind, _has_errexit(plain[start : launch.at]), depth)
        elif launch.form in ("script", "module", "app"):
            self._link(target, launch.form, plain[start : launch.at], behind)

    def _follow_program(self, words: Words, depth: int) -> None:
        """A program that no launcher starts: a Python file or a script by its path, or a console script by its name."""
        word = words[0]
        if isinstance(word, Unknown):
            return
        if word.endswith(".py"):
            self._link(word, "executable", [], words[1:])
            return
        is_path = "/" in word or word.endswith((".sh", ".bash"))
        path = self._places.executable(word) or (self._places.file(word) if is_path else None)
        if path is None and not is_path:
            self._link(word, "console script", [], words[1:])
        else:
            self._follow_script_file(path, words[1:], False, depth)

    def _link(self, target: Text, form: str, launcher: list[str], arguments: Words) -> None:
        name = program_name(launcher[0]) if launcher else ""
        found = self._places.find(target, form, name)
        if found is not None:
            optimized = any(re.fullmatch(r"-[A-NP-Za-z]*O[A-Za-z]*", word) for word in launcher)
            how = " ".join(filter(None, (name, "-m" if form == "module" else "", target)))
            self.programs.append(ProgramLink(*found, how, target.location, arguments, optimized, tuple(launcher)))
            self.ends_elsewhere = False

    # --- Scripts -------------------------------------------------------------------------------------------------------------

    def _follow_script_file(self, path: str | None, arguments: Words, errexit: bool, depth: int) -> None:
        source = self._places.files.source(path) if path else None
        if path is None or source is None or path in self.scripts or not _is_script(source):
            return
        self.scripts.append(path)
        script = read_script(source.cut(0, len(source.text)), self._variables)
        self._follow_script(script.commands, arguments, errexit or _has_errexit(source.line(1).split()), depth)

    def _follow_script(self, commands: Sequence[SimpleCommand], positional: Words, errexit: bool, depth: int) -> None:
        """Follow a script's commands; `"$@"` in them stands for the words behind the script's own, and `cd` holds to the script's end."""
        filled = [replace(command, words=_with_positional(command.words, positional)) for command in commands]
        self._note_checks(filled, errexit, self._fails)
        before = self._places
        for command in filled:
            folder, words = _entered(command), command.words
            if folder is not None:
                self._places = self._places.within(folder)
            elif words and depth < _DEEPEST and "substitution" not in command.block:
                known = len(self.programs) + len(self.scripts)
                self._follow_command(words, depth + 1)
                followed = len(self.programs) + len(self.scripts) > known
                if not followed and is_certain(command) and _starts_program(words):
                    self.ends_elsewhere = True
        self._places = before

    def _note_checks(self, commands: Sequence[SimpleCommand], errexit: bool, fails: Callable[[SimpleCommand], bool]) -> None:
        checks = read_checks(commands, fails, errexit)
        self.assertions.extend(checks.assertions)
        self.fallbacks.extend(checks.fallbacks)

    def _fails(self, command: SimpleCommand) -> bool:
        """Whether a command is Python code, or a program that only checks, and ends where there is no GPU."""
        launch = launched(words_of(command))
        target = command.words[launch.at] if launch else None
        if launch is None or not isinstance(target, Text) or launch.form not in ("script", "module"):
            return _code_fails(command)
        found = self._places.find(target, launch.form)
        program = read_program(self._places.files, *found) if found else None
        return program is not None and program.raises_without_cuda and not program.trains and not program.serves


def _search_path(value: Value | None) -> tuple[str, ...]:
    """The folders of PATH; what it takes over from the base image are those of any image."""
    folders = as_written(value).split(":") if value is not None else ["$PATH"]
    parts = (search_path() if "$" in folder else (folder,) for folder in folders)
    return tuple(folder for part in parts for folder in part if folder)


def _entered(command: SimpleCommand) -> Text | None:
    """The folder that a command enters for those behind it, where it certainly does."""
    words = command.words
    is_cd = len(words) == 2 and isinstance(words[0], Text) and words[0] == "cd"
    return words[1] if is_certain(command) and is_cd and isinstance(words[1], Text) else None


def _starts_program(words: Words) -> bool:
    """Whether a command starts a program that the script is for: by a launcher, or by `exec` in the place of the shell."""
    plain = [as_written(word) for word in words]
    launch = launched(plain)
    if plain_tool(plain):
        return False
    if launch is not None:
        return _starts_program(words[launch.at :]) if launch.form == "command" else launch.form in ("script", "module", "app")
    index = program_index(plain)
    return plain[0] == "exec" and index < len(plain) and isinstance(words[index], Text)


def _with_positional(words: Words, positional: Words) -> Words:
    """The words with the script's own arguments for `"$@"`."""
    found: list[Value] = []
    for word in words:
        if isinstance(word, Unknown) and word.raw in ("$@", "${@}", "$*"):
            found.extend(positional)
        else:
            found.append(word)
    return tuple(found)


def _has_errexit(words: Sequence[str]) -> bool:
    """Whether a shell's command line, or the first line of a script, sets `-e`."""
    return any(re.fullmatch(r"-[a-z]*e[a-z]*", word) for word in words[1:])


def _is_script(source: Source) -> bool:
    """Whether a file is a shell script: by its first line where that names an interpreter, else by its name."""
    first = source.line(1)
    if not first.startswith("#!"):
        return source.path.endswith((".sh", ".bash")) or "." not in source.path.rpartition("/")[2]
    return any(is_shell(word) for word in first[2:].split()[:2])


def _code_fails(command: SimpleCommand) -> bool:
    """Whether a command is Python code (`python -c`) that ends where there is no GPU."""
    launch = launched(words_of(command))
    code = command.words[launch.at] if launch and launch.form == "code" else None
    if not isinstance(code, Text):
        return False
    source = Source(code.location.path, code.encode("utf-8", "replace"))
    tree = parse(source).tree
    if tree is None:
        return False
    top = read_module(source, tree).top
    return any(gate is Gate.RUNS for gate in [each.gate for each in top.assertions] + [each.gate for each in top.raising])
