"""Small charts for comparison with helm: one for each construct that charts decide a container with, and seeded mixtures of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

import yaml
from small_repository import write


class Construct(NamedTuple):
    """Lines of the container, of the pod and of the helpers, and the values that they read."""

    name: str
    container: str = ""
    pod: str = ""
    helpers: str = ""
    values: str = ""


CONSTRUCTS = tuple(Construct(**each) for each in yaml.safe_load((Path(__file__).parent / "chart_constructs.yaml").read_text()))

_TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{{{ .Release.Name }}}}-app
spec:
  selector:
    matchLabels: {{app: app}}
  template:
    metadata:
      labels: {{app: app}}
    spec:
{pod}
      containers:
        - name: main
          image: "{{{{ .Values.image.repository }}}}:{{{{ .Values.image.tag | default .Chart.AppVersion }}}}"
{container}
"""


def write_chart(folder: Path, constructs: Iterable[Construct]) -> None:
    """Write a chart of these constructs into a folder."""
    constructs = tuple(constructs)
    template = _TEMPLATE.format(
        pod="".join(_placed(each.pod, 6) for each in constructs),
        container="".join(_placed(each.container, 10) for each in constructs),
    )
    files = {
        "Chart.yaml": "apiVersion: v2\nname: app\nversion: 0.1.0\nappVersion: 1.10\n",
        "values.yaml": "".join(("image: {repository: example/app, tag: ''}\n", *(each.values for each in constructs))),
        "templates/_helpers.tpl": "".join(each.helpers for each in constructs),
        "templates/app.yaml": template,
    }
    write(folder, files)


def _placed(text: str, indentation: int) -> str:
    """Lines moved to where they stand in the template, and so what they indent themselves."""
    moved = re.sub(r"\bnindent (\d+)", lambda match: f"nindent {int(match[1]) + indentation}", text)
    return indent(moved, " " * indentation)


def mixtures(seed: int, count: int) -> Iterator[tuple[Construct, ...]]:
    """Constructs that may stand in one chart: none has a field, value or helper of another one's name."""
    chosen = random.Random(seed)
    for _ in range(count):
        picked: list[Construct] = []
        taken: set[str] = set()
        for construct in chosen.sample(CONSTRUCTS, len(CONSTRUCTS)):
            names = {name for part in construct[1:] for name in re.findall(r"^([A-Za-z]+):|define \"([\w.]+)", part, re.MULTILINE)}
            if not names & taken:
                picked.append(construct)
                taken |= names
        yield tuple(picked)
