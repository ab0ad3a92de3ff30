"""Compare lists of nvidia/cuda tags, as NVIDIA's repository keeps them, with what the facts say of each tag.

Usage: python tools/check_cuda_tags.py doc/supported-tags.md doc/unsupported-tags.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from gpulint.facts.cuda_tags import tag_state


def listed_tags(text: str) -> set[str]:
    """The tags that a list names: what stands in backquotes and begins with a version."""
    return set(re.findall(r"`(\d[^`]*)`", text))


def main(paths: list[str]) -> int:
    """Print each listed tag that the facts call missing or do not know. Returns 1 if there is any."""
    tags = sorted(set().union(*(listed_tags(Path(path).read_text(encoding="utf-8")) for path in paths)))
    wrong = [(tag, tag_state(tag)) for tag in tags if tag_state(tag).verdict in ("missing", "unknown")]
    for tag, state in wrong:
        print(f"{tag}: {state.verdict} {state.reason}".rstrip())
    print(f"{len(tags)} tags, {len(wrong)} to look at")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
