"""Write what kubectl renders of the tests' kustomizations to the file that the tests hold gpulint to.

Usage: python tools/render_kustomizations.py     (kubectl has to be on the PATH)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.project.kustomize_rendering import SNAPSHOTS, rendered_tree
from tests.project.kustomize_trees import TREES


def main() -> int:
    """Render all trees. Returns the exit code: 1 where kubectl refuses one, which is then left out."""
    found, refused = {}, []
    for name, files in TREES.items():
        with TemporaryDirectory() as folder:
            rendering = rendered_tree(files, Path(folder))
        if rendering is None:
            refused.append(name)
        else:
            found[name] = rendering
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rendering, sort_keys=True)}" for name, rendering in found.items())
    SNAPSHOTS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"{len(found)} rendered, refused: {refused}")
    return int(bool(refused))


if __name__ == "__main__":
    raise SystemExit(main())
