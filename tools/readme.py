"""Fills the generated parts of README.md: the demo with the exact output that gpulint prints for it, and the table of rules.

python tools/readme.py            writes README.md
python tools/readme.py --check    exits with 1 where it would change
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "tests" / "fixtures" / "readme"
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]


def demo() -> str:
    """The files of the demo, and what gpulint prints for them."""
    files = "".join(
        f"`{name}`:\n\n```{language}\n{(DEMO / name).read_text()}```\n\n"
        for name, language in (("pod.yaml", "yaml"), ("Dockerfile", "dockerfile"))
    )
    command = [sys.executable, "-c", "from gpulint.__main__ import main; main()", "--isolated", "."]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'rules'}", "PATH": "/usr/bin:/bin"}
    printed = subprocess.run(command, cwd=_copied(), capture_output=True, text=True, check=False, env=environment)
    return f"{files}```console\n$ gpulint\n{printed.stdout}{printed.stderr}```\n"


def _copied() -> str:
    """The demo in a folder of its own, since the root is else the work tree that it lies in."""
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp())
    for name in ("pod.yaml", "Dockerfile"):
        shutil.copy(DEMO / name, folder)
    return str(folder)


def rules() -> str:
    """The table of rules with the first sentence of each page."""
    from gpulint.pages import read_page
    from gpulint.registry import catalogue

    rows = []
    for entry in catalogue():
        page = read_page(entry.page)
        path = Path(entry.page).relative_to(ROOT)
        rows.append(f"| [{entry.id}]({path}) | {entry.name} | {page.summary if page else ''} |\n")
    return "| id | name | what it finds |\n| --- | --- | --- |\n" + "".join(rows)


def filled(text: str) -> str:
    """The README with its generated parts as they should be."""
    for name, make in (("demo", demo), ("rules", rules)):
        content = f"<!-- generated: {name} -->\n{make()}<!-- end -->"
        text = re.sub(rf"<!-- generated: {name} -->\n.*?<!-- end -->", lambda _, content=content: content, text, flags=re.S)  # type: ignore[misc]
    return text


def main() -> int:
    path = ROOT / "README.md"
    old = path.read_text()
    new = filled(old)
    if "--check" in sys.argv:
        return int(old != new)
    path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
