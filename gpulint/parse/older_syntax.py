"""A program: Python code on its standard input, written to its standard output in the syntax that this older Python reads too.

Every byte keeps its place. What is new gives way to blanks (type parameters, the star of `except*`) or to a value that is not known (an
f-string with quotes of its own kind in it). It runs in a process of its own (gpulint.parse.newer_python), since libcst may end that.
"""

from __future__ import annotations

import ast
import resource
import sys
import warnings
from collections.abc import Mapping
from typing import Any

MOST_MEMORY = 2 << 30
MOST_SECONDS = 20

_UNKNOWN = b"_"
_BLANK = ord(" ")
_TEXTS = ("FormattedString", "TemplatedString", "ConcatenatedString")


def main() -> None:
    """Read, write and end, within bounds; argument: the folder that libcst is imported from."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    sys.path.append(sys.argv[1])
    warnings.simplefilter("ignore")
    sys.stdout.buffer.write(older(sys.stdin.buffer.read()))


def older(code: bytes) -> bytes:
    """The code in older syntax. What libcst cannot read raises its error."""
    import libcst
    from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

    wrapper = MetadataWrapper(libcst.parse_module(code.decode("utf-8")), unsafe_skip_copy=True)
    rewriter = _Rewriter(code, wrapper.resolve(ByteSpanPositionProvider))
    pending: list[Any] = [wrapper.module]
    while pending:
        node = pending.pop()
        if not rewriter.rewrite(node):
            pending.extend(node.children)
    return bytes(rewriter.code)


class _Rewriter:
    """The code while it is rewritten. libcst's nodes go by the name of their class."""

    def __init__(self, code: bytes, spans: Mapping[Any, Any]) -> None:
        self.code = bytearray(code)
        self._spans = spans

    def rewrite(self, node: Any) -> bool:
        """Write a node anew where its syntax is newer than this Python; gives whether that is done with all that it holds."""
        kind = type(node).__name__
        if kind == "TypeParameters":
            self._fill(*self._span(node), b"")
        elif kind == "TypeAlias":
            self._fill(*self._span(node), b"pass")
        elif kind in _TEXTS:
            self._rewrite_text(node)
        else:
            if kind == "ExceptStarHandler" or _holds_star(node, kind):
                self._blank_star(*self._span(node))
            return False
        return True

    def _span(self, node: Any) -> tuple[int, int]:
        span = self._spans[node]
        return span.start, span.start + span.length

    def _fill(self, start: int, end: int, text: bytes) -> None:
        """Put that text in the place of a stretch, then blanks; a backslash before each line end goes on with the line."""
        filled = bytearray(_blanks(self.code[start:end], text))
        for index in range(len(text), len(filled)):
            if filled[index] == _BLANK and bytes(filled[index + 1 : index + 2]) in (b"\r", b"\n"):
                filled[index : index + 1] = b"\\"
        self.code[start:end] = filled

    def _rewrite_text(self, node: Any) -> None:
        """A string that this Python does not read loses the expressions in it, or is not known at all."""
        start, end = self._span(node)
        if _reads(self.code[start:end]):
            return
        whole = self.code[start:end]
        for part in _expressions(node):
            first, last = self._span(part)
            self.code[first + 1 : last - 1] = _blanks(self.code[first + 1 : last - 1], _UNKNOWN)
        if not _reads(self.code[start:end]):
            self.code[start:end] = b"(" + _blanks(whole[1:-1], _UNKNOWN) + b")"

    def _blank_star(self, start: int, end: int) -> None:
        at = self.code.find(b"*", start, end)
        self.code[at : at + 1] = b" "


def _holds_star(node: Any, kind: str) -> bool:
    """Whether a node is the `*items` of `x[*items]`, or the annotation of `*args: *Types`."""
    starred = type(getattr(node, "annotation", None)).__name__ == "StarredElement"
    return sys.version_info < (3, 11) and ((kind == "Index" and bool(node.star)) or (kind == "Annotation" and starred))


def _expressions(node: Any) -> list[Any]:
    """The expressions in braces of a string, or of the strings that are written one behind another."""
    if type(node).__name__ == "ConcatenatedString":
        return [*_expressions(node.left), *_expressions(node.right)]
    return [part for part in getattr(node, "parts", ()) if type(part).__name__ == "FormattedStringExpression"]


def _blanks(stretch: bytes | bytearray, text: bytes) -> bytes:
    """That text, and blanks for what is left of a stretch, whose line ends stay."""
    return text + bytes(byte if byte in b"\r\n" else _BLANK for byte in stretch[len(text) :])


def _reads(stretch: bytes | bytearray) -> bool:
    """Whether this Python reads a stretch of code as an expression."""
    try:
        ast.parse(b"(" + bytes(stretch) + b"\n)", mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main()
