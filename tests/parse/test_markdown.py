"""Code blocks of Markdown documents, with every line at its place."""

from __future__ import annotations

import pytest

from gpulint.parse.markdown import MOST_BLOCKS, code_blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("a\n```bash\nls\n```\n", [("bash", 3, ["ls"])]),
        ("   ~~~ Shell title=x\n   ls\n   ~~~\n", [("shell", 2, ["   ls"])]),
        ("````\n```\nls\n```\n````\n", [("", 2, ["```", "ls", "```"])]),
        ("```{.dockerfile}\nFROM a\n", [("dockerfile", 2, ["FROM a", ""])]),
        ("```sh\r\nls\r\n```\r\n", [("sh", 2, ["ls\r"])]),
        ("`ls` and ```ls```\n", []),
        ("", []),
    ],
)
def test_blocks(text: str, blocks: list[tuple[str, int, list[str]]]) -> None:
    assert [(block.language, block.first, list(block.lines)) for block in code_blocks(text)] == blocks


def test_lines_stand_at_their_place() -> None:
    (block,) = code_blocks("# Ä\n\n```yaml\n  a: 1\n```\n")
    assert block.text == "\n\n\n  a: 1"


@pytest.mark.parametrize(
    ("lines", "typed"),
    [
        ("ls\npwd", "ls\npwd"),
        ("$ ls -l \\\n>   a\nout\n$ pwd", "  ls -l \\\n    a\n\n  pwd"),
        ("$ ls \\\n  a\nout", "  ls \\\n  a\n"),
        ("me@host:~/a$ ls\nout", "             ls\n"),
        ("(venv) $ ls", "         ls"),
    ],
)
def test_a_session_holds_what_is_typed(lines: str, typed: str) -> None:
    (block,) = code_blocks(f"```console\n{lines}\n```")
    assert block.session == f"\n{typed}"


def test_no_more_blocks_than_anybody_writes() -> None:
    assert len(list(code_blocks("```\n```\n" * (MOST_BLOCKS + 1)))) == MOST_BLOCKS
