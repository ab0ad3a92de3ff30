"""The files of a run: each read once and parsed once, by its path from the root."""

from __future__ import annotations

from gpulint.discover import Kind
from gpulint.parse.yaml import YamlSyntax
from gpulint.parse.dockerfile import DockerfileSyntax
from gpulint.source import Source


class Tree:
    """The files below the root. Paths are relative to it, with `/`; whatever lies outside it, is missing or unreadable gives None."""

    def paths(self, *kinds: Kind) -> tuple[str, ...]:
        """The paths of the files of these kinds, sorted; of all files without a kind."""
        raise NotImplementedError

    def __contains__(self, path: str) -> bool:
        raise NotImplementedError

    def resolve(self, base: str, reference: str) -> str | None:
        """The path that `reference` names from the folder of the file `base` (or from the folder `base` itself where it ends in `/`); None outside the root."""
        raise NotImplementedError

    def source(self, path: str) -> Source | None:
        raise NotImplementedError

    def yaml(self, path: str) -> YamlSyntax | None:
        raise NotImplementedError

    def dockerfile(self, path: str) -> DockerfileSyntax | None:
        raise NotImplementedError
