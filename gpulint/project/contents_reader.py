"""Reads what an image contains: the packages that each RUN installs, by its own words, the files it reads and the scripts it runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, normpath
from posixpath import join as join_paths

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import words
from gpulint.facts.commands import is_shell
from gpulint.facts.images import brought_packages
from gpulint.facts.installers import environment_of_tool, lock_files, option_meaning, stand_ins
from gpulint.model.image import ImageRef
from gpulint.model.install import Install, read_installs
from gpulint.model.script import read_script
from gpulint.model.stage import Copy, Dockerfile, Run, Stage
from gpulint.parse.marker import holds_on_linux
from gpulint.parse.requirement import Package, python_name
from gpulint.parse.requirements import Requirements, parse_lines
from gpulint.parse.shell import SimpleCommand
from gpulint.parse.shell_syntax import joined
from gpulint.project.conditions import uncertain_commands
from gpulint.project.contents import Contents, Installed, OfBase, Removed, exact_version, meanings
from gpulint.project.image_files import ImageFiles, absolute, brings, entered
from gpulint.project.installer_config import configured_indexes
from gpulint.project.tree import Tree
from gpulint.project.written_files import Lines, WrittenFiles, lines_of
from gpulint.source import Source, Text, Unknown, Value, as_written

_MOST_FILES = 50  # requirement files that name one another
_STANDARD_INPUT = ("/dev/stdin", "-")
_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_LOCAL = regex(r"(?P<path>[./~][^\[;@]*)(?:\[(?P<extras>[^\]]*)\])?")


class ContentsReader:
    """Reads the contents of a Dockerfile's stages, built from a folder of the tree ("" for the root)."""

    def __init__(self, dockerfile: Dockerfile, context: str, tree: Tree) -> None:
        self._dockerfile = dockerfile
        self._files = ImageFiles(dockerfile, context, tree)
        self._tree = tree
        self._contents: list[Contents] = []
        self._written: list[WrittenFiles] = []

    def of(self, stage: Stage) -> Contents:
        """What the image of the stage contains, with what it copies out of earlier stages: these are read first."""
        while len(self._contents) <= stage.index:
            self._contents.append(self._read(self._dockerfile.stages[len(self._contents)]))
        return self._contents[stage.index]

    def _read(self, stage: Stage) -> Contents:
        written = WrittenFiles(self._written[stage.parent.index] if stage.parent is not None else None)
        self._written.append(written)
        reader = _Reader(self._files, self._tree, written)
        own = tuple(event for step in sorted(_steps(stage), key=_place) for event in self._events(step, stage, reader))
        if stage.parent is None:
            return Contents(own, tuple(reader.unread), tuple(_of_base(stage.base)))
        parent = self._contents[stage.parent.index]
        return Contents((*parent.events, *own), (*parent.unread, *reader.unread), parent.base)

    def _events(self, step: Step, stage: Stage, reader: _Reader) -> Iterator[Installed | Removed]:
        if not isinstance(step, Copy):
            return reader.of_run(stage, *step)
        reader.copied(step)
        source = self._files.stage_of(step)
        known = source is not None and source.index < len(self._contents)
        return _brought(step, source, self._contents[source.index]) if known and source is not None else iter(())


def _of_base(image: ImageRef | None) -> Iterator[OfBase]:
    """What the base image of a stage brings."""
    if image is None or isinstance(image.name, Unknown):
        return
    tag = str(image.tag) if isinstance(image.tag, Text) else None
    cuda = None if isinstance(image.tag, Unknown) else image.facts.cuda
    yield from (OfBase(name, version, cuda, image.location) for name, version in brought_packages(image.repository, tag))


Step = tuple[Run, tuple[Install, ...]] | Copy


def _steps(stage: Stage) -> Iterator[Step]:
    """The RUNs of a stage, and its copies, which may bring files and the packages of other stages."""
    yield from stage.steps
    yield from stage.copies


