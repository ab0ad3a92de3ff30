"""The text of a Python file as Python takes it: in the encoding that it declares, and with a line end for each carriage return."""

from __future__ import annotations

from codecs import BOM_UTF8

from gpulint.deferred import regex

_DECLARED = regex(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_LONE_RETURN = regex(rb"\r(?!\n)")


def in_utf8(data: bytes) -> bytes:
    """The file in UTF-8, so that each place in it is where an editor shows it. What cannot be decoded is left as it is."""
    data = _LONE_RETURN.sub(b"\n", data)
    declared = next(filter(None, map(_DECLARED.match, data.split(b"\n", 2)[:2])), None)
    if declared is None or data.startswith(BOM_UTF8):
        return data
    try:
        return data.decode(declared[1].decode()).encode()
    except (LookupError, ValueError):
        return data
