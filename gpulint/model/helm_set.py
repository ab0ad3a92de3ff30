"""Values that a helm command sets by `--set`: their keys, which helm cuts at each dot without a backslash."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import program_index, program_name
from gpulint.facts.resources import gpu_label, gpu_resource
from gpulint.parse.shell import SimpleCommand, UnknownWord
from gpulint.source import Location, Text, Value

_FLAGS = ("--set", "--set-string")
_INSTALLING = ("install", "upgrade", "template")
_WITH_VALUE = ("-n", "--namespace", "--repo", "--version", "-f", "--values", "--set", "--set-string", "--kube-context", "--timeout")
_KEY = regex(r"(?:^|(?<=,))((?:\\.|[^\\=,{}])+)=")
_DOT = regex(r"(?<!\\)\.")
_QUALIFIED = regex(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+/[\w.-]+")


class CutName(NamedTuple):
    """A name of a GPU resource or node label that helm takes apart: the key that it stands in, as helm gets it, and the name."""

    key: Text
    name: str

    @property
    def remedy(self) -> str:
        """The key with the dots of the name escaped."""
        before = self.key[: len(self.key) - len(self._written)]
        return before + self.name.replace(".", "\\.")

    @property
    def _written(self) -> str:
        match = re.search(r"\\?\.".join(map(re.escape, self.name.split("."))) + r"\Z", self.key)
        return match[0] if match else ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What helm makes of the name: each a key of its own, one below the other."""
        return tuple(part.replace("\\", "") for part in _DOT.split(self._written))


def cut_names(command: SimpleCommand) -> Iterator[CutName]:
    """The names of GPU resources and node labels in the keys that a helm command sets, where dots of theirs are not escaped."""
    words = command.known
    at = program_index(words)
    if at < len(words) and program_name(words[at]) == "helm":
        for setting in _settings(command.words[at + 1 :]):
            yield from filter(None, (cut_name(setting.cut(*match.span(1))) for match in _KEY.finditer(setting)))


def cut_name(key: Text) -> CutName | None:
    """The name of a GPU resource or node label that helm takes apart in a key; None where there is none."""
    name = _cut_name(key)
    return CutName(key, name) if name else None


class HelmInstall(NamedTuple):
    """A command that installs a chart: the chart, its version if one is given, its values by `--set`, and its files of values."""

    chart: Text
    version: Value | None
    settings: dict[str, Text]
    files: tuple[Text, ...]
    location: Location


def read_install(command: SimpleCommand, is_wanted: Callable[[str], bool]) -> HelmInstall | None:
    """The installation of a wanted chart by `helm install`, `upgrade` or `template`; None for any other command."""
    words = command.known
    at = program_index(words)
    if at >= len(words) or program_name(words[at]) != "helm" or not any(verb in words[at:] for verb in _INSTALLING):
        return None
    rest = command.words[at + 1 :]
    named = [
        word
        for index, word in enumerate(rest)
        if isinstance(word, Text) and is_wanted(word) and (index == 0 or words[at + index] not in _WITH_VALUE)
    ]
    if not named:
        return None
    chart = next((word for word in named if "/" in word), named[-1])
    version = next(_values(rest, "--version"), None)
    files = tuple(word for word in (*_values(rest, "-f"), *_values(rest, "--values")) if isinstance(word, Text))
    return HelmInstall(chart, version, dict(_assignments(rest)), files, command.location)


def _assignments(words: tuple[Value, ...]) -> Iterator[tuple[str, Text]]:
    """The keys that `--set` gives a known value."""
    for setting in _settings(words):
        for match in _KEY.finditer(setting):
            end = setting.find(",", match.end())
            yield match[1].replace("\\.", "."), setting.cut(match.end(), len(setting) if end < 0 else end)


def _values(words: tuple[Value, ...], *flags: str) -> Iterator[Value]:
    """What is given to an option, in its own word or in the next."""
    for word, following in zip(words, (*words[1:], None), strict=True):
        text = word.prefix if isinstance(word, UnknownWord) else word
        if isinstance(text, Text):
            name, equals, _ = text.partition("=")
            if name in flags and equals:
                yield word.cut(len(name) + 1, len(word)) if isinstance(word, Text) else word
            elif word is text and text in flags and following is not None:
                yield following


def _settings(words: tuple[Value, ...]) -> Iterator[Text]:
    """What follows each `--set`, in the same word or the next, as far as it is known."""
    is_value = False
    for word in words:
        text = word.prefix if isinstance(word, UnknownWord) else word
        if isinstance(text, Text):
            flag, equals, _ = text.partition("=")
            if is_value:
                yield text
            elif equals and flag in _FLAGS:
                yield text.cut(len(flag) + 1, len(text))
        is_value = not is_value and isinstance(word, Text) and word in _FLAGS


def _cut_name(key: str) -> str:
    """The qualified name at the end of a key that helm cuts within it; "" where there is none, or helm leaves it whole."""
    parts = [part.replace("\\.", ".") for part in _DOT.split(key)]
    slash = next((index for index, part in enumerate(parts) if "/" in part), 0)
    starts = (slash,) if "." in parts[slash].partition("/")[0] else range(slash - 1, -1, -1)
    names = (".".join(parts[start:]) for start in starts if start < len(parts) - 1)
    return next((name for name in names if _QUALIFIED.fullmatch(name) and _is_gpu(name)), "")


def _is_gpu(name: str) -> bool:
    return gpu_resource(name) is not None or gpu_label(name, None) != ""
