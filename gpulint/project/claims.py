"""What says that the image of a stage is meant for a GPU, and what says that it is for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import gpu_argument, gpu_program
from gpulint.facts.frameworks import computes_by_itself
from gpulint.facts.images import cpu_word
from gpulint.facts.packages import package_facts
from gpulint.facts.resources import is_gpu_vendor
from gpulint.model.image import ImageRef
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.stage_programs import programs_of
from gpulint.project.stages import base_for_gpu
from gpulint.source import Location, Text, Unknown, as_written

if TYPE_CHECKING:
    from gpulint.model.container import Container
    from gpulint.project.contents import Installed

_OTHER_ACCELERATORS = frozenset({"tpu", "neuron", "habana", "intel", "google", "aws"})


class Claim(NamedTuple):
    """What says that an image is meant for a GPU, as a clause for a message, and where that is written. `is_asked` where a container asks
    for one, or the image's own command does; `container` is that container."""

    location: Location
    says: str
    is_asked: bool
    container: Container | None = None


def gpu_claim(stage: Stage, project: Project) -> Claim | None:
    """The strongest claim that the image of a stage is for a GPU; None where nothing claims one, or it is for another accelerator."""
    if is_for_other_accelerator(stage, project):
        return None
    return next(gpu_claims(stage, project), None)


def gpu_claims(stage: Stage, project: Project) -> Iterator[Claim]:
    """Every claim, the strongest first: of containers, of the image's command, of its base, of its program, of its packages."""
    for container in project.containers_of(stage):
        for request in container.requests:
            if request.is_asked and is_gpu_vendor(request.vendor):
                yield Claim(request.location, "a GPU is asked for here for its container", True, container)
    words = (*(stage.entrypoint or ()), *(stage.command or ()))
    plain = [as_written(word) for word in words]
    if plain and (gpu_program(plain) or gpu_argument(plain) is not None):
        yield Claim(words[0].location, "its command uses a GPU", True)
    reason = base_for_gpu(stage)
    if reason is not None:
        yield Claim(reason.location, f"it {reason.says}", False)
    for program in programs_of(stage, project):
        if program.raises_without_cuda:
            place = (program.raising or program.assertions)[0].location
            yield Claim(place, f"its program {program.path} fails without CUDA", False)
    for installed in project.contents(stage).packages:
        if installed.is_certain and _is_for_gpu_alone(installed):
            yield Claim(installed.package.location, f"{installed.package.shown} needs a GPU", False)


def _is_for_gpu_alone(installed: Installed) -> bool:
    """Whether a package is of no use without a GPU. Libraries of CUDA and what PyTorch merely calls where it has one are no sign."""
    facts = package_facts(installed.name, installed.package.extras, installed.package.specifier)
    if facts is None or facts.implies != "nvidia-gpu":
        return False
    return facts.built_with_nvcc or computes_by_itself(installed.name)


def is_for_other_accelerator(stage: Stage, project: Project) -> bool:
    """Whether the image is for a TPU, Neuron, Gaudi or Intel's GPUs: by its base, a package, or what its container asks for."""
    if vendor_of(stage.chain()[-1].base) in _OTHER_ACCELERATORS:
        return True
    requests = (request for container in project.containers_of(stage) for request in container.requests)
    if any(not is_gpu_vendor(request.vendor) for request in requests):
        return True
    packages = project.contents(stage).history
    facts = (package_facts(each.name, each.package.extras, each.package.specifier) for each in packages)
    return any(each is not None and each.implies in _OTHER_ACCELERATORS for each in facts)


def vendor_of(image: ImageRef | None) -> str:
    """Whose GPUs an image is for, as far as its name and tag are known."""
    if image is None or isinstance(image.name, Unknown):
        return ""
    return (image.name_facts if isinstance(image.tag, Unknown) else image.facts).vendor


def cannot_be_pulled(image: ImageRef) -> bool:
    """Whether an image is known not to be on its registry, so that nothing can be said of what is built on it."""
    return not isinstance(image.name, Unknown) and not isinstance(image.tag, Unknown) and image.is_missing


def is_named_cpu(stage: Stage, project: Project) -> bool:
    """Whether the stage is the CPU form of something, by its name, its path, or the names that its image is given."""
    recipes = (recipe for recipe in project.builds.recipes if recipe.dockerfile == stage.path)
    tags = (
        f"{name.name}:{as_written(name.tag)}" for recipe in recipes for name in recipe.names if name.tag and isinstance(name.name, Text)
    )
    names = (str(each.name) for each in stage.chain() if each.name is not None)
    return any(cpu_word(word) for word in (*stage.path.split("/"), *names, *tags))


def deciding_arguments(stage: Stage, project: Project, text: str, *places: Location) -> frozenset[str]:
    """The build arguments of which the text has its value: those that the Dockerfile names at these places, and that a build may change."""
    dockerfile = project.dockerfile(stage.path)
    declared = (*stage.arguments, *(dockerfile.arguments if dockerfile is not None else ()))
    values = {str(each.name): str(each.value) for each in declared if isinstance(each.value, Text) and each.value}
    named = {name for place in places for name in _names_at(place, project)}
    return frozenset(name for name in named if name in values and values[name] in text)


_NAME = regex(r"\$\{?(\w+)|^[ \t]*ARG[ \t]+(\w+)", re.IGNORECASE | re.MULTILINE)


def _names_at(place: Location, project: Project) -> Iterator[str]:
    source = project.tree.source(place.path)
    if source is not None:
        lines = "\n".join(source.line(number) for number in range(place.line, place.end_line + 1))
        yield from (match[1] or match[2] for match in _NAME.finditer(lines))


def builds_with_defaults(claim: Claim, names: frozenset[str]) -> bool:
    """Whether the build of the container that makes the claim is known to leave these build arguments at their defaults."""
    build = claim.container.build if claim.container is not None else None
    return not names or (build is not None and not names & {str(each.name) for each in build.arguments})
