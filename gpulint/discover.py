"""Which files there are, and of which kind, by name and first bytes.

Files are listed by git where the root is a work tree (tracked and untracked ones, without what .gitignore hides), else by walking.
Nothing outside the root is listed, links are not followed, and git is told to run none of the repository's own hooks.
"""

from __future__ import annotations

import enum
import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

SIZE_LIMIT = 5 * 1024 * 1024
"""A larger file is not read: nobody writes one by hand, and a reader's time grows with it."""


class Kind(enum.Enum):
    """What a file is, as far as its name and first bytes tell."""

    DOCKERFILE = "Dockerfile"
    COMPOSE = "Compose file"
    MANIFEST = "manifest"
    KUSTOMIZATION = "kustomization"
    CHART = "chart"
    VALUES = "values file"
    TEMPLATE = "template"
    PYTHON = "Python file"
    SHELL = "script"
    MAKEFILE = "Makefile"
    GITHUB = "GitHub workflow"
    GITLAB = "GitLab CI file"
    REQUIREMENTS = "requirements file"
    ENVIRONMENT = "conda environment"
    PYPROJECT = "pyproject file"
    DEVCONTAINER = "dev container"


class Unreadable(Exception):
    """A file that cannot be read, is no text, or is over the size limit; the message says which."""


_YAML = ("yaml", "yml")
_NO_KIND = frozenset({"dockerignore", "containerignore", "md", "rst", "pyc", "orig", "rej", "bak"})
_BY_NAME = {
    ".devcontainer.json": Kind.DEVCONTAINER,
    "devcontainer.json": Kind.DEVCONTAINER,
    "kustomization": Kind.KUSTOMIZATION,
    "kustomization.yaml": Kind.KUSTOMIZATION,
    "kustomization.yml": Kind.KUSTOMIZATION,
    "chart.yaml": Kind.CHART,
    "chart.yml": Kind.CHART,
    "action.yaml": Kind.GITHUB,
    "action.yml": Kind.GITHUB,
    "pyproject.toml": Kind.PYPROJECT,
    "justfile": Kind.MAKEFILE,
    ".justfile": Kind.MAKEFILE,
}
_BY_SUFFIX = {
    **dict.fromkeys(("py", "pyi"), Kind.PYTHON),
    **dict.fromkeys(("sh", "bash", "ksh", "zsh", "slurm", "sbatch", "envrc"), Kind.SHELL),
    **dict.fromkeys(("mk", "just"), Kind.MAKEFILE),
}
_NOT_DOCKERFILE = ("py", "sh", "yaml", "yml", "json", "toml", "lock")
_COMPOSE = r"(?:[\w.-]*[._-])?compose(?:[._-][\w.-]*)?"
_REQUIREMENTS = r"(?:^|/)(?:[\w.-]*(?:requirements|constraints)[\w.-]*|requirements/[^/]+)\.(?:txt|in)$"
_VALUES = r"(?:[\w.-]*[._-])?values(?:[._-][\w.-]*)?\.ya?ml"
_MANIFEST = rb'(?m)^[ \t]*(?:- )?apiVersion[ \t]*:|"apiVersion"\s*:'
_SERVICES = rb"(?m)^services:[ \t]*(?:#.*)?\r?$"
_IMAGE_OR_BUILD = rb"(?m)^[ \t]+(?:image|build|extends):"
_SHEBANGS = ((b"python", Kind.PYTHON), (b"sh", Kind.SHELL))


def kind_by_name(path: str) -> Kind | None:
    """The kind that a path's name tells; None where the name tells none or the first bytes must."""
    path = path.lower()
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    if suffix in _NO_KIND:
        return None
    if name in _BY_NAME:
        return _BY_NAME[name]
    if suffix in _YAML:
        return _kind_of_yaml(path, stem)
    if _is_dockerfile(name, suffix):
        return Kind.DOCKERFILE
    if suffix in ("txt", "in"):
        return Kind.REQUIREMENTS if re.search(_REQUIREMENTS, path) else None
    if name.startswith(("makefile", "gnumakefile")) and re.fullmatch(r"(?:gnu)?makefile(?:[._-][\w.-]+)?", name):
        return Kind.MAKEFILE
    return _BY_SUFFIX.get(suffix)


def _is_dockerfile(name: str, suffix: str) -> bool:
    """`Dockerfile`, `Dockerfile.gpu`, `Dockerfile-gpu`, `gpu.Dockerfile` and the like, also with Containerfile."""
    if "dockerfile" not in name and "containerfile" not in name:
        return False
    if re.search(r"(?:^|[._-])(?:docker|container)file$", name):
        return True
    return suffix not in _NOT_DOCKERFILE and bool(re.match(r"(?:docker|container)file[._-]", name))


def _kind_of_yaml(path: str, stem: str) -> Kind | None:
    if ".github/workflows/" in path:
        return Kind.GITHUB
    if stem.endswith(".gitlab-ci") or ".gitlab/ci/" in path:
        return Kind.GITLAB
    return Kind.COMPOSE if "compose" in stem and re.fullmatch(_COMPOSE, stem) else None


