"""Compare what gpulint builds of kustomizations with what kubectl renders of them, as far as rules read it.

Usage: python tools/compare_kustomize.py [-v] FOLDER...     (each the root of a repository; kubectl has to be on the PATH)
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from gpulint.discover import Kind, list_files
from gpulint.project.tree import Tree
from tests.project.kustomize_rendering import by_gpulint, by_kubectl, differences


def compare(root: Path, verbose: bool) -> Counter[str]:
    """How many kustomizations of a repository kubectl refuses, and in how many of the others we agree with it."""
    tree = Tree(root, list_files(root, None))
    counts: Counter[str] = Counter()
    for path in tree.paths(Kind.KUSTOMIZATION):
        wanted = by_kubectl((root / path).parent)
        if wanted is None:
            counts["refused by kubectl"] += 1
            continue
        found, resources = by_gpulint(tree, path)
        found_differences = list(differences(wanted, found))
        is_open = any(resource.open for resource in resources)
        outcome = "equal" if not found_differences else "open" if is_open else "different"
        counts[f"{outcome}, with workloads" if wanted else f"{outcome}, without workloads"] += 1
        if found_differences and verbose:
            print(f"{root.name}/{path} ({outcome})")
            print("".join(f"    {each[:300]}\n" for each in found_differences[:5]), end="")
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
    return int(any(key.startswith("different") for key in total))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
