"""Which files there are, and of which kind, by name and first bytes.

Files are listed by git where the root is a work tree (tracked and untracked ones, without what .gitignore hides), else by walking.
Nothing outside the root is listed, links are not followed, and git is told to run none of the programs that a repository can name.
"""

from __future__ import annotations

import enum
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import Union

SIZE_LIMIT = 5 * 1024 * 1024
"""A larger file is not read: nobody writes one by hand, and a reader's time grows with it."""

HEAD_SIZE = 64 * 1024
"""How much of a file that is not read is looked at, to tell whether it would have mattered."""

GIT_TIMEOUT = 10
"""Seconds for git to list the files; it waits for ever on a pipe that is called .gitignore."""

IGNORE_LINES, IGNORE_STARS = 1000, 4
"""How many lines of a .gitignore are read, and how many `*` one may have: each multiplies the time that a match may take."""


StrPath = Union[str, "os.PathLike[str]"]
"""A path of the machine. A run has them as strings: the import of pathlib takes as long as to read some hundred files."""


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
    TASK = "task definition"
    ENGINE = "engine configuration"
    UNIT = "systemd unit"
    HELMFILE = "helmfile"


class Unreadable(Exception):
    """A file that cannot be read, is no text, or is over the size limit; the message says which. `head` are its first bytes, if any."""

    def __init__(self, reason: str, head: bytes = b"") -> None:
        super().__init__(reason)
        self.head = head


_YAML = ("yaml", "yml")
_NO_KIND = frozenset({"dockerignore", "containerignore", "md", "rst", "pyc", "orig", "rej", "bak"})
_BY_NAME = {
    ".devcontainer.json": Kind.DEVCONTAINER,
    "devcontainer.json": Kind.DEVCONTAINER,
    "cog.yaml": Kind.TASK,
    "daemon.json": Kind.ENGINE,
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
    **dict.fromkeys(("container", "service"), Kind.UNIT),
}
_BATCH = (".sub", ".job", ".pbs", ".lsf", ".qsub")
"""What scripts for a scheduler may end in; files of other kinds do, too."""
_NOT_DOCKERFILE = ("py", "sh", "yaml", "yml", "json", "toml", "lock")
_COMPOSE = r"(?:[\w.-]*[._-])?compose(?:[._-][\w.-]*)?"
_REQUIREMENTS = r"(?:^|/)(?:[\w.-]*(?:requirements|constraints)[\w.-]*|requirements/[^/]+)\.(?:txt|in)$"
_VALUES = r"(?:[\w.-]*[._-])?values(?:[._-][\w.-]*)?\.ya?ml"
_MANIFEST = rb'(?m)^[ \t]*(?:- )?apiVersion[ \t]*:|"apiVersion"\s*:'
_SERVICES = rb"(?m)^services:[ \t]*(?:#.*)?\r?$"
_IMAGE_OR_BUILD = rb"(?m)^[ \t]+(?:image|build|extends):"
_TASK_KEYS = (b"containerDefinitions", b"containerProperties", b"nodeRangeProperties", b"ecsProperties")
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
    if stem == "helmfile" or "helmfile.d/" in path:
        return Kind.HELMFILE
    if stem.endswith(".gitlab-ci") or ".gitlab/ci/" in path:
        return Kind.GITLAB
    return Kind.COMPOSE if "compose" in stem and re.fullmatch(_COMPOSE, stem) else None


def is_candidate(path: str) -> bool:
    """Whether a file without a kind by its name may have one by its bytes: YAML, JSON, scripts for a scheduler, and names without a
    suffix."""
    name = path.rpartition("/")[2].lower()
    return name.endswith((".yaml", ".yml", ".json", *_BATCH)) or "." not in name


def kind_by_content(path: str, data: bytes) -> Kind | None:
    """The kind that the bytes of a candidate tell."""
    name = path.rpartition("/")[2].lower()
    if "." not in name or name.endswith(_BATCH):
        return _kind_by_shebang(data)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"kustomize.config.k8s.io/" in data and b"kind: Component" in data:
        return Kind.KUSTOMIZATION
    if b"apiVersion" in data and re.search(_MANIFEST, data):
        return Kind.MANIFEST
    if b"services:" in data and re.search(_SERVICES, data) and re.search(_IMAGE_OR_BUILD, data):
        return Kind.COMPOSE
    if "values" in name and re.fullmatch(_VALUES, name):
        return Kind.VALUES
    if any(re.search(rb'["\s]' + key + rb'"?\s*:', data) for key in _TASK_KEYS if key in data):
        return Kind.TASK
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


def list_files(root: StrPath, excluded: re.Pattern[str] | None) -> list[str]:
    """The paths of the files below the root, relative to it with `/`, sorted, without those that `excluded` matches."""
    listed = _listed_by_git(root) if _is_in_work_tree(root) else None
    paths = list(_walked(root, excluded)) if listed is None else _inside(root, listed)
    return sorted(path for path in paths if not (excluded and excluded.search(path)))


