"""Containers of jobs on shared machines: `apptainer exec`, and `srun --container-image` of Slurm with pyxis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.batch import (
    action_length,
    brings_gpu,
    container_runner,
    definition_file,
    demands_gpu,
    image_file,
    image_of,
    job_step,
    makes_image,
)
from gpulint.facts.commands import program_index, program_name
from gpulint.model.image import ImageRef, parse_image
from gpulint.parse.shell import Script, SimpleCommand, UnknownWord
from gpulint.source import Location, Source, Text, Value


class BatchRun(NamedTuple):
    """A container that a job starts.

    `image` is None where it is only known by its `file`. `gets_gpu` where an option brings the GPU, or may: one that is not known.
    `words` are what runs in it, and `location` what says that it is started.
    """

    image: ImageRef | None
    file: Text | None
    gets_gpu: bool
    words: tuple[Value, ...]
    location: Location


def apptainer_run(command: SimpleCommand, script: Script) -> BatchRun | None:
    """The container that an apptainer or singularity command starts; None for any other command, or where its image is not known."""
    at, words = _program(command)
    if at < len(words) and _starts_another(words[at]):
        at = next((index for index in range(at, len(words)) if container_runner(words[index])), len(words))
    if at == len(words) or not container_runner(words[at].rpartition("/")[2]):
        return None
    action = next((index for index in range(at + 1, len(words)) if not words[index].startswith("-")), len(words))
    length = action_length(words[action : action + 2])
    place = _image_index(command.words, action + length) if length else None
    if place is None:
        return None
    image = command.words[place]
    options = command.words[at + 1 : place]
    tokens = _tokens(command)
    location = tokens[at].to(tokens[action + length - 1])
    file = _file(image)
    reference = _made_of(file, script) if file is not None else _reference(image)
    return BatchRun(reference, file, _brings_gpu(options), command.words[place + 1 :], location)


def slurm_step(command: SimpleCommand) -> BatchRun | None:
    """The container that `srun` starts its program in, where an option of pyxis names one."""
    at, words = _program(command)
    if at == len(words) or not job_step(words[at]):
        return None
    for index in range(at + 1, len(words)):
        option, equals, value = words[index].partition("=")
        if option == _CONTAINER_IMAGE:
            place = index if equals else index + 1
            image = value if equals else words[place] if place < len(words) else ""
            demands = _demands_gpu(words[at + 1 :]) or any(_is_many(word) for word in command.words[at + 1 : index])
            return slurm_container(image, demands, command.words[place + 1 :], _tokens(command)[index])
    return None


def slurm_container(image: str, gets_gpu: bool, words: tuple[Value, ...], location: Location) -> BatchRun | None:
    """The container of an image as pyxis takes it: `registry#team/image:tag`, or a file; None where it is not known."""
    if not image:
        return None
    text = Text(image.removeprefix("docker://").replace("#", "/", 1), location, ())
    file = text if image_file(text) or text.startswith(("/", ".")) else None
    return BatchRun(None if file is not None else parse_image(text), file, gets_gpu, words, location)


def container_of_directive(line: str) -> str:
    """The image that a directive of a batch script names; "" where it names none."""
    match = re.search(rf"{_CONTAINER_IMAGE}[= ]\s*(\S+)", line)
    return match[1].strip("\"'") if match else ""


def _demands_gpu(words: Sequence[str]) -> bool:
    return any(demands_gpu(word) or (word.startswith("-") and "gpu" in word.lower()) or word.startswith("gpu:") for word in words)


_CONTAINER_IMAGE = "--container-image"


def _program(command: SimpleCommand) -> tuple[int, tuple[str, ...]]:
    """The index of the program's word and all words, "" for those that are not known."""
    return program_index(command.known), command.known


def _starts_another(program: str) -> bool:
    """Whether a program starts the one behind its own options, as `srun` and `mpirun` do."""
    return job_step(program) or program_name(program) == program_name("mpirun")


def _tokens(command: SimpleCommand) -> tuple[Location, ...]:
    return command.tokens or tuple(word.location for word in command.words)


def _image_index(words: Sequence[Value], start: int) -> int | None:
    """Where the image stands among the words behind the action: the first that looks like one and is not preceded by anything but options
    and their values."""
    after_option = False
    for index in range(start, len(words)):
        word = words[index]
        text = _known_part(word)
        if image_of(text) is not None or _file(word) is not None:
            return index
        if not text.startswith("-") and not after_option:
            return None
        after_option = text.startswith("-") and "=" not in text
    return None


def _file(word: Value) -> Text | None:
    """The name of an image's file, with as much of its path as is known."""
    name = word.suffix if isinstance(word, UnknownWord) and "/" in word.suffix else word
    return name if isinstance(name, Text) and image_file(name) else None


def _known_part(word: Value) -> str:
    if isinstance(word, Text):
        return str(word)
    return str(word.prefix) if isinstance(word, UnknownWord) else ""


def _reference(word: Value) -> ImageRef:
    name = image_of(_known_part(word))
    length = len(_known_part(word)) - len(name or "")
    if isinstance(word, Text):
        return parse_image(word.cut(length, len(word)))
    return parse_image(word.rest(length) if isinstance(word, UnknownWord) else word)


def _made_of(file: Text, script: Script) -> ImageRef | None:
    """The image that the same script makes a file of."""
    return _made_files(script).get(str(file))


@lru_cache(maxsize=1000)
def _made_files(script: Script) -> dict[str, ImageRef]:
    """The files that a script makes of images, and of which."""
    made: dict[str, ImageRef] = {}
    for command in script.commands:
        at, words = _program(command)
        rest = [word for word in command.words[at + 1 :] if not _known_part(word).startswith("-")]
        if at < len(words) and container_runner(words[at]) and len(rest) > 2 and makes_image(_known_part(rest[0])):
            *_, target, source = rest
            if isinstance(target, Text) and image_of(_known_part(source)) is not None:
                made.setdefault(str(target), _reference(source))
    return made


def definition_of(file: Text, script: Script) -> str:
    """The name of the definition that the same script builds a file from; "" for none."""
    for command in script.commands:
        at, words = _program(command)
        rest = [word for word in words[at + 1 :] if word and not word.startswith("-")]
        if at < len(words) and container_runner(words[at]) and len(rest) > 2 and makes_image(rest[0]) and rest[-2] == file:
            return rest[-1] if definition_file(rest[-1]) else ""
    return ""


_HEADER = regex(r"^[ \t]*(bootstrap|from)[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)


def read_definition(source: Source) -> ImageRef | None:
    """The image that a definition starts from, in its last stage; None where that is no image of a registry."""
    headers = {match[1].lower(): match for match in _HEADER.finditer(source.text)}
    bootstrap, start = headers.get("bootstrap"), headers.get("from")
    if bootstrap is None or start is None or bootstrap[2].lower() != "docker":
        return None
    return parse_image(source.cut(*start.span(2)))


def _brings_gpu(options: Sequence[Value]) -> bool:
    return any(_is_many(word) or brings_gpu(_known_part(word)) for word in _without_values(options))


def _without_values(options: Sequence[Value]) -> Iterator[Value]:
    """The words that are no value of the option before them, as far as that can be told: those of an unknown word are none behind one."""
    after_option = False
    for word in options:
        if not (after_option and _is_many(word)):
            yield word
        text = _known_part(word)
        after_option = text.startswith("-") and "=" not in text


def _is_many(word: Value) -> bool:
    return isinstance(word, UnknownWord) and word.many
