"""From the words with which a container starts to the programs of the repository that they run.

The words lead through `sh -c`, wrappers, launchers, entry scripts, Makefiles and the configurations of supervisord and servers to a Python
file, a module, a server's `module:object` or a console script. What an entry script makes of a missing GPU on the way belongs to the
start too. What cannot be followed is kept as a gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import dirname

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.facts.commands import (
    Launch,
    Launcher,
    is_shell,
    launched,
    launcher,
    operands,
    option_value,
    plain_tool,
    program_index,
    program_name,
    search_path,
)
from gpulint.model.module import Assertion, Fallback, Gate
from gpulint.model.python_reader import read_module
from gpulint.model.script import read_script
from gpulint.model.variable import EnvVar
from gpulint.parse.python import parse
from gpulint.parse.shell import SimpleCommand, split
from gpulint.project.entry_script import is_certain, read_checks, words_of
from gpulint.project.entrypoint import Words, script_of
from gpulint.project.places import Entry, Files, Found, Mapped, Places
from gpulint.project.programs import Modules, Program, read_program
from gpulint.source import Location, Source, Text, Unknown, Value, as_written

_DEEPEST = 5  # entry scripts and shells that start one another
_LONGEST_SHOWN = 60  # characters of a word that is not known


class ProgramLink(NamedTuple):
    """A program of the repository that a start runs.

    `path` is its entry module and `function` what of it the launcher names; `roots` are the folders that its imports are looked up in.
    `how` says how the link was found, and `location` is the word that names the program; `by` and `origin` say how that word led to the
    file, as for places.Found. `launcher` are the words in front of it, `arguments` those behind it, and `optimized` says that the
    interpreter strips assert statements (`-O`). `environment` is what the scripts and commands on the way set for it.
    """

    path: str
    function: str
    roots: tuple[str, ...]
    how: str
    location: Location
    arguments: Words
    optimized: bool
    launcher: tuple[str, ...] = ()
    by: str = ""
    origin: Location | None = None
    environment: tuple[EnvVar, ...] = ()

    def read(self, modules: Modules) -> Program | None:
        """The program's start path."""
        return read_program(modules, self.path, self.function, self.roots)


class Step(NamedTuple):
    """A file of the repository that leads from a start to a program: an entry "script", a "Makefile", or a "configuration". `how` is the
    word that names it, at `location`; `by` and `origin` are as for places.Found."""

    kind: str
    path: str
    how: str
    location: Location
    by: str
    origin: Location | None


class Gap(NamedTuple):
    """What of a start could not be followed, as a clause, and where it stands."""

    reason: str
    location: Location


@dataclass(frozen=True, eq=False)
class Start:
    """What a container's words start: the programs of the repository in order, the files on the way, and what entry scripts make of a
    missing GPU before the last program starts. `ends_elsewhere` says that a program follows that is none of the repository. `words` are
    those that the container starts with, `gaps` what could not be followed."""

    programs: tuple[ProgramLink, ...]
    steps: tuple[Step, ...]
    assertions: tuple[Assertion, ...]
    fallbacks: tuple[Fallback, ...]
    ends_elsewhere: bool = False
    words: Words = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def program(self) -> ProgramLink | None:
        """The program that keeps running: the last one, where it is one of the repository."""
        return self.programs[-1] if self.programs and not self.ends_elsewhere else None

    @property
    def scripts(self) -> tuple[str, ...]:
        """The paths of the entry scripts."""
        return tuple(step.path for step in self.steps if step.kind == "script")


def read_start(
    words: Words,
    files: Files,
    working_directory: str = "",
    mapped: Mapped | None = None,
    variables: Mapping[str, Value] | None = None,
) -> Start:
    """Follow a container's words to the programs and entry scripts of the repository.

    `mapped` gives the file of the repository that stands at an absolute path in the container, None for none; it is None itself where the
    image is not known. `working_directory` is the container's, "" where it is not known. `variables` are the container's environment.
    """
    known = variables or {}
    places = Places(files, working_directory, mapped, _search_path(known.get("PATH")), _module_path(known.get("PYTHONPATH")))
    follower = _Follower(places, known)
    follower.follow_words(words, 0)
    return Start(
        tuple({link.location: link for link in follower.programs}.values()),
        tuple(follower.steps.values()),
        tuple(follower.assertions),
        tuple(follower.fallbacks),
        follower.ends_elsewhere,
        words,
        tuple(dict.fromkeys(follower.gaps)),
    )


