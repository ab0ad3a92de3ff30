"""Where a process that has touched CUDA is forked: what is forked then cannot use CUDA.

A server that imports the application before it forks its workers, a dataset that puts its items on the GPU in the forked processes of a
loader, and a process that is started by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from posixpath import dirname
from posixpath import join as join_paths
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple
from gpulint.discover import Kind
from gpulint.facts.python import Preloading, forks, is_data_loader, is_dataset, is_server_config, item_methods, preloading
from gpulint.model.cuda_touches import Touch, touches
from gpulint.model.module import MAIN, TOP, Call, Gate, Module, Scope
from gpulint.project.relevance import is_aside
from gpulint.source import Location, as_written

if TYPE_CHECKING:
    from gpulint.project import Project
    from gpulint.project.starts import ProgramLink

_STARTERS = (b"Process(", b"Pool(", b"ProcessPoolExecutor(")
_OTHER_METHODS = (b"set_start_method", b"forkserver", b'"spawn"', b"'spawn'")


class Fork(NamedTuple):
    """A fork that comes too late: the call that touches CUDA, where the processes come from, and the call that is to use CUDA in them,
    where that is known."""

    touch: Location
    name: str
    origin: Location
    use: Location | None = None


def config_touches(module: Module) -> Iterator[Touch]:
    """What the config file of a server that forks its workers touches CUDA with: the server's first process runs it."""
    if is_server_config(module.path):
        yield from (touch for touch in touches(module, module.top) if touch.gate is Gate.RUNS)


# --- Preloaded applications -----------------------------------------------------------------------------------------------------


def preloads(link: ProgramLink, project: Project) -> bool:
    """Whether the server that starts a program imports it before it forks: by an option, or by its config file."""
    known = preloading(link.launcher[0].rpartition("/")[2]) if link.launcher else None
    if known is None:
        return False
    words = (*link.launcher[1:], *map(as_written, link.arguments))
    return known.option in words or _config_preloads(known, words, link, project)


def _config_preloads(known: Preloading, words: tuple[str, ...], link: ProgramLink, project: Project) -> bool:
    """The same by the config file that the words name, or else the usual one beside the program or at the root."""
    named = next((words[index + 1] for index, word in enumerate(words[:-1]) if word in known.config_options), known.config)
    name = named.removeprefix("python:").rpartition("/")[2]
    paths = {join_paths(dirname(link.path), name), name}
    modules = filter(None, (project.tree.module(path) for path in sorted(paths) if path in project.tree))
    return any(_is_on(module, known.setting) for module in modules)


def _is_on(module: Module, setting: str) -> bool:
    answer = module.variables.get(setting)
    return answer is not None and answer.value is True


# --- Loaders of datasets --------------------------------------------------------------------------------------------------------


def dataset_forks(module: Module, project: Project) -> Iterator[Fork]:
    """Items of datasets that are put on the GPU in the processes of a loader, which the repository makes for that dataset."""
    for kind in module.classes.values():
        used = next(_uses_in_items(kind.name, module), None) if any(map(is_dataset, kind.bases)) else None
        loader = next(_loaders_of(kind.name, module, project), None) if used is not None else None
        if used is not None and loader is not None:
            yield Fork(used.location, used.name, loader.location)


def _uses_in_items(name: str, module: Module) -> Iterator[Touch]:
    methods = (f"{name}.{method}" for method in sorted(item_methods()))
    scopes = (module.scopes[method] for method in methods if method in module.scopes)
    yield from (touch for scope in scopes for touch in touches(module, scope) if touch.is_use)


def _loaders_of(name: str, module: Module, project: Project) -> Iterator[Call]:
    """The loaders of a dataset with processes of their own that are certainly forked."""
    if _chooses_method(project):
        return
    for other in (module, *_modules_with(name, module, project)):
        for scope in other.scopes.values():
            for call in scope.calls:
                if is_data_loader(call.name) and _has_forked_workers(call) and _reads(call, name):
                    yield call


def _modules_with(name: str, module: Module, project: Project) -> Iterator[Module]:
    """The other Python files that make a loader and name the dataset."""
    for path in project.tree.paths(Kind.PYTHON):
        source = project.tree.source(path) if path != module.path and not is_aside(path) else None
        if source is not None and b"DataLoader" in source.data and name.encode() in source.data:
            other = project.tree.module(path)
            if other is not None:
                yield other


def _has_forked_workers(call: Call) -> bool:
    workers = call.arguments.get("num_workers", call.arguments.get("5"))
    count = workers.value if workers is not None else 0
    return type(count) is int and count > 0 and "multiprocessing_context" not in call.arguments


def _reads(call: Call, name: str) -> bool:
    dataset = call.arguments.get("dataset", call.arguments.get("0"))
    return dataset is not None and dataset.made_by.lstrip(":").rpartition(".")[2] == name.rpartition(".")[2]


# --- Processes that are started by hand -----------------------------------------------------------------------------------------


def late_forks(module: Module, project: Project) -> Iterator[Fork]:
    """Functions that use CUDA in a forked process, behind a call that touches CUDA in the process that is forked. What runs with a GPU
    alone counts: that is where it fails."""
    source = project.tree.source(module.path)
    if source is None or not any(word in source.data for word in _STARTERS):
        return  # to read every function of a file takes long
    for scope in module.scopes.values():
        for handed in scope.calls:
            starter = _starter_of(handed, scope)
            used = next(_uses(handed, module), None) if starter is not None else None
            if starter is None or used is None:
                continue
            touch = next(_touches_before(starter, scope, module), None)
            if touch is not None and not _chooses_method(project):
                yield Fork(touch.location, touch.name, starter.location, used.location)


def _starter_of(handed: Call, scope: Scope) -> Call | None:
    """The call that starts a process with the function that it is handed."""
    if not handed.handed or not handed.name.startswith(":"):
        return None
    return next((call for call in scope.calls if forks(call.name) and _holds(call.location, handed.location)), None)


def _holds(outer: Location, inner: Location) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _uses(handed: Call, module: Module) -> Iterator[Touch]:
    work = module.scopes.get(handed.name[1:])
    found = touches(module, work) if work is not None else iter(())
    return (touch for touch in found if touch.is_use)


def _touches_before(starter: Call, scope: Scope, module: Module) -> Iterator[Touch]:
    """What certainly touches CUDA before the fork: in the scope itself, and at the top level."""
    before = [touch for touch in touches(module, scope) if touch.place < starter.location]
    if scope.name != TOP:
        at_import = touches(module, module.top)
        before = [touch for touch in at_import if scope.name != MAIN or touch.place < starter.location] + before
    return (touch for touch in before if touch.gate is Gate.RUNS)


@lru_cache(maxsize=1)
def _chooses_method(project: Project) -> bool:
    """Whether any code of the project chooses how processes are started: it may hold for all of them."""
    paths = (path for path in project.tree.paths(Kind.PYTHON) if not is_aside(path))
    sources = filter(None, map(project.tree.source, paths))
    return any(word in source.data for source in sources for word in _OTHER_METHODS)
