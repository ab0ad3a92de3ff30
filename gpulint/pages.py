"""A rule's page: the Markdown file beside its module, for `gpulint rule`, for the help in SARIF, and for the test of its examples.

    # gpu-not-requested (GPU201)
    ## What          what the rule finds: the first sentence says it alone, the cases and their severities follow
    ## Why           what then happens to the workload
    ## Verify        how to see it on a machine
    ## Bad           examples that raise this rule and no other
    ## Good          examples that raise nothing
    ## Guides        where they bear on the rule: what common guides say, and whether it holds
    ## References    the sources

An example is a set of files. Each fenced block stands below a line that names its file, such as "`deploy/job.yaml`:". The files of a
section are one example, or one below each `###` heading of it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.registry import BUILT_IN

HOMEPAGE = "https://github.com/gpulint/gpulint"
LINE_WIDTH = 88

_FENCE = regex(r" {0,3}(`{3,}|~{3,})")
_FILE_NAME = regex(r"`([^`]+)`:")
_INLINE = regex(r"\[(?P<text>[^\]]+)\]\((?P<address>[^)\s]+)\)|(?P<code>`+[^`]*`+)|\*\*")
_SENTENCE_END = regex(r"(?<=[.!?])\s")
_LIST_ITEM = regex(r"\s*(?:[-*+]|\d+[.)])\s+")


class Block(NamedTuple):
    """A part of a page: `heading`, `code` (without its fence), `item` of a list, `table` or `text` (a paragraph, its line ends kept).

    `level` is a heading's number of `#`, else 0.
    """

    kind: str
    text: str
    level: int = 0


class Example(NamedTuple):
    """The files of an example, path to text; the title is "" where it has no heading of its own."""

    title: str
    files: dict[str, str]


@dataclass(frozen=True)
class Page:
    """A rule's page: the title on its first line, what stands below it as Markdown, and the same as blocks."""

    title: str
    markdown: str
    blocks: tuple[Block, ...]

    @property
    def sections(self) -> dict[str, tuple[Block, ...]]:
        """The blocks below each `##` heading, by its title, in order."""
        sections: dict[str, tuple[Block, ...]] = {}
        title = ""
        for block in self.blocks:
            if block.level == 2:
                title = block.text
                sections[title] = ()
            elif title:
                sections[title] += (block,)
        return sections

    @property
    def description(self) -> str:
        """The first paragraph of What as plain text on one line; "" without one."""
        return next((_plain(block.text) for block in self.sections.get("What", ()) if block.kind == "text"), "")

    @property
    def summary(self) -> str:
        """The first sentence of What; "" without one."""
        return _SENTENCE_END.split(self.description, maxsplit=1)[0]

    def examples(self, section: str) -> list[Example]:
        """The examples of a section, such as Bad. Raises ValueError for code that stands below no file name."""
        examples, name = [Example("", {})], ""
        for block in self.sections.get(section, ()):
            if block.kind == "heading":
                examples.append(Example(block.text, {}))
            elif block.kind == "code":
                if not name:
                    raise ValueError(f"{self.title}: code in {section} stands below no file name")
                examples[-1].files[name] = block.text
            named = _FILE_NAME.fullmatch(block.text.splitlines()[-1]) if block.kind == "text" else None
            name = named[1] if named else ""
        return [example for example in examples if example.files]


def read_page(path: str | Path) -> Page | None:
    """The page of that path; None where there is none, or none that can be read."""
    try:
        return parse_page(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def parse_page(text: str) -> Page:
    """Take the Markdown of a page apart."""
    title, _, body = text.partition("\n")
    return Page(title.removeprefix("#").strip(), body.strip() + "\n", tuple(_blocks(body.splitlines())))


def page_address(path: str | Path) -> str:
    """Where a built-in rule's page can be read on the web; "" for a page of another pack."""
    inner = Path(path).parts[-3:]
    return "/".join((HOMEPAGE, "blob/main/rules", *inner)) if inner[:1] == (BUILT_IN,) else ""


def page_text(page: Page) -> str:
    """The page for reading in a terminal: headings flush left, paragraphs wrapped below them, code and tables as they are."""
    text, previous = page.title, ""
    for block in page.blocks:
        text += ("\n" if block.kind == previous == "item" else "\n\n") + _block_text(block)
        previous = block.kind
    return text + "\n"


def _block_text(block: Block) -> str:
    if block.kind == "heading":
        return "  " * (block.level - 2) + _plain(block.text)
    if block.kind in ("code", "table"):
        return textwrap.indent(block.text.rstrip("\n"), "    ")
    item = _LIST_ITEM.match(block.text)
    marker = item[0] if item else ""
    hanging = " " * len(marker)
    return textwrap.fill(
        _plain(block.text[len(marker) :]),
        LINE_WIDTH,
        initial_indent=f"  {marker}",
        subsequent_indent=f"  {hanging}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(markdown: str) -> str:
    """A paragraph's Markdown on one line, nothing bold, with links as `text (address)`, or as their text where they lead to a file beside
    the page. Code keeps its backticks."""
    return _INLINE.sub(_plain_part, " ".join(markdown.split()))


def _plain_part(part: re.Match[str]) -> str:
    if part["address"]:
        return f"{part['text']} ({part['address']})" if "://" in part["address"] else part["text"]
    return part["code"] or ""


def _blocks(lines: list[str]) -> Iterator[Block]:
    """The blocks in order. A paragraph or item ends at a blank line, and where another kind of block begins."""
    at = 0
    while at < len(lines):
        line, fence = lines[at], _FENCE.match(lines[at])
        if fence:
            end = _end_of_code(lines, at, fence[1])
            yield Block("code", "".join(f"{each}\n" for each in lines[at + 1 : end]))
            at = end + 1
        elif line.startswith("#"):
            text = line.lstrip("#")
            yield Block("heading", text.strip(), len(line) - len(text))
            at += 1
        elif line.strip():
            end = _end_of_text(lines, at)
            yield Block(_kind(line), "\n".join(lines[at:end]))
            at = end
        else:
            at += 1


def _end_of_code(lines: list[str], start: int, fence: str) -> int:
    """The number of the line that closes a fence: as many marks or more; the end where none does."""
    closing = (at for at in range(start + 1, len(lines)) if (mark := _FENCE.match(lines[at])) and mark[1].startswith(fence))
    return next(closing, len(lines))


def _end_of_text(lines: list[str], start: int) -> int:
    """The number of the line behind a paragraph, a list item or a whole table."""
    at, kind = start + 1, _kind(lines[start])
    while at < len(lines) and lines[at].strip() and not lines[at].startswith("#") and not _FENCE.match(lines[at]):
        following = _kind(lines[at])
        if following == "item" or (following == "table") != (kind == "table"):
            break
        at += 1
    return at


def _kind(line: str) -> str:
    if line.startswith("|"):
        return "table"
    return "item" if _LIST_ITEM.match(line) else "text"
