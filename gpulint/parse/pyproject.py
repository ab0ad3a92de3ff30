"""Packages in TOML: the dependencies of a pyproject.toml, and what the lock files of uv, poetry and pdm pin."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import Any

from gpulint.deferred import regex
from gpulint.parse.marker import holds_on_linux
from gpulint.parse.requirement import Package, pip_specifier, python_name, python_package
from gpulint.parse.requirements import Requirements
from gpulint.source import Source, Text, Unknown

TomlTable = dict[str, Any]


def parse_pyproject(source: Source) -> Requirements:
    """Read the dependencies of a project, its extras, its dependency groups and its poetry tables. Never raises.

    Constraints of poetry are given in pip's form. The indexes are those of the uv, poetry and pdm tables.
    """
    data = _load(source)
    places = _Places(source)
    project, tool = _table(data, "project"), _table(data, "tool")
    poetry = _table(tool, "poetry")
    sources = {python_name(name): source for name, source in _table(tool, "uv", "sources").items()}
    packages = [_from_source(package, sources.get(package.name), tool, places) for package in _project_packages(data, project, places)]
    packages += _poetry_packages(tool, places)
    indexes, extra_indexes = _indexes(tool, places)
    manager = "poetry" if poetry else "uv" if "uv" in tool else "pip"
    files = tuple(places.string(file) for file in _dynamic_files(project, tool))
    return Requirements(manager, tuple(packages), files, (), indexes, source.location(0, len(source.text)), extra_indexes)


def _dynamic_files(project: TomlTable, tool: TomlTable) -> list[str]:
    """The files that setuptools reads the dependencies from."""
    if "dependencies" not in _strings(project.get("dynamic")):
        return []
    files = _table(tool, "setuptools", "dynamic", "dependencies").get("file")
    return [files] if isinstance(files, str) else _strings(files)


def parse_uv(source: Source) -> Requirements:
    """Read the indexes of a uv.toml, which holds what pyproject.toml has under `tool.uv`. Never raises."""
    indexes, extra_indexes = _indexes({"uv": _load(source)}, _Places(source))
    return Requirements("uv", (), (), (), indexes, source.location(0, len(source.text)), extra_indexes)


def parse_pixi(source: Source) -> Requirements:
    """Read the packages of a pixi.toml, or of the `tool.pixi` of a pyproject.toml: those of conda, and under `nested` those of PyPI. What a
    feature adds is of the group of its name. Never raises."""
    data = _load(source)
    pixi = _table(data, "tool", "pixi") or data
    places = _Places(source)
    prefix = "tool.pixi." if pixi is not data else ""
    conda: list[Package] = []
    python: list[Package] = []
    for group, section in _pixi_sections(pixi):
        for name, constraint in _table(pixi, *section, "dependencies").items():
            text = places.entry(f"{prefix}{'.'.join((*section, 'dependencies'))}", name)
            conda.append(Package(name.lower(), text, (), _pixi_specifier(constraint), text.location, group=group))
        for name, constraint in _table(pixi, *section, "pypi-dependencies").items():
            text = places.entry(f"{prefix}{'.'.join((*section, 'pypi-dependencies'))}", name)
            details = constraint if isinstance(constraint, dict) else {"version": constraint}
            index = details.get("index")
            package = _poetry_package(name, details, text, group)
            python.append(package._replace(from_index=places.string(index) if isinstance(index, str) else None))
    channels = tuple(places.string(each) for each in _strings((_table(pixi, "workspace") or _table(pixi, "project")).get("channels")))
    location = source.location(0, len(source.text))
    index = _table(pixi, "pypi-options").get("index-url")
    indexes = (places.string(index),) if isinstance(index, str) else ()
    nested = (Requirements("pip", tuple(python), (), (), indexes, location),) if python else ()
    return Requirements("pixi", tuple(conda), (), (), channels, location, nested=nested)


def _pixi_sections(pixi: TomlTable) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tables that hold dependencies on Linux, each with the feature that it is of."""
    for group, path in [("", ()), *((name, ("feature", name)) for name in _table(pixi, "feature"))]:
        yield group, path
        yield from ((group, (*path, "target", platform)) for platform in ("linux", "linux-64", "unix"))


def _pixi_specifier(constraint: object) -> str:
    """Version and build string as conda writes them: `=2.4.1=*cuda*`."""
    details = constraint if isinstance(constraint, dict) else {"version": constraint}
    version, build = (str(details.get(key) or "*").strip() for key in ("version", "build"))
    version = version if version[0] in "=<>!~" else f"={version}"
    return "".join(f"{version}={build}".split()) if build != "*" else "" if version == "=*" else "".join(version.split())


