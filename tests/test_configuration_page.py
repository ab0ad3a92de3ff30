"""docs/configuration.md has every key as gpulint takes it, and its examples work."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from gpulint_rules import CATALOGUE
from small_repository import spoken, write

from gpulint.config import MACHINE_FACTS, SETTINGS, Config, load_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the table in a chapter by the key that each names first."""
    chapter = PAGE.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("| ")]
    return {match[1]: cells for cells in table if (match := re.search(r"`([^`]+)`", cells[0]))}


def test_every_key_is_on_the_page_with_its_default() -> None:
    keys = rows("## Keys")
    assert {*SETTINGS, "extend", "machines"} <= keys.keys()
    for key in ("select", "extend-select", "ignore", "extend-ignore", "exclude", "extend-exclude"):
        assert tuple(tomllib.loads(f"value = {keys[key][2].strip('`')}")["value"]) == getattr(Config(), key.replace("-", "_"))
    assert keys["min-severity"][2] == f'`"{Config().min_severity.label}"`'
    assert keys["strict"][2] == keys["docs"][2] == "`false`"


def test_every_fact_of_the_machines_is_on_the_page() -> None:
    assert MACHINE_FACTS.keys() <= rows("### machines").keys()


def test_every_rule_that_asks_for_a_fact_is_named_beside_it() -> None:
    facts = rows("### machines")
    for entry in filter(lambda entry: entry.module, CATALOGUE):
        module = Path(entry.page).with_suffix(".py").read_text(encoding="utf-8")
        asked = {*re.findall(rf"\bmachines(?:_of\(\w+\))?\.({'|'.join(MACHINE_FACTS)})\b", module), *entry.machines}
        assert {fact for fact in asked if entry.id not in facts[fact][3]} == set(), entry.id


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_taken(text: str, tmp_path: Path) -> None:
    write(tmp_path, {"platform/gpulint.toml": ""})
    name = "pyproject.toml" if "[tool." in text else "gpulint.toml"
    write(tmp_path, {f"here/{name}": text})
    load_config(str(tmp_path / "here" / name), within=str(tmp_path))


def test_links_within_the_page_lead_to_a_heading() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in PAGE.splitlines() if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= headings


def test_the_ignores_on_the_page_hold_something_back(tmp_path: Path) -> None:
    compose, pod = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    write(tmp_path, {"compose.yaml": compose, "pod.yaml": f"{pod}spec:\n  containers: [{{name: a, image: vllm/vllm-openai}}]\n"})
    assert spoken(tmp_path) == []
    assert [line.split()[-1] for line in spoken(tmp_path, "--no-ignores")] == ["GPU201", "GPU201", "GPU101"]
