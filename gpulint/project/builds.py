"""The link from an image to the Dockerfile that builds it here: `build:` beside it, or a build command that gives it its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from posixpath import dirname, normpath
from posixpath import join as join_paths
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, regex
from gpulint.discover import Kind
from gpulint.model.image import ImageRef, parse_image
from gpulint.model.scope import join_path
from gpulint.model.stage import Copy, Dockerfile, Stage, read_dockerfile
from gpulint.project.tree import Tree, paths_named
from gpulint.source import Location, Text, Unknown, Value

if TYPE_CHECKING:
    from gpulint.model.command import ImageBuild
    from gpulint.model.container import Container
    from gpulint.model.script_path import ScriptPath

Names = tuple[ImageRef, ...]

_DEFAULT_NAMES = ("Dockerfile", "dockerfile", "Containerfile")
_DEFAULT_TAG = "latest"
_MOST_PLACES = 500  # places in stages that are looked at for one path
_MOST_LAYERS = 127
"""How many steps that copy are looked at, from the last: no more layers can be put upon one another."""

_WILD_CARD = regex(r"[*?\[]")


class Recipe(NamedTuple):
    """One way in which an image is built here: the names that it gives, the Dockerfile, the build context (a folder, "" for the root),
    the stage that is asked for, and where that is written."""

    names: tuple[ImageRef, ...]
    dockerfile: str
    context: str
    target: Text | None
    location: Location


class Built(NamedTuple):
    """The stage that an image is built from, the folder of its build context, how that was found, and the stage's Dockerfile."""

    stage: Stage
    context: str
    how: str
    location: Location
    dockerfile: Dockerfile