def _place(step: Step) -> tuple[int, int]:
    location = step.instruction.location if isinstance(step, Copy) else step[0].instruction.location
    return location.line, location.column


_SITE_PACKAGES = regex(r"/(?:site|dist)-packages(?:/|$)")
_WHOLE_PREFIXES = frozenset({"/", "/usr", "/usr/local", "/usr/local/lib", "/root/.local", "/opt"})


def _brought(copy: Copy, source: Stage, contents: Contents) -> Iterator[Installed]:
    """The packages that come with a copy out of another stage: those of the environments below what it takes."""
    taken = [str(path).rstrip("/") or "/" for path in copy.sources if isinstance(path, Text)]
    for installed in contents.packages:
        if any(_holds(path, installed, source) for path in taken):
            yield installed


def _holds(path: str, installed: Installed, stage: Stage) -> bool:
    if installed.install.manager in _OF_SYSTEM:
        return path == "/"
    if installed.environment.startswith("/"):
        return f"{installed.environment}/".startswith(path.rstrip("/") + "/")
    own = _own_environment(stage)
    if own and f"{own}/".startswith(path.rstrip("/") + "/"):
        return True
    return path in _WHOLE_PREFIXES or _SITE_PACKAGES.search(path) is not None


_OF_SYSTEM = frozenset({"apt", "yum", "apk", "zypper", "pacman"})


