"""Shows what gpulint, tally and env-doctor say of the faults on the pages of the image rules: a table of rule by tool.

    python bench/examples.py [--tally PATH] [--env-doctor PATH]

Each bad example with a Dockerfile is written into a scratch folder and given to each tool (packages tally-cli and env-doctor; a column is
empty where a tool is not there). Counted is whether a tool says something at the lines that gpulint names: of tally its GPU rules
(tally/gpu/...), of env-doctor any issue. The good examples show how often a tool speaks where nothing is wrong.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from gpulint.pages import Example, read_page

PAGES = Path(__file__).parent.parent / "rules" / "gpulint_rules" / "image"
Said = dict[int, list[str]]
"""What a tool says of a Dockerfile: its findings by line."""
Tool = Callable[[str, Path, str], Said]


def of_gpulint(program: str, folder: Path, dockerfile: str) -> Said:
    said: Said = collections.defaultdict(list)
    command = [program, "check", ".", "--format", "concise", "--min-severity", "note", "--color", "never"]
    for line in _output(command, folder).splitlines():
        match = re.match(r"(?P<path>[^:]+):(?P<line>\d+):\d+: \w+: (?P<rule>GPU\d+) ", line)
        if match and match["path"] == dockerfile:
            said[int(match["line"])].append(match["rule"])
    return said


def of_tally(program: str, folder: Path, dockerfile: str) -> Said:
    said: Said = collections.defaultdict(list)
    command = [program, "lint", "--slow-checks", "off", "--no-config", "--format", "json", dockerfile]
    for file in json.loads(_output(command, folder) or "{}").get("files") or ():
        for each in file.get("violations") or ():
            if each["rule"].startswith("tally/gpu/"):
                said[each["location"]["start"]["line"]].append(each["rule"].removeprefix("tally/gpu/"))
    return said


def of_env_doctor(program: str, folder: Path, dockerfile: str) -> Said:
    said: Said = collections.defaultdict(list)
    line = 0
    for text in _output([program, "dockerfile", dockerfile], folder).splitlines():
        if match := re.match(r"Line (\d+):", text):
            line = int(match[1])
        elif match := re.match(r"\s+Issue: (.*)", text):
            said[line].append(match[1])
    return said


def _output(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def written(example: Example, folder: Path) -> str | None:
    """Put an example's files into a folder; its first Dockerfile, None where it has none."""
    for name, text in example.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return next((name for name in example.files if "dockerfile" in name.rpartition("/")[2].lower()), None)


class Row:
    """The counts of one rule: examples, and by tool the bad ones that it names and the good ones that it speaks on."""

    def __init__(self) -> None:
        self.bad = self.good = 0
        self.named: collections.Counter[str] = collections.Counter()
        self.noise: collections.Counter[str] = collections.Counter()
        self.words: collections.Counter[str] = collections.Counter()

    def add(self, said: dict[str, Said], rule: str, *, is_bad: bool) -> None:
        at = {line for line, rules in said["gpulint"].items() if rule in rules}
        if is_bad and not at:
            return  # the finding is in another file than the Dockerfile
        self.bad += is_bad
        self.good += not is_bad
        for tool, lines in said.items():
            words = [word for line in at for word in lines.get(line, ())] if is_bad else [word for each in lines.values() for word in each]
            if words:
                (self.named if is_bad else self.noise)[tool] += 1
            if is_bad and tool == "tally":
                self.words.update(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    beside = str(Path(sys.executable).parent)
    parser.add_argument("--tally", default=shutil.which("tally"))
    parser.add_argument("--env-doctor", default=shutil.which("env-doctor"))
    options = parser.parse_args()
    programs: dict[str, tuple[str | None, Tool]] = {
        "gpulint": (shutil.which("gpulint", path=beside) or shutil.which("gpulint"), of_gpulint),
        "tally": (options.tally, of_tally),
        "env-doctor": (options.env_doctor, of_env_doctor),
    }
    tools = {name: (program, run) for name, (program, run) in programs.items() if program is not None}
    print("| rule | bad examples | " + " | ".join(tools) + " | what tally calls it | good examples | " + " | ".join(tools) + " |")
    print("| --- " * (4 + 2 * len(tools)) + "|")
    for path in sorted(PAGES.glob("*.md")):
        page, row = read_page(path), Row()
        rule = re.search(r"GPU\d+", path.read_text())
        for section in ("Bad", "Good"):
            for example in page.examples(section) if page and rule else ():
                with tempfile.TemporaryDirectory() as scratch:
                    dockerfile = written(example, Path(scratch))
                    if dockerfile is not None and rule is not None:
                        said = {name: run(program, Path(scratch), dockerfile) for name, (program, run) in tools.items()}
                        row.add(said, rule[0], is_bad=section == "Bad")
        counts = [f"{row.named[name]} of {row.bad}" for name in tools], [f"{row.noise[name]} of {row.good}" for name in tools]
        if row.bad:
            print(
                f"| {rule[0] if rule else ''} {path.stem} | {row.bad} | {' | '.join(counts[0])} | {', '.join(row.words)} | {row.good} | "
                f"{' | '.join(counts[1])} |"
            )


if __name__ == "__main__":
    main()