class Builds:
    """All recipes of a tree, and the Dockerfiles behind them, each read when it is first asked for.

    `commands` are the build commands of scripts and CI, `containers` those whose service says how its image is built.
    """

    def __init__(self, tree: Tree, commands: Iterable[ImageBuild], containers: Iterable[Container]) -> None:
        self._tree = tree
        self._commands = tuple(commands)
        self._services = tuple(container for container in containers if container.build)
        self._dockerfiles: dict[str, Dockerfile | None] = {}

    def dockerfile(self, path: str) -> Dockerfile | None:
        """A Dockerfile with the defaults of its ARGs; None where none can be read at that path."""
        if path not in self._dockerfiles:
            syntax = self._tree.dockerfile(path)
            self._dockerfiles[path] = read_dockerfile(path, syntax) if syntax else None
        return self._dockerfiles[path]

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """Every recipe, those of build commands first."""
        of_commands, of_services = map(self._of_command, self._commands), map(self._of_service, self._services)
        return (*filter(None, of_commands), *filter(None, of_services), *self._of_bake())

    def _of_bake(self) -> Iterator[Recipe]:
        """The targets of bake files. Their contexts count from the folder that bake is run in, taken to be the file's own."""
        from gpulint.parse.bake import BAKE_FILES, parse_bake

        for path in (path for name in BAKE_FILES for path in paths_named(self._tree.all_paths, name)):
            source = self._tree.source(path)
            for target in parse_bake(source) if source is not None else ():
                written = target.value("context") or Text(".", target.location, ())
                context = self._folder(dirname(path), written)
                found = None if context is None else self._located(dirname(path), written, target.value("dockerfile"), context)
                names = tuple(parse_image(tag) for tag in target.settings.get("tags", ()))
                recipe = self._recipe(names, found, target.value("target"), target.location)
                if recipe is not None:
                    yield recipe

    def _of_command(self, build: ImageBuild) -> Recipe | None:
        """A command's paths may count from where its script is started: the root, or the script's folder. Where both fit, neither is
        certain."""
        script = dirname(build.location.path)
        found = {self._located_by_command(build, start, script) for start in ("", script)} - {None}
        names = tuple(parse_image(name) for name in build.names)
        return self._recipe(names, found.pop() if len(found) == 1 else None, build.target, build.location)

    def _located_by_command(self, build: ImageBuild, start: str, script: str) -> tuple[str, str] | None:
        """Dockerfile and context as paths, where the script in that folder is started from `start`."""
        context = self._from_root(build.context_path, start, script)
        if context is None or build.dockerfile is None:
            return None if context is None else self._default_in(context)
        path = self._from_root(build.dockerfile_path, start, script)
        return (path, context) if path is not None and path in self._tree else None

    def _from_root(self, path: ScriptPath | None, start: str, script: str) -> str | None:
        """A path of a script, "" for the root; None where it is not known, or lies outside."""
        found = None if path is None else self._tree.resolve("", path.from_root(start, script))
        return "" if found == "." else found

    def _default_in(self, context: str) -> tuple[str, str] | None:
        """The Dockerfile that a context has where none is named, with the context."""
        paths = (join_paths(context, name) for name in _DEFAULT_NAMES)
        return next(((path, context) for path in paths if path in self._tree), None)

    def _of_service(self, container: Container) -> Recipe | None:
        """A service's context counts from its file, its Dockerfile from the context."""
        build = container.build
        if build is None or build.inline is not None:
            return None
        folder = dirname(build.location.path)
        context = self._folder(folder, build.context)
        found = None if context is None else self._located(folder, build.context, build.dockerfile, context)
        return self._recipe((container.image,) if container.image else (), found, build.target, build.location)

    @staticmethod
    def _recipe(names: Names, found: tuple[str, str] | None, target: Value | None, location: Location) -> Recipe | None:
        if found is None or isinstance(target, Unknown):
            return None
        return Recipe(names, *found, target, location)

    def _located(self, folder: str, context: Value | None, dockerfile: Value | None, dockerfile_folder: str) -> tuple[str, str] | None:
        """Dockerfile and context as paths, with the context counted from `folder`; None where one is not known or not there."""
        inside = self._folder(folder, context)
        if inside is None or isinstance(dockerfile, Unknown):
            return None
        if dockerfile is not None:
            path = self._tree.resolve(dockerfile_folder + "/" if dockerfile_folder else "", dockerfile)
            return (path, inside) if path in self._tree.all_paths and path is not None else None
        return self._default_in(inside)

    def _folder(self, folder: str, context: Value | None) -> str | None:
        """The path of a context; None where it is not known, or lies outside the root."""
        if not isinstance(context, Text):
            return None
        path = self._tree.resolve(folder + "/" if folder else "", context.rstrip("/") or context)
        return None if path is None else "" if path == "." else path

    @cached_property
    def names(self) -> frozenset[str]:
        """The last parts of the names that images built here are given."""
        return frozenset(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, list[Recipe]]:
        recipes: dict[str, list[Recipe]] = {}
        for recipe in self.recipes:
            for name in recipe.names:
                if isinstance(name.name, Text):
                    recipes.setdefault(name.repository.rpartition("/")[2], []).append(recipe)
        return recipes

    def of_container(self, container: Container) -> Built | None:
        """The stage that a container's image is built from here: by its own `build:`, else by the image's name."""
        if container.build is not None:
            recipe = self._of_service(container)
            return self._built(recipe, "build: beside it") if recipe else None
        return self.of_image(container.image) if container.image is not None else None

    def of_image(self, image: ImageRef) -> Built | None:
        """The stage that an image of that name is built from here.

        The last part of the name must be that of exactly one recipe; of several the one with the same tag is meant. A public image that
        only shares the name is not.
        """
        if isinstance(image.name, Unknown):
            return None
        named = self._by_name.get(image.repository.rpartition("/")[2], [])
        exact = [recipe for recipe in named if _gives(recipe, image.repository)]
        recipes = exact or ([] if image.name_facts.listed else named)
        if not _are_one(recipes):
            recipes = [recipe for recipe in recipes if _gives_tag(recipe, image)]
        if not _are_one(recipes):
            return None
        return self._built(recipes[0], f"built as {recipes[0].names[0].shown} at {recipes[0].location}")

    def built_at(self, place: Location) -> Built | None:
        """The stage that the build at that place makes an image of."""
        recipe = next((each for each in self.recipes if each.location == place), None)
        return self._built(recipe, f"built at {place}") if recipe is not None else None

    def is_local(self, image: ImageRef) -> bool:
        """Whether an image is made here, so that its tag is what was built last: under a name without a registry that a recipe gives, or
        that the folder of a Dockerfile has."""
        if isinstance(image.name, Unknown) or image.has_registry:
            return False
        last = image.repository.rpartition("/")[2]
        if any(_gives(recipe, image.repository) for recipe in self._by_name.get(last, ())):
            return True
        return last in self._folders and not image.name_facts.listed

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The names of the folders that hold a Dockerfile."""
        return frozenset(dirname(path).rpartition("/")[2] for path in self._tree.paths(Kind.DOCKERFILE)) - {""}

    def _built(self, recipe: Recipe, how: str) -> Built | None:
        dockerfile = self.dockerfile(recipe.dockerfile)
        if dockerfile is None or not dockerfile.stages:
            return None
        stage = dockerfile.stage(recipe.target) if recipe.target else dockerfile.stages[-1]
        return Built(stage, recipe.context, how, recipe.location, dockerfile) if stage else None

    def targets(self, dockerfile: str) -> Iterator[Text]:
        """The stages of a Dockerfile that some recipe asks for by name."""
        return (recipe.target for recipe in self.recipes if recipe.dockerfile == dockerfile and recipe.target)


def _gives(recipe: Recipe, repository: str) -> bool:
    return any(isinstance(name.name, Text) and name.repository == repository for name in recipe.names)


def _are_one(recipes: Iterable[Recipe]) -> bool:
    """Whether the recipes build one and the same stage."""
    return len({(recipe.dockerfile, str(recipe.target)) for recipe in recipes}) == 1


def _gives_tag(recipe: Recipe, image: ImageRef) -> bool:
    """Whether the recipe gives the image's name with its tag."""
    wanted = (image.repository.rpartition("/")[2], _tag(image))
    given = ((name.repository.rpartition("/")[2], _tag(name)) for name in recipe.names if isinstance(name.name, Text))
    return wanted[1] != "" and wanted in given