class _Follower:
    """Follows one start, and keeps what it meets."""

    def __init__(self, places: Places, variables: Mapping[str, Value]) -> None:
        self._places = places
        self._variables = variables
        self._environment: dict[str, EnvVar] = {}
        self.programs: list[ProgramLink] = []
        self.steps: dict[str, Step] = {}
        self.assertions: list[Assertion] = []
        self.fallbacks: list[Fallback] = []
        self.gaps: list[Gap] = []
        self.ends_elsewhere = False
        self._made: set[tuple[str, ...]] = set()

    def follow_words(self, words: Words, depth: int) -> None:
        """Follow a command line. A GPU tool that is itself what the container runs fails with it."""
        if not words:
            return
        if depth > _DEEPEST:
            self.gaps.append(Gap("what it starts lies deeper than is followed", words[0].location))
            return
        script = script_of(words, self._variables)
        if len(script.commands) > 1:
            inner = launched([as_written(word) for word in words])
            positional = words[inner.at + 1 :] if inner is not None and inner.form == "shell-code" else ()
            self._follow_script(script.commands[1:], positional, _has_errexit(words_of(script.commands[0])), depth)
            return
        self._note_checks(script.commands, errexit=True, fails=_code_fails)
        self._follow_command(words, depth)

    def _follow_command(self, words: Words, depth: int) -> None:
        """Follow a command, with what `env` sets for it."""
        plain = [as_written(word) for word in words]
        start, known = program_index(plain), launcher(plain)
        self._environment.update({str(each.name): each for each in map(_assigned, words[:start]) if each is not None})
        if known is not None:
            self._follow_launcher(known, words, depth)
            return
        launch = launched(plain)
        if launch is not None:
            self._link(words[launch.at], launch.form, launch.launcher, plain[:start], words[launch.at + 1 :])
        elif start < len(words):
            self._follow_program(words[start:], depth)

    # --- Launchers -----------------------------------------------------------------------------------------------------------

    def _follow_launcher(self, known: Launcher, words: Words, depth: int) -> None:
        words = self._with_arguments(known, words)
        plain = [as_written(word) for word in words]
        before = self._places
        folder = _value_of(words, known.folder)
        self._places = before.within(folder) if isinstance(folder, Text) else before
        launch = launched(plain)
        if isinstance(folder, Unknown):
            self.gaps.append(Gap(f"the folder {folder.raw} is not known", folder.location))
        elif known.form == "target":
            self._follow_targets(known, words, depth)
        elif known.form == "supervisor":
            self._follow_supervisor(known, words, depth)
        elif launch is None:
            self._follow_configured(known, words)
        else:
            self._follow_launch(launch, words, depth, known)
        self._places = before

    def _with_arguments(self, known: Launcher, words: Words) -> Words:
        """The words with those that the launcher takes from its environment variable."""
        given = self._variables.get(known.arguments)
        return (*words[: known.at], *split(given), *words[known.at :]) if isinstance(given, Text) else words

    def _follow_launch(self, launch: Launch, words: Words, depth: int, known: Launcher) -> None:
        target = words[launch.at]
        behind = words[launch.at + 1 :]
        if launch.form == "command":
            self.follow_words(words[launch.at :], depth + 1)
        elif isinstance(target, Unknown):
            self._note_unknown(target)
        elif launch.form == "shell-script":
            plain = [as_written(word) for word in words[: launch.at]]
            found = self._places.file(target) or self._places.executable(target)
            self._follow_script_file(found, target, behind, _has_errexit(plain[program_index(plain) :]), depth)
        elif launch.form in ("script", "module", "app"):
            plain = [as_written(word) for word in words[: launch.at]]
            named = target.cut(launch.begin, len(target))
            self._link(named, launch.form, launch.launcher, plain[program_index(plain) :], behind, known.object)

    def _follow_configured(self, known: Launcher, words: Words) -> None:
        """A program that the launcher's configuration or environment names, or that is the first of those that it looks for."""
        plain = [as_written(word) for word in words]
        before = plain[program_index(plain) :]
        source = self._source(self._configuration(known, words)) if known.config_key else None
        if source is not None:
            from gpulint.project.start_files import setting

            named = setting(source, known.config_key)
            self._link(named, known.form, known.name, before, (), known.object) if named is not None else None
            return
        own = next((word for word in words if as_written(word).startswith(f"{known.variable}=")), None) if known.variable else None
        variable = own.cut(len(known.variable) + 1, len(own)) if isinstance(own, Text) else own or self._variables.get(known.variable)
        if isinstance(variable, Unknown):
            self._note_unknown(variable)
        elif variable is not None:
            self._link(variable, known.form, known.name, before, (), known.object)
        else:
            tried = (Text(file, words[known.at - 1].location, ()) for file in known.files if self._places.has_here(file))
            name = next(tried, None)
            self._link(name, known.form, known.name, before, (), known.object) if name is not None else None

    def _configuration(self, known: Launcher, words: Words) -> Found | None:
        """The file that the launcher reads: the one that is named, else the first of those that it looks for."""
        named = _value_of(words, known.config)
        if isinstance(named, Unknown):
            self._note_unknown(named)
            return None
        place = words[known.at - 1].location
        tried = (Text(name, place, ()) for name in known.config_files if self._places.has_here(name))
        names = [named] if named is not None else list(tried)
        for name in names:
            module = name.removeprefix("python:")
            found = self._places.file(name.removeprefix("file:") if module == name else f"{module.replace('.', '/')}.py")
            if found is not None and self._source(found) is not None:
                kind = "Makefile" if known.form == "target" else "configuration"
                self.steps.setdefault(found.path, Step(kind, found.path, f"{known.name} {name}", name.location, found.by, found.origin))
                return found
        return None

    def _source(self, found: Found | None) -> Source | None:
        return self._places.files.source(found.path) if found is not None else None

    def _follow_targets(self, known: Launcher, words: Words, depth: int) -> None:
        """The recipes of the targets that a command has make or just build. Variables on the command line overrule those of the file."""
        from gpulint.project.start_files import recipes_of

        plain = [as_written(word) for word in words]
        targets = [words[index] for index in operands(plain)]
        changed = next((word for word in words[known.at :] if re.match(r"\w+\s*=", as_written(word))), None)
        unknown = next((word for word in targets if isinstance(word, Unknown)), changed)
        if unknown is not None:
            self.gaps.append(Gap(f"{as_written(unknown)} changes what {known.name} runs", unknown.location))
            return
        source = self._source(self._configuration(known, words))
        made = (source.path, *map(str, targets)) if source is not None else ()
        if source is None or depth > _DEEPEST or made in self._made:
            return
        self._made.add(made)
        for recipe in recipes_of(source, [str(target) for target in targets]):
            self._follow_script(recipe.script.commands, (), True, depth + 1, anew=True)

    def _follow_supervisor(self, known: Launcher, words: Words, depth: int) -> None:
        """The programs that supervisord starts side by side: one that is none of the repository ends none that is."""
        from gpulint.project.start_files import included, supervised

        before = set(self.steps)
        main = self._configuration(known, words)
        if main is not None and main.path in before:
            return
        source = self._source(main)
        folder = dirname(main.inside) if main is not None else known.config_folder
        patterns = included(source) if source is not None else ("*.conf",)
        found_there = (found for pattern in patterns for found in self._places.within(folder).matching(pattern))
        more = [found for found in found_there if found.path not in before]
        for found in more:
            self.steps.setdefault(found.path, Step("configuration", found.path, known.name, words[0].location, found.by, found.origin))
        for each in filter(None, (source, *map(self._source, more))):
            for program in supervised(each):
                self._follow_supervised(program.command, program.folder, depth)

    def _follow_supervised(self, command: Text, folder: Text | None, depth: int) -> None:
        before = self._places
        self._places = before.within(folder) if folder is not None else before
        self.follow_words(tuple(map(_of_supervisor, split(command))), depth + 1)
        self._places = before
        self.ends_elsewhere = False

    # --- Programs ------------------------------------------------------------------------------------------------------------

    def _follow_program(self, words: Words, depth: int) -> None:
        """A program that no launcher starts: a Python file or a script by its path, or a console script by its name."""
        word = words[0]
        if isinstance(word, Unknown):
            self._note_unknown(word)
            return
        if word.endswith(".py"):
            self._link(word, "executable", "", [], words[1:])
            return
        is_path = "/" in word or word.endswith((".sh", ".bash"))
        found = self._places.executable(word) or (self._places.file(word) if is_path else None)
        if word.startswith("-"):
            self.gaps.append(Gap("what the image itself starts is not known", word.location))
        elif found is None and not is_path:
            script = self._places.find(word, "console script")
            self._add(script, str(word), word, (), words[1:]) if script is not None else None
        elif found is not None and _runs_python(self._source(found)):
            self._add(self._places.entry(found), str(word), word, (), words[1:])
        else:
            self._follow_script_file(found, word, words[1:], False, depth)

    def _link(self, target: Value, form: str, launcher_name: str, before: Sequence[str], arguments: Words, default: str = "app") -> None:
        if isinstance(target, Unknown):
            self._note_unknown(target)
            return
        entry = self._places.find(target, form, launcher_name, default)
        how = " ".join(filter(None, (launcher_name, "-m" if form == "module" else "", target)))
        self._add(entry, how, target, before, arguments)

    def _add(self, entry: Entry | None, how: str, target: Text, before: Sequence[str], arguments: Words) -> None:
        if entry is None:
            self.gaps.append(Gap(f"no file here is known to be {target}", target.location))
            return
        optimized = any(re.fullmatch(r"-[A-NP-Za-z]*O[A-Za-z]*", word) for word in before)
        path, by, origin, _ = entry.found
        more = (optimized, tuple(before), by, origin, tuple(self._environment.values()))
        link = ProgramLink(path, entry.function, entry.roots, how, target.location, arguments, *more)
        self.programs.append(link)
        self.ends_elsewhere = False

    def _note_unknown(self, word: Unknown) -> None:
        shown = word.raw if len(word.raw) <= _LONGEST_SHOWN else f"{word.raw[:_LONGEST_SHOWN]}..."
        self.gaps.append(Gap(f"{shown} is not known", word.location))

    # --- Scripts -------------------------------------------------------------------------------------------------------------

    def _follow_script_file(self, found: Found | None, word: Text, arguments: Words, errexit: bool, depth: int) -> None:
        source = self._source(found)
        if found is None or source is None:
            self.gaps.append(Gap(f"no file here is known to be {word}", word.location))
            return
        if found.path in self.steps or not _is_script(source):
            return
        self.steps[found.path] = Step("script", found.path, str(word), word.location, found.by, found.origin)
        script = read_script(source.cut(0, len(source.text)), self._variables)
        self._follow_script(script.commands, (word, *arguments), errexit or _has_errexit(source.line(1).split()), depth)

    def _follow_script(self, commands: Sequence[SimpleCommand], positional: Words, errexit: bool, depth: int, anew: bool = False) -> None:
        """Follow a script's commands, for which `positional` are `$0`, `$1` and so on. `cd` holds to the script's end, with `anew` to its
        line's."""
        filled = list(_filled(commands, positional))
        self._note_checks(filled, errexit, self._fails)
        before = self._places
        for command in filled:
            if anew and command.operator == "" and not command.block:
                self._places = before
            folder, words = _entered(command), command.words
            if folder is not None:
                self._places = self._places.within(folder)
            elif words and depth < _DEEPEST and "substitution" not in command.block:
                self._follow_script_command(command, depth + 1)
        self._places = before

    def _follow_script_command(self, command: SimpleCommand, depth: int) -> None:
        """Follow a command of a script. What it does not lead to is a gap only where it starts the program that the script is for."""
        known, gaps = len(self.programs) + len(self.steps), list(self.gaps)
        outside = self._environment
        self._environment = {**outside, **{str(name): EnvVar(name, value) for name, value, _ in command.assignments}}
        self._follow_command(command.words, depth)
        if not (command.written[:1] == ("export",) and is_certain(command)):
            self._environment = outside
        if len(self.programs) + len(self.steps) > known:
            return
        if not _starts_program(command.words):
            self.gaps = gaps
        elif is_certain(command):
            self.ends_elsewhere = True

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
        entry = self._places.find(target, launch.form)
        program = read_program(self._places.files, entry.found.path, entry.function, entry.roots) if entry else None
        return program is not None and program.raises_without_cuda and not program.trains and not program.serves


