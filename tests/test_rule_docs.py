"""The rule that docs/rules.md shows is a rule: as an installed pack, it finds what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_examples import HOUSE_PACK, report

from gpulint.pages import parse_page

DOCUMENT = Path(__file__).parent.parent / "docs" / "rules.md"
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: notebook
  namespace: {namespace}
spec:
  containers:
    - name: notebook
      image: registry.acme.example/lab/notebook:2025.1
      resources:
        limits: {{nvidia.com/gpu: 1}}
"""


def shown_rule() -> str:
    """The first Python of the document."""
    return next(block.text for block in parse_page(DOCUMENT.read_text(encoding="utf-8")).blocks if "RULE = Rule(" in block.text)


@pytest.mark.parametrize(
    ("namespace", "printed"),
    [
        ("web", "pod.yaml:5:14: warning: ACME001 a GPU workload in the namespace web, which has no GPU quota\n"),
        ("gpu-lab", ""),
    ],
)
def test_the_rule_of_the_document(namespace: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{HOUSE_PACK}.py": shown_rule(), "pod.yaml": POD.format(namespace=namespace)}

    assert report(files, tmp_path, monkeypatch, "--select", "ACME001") == printed
