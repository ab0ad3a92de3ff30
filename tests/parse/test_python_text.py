"""Python files in the encodings and with the line ends that they come with: places are where an editor shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import gpulint

CODE = """import torch

def main():
    größe = "表示"; device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)(größe).sum().backward()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu"); main()
"""
FOUND = "fit.py:{}:5: warning: GPU601 "
LATIN = CODE.replace("表示", "Gerät")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (CODE.encode(), 3),
        (b"\xef\xbb\xbf" + CODE.encode(), 3),
        (b"# -*- coding: utf-8 -*-\n" + CODE.encode(), 4),
        (b"# -*- coding: latin-1 -*-\n" + LATIN.encode("latin-1"), 4),
        (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n" + LATIN.encode("cp1252"), 5),
        (b"# coding: cp932\n" + CODE.replace("ö", "o").replace("ß", "s").encode("cp932"), 4),
        (b"# coding: utf-7\n" + CODE.replace("größe", "size").encode("utf-7"), 4),
        (b"# coding: nonsense\n" + CODE.encode(), 4),
        (b"# coding: hex\n" + CODE.encode(), 4),
        (b"\xef\xbb\xbf# coding: latin-1\n" + CODE.encode(), 4),
        (CODE.replace("\n", "\r\n").encode(), 3),
        (CODE.replace("\n", "\r").encode(), 3),
    ],
    ids=["UTF-8", "BOM", "declared", "Latin-1", "cp1252", "cp932", "UTF-7", "nonsense", "no text", "BOM and Latin-1", "CRLF", "CR"],
)
def test_a_place_in_a_file(tmp_path: Path, data: bytes, line: int) -> None:
    (tmp_path / "fit.py").write_bytes(data)
    (said,) = gpulint(tmp_path, "--format", "concise", "fit.py").stdout.splitlines()
    assert said.startswith(FOUND.format(line))


def test_bytes_of_another_encoding_in_texts_and_comments(tmp_path: Path) -> None:
    """Python itself refuses such a file; what it does is plain all the same."""
    (tmp_path / "fit.py").write_bytes(LATIN.replace("größe", "size").encode("latin-1"))
    (said,) = gpulint(tmp_path, "--format", "concise", "fit.py").stdout.splitlines()
    assert said.startswith(FOUND.format(3))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (CODE.encode("utf-16"), "fit.py:1:1: warning: GPU002 "),
        (CODE.encode() + b"\0", "fit.py:1:1: warning: GPU002 "),
        (CODE.encode() + b"print 'epoch'\n", "fit.py:8:1: warning: GPU001 "),
        (b"import torch\nx = " + b"(" * 5000 + b")" * 5000, "fit.py:2:"),
        (b"import torch\n" + b"x = 1\n" * 200_000, "fit.py:1:1: warning: GPU001 more than 1 MiB of code"),
    ],
    ids=["UTF-16", "NUL", "Python 2", "brackets", "a megabyte"],
)
def test_one_finding_for_what_cannot_be_read(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "fit.py").write_bytes(data)
    (line,) = gpulint(tmp_path, "--min-severity", "note", "--format", "concise", "fit.py").stdout.splitlines()
    assert line.startswith(said)
