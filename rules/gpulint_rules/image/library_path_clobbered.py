"""GPU116: LD_LIBRARY_PATH or the linker's configuration leads past the host's driver, or drops what the image needs."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import has_gpu, is_infrastructure
from gpulint.model.container import Container
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.library_search import LibrarySearch, mounted_driver, registered, search_of_container, search_of_stage
from gpulint.project.stages import image_stages, is_build_only, is_infrastructure_image, ships
from gpulint.rule import Impact, Problem, Rule, Severity

LINKER = "name it in LIBRARY_PATH for the compiler's linker, and leave the rest to the container toolkit"


def check(node: Stage | Container, project: Project) -> Iterator[Problem]:
    """A warning where a libcuda that is not the host's is found first, and where a folder that is needed is dropped; a note at any other
    folder of the image that is dropped."""
    if isinstance(node, Container):
        yield from _check_container(node, project)
    elif ships(node, project) and not is_build_only(node) and not is_infrastructure_image(node, project):
        drivers = {mounted_driver(container) for container in project.containers_of(node)} - {""}
        yield from _check_search(search_of_stage(node), drivers, "keep the old value: append :${LD_LIBRARY_PATH}")
        for place, folder in registered(image_stages(node, project)):
            message = f"this has the linker search {folder}, whose libcuda is not the driver's: programs may load it in place of the host's"
            yield Problem(place, message, Severity.WARNING, help=LINKER)


def _check_container(container: Container, project: Project) -> Iterator[Problem]:
    if has_gpu(container) and not is_infrastructure(container):
        search = search_of_container(container, project)
        yield from _check_search(search, {mounted_driver(container)} - {""}, "name the folders of the image too, or set none")


def _check_search(search: LibrarySearch | None, drivers: set[str], instead: str) -> Iterator[Problem]:
    if search is None:
        return
    if search.hiding:
        message = f"LD_LIBRARY_PATH names {search.hiding}, whose libcuda is then loaded in place of the host's driver"
        yield Problem(search.location, message, Severity.WARNING, help=LINKER)
        return
    needed = [folder for folder in search.lost if search.inherited and folder in (*search.inherited.needed, *drivers)]
    if search.lost:
        severity = Severity.WARNING if needed else Severity.NOTE
        folders = ", ".join(needed or search.lost)
        message = f"this drops {folders} from the LD_LIBRARY_PATH of {search.image}, so that what lies there is no longer found"
        yield Problem(search.location, message, severity, help=instead)


RULE = Rule("GPU116", "library-path-clobbered", (Stage, Container), (Severity.WARNING, Severity.NOTE), Impact.CPU_FALLBACK, check)
