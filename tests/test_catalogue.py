"""The catalogue and the index are those of the rules as they are, and tools/new_rule.py makes a rule that both list."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import gpulint_rules
import pytest

from gpulint import registry

ROOT = Path(__file__).parent.parent
Tool = Callable[..., "subprocess.CompletedProcess[str]"]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'rules'}"}
    return subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """A function that runs a tool in a copy of the rules."""
    shutil.copytree(ROOT / "rules", tmp_path / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)  # the formatter's line length
    return lambda name, *arguments: run(tmp_path, f"tools/{name}.py", *arguments)


class TestTheCatalogue:
    def test_it_and_the_index_are_up_to_date(self) -> None:
        result = run(ROOT, "tools/catalogue.py", "--check")

        assert result.returncode == 0, result.stdout + result.stderr

    def test_importing_it_imports_no_rule(self) -> None:
        result = run(ROOT, "-c", "import sys, gpulint_rules; print(*(name for name in sys.modules if name.startswith('gpulint_rules.')))")

        assert result.stdout.split() == []

    def test_each_entry_leads_to_its_rule(self) -> None:
        for entry in gpulint_rules.CATALOGUE:
            if entry.module:
                rule = registry.load(entry)
                assert (rule.id, rule.name, rule.node_names) == (entry.id, entry.name, entry.node)
                assert (rule.severities, rule.impact) == (entry.severities, entry.impact)

    def test_ids_and_names_are_used_once_and_pages_are_there(self) -> None:
        entries = gpulint_rules.CATALOGUE

        assert len({entry.id for entry in entries}) == len({entry.name for entry in entries}) == len(entries)
        assert list(entries) == sorted(entries)
        assert all(Path(entry.page).is_absolute() and Path(entry.page).is_file() for entry in entries)

    def test_check_names_what_is_out_of_date_and_writes_nothing(self, tool: Tool, tmp_path: Path) -> None:
        index = tmp_path / "rules" / "README.md"
        index.write_text("# The rules\n")

        result = tool("catalogue", "--check")

        assert (result.returncode, index.read_text()) == (1, "# The rules\n")
        assert result.stdout == "out of date, run tools/catalogue.py: rules/README.md\n"

    def test_it_is_written_anew_where_a_merge_left_it_broken(self, tool: Tool, tmp_path: Path) -> None:
        catalogue = tmp_path / "rules" / "gpulint_rules" / "__init__.py"
        whole = catalogue.read_text()
        catalogue.write_text(f"<<<<<<< ours\n{whole}")

        result = tool("catalogue")

        assert (result.returncode, catalogue.read_text()) == (0, whole), result.stderr

    @pytest.mark.parametrize(
        ("old", "new", "complaint"),
        [
            ("# fractional-gpu (GPU402)", "# half-a-gpu (GPU402)", "the first line must be `# fractional-gpu (GPU123)`"),
            (
                "# fractional-gpu (GPU402)",
                "# fractional-gpu (GPU499)",
                "the page is of GPU499 fractional-gpu, the module beside it of GPU402",
            ),
            ("- **error**, always.", "- always.", "the page must tell, in a list, which case gets which severity of: error"),
        ],
    )
    def test_a_page_that_disagrees_with_its_rule_is_refused(self, tool: Tool, tmp_path: Path, old: str, new: str, complaint: str) -> None:
        page = tmp_path / "rules" / "gpulint_rules" / "kubernetes" / "fractional_gpu.md"
        text = page.read_text()
        assert old in text
        page.write_text(text.replace(old, new))

        result = tool("catalogue")

        assert result.returncode == 1
        assert complaint in result.stderr

    def test_a_rule_without_a_page_is_refused(self, tool: Tool, tmp_path: Path) -> None:
        (tmp_path / "rules" / "gpulint_rules" / "kubernetes" / "fractional_gpu.md").unlink()

        result = tool("catalogue")

        assert result.returncode == 1
        assert "there is no page beside this rule" in result.stderr


class TestANewRule:
    def test_its_files_are_made_and_it_is_listed(self, tool: Tool, tmp_path: Path) -> None:
        result = tool("new_rule", "kubernetes/some_fault", "GPU490")

        assert result.returncode == 0, result.stderr
        assert "made: tests/rules/some_fault.md" in result.stdout
        assert tool("catalogue", "--check").returncode == 0
        assert "| [GPU490](gpulint_rules/kubernetes/some_fault.md) | some-fault |" in (tmp_path / "rules" / "README.md").read_text()
        listing = run(tmp_path, "-c", "import gpulint_rules; print(*(e for e in gpulint_rules.CATALOGUE if e.id == 'GPU490'))")
        assert "name='some-fault', node='Pod'" in listing.stdout
        assert "impact=<Impact.CPU_FALLBACK" in listing.stdout

    @pytest.mark.parametrize("node", ["ImageRef", "Stage", "Container", "Service", "Pod", "CommandLine", "EngineConfig", "EntryPoint"])
    def test_it_can_look_at_any_node_and_says_nothing_yet(self, tool: Tool, tmp_path: Path, node: str) -> None:
        assert tool("new_rule", "project/some_fault", "GPU790", "--node", node).returncode == 0

        checked = run(
            tmp_path, "-c", "from gpulint_rules.project.some_fault import RULE; print(RULE.node.__name__, list(RULE.check(None, None)))"
        )

        assert checked.stdout == f"{node} []\n", checked.stderr

    def test_its_module_is_in_form(self, tool: Tool, tmp_path: Path) -> None:
        tool("new_rule", "image/some_fault", "GPU190")
        module = str(tmp_path / "rules" / "gpulint_rules" / "image" / "some_fault.py")
        settings = ("--config", str(ROOT / "pyproject.toml"))

        assert run(ROOT, "-m", "ruff", "check", *settings, module).returncode == 0
        assert run(ROOT, "-m", "ruff", "format", "--check", *settings, module).returncode == 0

    @pytest.mark.parametrize(
        ("rule", "rule_id", "complaint"),
        [
            ("some_fault", "GPU490", "write FOLDER/NAME"),
            ("kubernetes/Some-Fault", "GPU490", "write FOLDER/NAME"),
            ("elsewhere/some_fault", "GPU490", "the folders are image, container"),
            ("engine/some_fault", "GPU090", "the folders are image, container"),
            ("kubernetes/some_fault", "GPU190", "the ids of kubernetes are GPU401 to GPU499"),
            ("kubernetes/some_fault", "490", "the ids of kubernetes are GPU401 to GPU499"),
            ("kubernetes/some_fault", "GPU402", "fractional-gpu (GPU402) is there already"),
            ("kubernetes/fractional_gpu", "GPU490", "fractional-gpu (GPU402) is there already"),
        ],
    )
    def test_what_cannot_be_its_name_or_id_is_refused(self, tool: Tool, rule: str, rule_id: str, complaint: str) -> None:
        result = tool("new_rule", rule, rule_id)

        assert result.returncode == 1
        assert complaint in result.stderr

    def test_nothing_is_overwritten(self, tool: Tool, tmp_path: Path) -> None:
        cases = tmp_path / "tests" / "rules" / "some_fault.md"
        cases.parent.mkdir(parents=True)
        cases.write_text("mine\n")

        result = tool("new_rule", "kubernetes/some_fault", "GPU490")

        assert (result.returncode, cases.read_text()) == (1, "mine\n")
        assert not (tmp_path / "rules" / "gpulint_rules" / "kubernetes" / "some_fault.py").exists()