def _assigned(word: Value) -> EnvVar | None:
    """The variable that a word of `env` sets."""
    name = re.match(r"\w+(?==)", word) if isinstance(word, Text) else None
    return EnvVar(word.cut(0, name.end()), word.cut(name.end() + 1, len(word))) if name and isinstance(word, Text) else None


def _value_of(words: Words, pattern: str) -> Value | None:
    """The value of the option that a pattern matches; None where none does."""
    place = option_value([as_written(word) for word in words], pattern)
    word = words[place[0]] if place is not None else None
    return word.cut(place[1], len(word)) if place is not None and isinstance(word, Text) else word


def _of_supervisor(word: Value) -> Value:
    """A word of a command of supervisord, which puts something else in the place of `%(name)s`."""
    return Unknown(word, word.location) if isinstance(word, Text) and "%(" in word else word


def _search_path(value: Value | None) -> tuple[str, ...]:
    """The folders of PATH; what it takes over from the base image are those of any image."""
    folders = as_written(value).split(":") if value is not None else ["$PATH"]
    parts = (search_path() if "$" in folder else (folder,) for folder in folders)
    return tuple(folder for part in parts for folder in part if folder)


def _module_path(value: Value | None) -> tuple[str, ...]:
    """The folders of PYTHONPATH that are known."""
    folders = as_written(value).split(":") if value is not None else []
    return tuple(folder for folder in folders if folder and "$" not in folder)


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


