"""The `version` key of a Compose file, which old releases of docker compose read the file by."""

from __future__ import annotations

from gpulint.parse.nodes import Mapping
from gpulint.project.tree import Tree
from gpulint.source import Text


def format_version(path: str, tree: Tree) -> str:
    """The version that a Compose file names; "" where it names none."""
    syntax = tree.yaml(path)
    roots = (document.root for document in syntax.documents) if syntax is not None else iter(())
    found = next((root.scalar("version") for root in roots if isinstance(root, Mapping) and "version" in root), None)
    return str(found) if isinstance(found, Text) else ""