_GIT_SETTINGS = ("core.fsmonitor=false", "safe.bareRepository=explicit")
_GIT_ENVIRONMENT = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
"""What keeps a repository from having git run a program of its own: as a monitor, or to fetch an object that is missing."""


def _is_in_work_tree(root: StrPath) -> bool:
    """Whether git may know the root: asking it costs a process."""
    return "GIT_DIR" in os.environ or any(os.path.lexists(os.path.join(folder, ".git")) for folder in upward(os.path.realpath(root)))


def upward(folder: str) -> Iterator[str]:
    """A folder and those that it lies in, to the root of the file system."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        yield folder


def is_below(path: str, folder: str) -> bool:
    """Whether an absolute path is a folder's own, or of what lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _listed_by_git(root: StrPath) -> set[str] | None:
    import subprocess

    settings = (word for setting in _GIT_SETTINGS for word in ("-c", setting))
    command = ["git", *settings, "-C", os.fspath(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    environment = {**os.environ, **_GIT_ENVIRONMENT}
    try:
        listing = subprocess.run(
            command, capture_output=True, check=True, timeout=GIT_TIMEOUT, stdin=subprocess.DEVNULL, env=environment
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return {os.fsdecode(name) for name in listing.split(b"\0") if name}


def _inside(root: StrPath, paths: Iterable[str]) -> Iterator[str]:
    """The paths that lie below the root in folders of its own: git lists also what was tracked where a link stands by now."""
    own: dict[str, bool] = {"": True}
    for path in paths:
        folder = path.rpartition("/")[0]
        if folder not in own:
            own[folder] = not any(os.path.islink(os.path.join(root, part)) for part in _leading_to(folder))
        if own[folder] and not path.startswith("/") and ".." not in path.split("/"):
            yield path


def _leading_to(folder: str) -> Iterator[str]:
    """The folders on the way to one, and itself."""
    yield from (folder[: match.start()] for match in re.finditer("/", folder))
    yield folder


def _walked(root: StrPath, excluded: re.Pattern[str] | None) -> Iterator[str]:
    ignored: list[tuple[str, Callable[[str], bool]]] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        ignored += _gitignore(root, folder)
        for name, is_folder in _entries(os.path.join(root, folder)):
            path = folder + name + "/" * is_folder
            if any(path.startswith(prefix) and matches(path[len(prefix) :]) for prefix, matches in ignored):
                continue
            if not is_folder:
                yield path
            elif name != ".git" and not (excluded and excluded.search(path)):
                folders.append(path)


def _entries(folder: str) -> list[tuple[str, bool]]:
    """The names in a folder, each with whether it is a folder itself."""
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []


def _gitignore(root: StrPath, folder: str) -> list[tuple[str, Callable[[str], bool]]]:
    """The folder's .gitignore as a prefix and a test of the rest of a path; nothing where there is none."""
    try:
        data = read_file(root, f"{folder}.gitignore")
    except Unreadable:
        return []
    if not data:
        return []
    import pathspec

    lines = data.decode("utf-8", errors="replace").splitlines()[:IGNORE_LINES]
    return [(folder, pathspec.GitIgnoreSpec.from_lines(line for line in lines if line.count("*") <= IGNORE_STARS).match_file)]


def read_file(root: StrPath, path: str) -> bytes | None:
    """The bytes of a regular file below the root; None where there is none any more, or a link, folder, pipe, socket or device is there.

    Raises Unreadable where the file is there and cannot be read, is over the size limit, or is no text.
    """
    try:
        data = _read_regular(os.path.join(root, path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        mode = _mode(os.path.join(root, path))
        if mode and not stat.S_ISREG(mode):
            return None
        raise Unreadable(f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    return None if data is None else text_of(data)


def text_of(data: bytes) -> bytes:
    """The bytes, where they are text. Raises Unreadable."""
    if b"\0" in data:
        raise Unreadable("is not text: it holds NUL bytes", data[:HEAD_SIZE].replace(b"\0", b"").lstrip(b"\xff\xfe"))
    return data


def _read_regular(path: str) -> bytes | None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > SIZE_LIMIT:
            size, limit = status.st_size / 1024 / 1024, SIZE_LIMIT // 1024 // 1024
            raise Unreadable(f"has {size:.0f} MiB, over the limit of {limit} MiB", os.read(descriptor, HEAD_SIZE))
        return _read_up_to(descriptor, SIZE_LIMIT, status.st_size)
    finally:
        os.close(descriptor)


def _read_up_to(descriptor: int, limit: int, size: int) -> bytes:
    """What a file holds. One call reads it, unless its size is by now another than the given one: a larger buffer takes longer to get."""
    chunks = [os.read(descriptor, min(size + 1, limit))]
    if len(chunks[0]) == size:
        return chunks[0]
    while chunks[-1]:
        limit -= len(chunks[-1])
        chunks.append(os.read(descriptor, limit))
    return b"".join(chunks)


def _mode(path: str) -> int:
    """What kind of file stands at a path, without following a link; 0 where that cannot be told."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
