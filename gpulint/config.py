"""The user's settings: one frozen Config, from gpulint.toml or the table [tool.gpulint] of pyproject.toml, and the command line over it.

Every key, value and rule is checked, and an unknown one is an error that names the nearest that exists.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpulint.errors import GpulintError
from gpulint.model.machines import Machines
from gpulint.rule import Severity

DEFAULT_EXCLUDE = ("vendor", "node_modules", "third_party", ".venv")
NEVER = "never"


@dataclass(frozen=True)
class Config:
    """The settings of a run. Rules are named by id, name, prefix such as GPU2, or ALL; paths by glob from the root."""

    path: Path | None = None
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Mapping[str, Severity] = field(default_factory=dict)
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    min_severity: Severity = Severity.WARNING
    fail_on: Severity | None = Severity.WARNING
    strict: bool = False
    machines: Machines = field(default_factory=Machines)


def nearest(word: str, known: Iterable[str]) -> str:
    """A clause that names the nearest known word in whatever case, or nothing: ` (did you mean X?)`."""
    import difflib

    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""


def find_config(start: Path, stop: Path | None) -> tuple[Path | None, str]:
    """The configuration that holds for a folder: the nearest one upward, not beyond `stop`; and a notice where two lie side by side."""
    for folder in (start, *start.parents):
        own, shared = folder / "gpulint.toml", folder / "pyproject.toml"
        has_table = shared.is_file() and _has_table(shared)
        if own.is_file():
            return own, f"{own} is used; [tool.gpulint] of {shared} beside it is not" if has_table else ""
        if has_table:
            return shared, ""
        if folder == stop:
            break
    return None, ""


def _has_table(path: Path) -> bool:
    try:
        return b"[tool.gpulint" in path.read_bytes()
    except OSError:
        return False


def load_config(path: Path) -> Config:
    """Read a configuration file, and those that its `extend` names before it. Raises GpulintError with file and key."""
    return dataclasses.replace(_merge(_chain(path)), path=path)


def _chain(path: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The tables of a file and those it extends, the farthest first."""
    chain: list[tuple[Path, dict[str, Any]]] = []
    seen: set[Path] = set()
    following: Path | None = path
    while following:
        resolved = following.resolve()
        if resolved in seen:
            raise GpulintError(f"{path}: extend leads back to {following}")
        seen.add(resolved)
        table = _read_table(following)
        parent = table.pop("extend", None)
        if parent is not None and not isinstance(parent, str):
            raise GpulintError(f"{following}: extend must be the path of one file, not {parent!r}")
        chain.insert(0, (following, table))
        following = following.parent / parent if parent else None
    return chain


