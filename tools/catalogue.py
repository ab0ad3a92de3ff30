"""Write what lists the built-in rules: the catalogue in rules/gpulint_rules/__init__.py, and the index rules/README.md.

Both come from the rules themselves: the declaration in each module, and the page beside it. A rule of the engine has a page alone; what
would stand in a declaration is read from there.

Usage: python tools/catalogue.py [--check]     (--check writes nothing, and names what is out of date)
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACK = ROOT / "rules" / "gpulint_rules"
sys.path[:0] = [str(ROOT), str(PACK.parent)]

from gpulint.pages import Page, parse_page  # noqa: E402
from gpulint.rule import Impact, Rule, Severity  # noqa: E402

FOLDERS = {
    "engine": "gpulint itself",
    "image": "Images and Dockerfiles",
    "container": "Anything that starts a container",
    "compose": "Compose files",
    "kubernetes": "Kubernetes, Helm, Kustomize",
    "command": "Commands, scripts and CI",
    "python": "Python",
    "project": "Only visible across files",
}
"""The folders of the pack in the order of their hundreds, each with its heading in the index."""

_TITLE = re.compile(r"(?P<name>[a-z][a-z0-9-]*) \((?P<id>GPU\d{3})\)")
_SEVERITY = re.compile(r"- \*\*(error|warning|note)\*\*")

_CATALOGUE = '''"""The built-in rules. tools/catalogue.py writes this file: change a rule or its page, then run it.

No rule's module is imported here: a run imports those that it needs.
"""

from __future__ import annotations

from gpulint.rule import Entry, Impact, Severity

_FOLDER = __file__.rpartition("/")[0]
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def _entry(
    rule_id: str, name: str, folder: str, node: str, impact: Impact, severities: tuple[Severity, ...], machines: tuple[str, ...] = ()
) -> Entry:
    """The entry of a rule whose page, and module unless it is the engine's own, lie in that folder under its name."""
    stem = name.replace("-", "_")
    module = "" if folder == "engine" else f"{__name__}.{folder}.{stem}"
    return Entry(rule_id, name, node, severities, impact, module, f"{_FOLDER}/{folder}/{stem}.md", machines)


CATALOGUE = (
'''
_INDEX = """# The rules

<!-- tools/catalogue.py writes this file: change a rule's page, then run it. -->

Each links to its page: what it finds, why that matters, how to see it on a machine, and examples.
`gpulint rule ID` shows the same page in the terminal.
"""


class Listed(NamedTuple):
    """A rule as both files list it; `summary` is the first sentence of its page."""

    id: str
    name: str
    folder: str
    node: str
    impact: Impact
    severities: tuple[Severity, ...]
    machines: tuple[str, ...]
    summary: str

    @property
    def entry(self) -> str:
        """The rule's line in the catalogue."""
        severities = ", ".join(severity.name for severity in self.severities) + "," * (len(self.severities) == 1)
        words = ", ".join(f'"{word}"' for word in (self.id, self.name, self.folder, self.node))
        further = f", machines={_tuple(self.machines)}" if self.machines else ""
        return f"    _entry({words}, Impact.{self.impact.name}, ({severities}){further}),\n"

    @property
    def row(self) -> str:
        """The rule's line in the index."""
        return f"| [{self.id}](gpulint_rules/{self.folder}/{self.name.replace('-', '_')}.md) | {self.name} | {self.summary} |\n"


def _tuple(words: tuple[str, ...]) -> str:
    return "(" + ", ".join(f'"{word}"' for word in words) + ("," if len(words) == 1 else "") + ")"


def read_rule(path: Path) -> Listed:
    """The rule whose page that is. Exits where page and module disagree."""
    page, folder = parse_page(path.read_text(encoding="utf-8")), path.parent.name
    title = _TITLE.fullmatch(page.title)
    if title is None or path.stem != title["name"].replace("-", "_"):
        raise SystemExit(f"{path}: the first line must be `# {path.stem.replace('_', '-')} (GPU123)`, with the rule's id")
    told = severities_on(page)
    if folder == "engine":
        return Listed(title["id"], title["name"], folder, "File", Impact.UNREAD, told, (), page.summary)
    rule: Rule[object] = import_module(f"{PACK.name}.{folder}.{path.stem}").RULE
    if (rule.id, rule.name) != (title["id"], title["name"]):
        raise SystemExit(f"{path}: the page is of {title['id']} {title['name']}, the module beside it of {rule.id} {rule.name}")
    if told != tuple(sorted(rule.severities, reverse=True)):
        labels = ", ".join(severity.label for severity in rule.severities)
        raise SystemExit(f"{path}: the page must tell, in a list, which case gets which severity of: {labels}")
    return Listed(rule.id, rule.name, folder, rule.node_names, rule.impact, rule.severities, rule.machines, page.summary)


def severities_on(page: Page) -> tuple[Severity, ...]:
    """The severities whose cases a page tells, the gravest first."""
    told = {Severity[match[1].upper()] for match in map(_SEVERITY.match, page.markdown.splitlines()) if match}
    return tuple(sorted(told, reverse=True))


def listed() -> list[Listed]:
    """Every rule that has a page, by id. A module without a page is refused."""
    rules = [read_rule(path) for path in PACK.glob("*/*.md")]
    for module in PACK.glob("*/*.py"):
        if not module.with_suffix(".md").exists():
            raise SystemExit(f"{module}: there is no page beside this rule")
    return sorted(rules, key=lambda rule: rule.id)


def catalogue(rules: list[Listed]) -> str:
    """The text of gpulint_rules/__init__.py, formatted as all code here is."""
    text = _CATALOGUE + "".join(rule.entry for rule in rules) + ")\n"
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PACK / "__init__.py"), "-"]
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=True).stdout


def index(rules: list[Listed]) -> str:
    """The text of rules/README.md."""
    text = _INDEX
    for folder, title in FOLDERS.items():
        rows = "".join(rule.row for rule in rules if rule.folder == folder)
        if rows:
            text += f"\n## {title}\n\n| Rule | Name | What it finds |\n| --- | --- | --- |\n{rows}"
    return text


def _without_its_init() -> ModuleType:
    """The pack as a package that runs no __init__: the old catalogue may be broken, most often by a merge."""
    package = ModuleType(PACK.name)
    package.__path__ = [str(PACK)]
    return package


def main(arguments: list[str]) -> int:
    """Write both files, or only name those that are out of date. Returns the exit code."""
    sys.modules[PACK.name] = _without_its_init()
    rules = listed()
    texts = {PACK / "__init__.py": catalogue(rules), PACK.parent / "README.md": index(rules)}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    check = "--check" in arguments
    for path in stale:
        if not check:
            path.write_text(texts[path], encoding="utf-8")
        print(f"{'out of date, run tools/catalogue.py' if check else 'written'}: {path.relative_to(ROOT)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
