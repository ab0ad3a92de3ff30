"""The examples on the rules' pages and the edge cases in tests/rules: how they are read, and what gpulint says of their files.

An edge case is a `###` chapter below `## Bad` or `## Good` with files as on a page. A bad one has a block of `console` with what gpulint
prints of it, in the concise form and with notes. A first line such as `$ gpulint train.py` in that block gives arguments. Below
`## Not yet` stand cases with what should be printed and is not: each is a strict expected failure, so that a mended one is noticed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from gpulint import registry
from gpulint.cli import cli
from gpulint.pages import parse_page

HOUSE_PACK = "house_rules"
CONCISE = ("--format", "concise", "--color", "never", "--quiet")

_CHAPTER = re.compile(r"^(?=#{2,3} )", re.MULTILINE)
_CONSOLE = re.compile(r"^```console\n(?P<command>\$ gpulint(?P<arguments>[^\n]*)\n)?(?P<output>.*?)^```\n", re.MULTILINE | re.DOTALL)
_HEX_LINE = re.compile(r"[0-9a-f]{8}: ((?:[0-9a-f]{2,4} )+) .*")
_FINDING = re.compile(r"(?P<place>\S+:\d+:\d+): (?P<severity>error|warning|note): (?P<rule>[A-Z]+\d+) ")


class Finding(NamedTuple):
    """What one line of the concise report says."""

    rule: str
    severity: str


class EdgeCase(NamedTuple):
    """One edge case. `section` is Bad, Good or Not yet, `chapter` its number in the file; `output` is "" for a good one."""

    path: Path
    section: str
    chapter: int
    title: str
    files: dict[str, str]
    arguments: tuple[str, ...]
    output: str

    def rewrite(self, output: str) -> None:
        """Put another output into the case's file; a block for it is added where there is none."""
        chapters = _CHAPTER.split(self.path.read_text(encoding="utf-8"))
        text = chapters[self.chapter]
        match = _CONSOLE.search(text)
        block = f"```console\n{(match and match['command']) or ''}{output}```\n"
        chapters[self.chapter] = text[: match.start()] + block + text[match.end() :] if match else f"{text.rstrip()}\n\n{block}\n"
        self.path.write_text("".join(chapters), encoding="utf-8")


def edge_cases(folder: Path) -> list[EdgeCase]:
    """The edge cases of every file in a folder, in order."""
    return [case for path in sorted(folder.glob("*.md")) for case in _edge_cases(path)]


def _edge_cases(path: Path) -> list[EdgeCase]:
    cases, section = [], ""
    for number, chapter in enumerate(_CHAPTER.split(path.read_text(encoding="utf-8"))):
        if chapter.startswith("## "):
            section = chapter.partition("\n")[0].removeprefix("## ")
        elif chapter.startswith("### "):
            cases.append(_edge_case(path, section, number, chapter))
    return cases


def _edge_case(path: Path, section: str, number: int, chapter: str) -> EdgeCase:
    console = _CONSOLE.search(chapter)
    (example,) = parse_page("\n## Files\n" + _CONSOLE.sub("", chapter)).examples("Files")
    arguments = tuple((console["arguments"] or "").split()) if console else ()
    return EdgeCase(path, section, number, example.title, example.files, arguments, console["output"] if console else "")


def report(files: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """What gpulint prints, in the concise form, in a folder with those files. A rule pack among them is installed for the time."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content(text))
    monkeypatch.chdir(folder)
    with monkeypatch.context() as patch, _installed(HOUSE_PACK if f"{HOUSE_PACK}.py" in files else "", patch):
        result = CliRunner().invoke(cli, ["check", *CONCISE, *arguments], catch_exceptions=False)
    assert result.exit_code < 2 or "GPU003" in result.stdout, result.output
    return result.stdout


@contextmanager
def _installed(pack: str, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have a module of the current folder taken for an installed rule pack, as an entry point would name it."""
    if not pack:
        yield
        return
    patch.syspath_prepend(str(Path.cwd()))
    patch.setattr(registry, "_further_packs", lambda: [pack])
    _forget(pack)
    try:
        yield
    finally:
        _forget(pack)


def _forget(pack: str) -> None:
    registry.catalogue.cache_clear()
    registry.load.cache_clear()
    sys.modules.pop(pack, None)


def findings(text: str) -> list[Finding]:
    """The findings of a concise report."""
    return [Finding(match["rule"], match["severity"]) for match in map(_FINDING.match, text.splitlines()) if match]


def content(text: str) -> bytes:
    """The bytes of an example's file: `␍` is a carriage return, and a hexadecimal dump, as xxd prints it, the bytes that it shows."""
    rows = [_HEX_LINE.fullmatch(line) for line in text.splitlines()]
    if rows and all(rows):
        return b"".join(bytes.fromhex(row[1].replace(" ", "")) for row in rows if row)
    return text.replace("␍", "\r").encode()