def _read_table(path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef,import-not-found]
    if not path.is_file():
        raise GpulintError(f"{path}: no such file")
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise GpulintError(f"{path}: cannot be read: {error}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise GpulintError(f"{path}: no valid TOML: {error}") from None
    for name in ("tool", "gpulint") if path.name == "pyproject.toml" else ():
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise GpulintError(f"{path}: {name} must be a table")
    return dict(table)


def _merge(chain: list[tuple[Path, dict[str, Any]]]) -> Config:
    values: dict[str, Any] = {}
    machines: dict[str, Any] = {}
    for path, table in chain:
        for key, value in table.items():
            if key == "machines":
                machines.update(_machines(str(path), value))
            else:
                name = key.replace("-", "_")
                values[name] = _joined(key, values.get(name), _setting(str(path), key, value))
    if "min_severity" in values and "fail_on" not in values:
        values["fail_on"] = at_least(Severity.WARNING, values["min_severity"])
    return Config(**values, machines=Machines(**machines))


def _joined(key: str, extended: Any, value: Any) -> Any:
    """The value of a key that the extended file may have too: tables and what extends a list are joined, all else is replaced."""
    if extended and key.startswith("extend-"):
        return (*extended, *value)
    return {**extended, **value} if extended and isinstance(value, dict) else value


def at_least(threshold: Severity | None, least: Severity) -> Severity | None:
    """`fail-on` raised to the severity from which findings are shown. One that nobody stated must not lower that."""
    return threshold and max(threshold, least)


def _setting(where: str, key: str, value: Any) -> Any:
    reader = SETTINGS.get(key)
    if reader is None:
        raise GpulintError(f"{where}: unknown key {key!r}{nearest(key, (*SETTINGS, 'machines', 'extend'))}")
    return _read(where, key, value, reader)


def _machines(where: str, table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise GpulintError(f"{where}: machines must be a table")
    return {key: machine_fact(f"{where}: machines", key, value) for key, value in table.items()}


def machine_fact(where: str, key: str, value: Any) -> Any:
    """The checked value of one key of [machines]. Raises GpulintError."""
    reader = MACHINE_FACTS.get(key)
    if reader is None:
        raise GpulintError(f"{where}: unknown key {key!r}{nearest(key, MACHINE_FACTS)}")
    return _read(where, key, value, reader)


def machine_option(option: str) -> tuple[str, Any]:
    """A `--machine key=value` of the command line: its value is a TOML value, or plain words for a string."""
    key, separator, text = option.partition("=")
    if not separator:
        raise GpulintError(f"--machine {option}: must be key=value")
    value: Any = text
    if text in ("true", "false"):
        value = text == "true"
    elif key in ("gpus", "mig_profiles"):
        value = [part.strip() for part in text.split(",") if part.strip()]
    elif key in ("gpus_per_node", "gpus_total") and text.isdecimal():
        value = int(text)
    return key, machine_fact("--machine", key, value)


def severity_or_never(value: str) -> Severity | None:
    """`note`, `warning`, `error`, or `never` as None. Raises ValueError."""
    if value == NEVER:
        return None
    return severity(value)


def severity(value: str) -> Severity:
    """`note`, `warning` or `error`. Raises ValueError."""
    for level in Severity:
        if level.label == value:
            return level
    raise ValueError("must be note, warning or error")


def _read(where: str, key: str, value: Any, reader: Callable[[Any], Any]) -> Any:
    try:
        return reader(value)
    except ValueError as error:
        raise GpulintError(f"{where}: {key} = {value!r}: {error}") from None


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError("must be a list of strings")
    return tuple(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a string")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a whole number")
    return value


def _matching(pattern: str, meaning: str) -> Callable[[Any], str]:
    expression = re.compile(pattern)

    def read(value: Any) -> str:
        if not expression.fullmatch(_text(value)):
            raise ValueError(f"must be {meaning}")
        return str(value)

    return read


def _level(value: Any) -> Severity:
    return severity(_text(value))


def _threshold(value: Any) -> Severity | None:
    return severity_or_never(_text(value))


def _table(read: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    def read_table(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("must be a table")
        return {key: read(item) for key, item in value.items()}

    return read_table


SETTINGS: Mapping[str, Callable[[Any], Any]] = {
    "select": _words,
    "extend-select": _words,
    "ignore": _words,
    "extend-ignore": _words,
    "per-file-ignores": _table(_words),
    "severity": _table(_level),
    "exclude": _words,
    "extend-exclude": _words,
    "min-severity": _level,
    "fail-on": _threshold,
    "strict": _flag,
}

MACHINE_FACTS: Mapping[str, Callable[[Any], Any]] = {
    "driver": _matching(r"\d{3}(\.\d+){0,2}", 'a driver version such as "535" or "535.161.07"'),
    "gpus": _words,
    "gpus_per_node": _count,
    "gpus_total": _count,
    "autoscaled": _flag,
    "default_runtime": _matching(r"runc|nvidia", '"runc" or "nvidia"'),
    "gpu_runtime_class": _text,
    "gpu_taint": _matching(r"[^=:\s]+(=[^=:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)", '"key=value:Effect" or "key:Effect"'),
    "adds_tolerations": _flag,
    "compose_cli": _matching(r"v?\d+(\.\d+)*", 'a version such as "1.29" or "2.30.0"'),
    "platform": _matching(r"linux/\w+(/\w+)?", 'a platform such as "linux/arm64"'),
    "mig_strategy": _matching(r"none|single|mixed", '"none", "single" or "mixed"'),
    "mig_profiles": _words,
}


def glob_pattern(globs: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for a set of globs; None for no globs.

    A glob without `/` matches any part of a path; one with `/` matches from the root, and so does one that begins with it. `*` and `?` stay
    within a part, `**` crosses parts. A folder stands for all that is in it.
    """
    alternatives = [_glob(glob) for glob in globs]
    return re.compile("|".join(alternatives)) if alternatives else None


def _glob(glob: str) -> str:
    pieces = re.split(r"(\*\*/?|\*|\?)", glob.strip("/"))
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(wild.get(piece, re.escape(piece)) for piece in pieces)
    start = "^" if "/" in glob.rstrip("/") else "(?:^|/)"
    return f"{start}{body}(?:/|$)"
