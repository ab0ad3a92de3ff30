"""A small run, made by hand: every severity, a region of several lines, tabs, wide characters, evidence in another file, an ignore."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpulint.report.run import Run
from gpulint.rule import Entry, Finding, Impact, Problem, Related, Severity
from gpulint.source import Location, Source

FILES = {
    "train/job.yaml": """\
apiVersion: batch/v1
kind: Job
metadata:
  name: trainer
spec:
  template:
    spec:
      nodeSelector:
        accelerator: l4
      containers:
        - name: trainer
          image: registry.example/trainer:7
          args: [--device, cuda]
        - name: 学習 🚀 helper  # gpulint: ignore[GPU201] shares the card of the trainer
          args: [--device, cuda]
""",
    "Dockerfile": """\
FROM registry.example/base:1
RUN --mount=type=cache,target=/var/cache/apt \\
\tapt-get update && \\
\tapt-get install -y \\
\t\tcuda-drivers \\
\t\tpython3
\tEXPOSE 80
""",
    "compose.yaml": "services:\n  api: {privileged: true, image: registry.example/api:2}\n  api: [\n",
}

ENTRIES = (
    Entry("GPU001", "syntax-error", "File", (Severity.WARNING, Severity.NOTE), Impact.UNREAD, "", ""),
    Entry("GPU003", "rule-crashed", "File", (Severity.ERROR,), Impact.UNREAD, "", ""),
    Entry("GPU105", "driver-in-image", "Stage", (Severity.ERROR, Severity.WARNING), Impact.FAILS_TO_START, "", ""),
    Entry("GPU201", "gpu-not-requested", "Container", (Severity.ERROR, Severity.WARNING), Impact.CPU_FALLBACK, "", ""),
    Entry("GPU207", "privileged-for-gpu", "Container", (Severity.WARNING,), Impact.INSECURE, "", ""),
    Entry("GPU418", "job-without-deadline", "Pod", (Severity.NOTE,), Impact.WASTEFUL, "", ""),
)

PAGE = """\
# gpu-not-requested (GPU201)

## What

A container that wants a GPU asks for none. It is then scheduled without one, see [the docs](https://docs.example/gpu).

## Bad

`job.yaml`:

```yaml
kind: Job
```
"""


def place(path: str, text: str, occurrence: int = 1) -> Location:
    """Where that text stands in one of FILES."""
    source, offset = Source(path, FILES[path].encode()), -1
    for _ in range(occurrence):
        offset = source.text.index(text, offset + 1)
    return source.location(offset, offset + len(text))


def findings() -> list[Finding]:
    """The findings of the run, in the order of a report."""
    selector = Related(place("train/job.yaml", "accelerator: l4"), "this selector picks GPU nodes")
    base = Related(place("Dockerfile", "registry.example/base:1"), "the image is built on CUDA [12]")
    gpu = "asks for no GPU and is started with --device cuda"
    ask = "add a GPU to resources.limits"
    problems = {
        "GPU105": Problem(
            place("Dockerfile", FILES["Dockerfile"][29:].partition("\n\tEXPOSE")[0]),
            "the driver is installed in the image",
            Severity.WARNING,
            "leave it to the host",
        ),
        "GPU207": Problem(place("compose.yaml", "privileged: true"), 'service "api" is privileged', Severity.WARNING),
        "GPU001": Problem(place("compose.yaml", "["), "this list is never closed", Severity.WARNING),
        "GPU418": Problem(place("train/job.yaml", "spec:"), "the Job has no deadline", Severity.NOTE),
        "GPU201": Problem(place("train/job.yaml", "name: trainer", 2), f'container "trainer" {gpu}', Severity.ERROR, ask, (selector, base)),
    }
    names = {entry.id: entry.name for entry in ENTRIES}
    return [Finding(rule, names[rule], problem) for rule, problem in problems.items()]


def ignored() -> Finding:
    problem = Problem(place("train/job.yaml", "helper"), "container asks for no GPU", Severity.ERROR)
    comment = place("train/job.yaml", "# gpulint: ignore[GPU201] shares the card of the trainer")
    return Finding("GPU201", "gpu-not-requested", problem, comment, "shares the card of the trainer")


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The run over FILES, which are there below its root."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    page = tmp_path / "gpulint_rules" / "container" / "gpu_not_requested.md"
    page.parent.mkdir(parents=True)
    page.write_text(PAGE, encoding="utf-8")
    rules = {entry.id: entry._replace(page=str(page)) if entry.id == "GPU201" else entry for entry in ENTRIES}
    sources = {path: Source(path, text.encode()) for path, text in FILES.items()}
    ordered = tuple(sorted(findings(), key=lambda finding: finding.sort_key))
    return Run(ordered, (ignored(),), rules, sources.get, tmp_path, "1.2.3", summary="5 findings: 1 Dockerfile, 2 manifests")


@pytest.fixture
def empty_run(run: Run) -> Run:
    return replace(run, findings=(), suppressed=(), summary="no findings: 1 Dockerfile, 2 manifests")