class _Reader:
    """Reads the RUNs of one image. `written` is what they have made of files, `unread` collects the files that are not known here."""

    def __init__(self, files: ImageFiles, tree: Tree, written: WrittenFiles) -> None:
        self._files = files
        self._tree = tree
        self._written_files = written
        self.unread: list[Value] = []

    def copied(self, copy: Copy) -> None:
        """Take in that a COPY puts files where others were written."""
        for path in [path for path in self._written_files if brings(copy, path)]:
            self._written_files.forget(path)

    def of_run(self, stage: Stage, run: Run, installs: tuple[Install, ...]) -> Iterator[Installed | Removed]:
        """What a RUN installs and removes: by its own commands, and by those of a script of the repository that it runs."""
        by_command = {id(install.command): install for install in installs}
        uncertain = uncertain_commands(run.script.commands)
        folder = run.working_directory
        for command in run.script.commands:
            folder = entered(command, folder)
            found = [(by_command.get(id(command)), True), *self._of_script(command, stage, run, folder)]
            for install, is_certain in found:
                if install is not None:
                    own_run = run._replace(working_directory=folder)
                    yield from self._of_install(install, stage, own_run, is_certain and id(command) not in uncertain)
            self._written_files.run(command, folder, id(command) not in uncertain)

    def _of_script(self, command: SimpleCommand, stage: Stage, run: Run, folder: Value | None) -> Iterator[tuple[Install, bool]]:
        """The installs of a shell script of the repository that the command runs, each with whether it certainly runs."""
        path = _script_path(command)
        place = absolute(folder, path) if path else None
        origin = self._files.at(place, stage, run) if place else None
        source = self._tree.source(origin) if origin else None
        if source is not None:
            variables = {str(each.name): each.value for each in stage.env if each.value is not None}
            commands = read_script(source.cut(0, len(source.text)), variables).commands
            uncertain = uncertain_commands(commands)
            yield from ((install, id(install.command) not in uncertain) for install in read_installs(commands, variables))

    def _of_install(self, install: Install, stage: Stage, run: Run, is_certain: bool) -> Iterator[Installed | Removed]:
        if "nothing" in meanings(install):
            return
        environment = _environment(install, stage, run.working_directory)
        if install.removes:
            yield from (Removed(package.name, environment) for package in install.packages if package.name)
            return
        asked = tuple(self._asked(install, stage, run))
        files = {id(requirements): requirements for requirements, _ in asked}
        pins, is_settled = self._pins(install, tuple(files.values()), stage, run)
        nested = {key: each for key, each in files.items() if _is_nested(each, install)}
        own = (install, *(each for key, each in files.items() if key not in nested))
        searched = self._searched(install.manager, own, stage, run)
        searched_by_nested = self._searched("pip", nested.values(), stage, run) if nested else searched
        for requirements, package in asked:
            indexes, extra_indexes = searched_by_nested if id(requirements) in nested else searched
            name = package.name or (package.wheel or ("", ""))[0]
            holds = holds_on_linux(package.marker)
            if name and holds is not False:
                pinned = pins.get(name, set())
                version = exact_version(package) or (next(iter(pinned)) if len(pinned) == 1 else None)
                yield Installed(
                    package,
                    requirements,
                    install,
                    run,
                    stage,
                    environment,
                    version,
                    version is not None or (is_settled and not pinned),
                    indexes,
                    extra_indexes,
                    is_certain and holds is True,
                )

    def _searched(self, manager: str, asked: Iterable[Requirements], stage: Stage, run: Run) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """All indexes that the manager searches, by what a command and its files name and by its configuration, and those that only add."""
        indexes, extra_indexes = _indexes(asked)
        if len(indexes) > len(extra_indexes):
            return indexes, extra_indexes
        configured, added = configured_indexes(manager, stage, run, self._text)
        return (*configured, *indexes), (*added, *extra_indexes)

    def _asked(self, install: Install, stage: Stage, run: Run) -> Iterator[tuple[Requirements, Package]]:
        """The packages that a command asks for, each with the command or file that names it."""
        for package in install.packages:
            local = _LOCAL.fullmatch(as_written(package.text)) if not package.name and package.wheel is None else None
            if local:
                extras = {python_name(extra.strip()) for extra in (local["extras"] or "").split(",")}
                yield from self._of_project(Text(local["path"].strip(), package.location, ()), stage, run, _Groups(extras))
            else:
                yield install, package
        chosen = _groups(install)
        for file in install.requirement_files:
            lines = self._written(file, install, stage, run)
            if lines is not None:
                requirements = parse_lines(lines, lines[0].location if lines else file.location)
                yield from ((requirements, package) for package in requirements.packages)
            if lines is None or self._found(file, stage, run) is not None:
                yield from self._of_file(file, stage, run, chosen, install.manager)

    def _written(self, file: Value, install: Install, stage: Stage, run: Run) -> Lines | None:
        """The lines of a file that the Dockerfile itself writes: the command's own standard input, a heredoc that is copied in, or what a
        command before it printed there."""
        if not isinstance(file, Text):
            return None
        if file in _STANDARD_INPUT:
            bodies = [each.target for each in install.command.redirects if each.operator.startswith("<<")]
            return lines_of(bodies[-1]) if bodies and isinstance(bodies[-1], Text) else None
        place = absolute(run.working_directory, file)
        if place is None or place in self._written_files:
            return self._written_files.lines(place) if place else None
        copied = self._files.written(place, stage, run)
        return lines_of(copied) if copied is not None else None

    def _of_project(self, folder: Text, stage: Stage, run: Run, groups: _Groups) -> Iterator[tuple[Requirements, Package]]:
        """The packages that a project in a folder depends on, by whichever of its files names some."""
        files = [Text(join_paths(folder, name), folder.location, ()) for name in _PROJECT_FILES]
        found = [file for file in files if self._found(file, stage, run) is not None]
        for file in found or files[:1]:
            yield from self._of_file(file, stage, run, groups)

    def _of_file(self, file: Value, stage: Stage, run: Run, groups: _Groups, manager: str = "") -> Iterator[tuple[Requirements, Package]]:
        """The packages of a file and of those that it names, of no group or of one of these, as that manager reads it."""
        origin = self._found(file, stage, run)
        if origin is None and isinstance(file, Text):
            beside = (Text(join_paths(dirname(file), name), file.location, ()) for name in stand_ins(basename(file)))
            origin = next(filter(None, (self._found(each, stage, run) for each in beside)), None)
        if origin is None:
            self.unread.append(file)
            return
        for requirements in self._read(origin, manager):
            for package in requirements.packages:
                if groups.has(package):
                    yield requirements, package

    def _found(self, file: Value, stage: Stage, run: Run) -> str | None:
        """The file of the repository that stands where the command looks for one, as it is there: not where the build has changed it."""
        place = absolute(run.working_directory, file) if isinstance(file, Text) else None
        is_changed = place in self._written_files and not self._written_files.only_adds(place) if place else True
        return None if is_changed or place is None else self._files.at(place, stage, run)

    def _text(self, path: str, stage: Stage, run: Run) -> Source | Text | None:
        """What stands at a path of the image: a file of the repository, or what the Dockerfile itself writes there."""
        lines = self._written_files.lines(path)
        if lines:
            return joined([part for line in lines for part in (line, Text("\n", line.location, ()))], lines[0].location)
        origin = self._found(Text(path, run.instruction.location, ()), stage, run)
        return self._files.written(path, stage, run) or (self._tree.source(origin) if origin is not None else None)

    def _read(self, path: str, manager: str = "") -> Iterator[Requirements]:
        """A file of requirements, what is nested in it, and the files that it names in turn."""

        following, seen = [path], {path}
        while following and len(seen) <= _MOST_FILES:
            current = following.pop(0)
            source = self._tree.source(current)
            if source is None:
                continue
            requirements = _parsed(source, manager)
            for each in (requirements, *requirements.nested):
                yield each
                named = (normpath(join_paths(dirname(current), file)) for file in each.requirement_files if isinstance(file, Text))
                new = [file for file in named if file not in seen and file in self._tree]
                following += new
                seen.update(new)

    def _pins(self, install: Install, asked: tuple[Requirements, ...], stage: Stage, run: Run) -> tuple[dict[str, set[str]], bool]:
        """The versions that constraints and lock files choose, more than one where something else decides between them, and whether all
        of those that are named could be read."""
        pins: dict[str, set[str]] = {}
        is_settled = True
        locks = [
            join_paths(dirname(str(file)), lock) for file in install.requirement_files if isinstance(file, Text) for lock in _locks(file)
        ]
        found = [self._found(Text(lock, install.location, ()), stage, run) for lock in locks]
        for file in install.constraint_files:
            origin = self._found(file, stage, run)
            is_settled = is_settled and origin is not None
            found.append(origin)
        named = [(each, file) for each in asked if each is not install for file in each.constraint_files]
        beside = [join_paths(dirname(each.location.path), file) if isinstance(file, Text) else "" for each, file in named]
        is_settled = is_settled and all(normpath(path) in self._tree for path in beside)
        found += map(normpath, beside)
        for origin in filter(None, found):
            for requirements in self._read(origin):
                for package in requirements.packages:
                    version = exact_version(package)
                    if version is not None and holds_on_linux(package.marker) is not False:
                        pins.setdefault(package.name, set()).add(version)
        return pins, is_settled