def parse_lock(source: Source) -> Requirements:
    """Read the packages that a lock file in TOML pins, each with its version as `==version`. Never raises."""
    packages = []
    for match in _LOCKED.finditer(source.text):
        text = source.cut(match.start(1), match.end(1))
        packages.append(Package(python_name(text), text, (), f"=={match[2]}", text.location))
    return Requirements("lock", tuple(packages), (), (), (), source.location(0, len(source.text)))


def parse_pipfile(source: Source) -> Requirements:
    """Read the packages of a Pipfile and its sources; those for development are of the group dev. Never raises."""
    data = _load(source)
    places = _Places(source)
    entries = [entry for entry in _tables(data.get("source")) if isinstance(entry.get("url"), str)]
    urls = {str(entry.get("name", entry["url"])): entry["url"] for entry in entries}
    packages = []
    for section, group in (("packages", ""), ("dev-packages", "dev")):
        for name, constraint in _table(data, section).items():
            details = constraint if isinstance(constraint, dict) else {"version": constraint}
            index = urls.get(str(details.get("index")))
            package = _poetry_package(name, details, places.entry(section, name), group)
            packages.append(package._replace(from_index=places.string(index) if index else None))
    indexes = tuple(places.string(url) for url in urls.values())
    return Requirements("pipenv", tuple(packages), (), (), indexes, source.location(0, len(source.text)), indexes[1:])


def parse_pipfile_lock(source: Source) -> Requirements:
    """Read the versions that a Pipfile.lock pins. Never raises."""
    packages = []
    for match in _LOCKED_BY_PIPENV.finditer(source.text):
        text = source.cut(match.start(1), match.end(1))
        packages.append(Package(python_name(text), text, (), match[2], text.location))
    return Requirements("lock", tuple(packages), (), (), (), source.location(0, len(source.text)))


_LOCKED_BY_PIPENV = regex(r'^[ \t]+"([A-Za-z0-9][A-Za-z0-9._-]*)": \{[^{}]*?"version": "(==[^"\n]+)"', re.MULTILINE)


_LOCKED = regex(r"""^\[\[packages?\]\][ \t]*\r?\n+name = ["']([^"'\n]+)["'][ \t]*\r?\nversion = ["']([^"'\n]+)["']""", re.MULTILINE)


def _load(source: Source) -> TomlTable:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(source.text)
    except (ValueError, RecursionError):
        return {}


def _table(table: TomlTable, *keys: str) -> TomlTable:
    for key in keys:
        found = table.get(key)
        table = found if isinstance(found, dict) else {}
    return table


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _tables(value: object) -> list[TomlTable]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class _Places:
    """Where the strings and keys of a TOML file stand. A string that stands several times is found in the order of its places."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.strings: dict[str, deque[tuple[int, int]]] = {}
        for match in _STRING.finditer(source.text):
            if match.lastindex:
                self.strings.setdefault(match[match.lastindex], deque()).append(match.span(match.lastindex))
        self.keys: dict[str, list[tuple[int, int]]] = {}
        for match in _KEY_LINE.finditer(source.text):
            self.keys.setdefault(match[1], []).append((match.start(1), match.end()))

    def string(self, value: str) -> Text:
        """The string as a Text; one that is written with escapes stands where the file begins."""
        spans = self.strings.get(value)
        if not spans:
            return Text(value, self.source.line_location(1), ())
        start, end = spans.popleft() if len(spans) > 1 else spans[0]
        return self.source.cut(start, end)

    def entry(self, section: str, key: str) -> Text:
        """The line of a key below the header of a section."""
        header = self.source.text.find(f"[{section}]")
        spans = self.keys.get(key, [])
        at = bisect_right(spans, (max(header, 0), 0))
        if at >= len(spans):
            return Text(key, self.source.line_location(1), ())
        start, end = spans[at]
        return self.source.cut(start, start + len(self.source.text[start:end].rstrip()))


_STRING = regex(
    r"""\#[^\n]*|'{3}.*?'{3}|"{3}.*?"{3}|"([^"\\\n]*)"|"(?:[^"\\\n]|\\.)*"|'([^'\n]*)'""",
    re.DOTALL,
)
_KEY_LINE = regex(r"""^[ \t]*["']?([A-Za-z0-9._-]+)["']?[ \t]*=[^\n#]*""", re.MULTILINE)


