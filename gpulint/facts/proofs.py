"""The commands that prove, on the machine, what the files say of a container and its GPU."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from gpulint.facts import Row, table


def proof(link: str, dialect: str, names: Mapping[str, str]) -> str:
    """The command that proves a link ("request", "runtime", "driver", "program") of a container that a tool of that dialect starts.
    `names` are the container's, by the words that stand for them."""
    row = _row("links", link=link, dialect=dialect)
    return _filled(_inside(dialect) * bool(row.get("inside")) + str(row["command"]), names)


def build_proof(frameworks: Collection[str], dialect: str, names: Mapping[str, str]) -> str:
    """The command that prints with which CUDA the first of these frameworks is built that there is one for."""
    known = next((str(row["framework"]) for row in table("proofs")["builds"] if row["framework"] in frameworks), "")
    return _filled(_inside(dialect) + str(_row("builds", framework=known)["command"]), names)


def _inside(dialect: str) -> str:
    return str(_row("inside", dialect=dialect)["command"])


def _row(rows: str, **wanted: str) -> Row:
    """The row of these keys, or the one for any dialect."""
    found = [row for row in table("proofs")[rows] if all(row[key] in (value, "") for key, value in wanted.items())]
    return max(found, key=lambda row: sum(bool(row[key]) for key in wanted))


def _filled(command: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), command)