def _parsed(source: Source, manager: str) -> Requirements:
    """A file as the manager reads it. The readers of formats are imported here: few runs need any."""
    from gpulint.parse.requirements import parse, parse_conda_list

    if manager == "pixi":
        from gpulint.parse.pyproject import parse_pixi

        return parse_pixi(source)
    is_list = manager == "conda" and not source.path.endswith((".yml", ".yaml", ".toml"))
    return parse_conda_list(source) if is_list else parse(source)


class _Groups(NamedTuple):
    """Which extras and groups of a project are installed with it: those that are named, of poetry's own all that are not left out."""

    named: set[str]
    left_out: set[str] = set()
    takes_extras: bool = False
    takes_groups: bool = False

    def has(self, package: Package) -> bool:
        """Whether a package of the project is among them."""
        if not package.group or package.group in self.named:
            return True
        of_poetry = package.is_of_poetry
        return self.takes_groups and package.group not in self.left_out if of_poetry else self.takes_extras


def _groups(install: Install) -> _Groups:
    """The extras and groups that a command names. poetry takes every group of its own that is not left out, unless it is told which."""
    is_poetry = install.manager == "poetry"
    only = install.option("--only", "--only-root", "--no-dev")
    return _Groups(
        _words_of(install, "group"),
        _words_of(install, "left-out"),
        takes_extras=install.option("--all-extras") is not None,
        takes_groups=install.option("--all-groups") is not None or (is_poetry and only is None),
    )


