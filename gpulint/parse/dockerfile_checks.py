"""What BuildKit refuses in an instruction that its parser could cut: unknown names and flags, too few arguments, bad stage names.

The names are those of the Dockerfile reference; source: frontend/dockerfile/instructions of moby/buildkit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import regex
from gpulint.parse.dockerfile_words import heredoc_words

if TYPE_CHECKING:
    from gpulint.parse.dockerfile import Instruction
    from gpulint.source import Location

Refusal = tuple[str, "Location"]

_FLAGS: dict[str, frozenset[str]] = {
    "ADD": frozenset({"chown", "chmod", "link", "keep-git-dir", "checksum", "unpack", "exclude"}),
    "COPY": frozenset({"chown", "chmod", "link", "from", "parents", "exclude"}),
    "FROM": frozenset({"platform"}),
    "HEALTHCHECK": frozenset({"interval", "timeout", "start-period", "start-interval", "retries"}),
    "RUN": frozenset({"mount", "network", "security", "device"}),
}
_FEWEST_WORDS = {
    **dict.fromkeys(("ADD", "COPY"), 2),
    **dict.fromkeys(("ARG", "ENV", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD", "SHELL"), 1),
    **dict.fromkeys(("STOPSIGNAL", "USER", "VOLUME", "WORKDIR"), 1),
    **dict.fromkeys(("CMD", "ENTRYPOINT", "FROM", "RUN"), 0),
}
_ALREADY_NO_TRIGGER = ("ONBUILD", "MAINTAINER", "FROM")
_STAGE_NAME = regex(r"[a-z][a-z0-9-_.]*")
_LONGEST_QUOTE = 40


def refusals(instructions: Iterable[Instruction]) -> Iterator[Refusal]:
    """Why BuildKit would not build the file of these instructions: a sentence and its place for each reason."""
    in_stage = False
    for instruction in instructions:
        yield from _refusals_of(instruction)
        if not in_stage and instruction.name in _FEWEST_WORDS and instruction.name != "ARG":
            in_stage = True
            if instruction.name != "FROM":
                yield f"{instruction.name} stands before the first FROM.", instruction.location


def _refusals_of(instruction: Instruction) -> Iterator[Refusal]:
    name = instruction.name
    if name not in _FEWEST_WORDS:
        yield _unknown(instruction), instruction.keyword.location
        return
    for flag in instruction.flags:
        if flag.name not in _FLAGS.get(name, ()):
            yield f"{name} has no flag --{_short(flag.name)}.", flag.name.location
    fewest = _FEWEST_WORDS[name]
    if fewest and len(instruction.words) < fewest:
        yield _too_few(instruction), instruction.location
    elif check := _CHECKS.get(name):
        yield from check(instruction)


def _unknown(instruction: Instruction) -> str:
    from difflib import get_close_matches

    keyword = instruction.keyword
    near = get_close_matches(instruction.name[:_LONGEST_QUOTE], _FEWEST_WORDS, n=1)
    return f"{_short(keyword) or 'An empty line'} is no Dockerfile instruction" + (f"; did you mean {near[0]}?" if near else ".")


def _too_few(instruction: Instruction) -> str:
    if instruction.name in ("COPY", "ADD"):
        return f"{instruction.name} needs a source and a destination."
    return f"{instruction.name} needs an argument."


def _check_from(instruction: Instruction) -> Iterator[Refusal]:
    words = instruction.words
    if len(words) == 3 and words[1].lower() == "as":
        if not _STAGE_NAME.fullmatch(words[2].lower()):
            yield f"{_short(words[2])} is no name for a build stage: it must start with a letter.", words[2].location
    elif len(words) != 1:
        yield "FROM takes `IMAGE` or `IMAGE AS NAME`, and nothing more.", instruction.location


def _check_pairs(instruction: Instruction) -> Iterator[Refusal]:
    for pair in instruction.pairs:
        if not pair.name:
            yield f"{instruction.name} has a value without a name.", instruction.location
        elif pair.value is None and instruction.name != "ARG":
            yield f"{instruction.name} {_short(pair.name)} has no value; write name=value.", pair.name.location


def _check_copy(instruction: Instruction) -> Iterator[Refusal]:
    target = instruction.words[-1]
    if instruction.heredocs and heredoc_words(target):
        yield f"{instruction.name} cannot take a heredoc as its destination.", target.location


def _check_onbuild(instruction: Instruction) -> Iterator[Refusal]:
    trigger = instruction.trigger
    if trigger is None:
        return
    if trigger.name in _ALREADY_NO_TRIGGER:
        yield f"{trigger.name} cannot follow ONBUILD.", trigger.keyword.location
    else:
        yield from _refusals_of(trigger)


def _check_healthcheck(instruction: Instruction) -> Iterator[Refusal]:
    kind, *command = instruction.words
    if kind.upper() == "NONE":
        if command:
            yield "HEALTHCHECK NONE takes no arguments.", command[0].location
    elif kind.upper() != "CMD":
        yield f"HEALTHCHECK knows CMD and NONE, not {_short(kind)}.", kind.location
    elif not command:
        yield "HEALTHCHECK CMD needs a command.", instruction.location


def _check_shell(instruction: Instruction) -> Iterator[Refusal]:
    if instruction.json is None:
        yield "SHELL must be a JSON array.", instruction.arguments.location


_CHECKS = {
    "ADD": _check_copy,
    "ARG": _check_pairs,
    "COPY": _check_copy,
    "ENV": _check_pairs,
    "FROM": _check_from,
    "HEALTHCHECK": _check_healthcheck,
    "LABEL": _check_pairs,
    "ONBUILD": _check_onbuild,
    "SHELL": _check_shell,
}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "..."
