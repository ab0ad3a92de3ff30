"""GPU112: a step compiles CUDA code, or a container runs nvcc, in an image that has no nvcc."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.commands import program_name
from gpulint.model.container import Container
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.claims import cannot_be_pulled
from gpulint.project.compilations import Compilation, compilations
from gpulint.project.entrypoint import own_commands
from gpulint.project.first_use import FirstUse, first_uses
from gpulint.project.stages import ships
from gpulint.project.toolkits import part_of, part_of_image
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown, as_written

_INSTEAD = "compile in a stage on the devel image, or install the toolkit's compiler (cuda-nvcc) first"


def check(node: Stage | Container, project: Project) -> Iterator[Problem]:
    """An error at each step that needs nvcc in a stage without it, and at a container's command that runs it."""
    if isinstance(node, Container):
        yield from _of_container(node, project)
        return
    base = node.chain()[-1].base
    if base is None or isinstance(base.name, Unknown) or isinstance(base.tag, Unknown) or cannot_be_pulled(base):
        return
    steps = [each for each in compilations(node, project) if each.needs_nvcc]
    uses = list(first_uses(node, project)) if ships(node, project) else []
    if (steps or uses) and part_of(node, "nvcc", project).is_there is False:
        yield from (_step(each, base.shown, Related(base.location, "this image has no nvcc")) for each in steps)
        yield from (_first_use(each, base.shown, Related(base.location, "this image has no nvcc")) for each in uses)


def _step(compilation: Compilation, image: str, related: Related) -> Problem:
    does = "runs in" if compilation.shown == "nvcc" else "compiles CUDA code in"
    message = f"{compilation.shown} {does} a stage on {image}, which has no nvcc: the build stops"
    return Problem(compilation.location, message, Severity.ERROR, _INSTEAD, (related,))


def _first_use(use: FirstUse, image: str, related: Related) -> Problem:
    message = f"{use.installed.package.shown} compiles CUDA operators at their first use, and {image} has no nvcc: the program ends there"
    instead = f"build them ahead in a stage with nvcc ({use.prebuild}), or use a devel image" if use.prebuild else "use a devel image"
    return Problem(use.installed.package.location, message, Severity.ERROR, instead, (related, Related(use.location, "this uses it")))


def _of_container(container: Container, project: Project) -> Iterator[Problem]:
    """Where a command of the container's own is nvcc. An image that is built here is known by its stage."""
    programs = [words[0] for words in own_commands(container) if words and program_name(as_written(words[0])) == "nvcc"]
    if not programs or container.image is None:
        return
    built = project.build_of(container)
    part = part_of(built.stage, "nvcc", project) if built is not None else part_of_image(container.image, "nvcc")
    if part.is_there is False:
        message = f"the container runs nvcc, and {container.image.shown} has none"
        yield Problem(programs[0].location, message, Severity.ERROR, "use the devel image of the same version")


RULE = Rule("GPU112", "nvcc-missing", (Stage, Container), (Severity.ERROR,), Impact.BUILD_FAILS, check)
