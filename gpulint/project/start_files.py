"""Files that say what is to be started: the recipes of a Makefile, the programs of supervisord, the setting of a server's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.recipe import Recipe
from gpulint.source import Source, Text

_DEEPEST = 8  # targets that need one another


def recipes_of(source: Source, targets: Sequence[str]) -> Iterator[Recipe]:
    """The recipes that make these targets, in the order in which they run; those of the first target of the file where none is named."""
    from gpulint.parse.makefile import parse_rules

    rules: dict[str, list[Recipe]] = {}
    for rule in parse_rules(source):
        for name in rule.target.split():
            rules.setdefault(name, []).append(rule)
    first = next((name for name in rules if not name.startswith(".")), "")
    done: set[str] = set()
    for target in targets or [first]:
        yield from _made(rules, target, done, 0)


def _made(rules: dict[str, list[Recipe]], target: str, done: set[str], depth: int) -> Iterator[Recipe]:
    if target in done or depth > _DEEPEST:
        return
    done.add(target)
    for rule in rules.get(target, ()):
        for needed in rule.needs:
            yield from _made(rules, needed, done, depth + 1)
        if rule.script.commands:
            yield rule


class Supervised(NamedTuple):
    """A program that supervisord starts by itself: its command, and the folder that it runs in, if one is named."""

    command: Text
    folder: Text | None


_SECTION = regex(r"\[([^\]]+)\]\s*(?:;.*)?")
_SETTING = regex(r"([A-Za-z_]+)[ \t]*[=:][ \t]*")
_COMMENT = regex(r"[ \t];")
_MOST_PATTERNS = 20  # that a configuration includes


def supervised(source: Source) -> Iterator[Supervised]:
    """The programs of a configuration of supervisord, in file order."""
    for name, settings in _sections(source):
        command = settings.get("command")
        starts = str(settings.get("autostart", "true")).lower() != "false"
        if name.startswith("program:") and command is not None and starts:
            yield Supervised(command, settings.get("directory"))


def included(source: Source) -> tuple[str, ...]:
    """The patterns of further files that a configuration of supervisord includes."""
    files = next((settings.get("files") for name, settings in _sections(source) if name == "include"), None)
    return tuple(files.split()[:_MOST_PATTERNS]) if files is not None else ()


def _sections(source: Source) -> Iterator[tuple[str, dict[str, Text]]]:
    name, settings = "", dict[str, Text]()
    offset = 0
    for line in source.text.splitlines(keepends=True):
        if match := _SECTION.fullmatch(line.rstrip()):
            yield name, settings
            name, settings = match[1], {}
        elif match := _SETTING.match(line):
            comment = _COMMENT.search(line, match.end())
            value = line[match.end() : comment.start() if comment else None].rstrip()
            settings[match[1]] = source.cut(offset + match.end(), offset + match.end() + len(value))
        offset += len(line)
    yield name, settings


def setting(source: Source, key: str) -> Text | None:
    """The word that a configuration in Python or YAML gives a setting at its top level; None where it is not given once, as a word."""
    found = list(re.finditer(rf"^{re.escape(key)}\s*[=:](.*)$", source.text, re.MULTILINE))
    match = _WORD.fullmatch(found[0][1]) if len(found) == 1 else None
    start = found[0].start(1) if found else 0
    return source.cut(start + match.start("word"), start + match.end("word")) if match else None


_WORD = regex(r"""\s*(?P<quote>["']?)(?P<word>[\w./:()-]+)(?P=quote)\s*(?:#.*)?""")