def _words_of(install: Install, meaning: str) -> set[str]:
    values = (option.value for option in install.options if option_meaning(install.manager, option.name) == meaning)
    return {python_name(word) for value in values if isinstance(value, Text) for word in re.split(r"[\s,]+", value)}


def _locks(file: Text) -> Iterator[Text]:
    """The lock files that would lie beside a project's file."""
    return (Text(join_paths(dirname(file), name), file.location, ()) for name in lock_files(basename(file)))


def _is_nested(requirements: Requirements, install: Install) -> bool:
    """Whether packages are those that pip installs for conda: no channel has them."""
    return install.manager in ("conda", "pixi") and requirements.manager == "pip"


def _indexes(asked: Iterable[Requirements]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """All indexes that a command and its files name, and those of them that only add to the default. They hold for all its packages."""
    files = tuple({id(each): each for each in asked}.values())
    return tuple(index for each in files for index in each.indexes), tuple(index for each in files for index in each.extra_indexes)


def _environment(install: Install, stage: Stage, folder: Value | None) -> str:
    """The environment that a command installs into, "" for the image's own: the one whose programs the shell finds first."""
    named = meanings(install).get("environment")
    if named is not None:
        return as_written(named)
    words = install.command.written
    own = environment_of_tool(words)
    if own == "project":
        return _of_project(stage, folder)
    if own:
        return own
    inside = dirname(words[0]) if words else ""
    if basename(inside) != "bin" or inside in ("/usr/bin", "/usr/local/bin", "/bin"):
        return ""
    return _unless_own(dirname(inside), stage)


def _of_project(stage: Stage, folder: Value | None) -> str:
    """The environment that a tool makes for the project in the folder, where the image's variables name no other."""
    given = next((each for each in map(stage.variable, words("installers", "project_environments")) if each is not None), None)
    if given is not None:
        return _unless_own(as_written(given.value), stage) if given.value is not None else ""
    path = absolute(folder, _PROJECT_ENVIRONMENT)
    return _unless_own(path, stage) if path is not None else _PROJECT_ENVIRONMENT


_PROJECT_ENVIRONMENT = ".venv"


def _unless_own(environment: str, stage: Stage) -> str:
    """The environment, "" where it is the image's own."""
    return "" if environment.rstrip("/") in (_own_environment(stage), *_SYSTEM) else environment


def _own_environment(stage: Stage) -> str:
    """The folder of the virtual environment that the image's variables choose; "" for none."""
    own, path = stage.variable("VIRTUAL_ENV"), stage.variable("PATH")
    if own is not None and own.value is not None:
        return as_written(own.value).rstrip("/")
    first = as_written(path.value).partition(":")[0].rstrip("/") if path is not None and path.value is not None else ""
    return dirname(first) if basename(first) == "bin" and dirname(first) not in _SYSTEM else ""


_SYSTEM = ("", "/", "/usr", "/usr/local")


_SOURCING = (".", "source")


def _script_path(command: SimpleCommand) -> str:
    """The script that a command runs or sources: by its path, or as the first operand of a shell; "" for none."""
    words = [word for word in command.written if not word.startswith("-")]
    if words and (is_shell(words[0]) or words[0] in _SOURCING):
        words = words[1:]
    elif not (words and words[0].endswith((".sh", ".bash"))):
        return ""
    return words[0] if words else ""
