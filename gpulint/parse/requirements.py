"""Files that name packages: requirements.txt and conda's environment.yml here, those in TOML in gpulint.parse.pyproject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gpulint.deferred import dataclass, regex
from gpulint.parse.options import Option, read_arguments
from gpulint.parse.requirement import Package, conda_package, python_package
from gpulint.parse.shell_syntax import joined
from gpulint.source import Location, Source, Text, Unknown, Value


@dataclass(frozen=True, eq=False)
class Requirements:
    """The packages that a file or a command asks for, and where they come from.

    `manager` is the tool's family: pip, uv, conda, poetry, apt, ... `requirement_files` and `constraint_files` are the paths of further
    files as written. `indexes` holds every index, page of links and channel in order, and `extra_indexes` those of them that only add
    to the others. `nested` is what stands in this under another manager: the `pip:` list of a conda environment.
    """

    manager: str
    packages: tuple[Package, ...]
    requirement_files: tuple[Value, ...]
    constraint_files: tuple[Value, ...]
    indexes: tuple[Value, ...]
    location: Location
    extra_indexes: tuple[Value, ...] = ()
    options: tuple[Option, ...] = ()
    nested: tuple[Requirements, ...] = ()

    def option(self, *names: str) -> Option | None:
        """The last option of one of these names."""
        return next((option for option in reversed(self.options) if option.name in names), None)


FILE_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("-r", "--requirement"), "requirement"),
    **dict.fromkeys(("-c", "--constraint"), "constraint"),
    **dict.fromkeys(("-i", "--index-url", "--pypi-url"), "index"),
    **dict.fromkeys(("-f", "--find-links", "--extra-index-url"), "extra-index"),
    **dict.fromkeys(("-e", "--editable"), "package"),
    **dict.fromkeys(("--no-binary", "--only-binary", "--trusted-host", "--use-feature"), "value"),
}
"""The options of a requirements file that take a value, each with what the value is."""


def values_of(options: Sequence[Option], roles: Mapping[str, str], *wanted: str) -> tuple[Value, ...]:
    """The values of the options that have one of these roles, in order."""
    return tuple(option.value for option in options if option.value is not None and roles.get(option.name) in wanted)


def parse(source: Source) -> Requirements:
    """Read a file that names packages, of the format that its name tells. Never raises: what cannot be read names no package."""
    name = source.path.rpartition("/")[2].lower()
    if name in ("setup.py", "setup.cfg"):
        from gpulint.parse.setup_files import parse_setup, parse_setup_cfg

        return parse_setup(source) if name == "setup.py" else parse_setup_cfg(source)
    if name.startswith("pipfile"):
        from gpulint.parse.pyproject import parse_pipfile, parse_pipfile_lock

        return parse_pipfile(source) if name == "pipfile" else parse_pipfile_lock(source)
    if name.endswith((".toml", ".lock")):
        from gpulint.parse.pyproject import parse_lock, parse_pyproject, parse_uv

        reader = parse_uv if name == "uv.toml" else parse_pyproject if name.endswith("pyproject.toml") else parse_lock
        return reader(source)
    return parse_environment(source) if name.endswith((".yml", ".yaml")) else parse_requirements(source)


def parse_requirements(source: Source) -> Requirements:
    """Read a requirements file as pip does: comments, continuation lines, options, and the options of a single requirement left out."""
    return _from_lines(_logical_lines(source), source.location(0, len(source.text)))


def parse_lines(lines: Iterable[Text], location: Location) -> Requirements:
    """Read requirements that stand in another file, such as a heredoc: each line for itself."""
    return _from_lines((content for line in lines for content in _content(line)), location)


def _from_lines(lines: Iterator[Text], location: Location) -> Requirements:
    packages: list[Package] = []
    options: list[Option] = []
    for line in lines:
        if line.startswith("-"):
            found = read_arguments(_words(line), FILE_ROLES).options
            options += found
            packages += (python_package(value) for value in values_of(found, FILE_ROLES, "package"))
        else:
            packages.append(python_package(_with_variables(line)))
    return Requirements(
        "pip",
        tuple(packages),
        values_of(options, FILE_ROLES, "requirement"),
        values_of(options, FILE_ROLES, "constraint"),
        values_of(options, FILE_ROLES, "index", "extra-index"),
        location,
        values_of(options, FILE_ROLES, "extra-index"),
        tuple(options),
    )


_COMMENT = regex(r"(?:^|\s)#")
_OPTION_OF_REQUIREMENT = regex(r"\s-")
_VARIABLE = regex(r"\$\{[A-Z0-9_]+\}")
_LINE_WORD = regex(r"""(?:[^\s'"]|'[^']*'?|"[^"]*"?)+""")


def _logical_lines(source: Source) -> Iterator[Text]:
    """The lines with their continuations, without comments, surrounding blanks and the options of a requirement; none is empty."""
    parts: list[Text] = []
    for number, raw in enumerate(source.text.split("\n"), start=1):
        line = raw.rstrip("\r")
        more = line.endswith("\\") and not line.lstrip().startswith("#")
        part = line[:-1] if more else line
        parts.append(Text(part, Location(source.path, number, 1, number, len(part) + 1)))
        if not more:
            yield from _content(joined(parts, parts[0].location.to(parts[-1].location)))
            parts = []
    if parts:
        yield from _content(joined(parts, parts[0].location.to(parts[-1].location)))


def _content(line: Text) -> Iterator[Text]:
    """The line without what pip does not read of it, if anything is left."""
    comment = _COMMENT.search(line)
    end = comment.start() if comment else len(line)
    start = len(line) - len(line.lstrip())
    if start < end and line[start] != "-":
        option = _OPTION_OF_REQUIREMENT.search(line, start, end)
        end = option.start() if option else end
    end = len(line[:end].rstrip())
    if start < end:
        yield line.cut(start, end)


def _words(line: Text) -> list[Value]:
    return [_with_variables(_unquoted(line.cut(*match.span()))) for match in _LINE_WORD.finditer(line)]


def _unquoted(word: Text) -> Text:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return word.cut(1, len(word) - 1)
    return word


def _with_variables(text: Text) -> Value:
    return Unknown(str(text), text.location) if _VARIABLE.search(text) else text


def parse_conda_list(source: Source) -> Requirements:
    """Read what `conda install --file` reads: a specification a line, or the addresses of an explicit list."""
    packages = []
    for line in _logical_lines(source):
        archive = _CONDA_ARCHIVE.fullmatch(line)
        if archive is not None:
            packages.append(Package(archive[1].lower(), line, (), f"={archive[2]}={archive[3]}", line.location))
        elif not line.startswith("@"):
            packages.append(conda_package(line))
    return Requirements("conda", tuple(packages), (), (), (), source.location(0, len(source.text)))


_CONDA_ARCHIVE = regex(r"https?://\S+/([A-Za-z0-9_][\w.-]*)-([^-/\s]+)-([^-/\s]+)\.(?:conda|tar\.bz2)(?:#\S+)?")


def parse_environment(source: Source) -> Requirements:
    """Read a conda environment: its packages, its channels as indexes, and its `pip:` list, read as a requirements file, under `nested`."""
    from gpulint.parse.yaml import Mapping as YamlMapping
    from gpulint.parse.yaml import parse as parse_yaml

    roots = [document.root for document in parse_yaml(source).documents if isinstance(document.root, YamlMapping)]
    entries = [entry for root in roots for entry in root.sequence("dependencies")]
    channels = [channel for root in roots for channel in root.sequence("channels") if isinstance(channel, (Text, Unknown))]
    pip_lists = [entry.sequence("pip") for entry in entries if isinstance(entry, YamlMapping)]
    pip_lines = [line for lines in pip_lists for line in lines if isinstance(line, Text) and line]
    packages = [conda_package(entry) for entry in entries if isinstance(entry, (Text, Unknown))]
    location = source.location(0, len(source.text))
    nested = (_from_lines(iter(pip_lines), pip_lists[0].location),) if pip_lines else ()
    return Requirements("conda", tuple(packages), (), (), tuple(channels), location, nested=nested)
