"""The user's settings: one frozen Config, from gpulint.toml or the table [tool.gpulint] of pyproject.toml, and the command line over it.

Every key, value and rule is checked, and an unknown one is an error that names the nearest that exists.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache
from typing import Any

from gpulint.deferred import dataclass
from gpulint.discover import is_below, upward
from gpulint.errors import GpulintError
from gpulint.model.machines import Machines, Pool
from gpulint.rule import Severity

DEFAULT_EXCLUDE = ("vendor", "node_modules", "third_party", ".venv")
NEVER = "never"


@dataclass(frozen=True)
class Config:
    """The settings of a run. Rules are named by id, name, prefix such as GPU2, or ALL; paths by glob from the root."""

    path: str | None = None
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
    docs: bool = False
    machines: Machines = field(default_factory=Machines)


_DIGITS = str.maketrans("OIL", "011")  # letters that are typed for digits


def as_digits(rule_id: str) -> str:
    """The id of a rule in capitals, with digits where letters of their shape were typed."""
    return rule_id.upper().translate(_DIGITS)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """A clause that names the nearest known word in whatever case, or nothing: ` (did you mean X?)`. `cutoff` is how like it must be,
    from 0 (not at all) to 1 (the same)."""
    import difflib

    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower(), list(by_lower), n=1, cutoff=cutoff)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""


LARGEST_FILE = 1024 * 1024
"""How many bytes a configuration file may have."""

LARGEST_COUNT = 1 << 31
LONGEST_SHOWN = 100
"""How many characters of a wrong value a message holds."""

MOST_WILDCARDS = 3
"""How many `**` a glob may have: each multiplies the time that a match may take."""


def find_config(start: str, stop: str | None) -> tuple[str | None, str]:
    """The configuration that holds for a folder: the nearest one upward, not beyond `stop`; and a notice where two lie side by side."""
    for folder in upward(start):
        own, shared = os.path.join(folder, "gpulint.toml"), os.path.join(folder, "pyproject.toml")
        has_table = os.path.isfile(shared) and _has_table(shared)
        if os.path.isfile(own):
            return own, f"{own} is used; [tool.gpulint] of {shared} beside it is not" if has_table else ""
        if has_table:
            return shared, ""
        if folder == stop:
            break
    return None, ""


def _has_table(path: str) -> bool:
    try:
        return b"[tool.gpulint" in _first_bytes(path)
    except OSError:
        return False


def _first_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(LARGEST_FILE + 1)


def load_config(path: str, within: str | None = None) -> Config:
    """Read a configuration file, and those that its `extend` names before it. Raises GpulintError with file and key.

    `within` is the folder that what it extends must lie in; the file's own where it is None.
    """
    return dataclasses.replace(_merge(_chain(path, os.path.realpath(within or os.path.dirname(path)))), path=path)


def _chain(path: str, within: str) -> list[tuple[str, dict[str, Any]]]:
    """The tables of a file and those it extends, the farthest first."""
    chain: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    following: str | None = path
    while following:
        table = _read_table(following)
        resolved = os.path.realpath(following)
        if resolved in seen:
            raise GpulintError(f"{path}: extend leads back to {following}")
        seen.add(resolved)
        parent = table.pop("extend", None)
        chain.insert(0, (following, table))
        following = None if parent is None else _extended(following, parent, within)
    return chain


def _extended(path: str, parent: Any, within: str) -> str:
    """The file that `extend` names. Raises GpulintError for one that lies elsewhere than in the repository."""
    if not isinstance(parent, str) or not parent or "\0" in parent:
        raise GpulintError(f"{path}: extend must be the path of one file, not {_shown(parent)}")
    extended = os.path.join(os.path.dirname(path), parent)
    if not os.path.isfile(extended):
        raise GpulintError(f"{extended}: no such file")
    if not is_below(os.path.realpath(extended), within):
        raise GpulintError(f"{path}: extend = {_shown(parent)} leads out of {within}")
    return extended


def _read_table(path: str) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef,import-not-found]
    if not os.path.isfile(path):
        raise GpulintError(f"{path}: no such file")
    try:
        data = _first_bytes(path)
        if len(data) > LARGEST_FILE:
            raise GpulintError(f"{path}: has over {LARGEST_FILE // 1024 // 1024} MiB")
        table: Any = tomllib.loads(data.decode("utf-8").replace("\r\n", "\n"))
    except (OSError, UnicodeDecodeError) as error:
        raise GpulintError(f"{path}: cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise GpulintError(f"{path}: no valid TOML: {error}") from None
    for name in ("tool", "gpulint") if os.path.basename(path) == "pyproject.toml" else ():
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise GpulintError(f"{path}: {name} must be a table")
    return dict(table)


def _merge(chain: list[tuple[str, dict[str, Any]]]) -> Config:
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
        raise GpulintError(f"{where}: unknown key {key!r}{_meant(where, key)}")
    return _read(where, key, value, reader)


def _meant(where: str, key: str) -> str:
    """What an unknown key may be meant for."""
    if key == "tool" and where.endswith("gpulint.toml"):
        return ": in gpulint.toml the keys stand at the top, not below [tool.gpulint]"
    return nearest(key, (*SETTINGS, "machines", "extend"))


def _machines(where: str, table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise GpulintError(f"{where}: machines must be a table")
    facts = {key: machine_fact(f"{where}: machines", key, value) for key, value in table.items() if key != "pools"}
    return {**facts, "pools": _pools(where, table["pools"])} if "pools" in table else facts


def _pools(where: str, table: Any) -> tuple[Pool, ...]:
    if not isinstance(table, dict):
        raise GpulintError(f"{where}: machines.pools must be a table")
    return tuple(_pool(f"{where}: machines.pools.{name}", name, facts) for name, facts in table.items())


def _pool(where: str, name: str, table: Any) -> Pool:
    if not isinstance(table, dict):
        raise GpulintError(f"{where} must be a table")
    labels = _read(where, "labels", table.get("labels"), _labels)
    facts = {key: machine_fact(where, key, value) for key, value in table.items() if key != "labels"}
    return Pool(name, labels, Machines(**facts))


def machine_fact(where: str, key: str, value: Any) -> Any:
    """The checked value of one key of [machines]. Raises GpulintError."""
    reader = MACHINE_FACTS.get(key)
    if reader is None:
        hint = nearest(key, MACHINE_FACTS) or f"; there are {', '.join(MACHINE_FACTS)}"
        raise GpulintError(f"{where}: unknown key {key!r}{hint}")
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
    elif key in ("gpus_per_node", "gpus_total") and re.fullmatch("[0-9]{1,20}", text):
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
        raise GpulintError(f"{where}: {key} = {_shown(value)}: {error}") from None


def _shown(value: Any) -> str:
    """A value for a message, which need not hold all of it, as TOML writes it: that is JSON but for tables, and for what JSON has not."""
    try:
        text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # a number of more digits than Python writes, tables without end
        return "..."
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


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
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST_COUNT:
        raise ValueError("must be a whole number")
    return value


def _matching(pattern: str, meaning: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not re.fullmatch(pattern, _text(value)):
            raise ValueError(f"must be {meaning}")
        return str(value)

    return read


def _level(value: Any) -> Severity:
    return severity(_text(value))


def _threshold(value: Any) -> Severity | None:
    return severity_or_never(_text(value))


def _labels(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise ValueError(
            'must be a table of the node labels that select the pool, such as {"cloud.google.com/gke-accelerator" = "nvidia-l4"}'
        )
    return {key: _text(label) for key, label in value.items()}


def _table(read: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    def read_table(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("must be a table")
        return {key: read_item(key, item) for key, item in value.items()}

    def read_item(key: str, item: Any) -> Any:
        try:
            return read(item)
        except ValueError as error:
            raise ValueError(f"{key} = {_shown(item)}: {error}") from None

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
    "docs": _flag,
}

MACHINE_FACTS: Mapping[str, Callable[[Any], Any]] = {
    "driver": _matching(r"\d{3}(\.\d{1,9}){0,2}", 'a driver version such as "535" or "535.161.07"'),
    "gpus": _words,
    "gpus_per_node": _count,
    "gpus_total": _count,
    "autoscaled": _flag,
    "default_runtime": _matching(r"runc|nvidia", '"runc" or "nvidia"'),
    "gpu_runtime_class": _text,
    "gpu_taint": _matching(r"[^=:\s]+(=[^=:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)", '"key=value:Effect" or "key:Effect"'),
    "adds_tolerations": _flag,
    "compose_cli": _matching(r"v?\d{1,9}(\.\d{1,9}){0,9}", 'a version such as "1.29" or "2.30.0"'),
    "platform": _matching(r"linux/\w+(/\w+)?", 'a platform such as "linux/arm64"'),
    "mig_strategy": _matching(r"none|single|mixed", '"none", "single" or "mixed"'),
    "mig_profiles": _words,
}


@cache
def glob_pattern(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    """One pattern for a set of globs; None for no globs. Raises GpulintError for a glob with too many `**`.

    A glob without `/` matches any part of a path; one with `/` matches from the root, and so does one that begins with it. `*` and `?` stay
    within a part, `**` crosses parts. A folder stands for all that is in it.
    """
    alternatives = [_glob(glob, f"g{index}_") for index, glob in enumerate(globs)]
    return re.compile("|".join(alternatives)) if alternatives else None


def _glob(glob: str, prefix: str) -> str:
    """The pattern of a glob; `prefix` begins the names of its groups."""
    literal, *pieces = re.split(r"(\*\*/?|\*)", re.sub(r"(?:\*\*/)+", "**/", glob.strip("/")))
    if sum(wild != "*" for wild in pieces[::2]) > MOST_WILDCARDS:
        raise GpulintError(f"the glob {_shown(glob)} has more than {MOST_WILDCARDS} **")
    start = "^" if "/" in glob.rstrip("/") else "(?:^|/)"
    body = _literal(literal)
    for index in range(0, len(pieces), 2):
        wild, following = pieces[index], _literal(pieces[index + 1])
        if pieces[index : index + 3 : 2] == ["*", "*"] and "/" not in following:
            group = (
                f"{prefix}{index}"  # the next `*` takes what is left, so that the first place where this part fits need not be left again
            )
            body += f"(?=(?P<{group}>[^/]*?{following}))(?P={group})"
        else:
            body += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}[wild] + following
    return f"{start}{body}(?:/|$)"


def _literal(text: str) -> str:
    return "".join("[^/]" if character == "?" else re.escape(character) for character in text)
