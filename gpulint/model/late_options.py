"""Options of docker behind the image's name, where they are words for the program inside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpulint.deferred import regex
from gpulint.facts.commands import gpu_program, is_shell
from gpulint.facts.docker_cli import flags
from gpulint.facts.requests import runtime_vendor
from gpulint.model.container import GpuRequest, RequestFault, RequestKind, RequestState
from gpulint.model.image import ImageRef
from gpulint.model.options import Option, OptionReader, UnknownFlagError
from gpulint.source import Text, Unknown, Value

ASKING = ("gpus", "runtime")
"""Those that would ask for a GPU in front of the image."""

_RECORD = regex(r'all|"?(?:device|count|driver|capabilities)=.*')
_SIZE = regex(r"\d+(?:\.\d+)?[bkmg]?b?", re.IGNORECASE)


def late_options(arguments: Sequence[Value], kin: str, image: ImageRef | None) -> tuple[Option, ...]:
    """The options `--gpus`, `--runtime`, `--shm-size` and `--ipc` that directly follow the image, perhaps among others of docker.

    Behind the name of a command they are its own, unless that is a shell or a tool which has none of them. A mere number of GPUs may be
    for the program, unless the facts know the image.
    """
    start = 1 if _has_none_itself(arguments) else 0
    reader = OptionReader(arguments, [word.location for word in arguments], start, flags(kin, "run"))
    try:
        reader.read()
    except UnknownFlagError:
        return _told(reader.options, image)  # an option of the program ends docker's
    return _told(reader.options, image)


def late_requests(late: Sequence[Option]) -> Iterator[GpuRequest]:
    """The requests that such options were meant as."""
    for option in late:
        if option.name in ASKING:
            reason = f"`--{option.name}` stands behind the image, where it is a word for the program inside"
            fault = RequestFault(reason, option.location, misplaced=True)
            yield GpuRequest(RequestKind.PLACEMENT, RequestState.BROKEN, option.location, faults=(fault,))


def _told(options: Sequence[Option], image: ImageRef | None) -> tuple[Option, ...]:
    return tuple(option for option in options if isinstance(option.value, Text) and _is_of_docker(option.name, option.value, image))


def _is_of_docker(name: str, value: Text, image: ImageRef | None) -> bool:
    """Whether an option is one of the four, with a value that only docker takes."""
    if name == "gpus":
        return bool(_RECORD.fullmatch(value)) or (value.isdigit() and _is_listed(image))
    if name == "runtime":
        return runtime_vendor(value) is not None
    return (name == "shm-size" and bool(_SIZE.fullmatch(value))) or (name == "ipc" and value in ("host", "private"))


def _is_listed(image: ImageRef | None) -> bool:
    return image is not None and not isinstance(image.name, Unknown) and image.name_facts.listed


def _has_none_itself(arguments: Sequence[Value]) -> bool:
    """Whether the words begin with a command that has none of these options itself."""
    first = arguments[0] if arguments else None
    return isinstance(first, Text) and (is_shell(first) or gpu_program([str(first)]))
