"""Jobs on shared machines: what a scheduler is told, and the tools that start containers there without a daemon."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gpulint.facts import fullmatch, table, words


def container_runner(name: str) -> bool:
    """Whether a program is apptainer or its forerunner singularity."""
    return name in words("batch", "runners")


def job_step(name: str) -> bool:
    """Whether a program starts the steps of a job, in containers where a plugin is told so."""
    return name in words("batch", "job_steps")


def submits(name: str) -> bool:
    """Whether a program submits a job or allocates its machines, by options that hold for all its steps."""
    return name in words("batch", "submitters")


def action_length(arguments: Sequence[str]) -> int:
    """How many words behind such a runner say that it starts a container from an image; 0 where it does not."""
    return next((count for count in (2, 1) if " ".join(arguments[:count]) in words("batch", "actions")), 0)


def makes_image(action: str) -> bool:
    """Whether a sub-command of such a runner makes a file of an image."""
    return action in words("batch", "makers")


def brings_gpu(option: str) -> bool:
    """Whether an option of such a runner brings the GPU into the container."""
    return option.partition("=")[0] in words("batch", "gpu_options")


def stands_for_gpu_option(variable: str) -> bool:
    """Whether a variable does what such an option does."""
    return any(fullmatch(row["pattern"], variable) for row in table("batch")["gpu_variables"])


def image_of(word: str) -> str | None:
    """The image that a word names by a scheme, `docker://team/image:tag`; None for any other word."""
    scheme = next((scheme for scheme in words("batch", "image_schemes") if word.startswith(scheme)), None)
    return word.removeprefix(scheme) if scheme else None


def image_file(word: str) -> bool:
    """Whether a word names a file that holds an image."""
    return word.endswith(tuple(words("batch", "image_files")))


def definition_file(word: str) -> bool:
    """Whether a word names the file that an image is built from."""
    return word.endswith(tuple(words("batch", "definitions")))


def demands_gpu(option: str) -> bool:
    """Whether an option of a scheduler asks for GPUs, or for all that a machine has."""
    return any(fullmatch(row["pattern"], option) for key in ("gpu_demands", "whole_nodes") for row in table("batch")[key])


@cache
def directive_pattern() -> re.Pattern[str]:
    """The lines by which a script tells a scheduler what its job needs."""
    return re.compile("|".join(rf"^{row['pattern']}$" for row in table("batch")["directives"]), re.MULTILINE)