def is_candidate(path: str) -> bool:
    """Whether a file without a kind by its name may have one by its bytes: YAML, JSON, and names without a suffix."""
    name = path.rpartition("/")[2].lower()
    return name.endswith((".yaml", ".yml", ".json")) or "." not in name


def kind_by_content(path: str, data: bytes) -> Kind | None:
    """The kind that the bytes of a candidate tell."""
    name = path.rpartition("/")[2].lower()
    if "." not in name:
        return _kind_by_shebang(data)
    if b"kustomize.config.k8s.io/" in data and b"kind: Component" in data:
        return Kind.KUSTOMIZATION
    if b"apiVersion" in data and re.search(_MANIFEST, data):
        return Kind.MANIFEST
    if b"services:" in data and re.search(_SERVICES, data) and re.search(_IMAGE_OR_BUILD, data):
        return Kind.COMPOSE
    if "values" in name and re.fullmatch(_VALUES, name):
        return Kind.VALUES
    return Kind.ENVIRONMENT if b"dependencies:" in data and ("env" in name or "conda" in name) else None


def _kind_by_shebang(data: bytes) -> Kind | None:
    if not data.startswith(b"#!"):
        return None
    first = data.split(b"\n", 1)[0]
    return next((kind for word, kind in _SHEBANGS if word in first), None)


def classify(paths: Iterable[str]) -> dict[str, Kind | None]:
    """The kind of each path by its name and its chart: below `templates/` of a chart's folder stand templates, beside it values.

    Candidates whose bytes must be asked have None; all others without a kind are left out.
    """
    named = {path: kind_by_name(path) for path in paths}
    charts = tuple(sorted(path.rpartition("/")[0] for path, kind in named.items() if kind is Kind.CHART))
    kinds: dict[str, Kind | None] = {}
    for path, kind in named.items():
        if charts and path.endswith((".yaml", ".yml", ".json", ".tpl", ".txt")):
            kind = _kind_in_chart(path, charts) or kind
        if kind or is_candidate(path):
            kinds[path] = kind
    return kinds


def _kind_in_chart(path: str, charts: tuple[str, ...]) -> Kind | None:
    for chart in charts:
        inside = path[len(chart) :].lstrip("/") if not chart or path.startswith(chart + "/") else ""
        if inside.startswith("templates/"):
            return Kind.TEMPLATE if not inside.endswith((".txt", ".tpl")) else None
        if re.fullmatch(rf"(ci/)?{_VALUES}", inside):
            return Kind.VALUES
    return None


def list_files(root: Path, excluded: re.Pattern[str] | None) -> list[str]:
    """The paths of the files below the root, relative to it with `/`, sorted, without those that `excluded` matches."""
    paths = _listed_by_git(root)
    if paths is None:
        paths = list(_walked(root, excluded))
    return sorted(path for path in paths if not (excluded and excluded.search(path)))


def _listed_by_git(root: Path) -> list[str] | None:
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return list({os.fsdecode(name) for name in listing.split(b"\0") if name})


def _walked(root: Path, excluded: re.Pattern[str] | None) -> Iterator[str]:
    ignored: list[tuple[str, Callable[[str], bool]]] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        ignored += _gitignore(root, folder)
        for name, is_folder in _entries(root / folder):
            path = folder + name + "/" * is_folder
            if any(path.startswith(prefix) and matches(path[len(prefix) :]) for prefix, matches in ignored):
                continue
            if not is_folder:
                yield path
            elif name != ".git" and not (excluded and excluded.search(path)):
                folders.append(path)


def _entries(folder: Path) -> list[tuple[str, bool]]:
    """The names in a folder, each with whether it is a folder itself."""
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []


def _gitignore(root: Path, folder: str) -> list[tuple[str, Callable[[str], bool]]]:
    """The folder's .gitignore as a prefix and a test of the rest of a path; nothing where there is none."""
    try:
        lines = (root / folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    import pathspec

    return [(folder, pathspec.GitIgnoreSpec.from_lines(lines).match_file)]


def read_file(root: Path, path: str) -> bytes | None:
    """The bytes of a regular file below the root; None where there is none any more, or a link, folder, pipe or device stands there.

    Raises Unreadable where the file is there and cannot be read, is over the size limit, or is no text.
    """
    try:
        descriptor = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if _is_link(root / path):
            return None
        raise Unreadable(f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    try:
        data = _read_descriptor(descriptor)
    finally:
        os.close(descriptor)
    if data is not None and b"\0" in data:
        raise Unreadable("is not text: it holds NUL bytes")
    return data


def _read_descriptor(descriptor: int) -> bytes | None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_size > SIZE_LIMIT:
        raise Unreadable(f"has {status.st_size / 1024 / 1024:.0f} MiB, over the limit of {SIZE_LIMIT // 1024 // 1024} MiB")
    chunks = []
    while chunk := os.read(descriptor, SIZE_LIMIT):
        chunks.append(chunk)
    return b"".join(chunks)


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except OSError:
        return False
