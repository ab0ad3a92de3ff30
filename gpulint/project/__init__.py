"""Project: everything in the run and its links. Each part is worked out when it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from posixpath import dirname
from typing import TYPE_CHECKING

from gpulint.discover import Kind
from gpulint.model.machines import Machines
from gpulint.project.relevance import Relevance
from gpulint.project.tree import Tree
from gpulint.rule import Problem, Severity
from gpulint.source import Location, Source, Text, Unknown

if TYPE_CHECKING:
    from gpulint.model.autoscaler import Autoscaler
    from gpulint.model.command import CommandLine
    from gpulint.model.container import Container, Overlay, Pod, Service
    from gpulint.model.device_claim import DeviceClaim
    from gpulint.model.engine_config import EngineConfig
    from gpulint.model.gpu_stack import StackPart
    from gpulint.model.helm_set import CutName
    from gpulint.model.image import ImageRef
    from gpulint.model.module import Module
    from gpulint.model.stage import Dockerfile, Stage
    from gpulint.project.builds import Builds, Built
    from gpulint.project.charts import Chart, GpuValue
    from gpulint.project.commands import Started
    from gpulint.project.contents import Contents
    from gpulint.project.contents_reader import ContentsReader
    from gpulint.project.links import EntryPoint
    from gpulint.project.programs import Program
    from gpulint.project.starts import Start


class Project:
    """Everything in the run.

    `machines` and `strict` are the user's; `named` are the files that the command line names, `wants_notes` whether findings of
    severity note are shown at all. `everything` reads files without an anchor too, which changes no finding.
    """

    def __init__(
        self,
        tree: Tree,
        machines: Machines,
        strict: bool = False,
        named: frozenset[str] = frozenset(),
        wants_notes: bool = False,
        everything: bool = False,
    ) -> None:
        self.tree = tree
        self.machines = machines
        self.strict = strict
        self.named = named
        self.wants_notes = wants_notes
        self.relevance = Relevance(tree, everything)
        self._starts: dict[int, Start] = {}
        self._contexts: dict[str, str] = {}
        self._contents: dict[str, ContentsReader] = {}
        self._programs: dict[tuple[str, str, tuple[str, ...]], Program | None] = {}

    # --- Files ------------------------------------------------------------------------------------------------------------------

    def builds_may_concern(self, rule: str) -> bool:
        """Whether a rule of stages may have something to say; where notes are wanted, or house policy, each may."""
        return self.wants_notes or self.strict or self.relevance.builds_may_concern(rule)

    def sources_with(self, anchor: bytes) -> Iterator[Source]:
        """The files of a known kind that hold these bytes."""
        for path in self.tree.paths(*Kind):
            source = self.tree.source(path)
            if source is not None and anchor in source.data:
                yield source

    def syntax_problems(self) -> Iterator[Problem]:
        """What could not be parsed of the files read so far; of a template the first trouble alone, since the rest follows from it."""
        templated: dict[str, bool] = {}
        for path, message, location in self.tree.problems():
            if templated.get(path):
                continue
            newer = self._may_be_newer(message, location)
            if path not in templated:
                templated[path] = not newer and self._looks_templated(path)
            hint = "; it looks like a template, which is read best when it is rendered" if templated[path] else newer
            text = f"{message.rstrip('.?')}, so what follows was not checked{hint}"
            yield Problem(location, text, Severity.NOTE if hint else Severity.WARNING)
        yield from self._repeated_keys()

    def _repeated_keys(self) -> Iterator[Problem]:
        """Keys of Compose files that stand twice, where no rule says so of a GPU request."""
        if not self.relevance.compose_files:
            return
        from gpulint.project.repeated_keys import repeated_keys

        told = {fault.location for container in self._services for request in container.requests for fault in request.faults}
        for key in repeated_keys(self.tree, self.relevance.compose_files, told):
            message = f"the key {key} stands here a second time, and Compose refuses the file"
            yield Problem(key.location, message, Severity.WARNING)

    def _may_be_newer(self, message: str, location: Location) -> str:
        """What to say of a Python file that a newer Python than this one may read; "" for any other."""
        source = self.tree.source(location.path)
        if source is None or self.tree.kind(location.path) is not Kind.PYTHON:
            return ""
        from gpulint.project.newer_python import is_newer

        hint = f"; it may be the syntax of a newer Python than {sys.version_info[0]}.{sys.version_info[1]}, which runs gpulint"
        return hint if is_newer(source, message, location) else ""

    def _looks_templated(self, path: str) -> bool:
        from gpulint.parse.yaml_problems import looks_templated

        source = self.tree.source(path)
        return source is not None and looks_templated(source.text)

    # --- Containers -------------------------------------------------------------------------------------------------------------

    @cached_property
    def started(self) -> Started:
        """What the scripts, Makefiles and CI files build and start."""
        from gpulint.project.commands import read_started

        return read_started(self.tree, self.relevance.scripts)

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The lists of Compose files that scripts run together."""
        return self.started.together if self.relevance.scripts else ()

    @cached_property
    def _services(self) -> tuple[Container, ...]:
        if not self.relevance.compose_files:
            return ()
        from gpulint.project.compose import compose_containers

        return compose_containers(self.tree, self.relevance.compose_files, self.together)

    @cached_property
    def builds(self) -> Builds:
        """The links from images to the Dockerfiles that build them here."""
        from gpulint.project.builds import Builds

        return Builds(self.tree, self.started.builds if self.relevance.scripts else (), (*self._services, *self._others))

    @cached_property
    def _pods(self) -> tuple[Container, ...]:
        manifests = frozenset(self.relevance.manifests(self.builds.names))
        if not manifests:
            return ()
        from gpulint.project.kubernetes import kubernetes_containers

        return kubernetes_containers(self.tree, lambda path: path in manifests or self.relevance.names_gpu(path))

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Everything that starts a container, in its effective form."""
        commands = self.started.containers if self.relevance.scripts else ()
        return (*self._services, *self._pods, *commands, *self._others)

    @cached_property
    def _others(self) -> tuple[Container, ...]:
        if not self.relevance.other_starters:
            return ()
        from gpulint.project.other_starters import other_containers

        return tuple(other_containers(self.tree, self.relevance.other_starters))

    def build_of(self, container: Container) -> Built | None:
        """How the container's image is built here, where it is."""
        return self.builds.of_container(container)

    def start_of(self, container: Container) -> Start:
        """What the container's words, with those of its image where it is built here, start."""
        if id(container) not in self._starts:
            from gpulint.project.links import follow_start

            self._starts[id(container)] = follow_start(container, self.build_of(container), self.tree)
        return self._starts[id(container)]

    def program_of(self, container: Container) -> Program | None:
        """The program of this repository that the container runs, where one is linked."""
        link = self.start_of(container).program
        return self.program(link.path, link.function, link.roots) if link else None

    def program(self, path: str, function: str = "", roots: tuple[str, ...] = ("", "src")) -> Program | None:
        """The start path of a Python program."""
        key = (path, function, roots)
        if key not in self._programs:
            from gpulint.project.programs import read_program

            self._programs[key] = read_program(self.tree, path, function, roots)
        return self._programs[key]

    @cached_property
    def entry_points(self) -> tuple[EntryPoint, ...]:
        """Every program and entry script that containers run, and those Python files that start by themselves where notes are wanted
        or the file was named."""
        asked = self.wants_notes or any(self.tree.kind(path) is Kind.PYTHON for path in self.named)
        if not self.containers and not asked:
            return ()
        from gpulint.project.links import find_entry_points

        return tuple(find_entry_points(self))

    def runs_elsewhere_with_gpu(self, container: Container) -> bool:
        """Whether the project runs the same image or build in another place with a GPU."""
        from gpulint.project.twins import twin_key

        key = twin_key(container)
        return key is not None and bool(self._places_with_gpu.get(key, frozenset()) - {(container.location, container.overlay)})

    @cached_property
    def _places_with_gpu(self) -> dict[tuple[str | None, ...], set[tuple[Location, Overlay | None]]]:
        """Of each image or build the places that run it with a GPU, and the overlays that do."""
        from gpulint.project.twins import twin_key

        places: dict[tuple[str | None, ...], set[tuple[Location, Overlay | None]]] = {}
        for container in self.containers:
            key = twin_key(container)
            if key is not None and any(each.is_sound for each in container.requests):
                places.setdefault(key, set()).add((container.location, container.overlay))
        return places

    # --- Images and stages ------------------------------------------------------------------------------------------------------

    def dockerfile(self, path: str) -> Dockerfile | None:
        """The Dockerfile at that path."""
        return self.builds.dockerfile(path)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of all Dockerfiles that matter: they name a GPU, or a container here that asks for one runs their image."""
        run = (built.stage.path for container, built in self._built_containers if container.requests)
        dockerfiles = filter(None, map(self.dockerfile, dict.fromkeys((*self.relevance.dockerfiles, *run))))
        return tuple(stage for dockerfile in dockerfiles for stage in dockerfile.stages)

    @cached_property
    def images(self) -> tuple[ImageRef, ...]:
        """Every image that is named: by a FROM or a COPY, or by what starts a container."""
        return tuple(image for image, _ in self._image_users.values())

    @cached_property
    def _image_users(self) -> dict[int, tuple[ImageRef, Container | None]]:
        users: dict[int, tuple[ImageRef, Container | None]] = {}
        for stage in self.stages:
            for image in (stage.base, *stage.copied_images):
                if image is not None:
                    users[id(image)] = (image, None)
        for container in self.containers:
            if container.image is not None:
                users[id(container.image)] = (container.image, container)
        return users

    def container_of(self, image: ImageRef) -> Container | None:
        """The container that names an image; None where a stage of a Dockerfile does."""
        return self._image_users[id(image)][1]

    def is_pinned_elsewhere(self, image: ImageRef) -> bool:
        """Whether an image needs no tag of its own: it is built here under a name without a registry, or another form of the place that
        names it pins it, or gives it another tag from elsewhere, which is judged in its place."""
        user = self.container_of(image)
        if user is None:
            return False
        if user.build is not None or self.builds.is_local(image):
            return True
        if image.version_location != image.location:
            return False
        return any(other is not user for other in self._versioned_by_place.get(user.location, ()))

    @cached_property
    def _versioned_by_place(self) -> dict[Location, list[Container]]:
        """Of each place the containers whose image is pinned, or takes its version from elsewhere: two at most, of which one is another
        than any given container."""
        places: dict[Location, list[Container]] = {}
        for container in self.containers:
            found = places.setdefault(container.location, [])
            if len(found) < 2 and container.image is not None and _has_version(container.image):
                found.append(container)
        return places

    def contents(self, stage: Stage) -> Contents:
        """What the image of a stage contains, by its Dockerfile and the files that it copies in."""
        if stage.path not in self._contents:
            from gpulint.project.contents_reader import ContentsReader

            dockerfile = self.dockerfile(stage.path)
            assert dockerfile is not None, stage.path
            self._contents[stage.path] = ContentsReader(dockerfile, self.context_of(dockerfile), self.tree)
        return self._contents[stage.path].of(stage)

    def context_of(self, dockerfile: Dockerfile) -> str:
        """The folder of the build context: the one that all builds here give, else the likely one."""
        if dockerfile.path not in self._contexts:
            from gpulint.project.context import likely_context

            given = {recipe.context for recipe in self.builds.recipes if recipe.dockerfile == dockerfile.path}
            self._contexts[dockerfile.path] = given.pop() if len(given) == 1 else likely_context(dockerfile, self.tree)
        return self._contexts[dockerfile.path]

    def machines_of(self, container: Container) -> Machines:
        """What the user says of the machines that the container may run on."""
        if not self.machines.pools:
            return self.machines
        from gpulint.project.pools import machines_of

        return machines_of(container, self.machines)

    def containers_of(self, stage: Stage) -> tuple[Container, ...]:
        """The containers whose image is built from that stage."""
        return tuple(container for container, built in self._built_containers if built.stage is stage)

    @cached_property
    def _built_containers(self) -> tuple[tuple[Container, Built], ...]:
        found = ((container, self.build_of(container)) for container in self.containers)
        return tuple((container, built) for container, built in found if built is not None)

    # --- Nodes and summary ------------------------------------------------------------------------------------------------------

    def nodes(self, kind: str, rule: str, has: Callable[[str], bool]) -> Iterator[tuple[int, object]]:
        """The nodes of that class of the model that a rule looks at, of those in the files that are asked for; each with its number among
        all of them."""
        if kind == "Module":
            yield from self.modules_for(rule, has)
        else:
            yield from ((number, node) for number, node in enumerate(self._nodes(kind)) if has(path_of(node)))

    def _nodes(self, kind: str) -> Sequence[object]:
        parts = {
            "Project": "_alone",
            "ImageRef": "images",
            "Stage": "stages",
            "Container": "containers",
            "Pod": "pods",
            "Service": "services",
            "EntryPoint": "entry_points",
            "CommandLine": "command_lines",
            "CutName": "cut_parameters",
            "EngineConfig": "engine_configs",
            "DeviceClaim": "device_claims",
            "Autoscaler": "autoscalers",
            "StackPart": "stack_parts",
            "Chart": "charts",
        }
        nodes: Sequence[object] = getattr(self, parts[kind])
        return nodes

    @property
    def _alone(self) -> tuple[Project]:
        return (self,)

    def modules_for(self, rule: str, has: Callable[[str], bool]) -> Iterator[tuple[int, Module]]:
        """The Python files that a rule of modules may have something to say of, each parsed when it is its turn."""
        for number, path in enumerate(self.relevance.modules(rule)):
            module = self.tree.module(path) if has(path) else None
            if module is not None:
                yield number, module

    @property
    def command_lines(self) -> tuple[CommandLine, ...]:
        """The commands of the scripts, Makefiles and CI files that matter."""
        return self.started.commands if self.relevance.scripts else ()

    @cached_property
    def cut_parameters(self) -> tuple[CutName, ...]:
        """The names of GPU resources and labels that helm takes apart in the parameters of releases."""
        if not any(map(self.relevance.names_gpu, self.tree.paths(Kind.MANIFEST, Kind.HELMFILE))):
            return ()
        from gpulint.project.helm_parameters import cut_parameters

        return tuple(cut_parameters(self.tree))

    @cached_property
    def engine_configs(self) -> tuple[EngineConfig, ...]:
        """The settings of Docker engines that name a GPU."""
        from gpulint.model.engine_config import read_engine_config

        paths = (path for path in self.tree.paths(Kind.ENGINE) if self.relevance.names_gpu(path))
        configs = (read_engine_config(syntax) for syntax in map(self.tree.yaml, paths) if syntax is not None)
        return tuple(config for config in configs if config is not None)

    @cached_property
    def device_claims(self) -> tuple[DeviceClaim, ...]:
        """The claims of devices, and the templates of such claims, in the manifests."""
        from gpulint.model.device_claim import read_device_claim
        from gpulint.project.cluster_objects import objects_of

        claims = map(read_device_claim, objects_of(self.tree, "ResourceClaim", "ResourceClaimTemplate"))
        return tuple(claim for claim in claims if claim is not None)

    @cached_property
    def extended_resources(self) -> frozenset[str]:
        """The names of resources that device classes here give their devices, so that no device plugin needs to."""
        from gpulint.model.manifest import value
        from gpulint.project.cluster_objects import objects_of

        classes = objects_of(self.tree, "DeviceClass", anchors=(b"extendedresourcename",))
        names = (value(each, "spec", "extendedResourceName") for each in classes)
        return frozenset(str(name) for name in names if isinstance(name, Text))

    @cached_property
    def autoscalers(self) -> tuple[Autoscaler, ...]:
        """The autoscalers of the manifests."""
        from gpulint.model.autoscaler import read_autoscaler
        from gpulint.project.cluster_objects import objects_of

        found = map(read_autoscaler, objects_of(self.tree, "HorizontalPodAutoscaler", "ScaledObject"))
        return tuple(autoscaler for autoscaler in found if autoscaler is not None)

    @cached_property
    def stack_parts(self) -> tuple[StackPart, ...]:
        """The operators and device plugins that the files and commands set up."""
        if not self.relevance.sets_up_stack:
            return ()
        from gpulint.project.gpu_stack import stack_parts

        return tuple(stack_parts(self.tree, self.command_lines))

    @cached_property
    def charts(self) -> tuple[Chart, ...]:
        """The charts whose values name a GPU."""
        folders = {dirname(path) for path in self.tree.paths(Kind.VALUES) if self.relevance.names_gpu(path)}
        paths = [path for path in self.tree.paths(Kind.CHART) if dirname(path) in folders]
        if not paths:
            return ()
        from gpulint.project.charts import Chart

        return tuple(Chart(path, self.tree) for path in paths)

    def left_out_value(self, container: Container) -> GpuValue | None:
        """The GPU value of its chart that the container's template does not read, where another does."""
        found = (chart.left_out_value(container) for chart in self.charts)
        return next((each for each in found if each is not None), None)

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """The pods of all containers, each once."""
        return tuple({id(container.pod): container.pod for container in self.containers if container.pod is not None}.values())

    def containers_in(self, pod: Pod) -> tuple[Container, ...]:
        """The containers of a pod, in their order."""
        return self._by_pod[id(pod)]

    @cached_property
    def _by_pod(self) -> dict[int, tuple[Container, ...]]:
        found: dict[int, list[Container]] = {}
        for container in self.containers:
            if container.pod is not None:
                found.setdefault(id(container.pod), []).append(container)
        return {key: tuple(containers) for key, containers in found.items()}

    @cached_property
    def services(self) -> tuple[Service, ...]:
        """The Compose services of all containers, each once."""
        return tuple({id(container.service): container.service for container in self.containers if container.service is not None}.values())


def path_of(node: object) -> str:
    """The file that a node of the model stands in; `.` for the project itself."""
    return str(getattr(getattr(node, "location", node), "path", "."))


def _has_version(image: ImageRef) -> bool:
    """Whether the image is pinned, or its tag or digest stands elsewhere."""
    return image.version_location != image.location or (not isinstance(image.tag, Unknown) and image.is_pinned)