def _filled(commands: Sequence[SimpleCommand], positional: Words) -> Iterator[SimpleCommand]:
    """The commands with the script's own arguments for `"$@"` and `$1`, moved on by each `shift` that certainly runs."""
    for command in commands:
        yield replace(command, words=_with_positional(command.words, positional))
        if command.name == "shift" and len(command.words) == 1 and is_certain(command):
            positional = (*positional[:1], *positional[2:])


def _with_positional(words: Words, positional: Words) -> Words:
    found: list[Value] = []
    for word in words:
        number = _POSITIONAL.fullmatch(word.raw) if isinstance(word, Unknown) else None
        if isinstance(word, Unknown) and word.raw in ("$@", "${@}", "$*"):
            found.extend(positional[1:])
        elif number is not None and int(number[1]) < len(positional):
            found.append(positional[int(number[1])])
        else:
            found.append(word)
    return tuple(found[:_MOST_WORDS])


_MOST_WORDS = 2_000  # of a command, in which "$@" may stand any number of times
_POSITIONAL = regex(r"\$\{?(\d{1,2})\}?")


def _has_errexit(words: Sequence[str]) -> bool:
    """Whether a shell's command line, or the first line of a script, sets `-e`."""
    return any(re.fullmatch(r"-[a-z]*e[a-z]*", word) for word in words[1:])


def _runs_python(source: Source | None) -> bool:
    """Whether the first line of a file names Python as its interpreter."""
    first = source.line(1) if source is not None else ""
    return first.startswith("#!") and any(program_name(word) == "python" for word in first[2:].split()[:2])


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