def _tag(image: ImageRef) -> str:
    """The tag that a build tool or engine takes; "" where it is not known, or only a digest is given."""
    if image.tag is None:
        return "" if image.digest is not None else _DEFAULT_TAG
    return "" if isinstance(image.tag, Unknown) else str(image.tag)


def container_path(built: Built, path: str, tree: Tree) -> Text | None:
    """The path in the repository of a file that the stage, one that it builds on or one that it copies from puts at that absolute path of
    the image. Its place is the source that the build context is asked for."""
    return next(_placed(built, built.stage, path, tree, set()), None)


def _placed(built: Built, stage: Stage, path: str, tree: Tree, seen: set[tuple[int, str]]) -> Iterator[Text]:
    if (stage.index, path) in seen or len(seen) > _MOST_PLACES:
        return
    seen.add((stage.index, path))
    copies = (copy for each in stage.chain() for copy in reversed(each.copies))
    for copy in islice(copies, _MOST_LAYERS):
        destination = _destination(copy)
        for source in copy.sources if isinstance(destination, Text) else ():
            if isinstance(source, Text) and copy.from_ is None:
                found = _origins(source, str(destination), path, built.context, tree)
                yield from (Text(each, source.location) for each in found if each in tree)
            elif isinstance(source, Text):
                yield from _placed_before(built, copy, source, path, tree, seen)


def _placed_before(built: Built, copy: Copy, source: Text, path: str, tree: Tree, seen: set[tuple[int, str]]) -> Iterator[Text]:
    """The same of what is copied from another stage."""
    stage = built.dockerfile.stage(copy.from_) if isinstance(copy.from_, Text) else None
    if stage is not None:
        for inner in _copied(source, str(_destination(copy)), path):
            yield from _placed(built, stage, normpath(f"/{inner}"), tree, seen)


def _destination(copy: Copy) -> Value:
    """Where a copy puts its sources, from the root. Where the base image decides the WORKDIR, the root stands for it: what is copied and
    what is run there are both relative to the same folder."""
    if copy.working_directory is not None:
        return copy.destination
    return join_path(Text("", copy.target.location, ()), copy.target)


def _origins(source: str, destination: str, path: str, context: str, tree: Tree) -> Iterator[str]:
    """Where in the repository the file at `path` may come from, once `source` is copied from the context to `destination`."""
    if _WILD_CARD.search(source):
        yield from _matched(normpath(join_paths(context, source.lstrip("/"))), destination, path, tree)
    else:
        yield from (normpath(join_paths(context, inner)) for inner in _copied(source, destination, path))


def _copied(source: str, destination: str, path: str) -> Iterator[str]:
    """What of `source` may stand at `path` once it is copied to `destination`: a file, or what lies in a folder."""
    source = source.lstrip("/") or "."
    folder = destination.rstrip("/") + "/"
    if path == destination or (destination == folder and path == folder + source.rpartition("/")[2]):
        yield source
    if path.startswith(folder):
        yield join_paths(source, path.removeprefix(folder))


def _matched(pattern: str, destination: str, path: str, tree: Tree) -> Iterator[str]:
    """The same of a source with wild cards: each file that fits, and what lies in each folder that does."""
    folder = destination.rstrip("/") + "/"
    parts = pattern.replace("[^", "[!").split("/")
    for each in paths_named(tree.all_paths, path.rpartition("/")[2]) if path.startswith(folder) else ():
        names = each.split("/")
        fits = len(names) >= len(parts) and all(map(fnmatchcase, names, parts))
        if fits and path == folder + "/".join(names[len(parts) :] or names[-1:]):
            yield each
