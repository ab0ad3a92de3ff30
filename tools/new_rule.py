"""Make the files of a new rule: its module, its page with every section, and its edge cases; then write the catalogue anew.

Usage: python tools/new_rule.py kubernetes/some_fault GPU450 [--node Container]

The rule says nothing until its condition is written, so the tests of its page fail until then. Nothing is overwritten.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from string import Template
from typing import NamedTuple

import catalogue

EDGE_CASES = catalogue.ROOT / "tests" / "rules"


class Node(NamedTuple):
    """A class of the model that rules look at: the module it is in, the name of an argument, and how to get a place from that."""

    module: str
    argument: str
    place: str


NODES = {
    "ImageRef": Node("gpulint.model.image", "image", "image.location"),
    "Stage": Node("gpulint.model.stage", "stage", "stage.from_location"),
    "Container": Node("gpulint.model.container", "container", "container.location"),
    "Service": Node("gpulint.model.container", "service", "service.location"),
    "Pod": Node("gpulint.model.container", "pod", "pod.location"),
    "CommandLine": Node("gpulint.model.command", "line", "line.location"),
    "EngineConfig": Node("gpulint.model.engine_config", "config", "config.location"),
    "DeviceClaim": Node("gpulint.model.device_claim", "claim", "claim.location"),
    "Autoscaler": Node("gpulint.model.autoscaler", "autoscaler", "autoscaler.location"),
    "StackPart": Node("gpulint.model.gpu_stack", "part", "part.location"),
    "Chart": Node("gpulint.project.charts", "chart", "chart.location"),
    "EntryPoint": Node("gpulint.project.links", "entry", "entry.containers[0][0].location"),
    "Module": Node("gpulint.model.module", "module", "module.location"),
    "Project": Node("gpulint.project", "project", "project.containers[0].location"),
}
USUAL_NODE = {
    "image": "Stage",
    "container": "Container",
    "compose": "Service",
    "kubernetes": "Pod",
    "command": "Container",
    "python": "EntryPoint",
    "project": "Project",
}

MODULE = Template('''"""$id: $words."""

from __future__ import annotations

from collections.abc import Iterator

from $module import $node
from gpulint.project import Project
from gpulint.rule import Impact, Problem, Rule, Severity


def check($argument: $node, _project: Project) -> Iterator[Problem]:
    """A problem where ... and nothing says that it is meant so."""
    if _is_fault($argument):
        yield Problem($place, "what is wrong with which value", Severity.WARNING, help="what to write instead")


def _is_fault(_$argument: $node) -> bool:
    """Whether ..."""
    return False


RULE = Rule("$id", "$name", $node, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
''')

PAGE = Template("""# $name ($id)

## What

One sentence on one line that says what the rule finds. Then what one must know to understand it, with each word of the trade explained.

### Severity

- **warning**: which case.

### Silent

- Which case looks like the fault and is none.

## Why

What then happens to the workload, and who notices when.

## Verify

```console
$$ the command that shows it on a machine
what it prints
```

## Bad

### Warning: what this example shows

`pod.yaml`:

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: example
spec:
  containers:
    - name: example
      image: registry.acme.example/example:1.0.0
      resources:
        limits: {nvidia.com/gpu: 1}
```

## Good

### The same, mended

`pod.yaml`:

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: example
spec:
  containers:
    - name: example
      image: registry.acme.example/example:1.0.0
      resources:
        limits: {nvidia.com/gpu: 1}
```

## Guides

What common guides say, and whether it holds. Leave the section out where they say nothing.

## References

- [The title of the source, and what it says](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
""")

CASES = Template("""# $name ($id)

## Bad

### what is special about this case

`pod.yaml`:

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: example
spec:
  containers:
    - name: example
      image: registry.acme.example/example:1.0.0
```

```console
```

## Good

### what looks like the fault and is none

`pod.yaml`:

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: example
spec:
  containers:
    - name: example
      image: registry.acme.example/example:1.0.0
```
""")


def main(arguments: list[str]) -> int:
    """Make the files. Returns the exit code."""
    options = _parsed(arguments)
    folder, _, stem = options.rule.partition("/")
    _refuse(folder, stem, options.id)
    node = options.node or USUAL_NODE[folder]
    words = {"id": options.id, "name": stem.replace("_", "-"), "words": stem.replace("_", " "), "node": node, **NODES[node]._asdict()}
    files = {
        catalogue.PACK / folder / f"{stem}.py": MODULE,
        catalogue.PACK / folder / f"{stem}.md": PAGE,
        EDGE_CASES / f"{stem}.md": CASES,
    }
    for path in files:
        if path.exists():
            raise SystemExit(f"{path} is there already")
    for path, template in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(template.substitute(words), encoding="utf-8")
        print(f"made: {path.relative_to(catalogue.ROOT)}")
    return subprocess.run([sys.executable, catalogue.__file__], check=False).returncode


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the files of a new rule.")
    parser.add_argument("rule", metavar="FOLDER/NAME", help=f"the name states the fault; the folder is one of {', '.join(USUAL_NODE)}")
    parser.add_argument("id", metavar="ID", help="such as GPU450; the hundreds are the folder's")
    parser.add_argument("--node", choices=NODES, help="what the rule looks at, where it is not the folder's usual one")
    return parser.parse_args(arguments)


def _refuse(folder: str, stem: str, rule_id: str) -> None:
    """Exit where the rule cannot be called so."""
    if folder not in USUAL_NODE or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", stem):
        raise SystemExit(f"{folder}/{stem}: write FOLDER/NAME, such as kubernetes/some_fault; the folders are {', '.join(USUAL_NODE)}")
    hundreds = list(catalogue.FOLDERS).index(folder)
    if not re.fullmatch(rf"GPU{hundreds}\d\d", rule_id):
        raise SystemExit(f"{rule_id}: the ids of {folder} are GPU{hundreds}01 to GPU{hundreds}99")
    for page in catalogue.PACK.glob("*/*.md"):
        title = page.read_text(encoding="utf-8").partition("\n")[0]
        if page.stem == stem or f"({rule_id})" in title:
            raise SystemExit(f"{title.removeprefix('# ')} is there already: an id and a name are used once, even after a rule is gone")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
