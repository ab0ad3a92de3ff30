"""Code in documents: each block of a Markdown file that starts or builds something becomes a file of its own, in a folder of its own.

So it is read as any other file of its kind, stands beside nothing that it could be joined with, and is reported at its place in the
document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import StrPath, Unreadable, kind_by_content, read_file
from gpulint.parse.markdown import Block, code_blocks
from gpulint.source import Source

SUFFIXES = (".md", ".markdown", ".mdx")

MOST_TEXT = 8 * 1024 * 1024
"""How many characters the files made of one document may have: each holds an empty line for each line above it."""

_SHELL = frozenset({"sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "shellsession", "sh-session", "bash-session"})
_YAML = frozenset({"yaml", "yml", "docker-compose", "compose"})
_DOCKERFILE = frozenset({"dockerfile", "docker", "containerfile"})
_STARTS = regex(r"(?m)^[ \t]*(?:[$%#][ \t]+)?(?:sudo[ \t]+)?(?:docker|podman|nerdctl|nvidia-docker|apptainer|singularity|helm)[ \t]")
"""How a block without a language begins a line where it holds commands."""


class Documents(NamedTuple):
    """The files made of blocks, path to bytes, and of each the path of its document."""

    files: dict[str, bytes]
    origins: dict[str, str]


def read_documents(root: StrPath, paths: Iterable[str]) -> Documents:
    """The blocks of the documents among these paths."""
    files: dict[str, bytes] = {}
    origins: dict[str, str] = {}
    for path in paths:
        for name, text in _files(root, path) if path.lower().endswith(SUFFIXES) else ():
            files[name] = text.encode()
            origins[name] = path
    return Documents(files, origins)


def _files(root: StrPath, path: str) -> Iterator[tuple[str, str]]:
    try:
        data = read_file(root, path)
    except Unreadable:
        return
    size = 0
    for block in code_blocks(Source(path, data).text) if data else ():
        name, text = _file(block)
        size += len(text)
        if size > MOST_TEXT:
            return
        if name:
            yield f"{path}:{block.first}/{name}", text


def _file(block: Block) -> tuple[str, str]:
    """The name and text of the file that a block stands for; no name where it is none that is read."""
    if block.language in _SHELL or (not block.language and _STARTS.search("\n".join(block.lines))):
        return "commands.sh", block.session
    if block.language in _DOCKERFILE and any(line.lstrip().upper().startswith("FROM ") for line in block.lines):
        return "Dockerfile", block.text
    if block.language in _YAML and kind_by_content("block.yaml", block.text.encode()) is not None:
        return "block.yaml", block.text
    return "", ""
