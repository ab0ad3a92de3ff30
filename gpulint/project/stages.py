"""What a project makes of a build stage: whether it ships, what it has to do with a GPU, and what it is for."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.commands import fetches_sources, gpu_argument, gpu_program, launched, program_name
from gpulint.facts.images import Need
from gpulint.facts.packages import compiles_at_run_time, package_facts
from gpulint.facts.workloads import infrastructure
from gpulint.model.image import ImageRef
from gpulint.model.stage import Copy, Stage
from gpulint.project import Project
from gpulint.project.context import likely_context, shows_compilation
from gpulint.project.entrypoint import own_commands
from gpulint.source import Location, Text, Unknown, Value, as_written

_DEVELOPERS = regex(r"(?:^|[/._-])(?:\.?devcontainers?|dev|devel|develop|development|ci|test|tests|testing|build|builder)(?:$|[/._-])")
_BUILDERS = regex(r"(?:^|[._-])(?:build|builder|buildenv|compile|ci)(?:$|[._-])")
_TESTS = regex(r"(?:.*[._-])?(?:test|tests|testing|lint|check|checks)")
_COPIES_ROOT = ("/", "/.")


class Reason(NamedTuple):
    """Why a stage has to do with a GPU, as a clause for a message, and where that is written."""

    location: Location
    says: str


def ships(stage: Stage, project: Project) -> bool:
    """Whether the stage is what is run: the last of its Dockerfile, or one that a build asks for by name."""
    name = stage.name
    return stage.is_last or any(name is not None and name.lower() == target.lower() for target in project.builds.targets(stage.path))


def runs_a_program(stage: Stage, project: Project) -> bool:
    """Whether the stage ships and a program of its own runs in it: by its command, or by that of a container here. A shell is none, since
    what is typed into it is not known."""
    if not ships(stage, project):
        return False
    commands = [_words(command) for container in project.containers_of(stage) for command in own_commands(container)]
    return _starts_a_program(stage) or any(command and not _is_shell_alone(command) for command in commands)


def _is_shell_alone(command: list[str]) -> bool:
    return program_name(command[0]) == program_name("sh") and not launched(command)


def gpu_base(stage: Stage) -> Reason | None:
    """Why an image built from the stage is a GPU image: a GPU base, or a GPU build of a framework."""
    return base_for_gpu(stage) or next(_gpu_packages(stage), None)


def base_for_gpu(stage: Stage) -> Reason | None:
    """The base image of the stage, where it is one for a GPU."""
    base = stage.chain()[-1].base
    return Reason(base.location, f"stands on {base.shown}") if base is not None and _is_gpu_image(base) else None


def _is_gpu_image(image: ImageRef) -> bool:
    if isinstance(image.name, Unknown) or isinstance(image.tag, Unknown):
        return False
    facts = image.facts
    return not facts.optional_gpu and (facts.need is Need.CERTAIN or (facts.need is not Need.NONE and bool(image.tag_word)))


def _gpu_packages(stage: Stage) -> Iterator[Reason]:
    for each in stage.chain():
        for install in each.installs:
            for package in install.packages:
                facts = package_facts(package.name, package.extras, package.specifier)
                if facts and facts.implies == "nvidia-gpu":
                    yield Reason(package.location, f"installs {package.shown}")


def gpu_use(stage: Stage, project: Project) -> Reason | None:
    """Why the program of the stage uses a GPU: by its container, its command, its packages, or what it copies from a GPU stage."""
    return next(_gpu_uses(stage, project), None)


def _gpu_uses(stage: Stage, project: Project) -> Iterator[Reason]:
    for container in project.containers_of(stage):
        for request in container.requests:
            if request.is_asked:
                yield Reason(request.location, "a GPU is asked for here for its container")
    command = _words((*(stage.entrypoint or ()), *(stage.command or ())))
    if command and (gpu_program(command) or gpu_argument(command) is not None):
        place = next(word.location for word in (*(stage.entrypoint or ()), *(stage.command or ())))
        yield Reason(place, "its command uses a GPU")
    yield from _gpu_packages(stage)
    for each in stage.chain():
        for copy in each.copies:
            origin = _origin(copy, stage, project)
            if origin is not None and not _is_static(origin) and gpu_base(origin):
                yield Reason(copy.instruction.location, "it copies from a GPU stage here")


def _words(command: tuple[Value, ...]) -> list[str]:
    return [as_written(word) for word in command]


def _origin(copy: Copy, stage: Stage, project: Project) -> Stage | None:
    """The stage that a copy takes from."""
    dockerfile = project.dockerfile(stage.path)
    return dockerfile.stage(copy.from_) if dockerfile and isinstance(copy.from_, Text) else None


def origins_of(stage: Stage, project: Project) -> tuple[Stage, ...]:
    """The stages that the stage copies from."""
    origins = (_origin(copy, stage, project) for copy in stage.copies if copy.from_ is not None)
    return tuple(origin for origin in origins if origin is not None)


def _is_static(stage: Stage) -> bool:
    """Whether what the stage builds is linked statically, without C: such a program loads no CUDA library."""
    values: dict[str, Value | None] = {str(variable.name): variable.value for variable in stage.env}
    for run in stage.runs:
        values.update((str(name), value) for command in run.script.commands for name, value, _ in command.assignments)
    value = values.get("CGO_ENABLED")
    return isinstance(value, Text) and value == "0"


def is_for_developers(stage: Stage) -> bool:
    """Whether name or path say that the stage is for developing, building or testing, not for running."""
    names = [stage.path.lower(), stage.name.lower() if stage.name is not None else ""]
    return any(_DEVELOPERS.search(name) for name in names)


def is_base_of_others(stage: Stage, project: Project) -> bool:
    """Whether another Dockerfile here builds on the image."""
    bases = (other.base for other in project.stages if other.path != stage.path and other.base is not None)
    built = (project.builds.of_image(base) for base in bases)
    return any(each is not None and each.stage is stage for each in built)


def compiles_gpu_code(stage: Stage, project: Project) -> bool:
    """Whether the program compiles GPU code when it runs: by its packages, its command, or the files of its build context. It may where the
    image holds nothing but code that is fetched from elsewhere."""
    packages = (package.name for each in stage.chain() for install in each.installs for package in install.packages)
    command = _words((*(stage.entrypoint or ()), *(stage.command or ())))
    if any(map(compiles_at_run_time, packages)) or any(compiles_at_run_time(word) for word in command if word):
        return True
    if _is_all_from_elsewhere(stage):
        return True
    dockerfile = project.dockerfile(stage.path)
    folders = {recipe.context for recipe in project.builds.recipes if recipe.dockerfile == stage.path}
    if not folders and dockerfile is not None:
        folders = {likely_context(dockerfile, project.tree)}
    return any(shows_compilation(folder, project.tree) for folder in folders)


def _is_all_from_elsewhere(stage: Stage) -> bool:
    """Whether the build fetches source code, and takes none from its context: what that code needs is not known here."""
    stages = list(stage.chain())
    if any(copy.from_ is None for each in stages for copy in each.copies):
        return False
    return fetches_code(stage)


def fetches_code(stage: Stage) -> bool:
    """Whether a step of the stage, or of those that it builds on, fetches source code from elsewhere."""
    commands = (command for each in stage.chain() for run in each.runs for command in run.script.commands)
    return any(fetches_sources(command.written) for command in commands)


def is_file_export(stage: Stage, project: Project) -> bool:
    """Whether the stage only hands out files: nothing runs it, or it is a whole root copied from another stage."""
    copies_root = any(copy.from_ is not None and _roots(copy) for copy in stage.copies)
    return copies_root or not (stage.entrypoint or stage.command or project.containers_of(stage))


def _roots(copy: Copy) -> bool:
    return any(isinstance(source, Text) and source in _COPIES_ROOT for source in copy.sources)


def image_stages(stage: Stage, project: Project) -> tuple[Stage, ...]:
    """The stages whose files are in the image: this one and those it builds on, nearest first, and those whose whole root is copied in."""
    found = list(stage.chain())
    for each in found:
        origins = (_origin(copy, each, project) for copy in each.copies if copy.from_ is not None and _roots(copy))
        found += [other for origin in origins if origin is not None for other in origin.chain() if other not in found]
    return tuple(found)


def is_build_only(stage: Stage) -> bool:
    """Whether the names of the stage and its file say that it is there to build or to test something, not to be run. What the file's name
    says of a stage that starts a program is how the image comes about, as in Dockerfile.build."""
    name, file_name = (stage.name or "").lower(), stage.path.rpartition("/")[2].lower()
    names = (name,) if _starts_a_program(stage) else (name, file_name)
    return any(map(_BUILDERS.search, names)) or _TESTS.fullmatch(name) is not None


def _starts_a_program(stage: Stage) -> bool:
    command = _words((*(stage.entrypoint or ()), *(stage.command or ())))
    return bool(command) and not _is_shell_alone(command)


def is_infrastructure_image(stage: Stage, project: Project) -> bool:
    """Whether the image is part of what makes GPUs usable, by the names it is given and those of its folders."""
    recipes = [recipe for recipe in project.builds.recipes if recipe.dockerfile == stage.path]
    names = [str(name.name) for recipe in recipes for name in recipe.names if isinstance(name.name, Text)]
    return any(infrastructure(name, "", "", "") for name in (*names, stage.path, stage.name or ""))
