"""What a chart renders, by the helm program and by gpulint, and where the two differ although gpulint claims to know."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname

import yaml

from gpulint.model.kubernetes import read_containers
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml import parse
from gpulint.project.helm_chart import Charts, HelmChart
from gpulint.project.helm_evaluator import Budget
from gpulint.project.helm_placement import parse_traced
from gpulint.project.helm_render import rendered_texts
from gpulint.project.helm_text import Undecided
from gpulint.project.helm_values import Map, from_node, from_scalar
from gpulint.source import Source, Unknown

Documents = dict[str, list[Mapping]]
"""The workloads that each template renders, by the template's path from the root."""

_TEMPLATE = re.compile(r"^# Source: (\S+)", re.MULTILINE)


def helm() -> str | None:
    """The helm program: that of the package helm-binary, or one on the PATH."""
    beside = Path(sys.executable).parent / "helm"
    return str(beside) if beside.exists() else shutil.which("helm")


def by_helm(root: Path, chart: HelmChart, values: str | None) -> Documents | None:
    """What helm renders of a chart with a values file of the root beside its defaults; None where it refuses.

    Dependencies that do not lie in the tree are left away, and so is a schema of the values.
    """
    program = helm()
    assert program is not None
    with tempfile.TemporaryDirectory() as home:
        places = dict(_copied(root, chart, Path(home, "chart"), "chart"))
        command = [program, "template", "some-release", "--namespace=some-space", f"{home}/chart"]
        command += ["-f", str(root / values)] if values else []
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    if run.returncode != 0:
        return None
    found: Documents = {}
    for text in re.split(r"^---$", run.stdout, flags=re.MULTILINE):
        template = _TEMPLATE.search(text)
        if template:
            below, _, name = template[1].rpartition("/templates/")
            path = f"{places['/'.join(['chart', *below.split('/')[1:]])]}/templates/{name}".lstrip("/")
            documents = parse(Source(path, text.encode())).documents
            found.setdefault(path, []).extend(workload for document in documents for workload in _workloads(document.root))
    return found


def _copied(root: Path, chart: HelmChart, target: Path, place: str) -> Iterator[tuple[str, str]]:
    """Copy a chart with all that it depends on; gives the folder of each by its place in the copy."""
    shutil.copytree(
        root / chart.folder, target, ignore=shutil.ignore_patterns("charts", "values.schema.json", "Chart.lock", "requirements.*")
    )
    description = yaml.safe_load((target / "Chart.yaml").read_text())
    written = description.pop("dependencies", None) or []
    older = root / chart.folder / "requirements.yaml"
    written += yaml.safe_load(older.read_text())["dependencies"] if older.exists() else []
    names = {str(dependency.chart.root.get("name")) for dependency in chart.dependencies if dependency.chart is not None}
    for each in written:
        each.pop("repository", None)
    description["dependencies"] = [each for each in written if each["name"] in names]
    description["apiVersion"] = "v2"
    (target / "Chart.yaml").write_text(yaml.safe_dump(description))
    yield place, chart.folder
    for dependency in chart.dependencies:
        if dependency.chart is not None:
            name = str(dependency.chart.root.get("name"))
            if not (target / "charts" / name).exists():
                yield from _copied(root, dependency.chart, target / "charts" / name, f"{place}/charts/{name}")
            yield f"{place}/charts/{dependency.key}", dependency.chart.folder


def by_gpulint(charts: Charts, chart: HelmChart, values: str | None) -> Documents:
    """What gpulint renders of it."""
    root = charts.mapping(values) if values else None
    given = from_node(root, is_default=True) if root is not None else Map()
    assert isinstance(given, Map)
    found: Documents = {}
    for path, text in rendered_texts(chart, given, Budget()):
        try:
            documents = parse_traced(text, path).documents
        except Undecided:
            continue
        found.setdefault(path, []).extend(workload for document in documents for workload in _workloads(document.root))
    return found


def _workloads(root: Node | None) -> Iterator[Mapping]:
    if isinstance(root, Mapping) and read_containers(root):
        yield root


def differences(ours: Documents, theirs: Documents) -> Iterator[str]:
    """What gpulint claims to know otherwise than helm renders it, and what helm renders that gpulint has nothing of."""
    for path in sorted({*ours, *theirs}):
        left = list(theirs.get(path, []))
        for document in ours.get(path, []):
            compared = [list(_mismatches(document, other, "")) for other in left]
            if [] in compared:
                del left[compared.index([])]
            elif left:
                yield f"{path}{min(compared, key=len)[0]}"
            else:
                yield f"{path}: helm renders nothing like it"


def unseen(ours: Documents, theirs: Documents) -> int:
    """How many workloads helm renders of which gpulint has nothing."""
    return sum(max(len(documents) - len(ours.get(path, [])), 0) for path, documents in theirs.items())


def _mismatches(ours: Node | None, theirs: Node | None, path: str) -> Iterator[str]:
    if isinstance(ours, Unknown):
        return
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key, value, _ in ours:
            if key in theirs:
                yield from _mismatches(value, theirs.get(key), f"{path}.{key}")
            elif not ours.open and not isinstance(value, Unknown):
                yield f"{path}.{key}: not with helm"
        if not ours.open:
            yield from (f"{path}.{entry.key}: only with helm" for entry in theirs if entry.key not in ours)
    elif isinstance(ours, Sequence) and isinstance(theirs, Sequence):
        if ours.open:
            return
        if len(ours) != len(theirs):
            yield f"{path}: {len(ours)} items, with helm {len(theirs)}"
        for number, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
            yield from _mismatches(mine, other, f"{path}[{number}]")
    elif _nothing(ours) and _nothing(theirs):
        return
    elif not (isinstance(ours, Scalar) and isinstance(theirs, Scalar)):
        yield f"{path}: {_shown(ours)}, with helm {_shown(theirs)}"
    elif str(ours) != str(theirs) or type(from_scalar(ours)) is not type(from_scalar(theirs)):
        yield f"{path}: {str(ours)[:60]!r}, with helm {str(theirs)[:60]!r}"


def _nothing(node: Node | None) -> bool:
    """Whether a node says nothing: a mapping in which all is open may be there or not."""
    return (
        node is None
        or (isinstance(node, Scalar) and node.is_null)
        or (isinstance(node, (Mapping, Sequence)) and node.open and not len(node))
    )


def _shown(node: Node | None) -> str:
    return "nothing" if node is None else str(node)[:60] if isinstance(node, Scalar) else type(node).__name__


def known_containers(documents: Documents) -> Counter[str]:
    """How many containers there are, and how many of their images, resources and environments are known."""
    counts: Counter[str] = Counter()
    for found in documents.values():
        for document in found:
            for container in read_containers(document):
                counts["containers"] += 1
                counts["images"] += container.image is not None and not isinstance(container.image.name, Unknown)
                counts["resources"] += container.compute is not None
    return counts


def values_files(chart: HelmChart, paths: tuple[str, ...]) -> tuple[str | None, ...]:
    """No values file, and each further one of a chart among the paths."""
    folders = (chart.folder, f"{chart.folder}/ci".lstrip("/"))
    own = [path for path in paths if dirname(path) in folders and not path.endswith(f"{chart.folder}/values.yaml".lstrip("/"))]
    return (None, *own)