def _project_packages(data: TomlTable, project: TomlTable, places: _Places) -> Iterator[Package]:
    for text in _strings(project.get("dependencies")):
        yield python_package(places.string(text))
    name = python_name(str(project.get("name", "")))
    for groups in (_table(project, "optional-dependencies"), _table(data, "dependency-groups")):
        own = {group: [python_package(places.string(text)) for text in _strings(texts)] for group, texts in groups.items()}
        for group in groups:
            for part in _parts_of(group, groups, own, name):
                yield from (package._replace(group=group) for package in own[part] if package.name != name)


def _parts_of(group: str, groups: TomlTable, own: dict[str, list[Package]], project: str) -> Iterator[str]:
    """An extra or dependency group and those that it takes in: `{include-group = "other"}`, or the project itself with other extras."""
    names = {python_name(each): each for each in own}
    following, seen = [group], {group}
    while following:
        current = following.pop()
        yield current
        named = [str(entry.get("include-group")) for entry in _tables(groups[current])]
        named += [extra for package in own[current] if package.name == project for extra in package.extras]
        new = [names[python_name(each)] for each in named if python_name(each) in names]
        following += [each for each in new if each not in seen]
        seen.update(new)


def _poetry_packages(tool: TomlTable, places: _Places) -> Iterator[Package]:
    poetry = _table(tool, "poetry")
    sections = {"": "dependencies", "dev": "dev-dependencies"}
    sections |= {name: f"group.{name}.dependencies" for name in _table(poetry, "group")}
    for group, section in sections.items():
        for name, constraint in _table(poetry, *section.split(".")).items():
            if name != "python":
                text = places.entry(f"tool.poetry.{section}", name)
                for each in constraint if isinstance(constraint, list) else [constraint]:
                    details = each if isinstance(each, dict) else {"version": each}
                    index = _index_of(details.get("source"), tool, places)
                    yield _poetry_package(name, details, text, group)._replace(from_index=index, is_of_poetry=True)


def _poetry_package(name: str, details: TomlTable, text: Text, group: str) -> Package:
    version, marker = details.get("version"), details.get("markers")
    return Package(
        python_name(name),
        text,
        tuple(python_name(extra) for extra in _strings(details.get("extras"))),
        pip_specifier(version) if isinstance(version, str) else "",
        text.location,
        marker if isinstance(marker, str) else "",
        group,
    )


def _from_source(package: Package, source: object, tool: TomlTable, places: _Places) -> Package:
    """The package with the index that a source of uv ties it to; of several sources the one for its extra or group, on Linux. Where more
    than one fits, the index is not known."""
    fitting = [each for each in (source if isinstance(source, list) else [source]) if _fits_source(each, package)]
    indexes = [index for index in (_index_of(each, tool, places) for each in fitting) if index is not None]
    if len(set(indexes)) > 1:
        return package._replace(from_index=Unknown("", package.location))
    return package._replace(from_index=indexes[0] if indexes else None)


def _fits_source(source: object, package: Package) -> bool:
    if not isinstance(source, dict):
        return False
    chosen = source.get("extra", source.get("group"))
    is_meant = chosen is None or (isinstance(chosen, str) and python_name(chosen) == python_name(package.group))
    marker = source.get("marker")
    return is_meant and not (isinstance(marker, str) and holds_on_linux(marker) is False)


def _indexes(tool: TomlTable, places: _Places) -> tuple[tuple[Text, ...], tuple[Text, ...]]:
    """All indexes that are searched for any package, and those of them that only add to another."""
    uv = _table(tool, "uv")
    main = _strings([uv.get("index-url")])
    named = (entry["url"] for entry in _index_entries(tool) if entry.get("explicit") is not True and entry.get("priority") != "explicit")
    extra = [*_strings(uv.get("extra-index-url")), *_strings(uv.get("find-links")), *named]
    extra_texts = tuple(places.string(url) for url in extra)
    return (*(places.string(url) for url in main), *extra_texts), extra_texts


def _named_indexes(tool: TomlTable) -> dict[str, str]:
    """The addresses of the indexes of uv, poetry and pdm by their names."""
    return {str(entry.get("name", entry["url"])): entry["url"] for entry in _index_entries(tool)}


def _index_entries(tool: TomlTable) -> list[TomlTable]:
    lists = (_table(tool, "uv").get("index"), _table(tool, "poetry").get("source"), _table(tool, "pdm").get("source"))
    return [entry for entries in lists for entry in _tables(entries) if isinstance(entry.get("url"), str)]


def _index_of(source: object, tool: TomlTable, places: _Places) -> Text | None:
    """The index that a source of uv (`{ index = "name" }`) or of poetry (the name) ties a package to."""
    name = source.get("index") if isinstance(source, dict) else source
    url = _named_indexes(tool).get(name) if isinstance(name, str) else None
    return places.string(url) if url else None
