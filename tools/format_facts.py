"""Write the fact tables in their one form: one row a line, so that a change of a fact is a change of one line.

Usage: python tools/format_facts.py [--check] [FILE...]     (without FILE: every table)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parent.parent / "gpulint" / "facts"


def formatted(data: dict[str, Any]) -> str:
    """The text of a table: each key on a line of its own, each row and each source too."""
    blocks = (f"{json.dumps(key)}: {_block(value)}" for key, value in data.items())
    return "{\n" + ",\n".join(f"  {block}" for block in blocks) + "\n}\n"


def _block(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {_line(row)}" for row in value) + "\n  ]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"    {json.dumps(key)}: {_line(row)}" for key, row in value.items()) + "\n  }"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str]) -> int:
    """Format the files named, or only name those that are not in form. Returns the exit code."""
    check = "--check" in arguments
    paths = [Path(argument) for argument in arguments if argument != "--check"] or sorted(FACTS.glob("*.json"))
    changed = [path for path in paths if formatted(json.loads(path.read_bytes())) != path.read_text(encoding="utf-8")]
    for path in changed:
        if not check:
            path.write_text(formatted(json.loads(path.read_bytes())), encoding="utf-8")
        print(f"{'not in form' if check else 'formatted'}: {path}")
    return int(check and bool(changed))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
