"""Programs: what happens on the path that each start of a Python program takes, through the modules of the repository.

The path begins at the entry module's top level and main guard, or at the function that a launcher names. It goes on through the calls of
functions, classes and methods, and through the top level of each module that is imported and whose words speak of a GPU. Calls are
followed DEPTH deep, into at most MOST_MODULES modules of the repository; what lies behind that is taken to do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import dirname
from typing import Protocol

from gpulint.deferred import NamedTuple, dataclass
from gpulint.facts.packages import compiles_at_run_time
from gpulint.facts.python import config_file, import_anchors, is_command, is_handler, is_starter, runs_with_object, starting_methods
from gpulint.model.cuda_touches import is_touch
from gpulint.model.module import (
    MAIN,
    TOP,
    Assertion,
    AssertionKind,
    Call,
    DeviceDefault,
    EnvironmentWrite,
    Fallback,
    FallbackKind,
    Gate,
    Launch,
    Module,
    ModuleClass,
    Raising,
    Scope,
)
from gpulint.source import Location, Source

DEPTH = 6
"""How many calls deep a program is followed."""

MOST_MODULES = 50
"""How many modules of the repository are read for one program."""

_DEEPEST_NAME = 8  # re-exports and base classes that a name may lead through
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")


class Modules(Protocol):
    """The Python files of a tree, each read once."""

    def __contains__(self, path: str) -> bool: ...

    def source(self, path: str) -> Source | None:
        """A file's text; None where there is none."""

    def module(self, path: str) -> Module | None:
        """What a file does with a GPU; None where there is none, or it cannot be parsed."""


class ConfigFile(NamedTuple):
    """A file of settings, as a call in the file `reader` names it; `is_beside` says that its path counts from the folder of that file."""

    name: str
    reader: str
    is_beside: bool


@dataclass(frozen=True, eq=False)
class Program:
    """What a program does on its start path.

    `path` is the entry module. `entry` is the name of the function that main or the server starts with, in its `def`; None where the
    module starts with none. `fallbacks` are in the order in which they are met, the code's own choices before libraries' defaults.
    `raising` holds only what certainly runs. `on_cpu` are the frameworks that it certainly tells to use the CPU. `device_defaults` are
    the settings whose default is the CPU. `imports` are the top-level packages that the modules on the path import, and `modules` those
    modules. `compiling` are the calls and decorators that compile code when the program runs. `import_touches` are the calls that
    certainly touch CUDA while the entry module is imported, before any function of it is called. `environment` are the variables that
    its modules certainly set at their top level, and `launches` where it starts one process a GPU. `config_files` are the files of settings
    that it reads, as it names them, and `cpu_modes` the tests of a switch that decides between GPU and CPU.
    """

    path: str
    entry: Location | None
    fallbacks: tuple[Fallback, ...]
    assertions: tuple[Assertion, ...]
    raising: tuple[Raising, ...]
    trains: bool
    serves: bool
    on_cpu: frozenset[str]
    device_defaults: tuple[DeviceDefault, ...]
    imports: frozenset[str]
    modules: tuple[str, ...]
    compiling: tuple[tuple[str, Location], ...] = ()
    import_touches: tuple[Call, ...] = ()
    environment: tuple[EnvironmentWrite, ...] = ()
    launches: tuple[Launch, ...] = ()
    config_files: tuple[ConfigFile, ...] = ()
    cpu_modes: tuple[Location, ...] = ()

    @property
    def asserts_gpu(self) -> bool:
        """Whether anything on the path refuses to go on without a GPU, be it under a switch."""
        return bool(self.assertions)

    @property
    def raises_without_cuda(self) -> bool:
        """Whether the program certainly ends where there is no GPU."""
        return bool(self.raising) or any(assertion.gate is Gate.RUNS for assertion in self.assertions)

    @property
    def idle_launches(self) -> tuple[Launch, ...]:
        """Where the program starts no process without a GPU and so ends without an error, unless it ends before."""
        return () if self.assertions or self.raising else self.launches

    @property
    def does_gpu_work(self) -> bool:
        """Whether anything on its path has to do with a GPU: it trains or serves, or chooses, asks for or is told a device."""
        says = (self.fallbacks, self.assertions, self.raising, self.on_cpu, self.device_defaults)
        return self.trains or self.serves or any(says)

    @property
    def prefers_cuda(self) -> bool:
        """Whether the code itself takes a GPU where there is one, and the CPU else."""
        return any(fallback.kind is not FallbackKind.DEFAULT for fallback in self.fallbacks)


def read_program(modules: Modules, path: str, function: str = "", roots: Sequence[str] = ("", "src")) -> Program | None:
    """Follow a program from its entry module; None where that cannot be read.

    `function` is the function, class or variable of the module that a launcher names (`main` of a console script, `app` of a server);
    the main guard runs only where none is named. `roots` are the folders, from the root, that absolute imports are looked up in after
    the entry module's own.
    """
    module = modules.module(path)
    if module is None:
        return None
    folders = dict.fromkeys((dirname(path), *roots))
    return _Path(modules, tuple(folders)).follow(module, function)


class _Reach(NamedTuple):
    """How a scope is reached: how surely, whether as the program starts (not when a request comes), and with nothing round it that
    goes on without a GPU."""

    gate: Gate
    starting: bool
    free: bool

    def through(self, gate: Gate, caught: bool) -> _Reach:
        """The reach of what a call with this gate leads to."""
        return _Reach(min(self.gate, gate), self.starting, self.free and not caught)


_START = _Reach(Gate.RUNS, starting=True, free=True)
_CHOSEN = _Reach(Gate.MAY, starting=True, free=True)
_LATER = _Reach(Gate.MAY, starting=False, free=True)


class _Found(NamedTuple):
    """What a name stands for: a module, and in it a function, a class or nothing."""

    module: Module
    function: str = ""
    kind: ModuleClass | None = None


class _Path:
    """The walk along one program's path, and what it has met."""

    def __init__(self, modules: Modules, roots: tuple[str, ...]) -> None:
        self._names = _Resolver(modules, roots)
        self._modules: dict[str, Module] = {}
        self._reached: dict[tuple[str, str], list[_Reach]] = {}
        self._scopes: list[tuple[Module, Scope, _Reach]] = []
        self._at_import: list[tuple[Scope, _Reach]] = []
        self._is_importing = True
        self._objects: dict[tuple[str, str], _Found] = {}
        self._methods: dict[str, _Reach] = {}
        self._starter: Location | None = None
        self._handled = False

    def follow(self, module: Module, function: str) -> Program:
        self._import(module, _START, 0)
        self._is_importing = False
        start = self._named_start(module, function) if function else self._main_start(module)
        self._call_methods()
        return self._program(module, start)

    def _named_start(self, module: Module, function: str) -> Location | None:
        found = self._names.find(module, f":{function}")
        if found is not None:
            self._enter(found, _START, 0)
        return found.module.scopes[found.function].location if found is not None and found.function else None

    def _main_start(self, module: Module) -> Location | None:
        """Run the main guard; gives the function that the program starts with."""
        if MAIN in module.scopes:
            self._visit(module, MAIN, _START, 0)
        found = (self._names.find(module, name) for name in reversed(module.starts))
        start = next((each for each in found if each is not None and each.function and "." not in each.function), None)
        return start.module.scopes[start.function].location if start else None

    # --- The walk ------------------------------------------------------------------------------------------------------------

    def _import(self, module: Module, reach: _Reach, depth: int) -> None:
        """Run a module's top level, and that of what it imports; frameworks may call what it decorates."""
        if module.path in self._modules or len(self._modules) >= MOST_MODULES:
            return
        self._modules[module.path] = module
        self._visit(module, TOP, reach, depth)
        self._serve(module)

    def _import_all(self, module: Module, scope: Scope, reach: _Reach, depth: int) -> None:
        """Run the modules that a scope certainly imports, as far as they speak of a GPU by their words."""
        for imported in scope.imports:
            if imported.gate is Gate.RUNS:
                self._import_named(module, imported.name, reach, depth)

    def _import_named(self, module: Module, name: str, reach: _Reach, depth: int) -> None:
        for path in self._names.imported(module, name):
            other = self._names.relevant(path)
            if other is not None:
                self._import(other, reach, depth)

    def _serve(self, module: Module) -> None:
        """What a framework calls: decorated functions and classes, and the classes that model servers start. None of it runs as the module
        is imported."""
        before, self._is_importing = self._is_importing, False
        self._serve_functions(module)
        self._serve_classes(module)
        self._is_importing = before

    def _serve_functions(self, module: Module) -> None:
        for name, decorators in module.decorators.items():
            if any(map(is_starter, decorators)):
                self._starter = self._starter or module.scopes[name].location
                self._visit(module, name, _START, 1)
            elif any(map(is_command, decorators)):
                self._visit(module, name, _CHOSEN, 1)
            elif any(map(is_handler, decorators)):
                self._visit(module, name, _LATER, 1)

    def _serve_classes(self, module: Module) -> None:
        for kind in module.classes.values():
            methods = starting_methods(kind.name, kind.bases)
            if methods or any(map(is_handler, kind.decorators)):
                self._handled = True
                self._enter(_Found(module, kind=kind), _START, 1)
                self._start_handler(module, kind, methods)

    def _start_handler(self, module: Module, kind: ModuleClass, methods: Sequence[str]) -> None:
        for method in sorted(kind.methods):
            reach = _START if method in methods else _LATER
            self._visit(module, f"{kind.name}.{method}", reach, 1)
            if method in methods:
                self._starter = self._starter or module.scopes[f"{kind.name}.{method}"].location

    def _visit(self, module: Module, name: str, reach: _Reach, depth: int) -> None:
        """Note a scope and follow its calls, unless it was reached as well before."""
        before = self._reached.setdefault((module.path, name), [])
        if any(all(old >= new for old, new in zip(each, reach, strict=True)) for each in before) or name not in module.scopes:
            return
        before.append(reach)
        scope = module.scopes[name]
        self._scopes.append((module, scope, reach))
        if self._is_importing:
            self._at_import.append((scope, reach))
        self._import_all(module, scope, reach, depth)
        for method, gate in scope.methods.items():
            self._note_method(method, reach.through(gate, caught=False))
        if depth >= DEPTH:
            return
        self._wrap(module, name, reach, depth)
        for call in scope.calls:
            found = self._names.find(module, call.name)
            if found is not None:
                self._enter(found, reach.through(call.gate, call.caught), depth + 1)
            elif call.handed:
                self._import_named(module, call.name, reach, depth)
            elif call.name.startswith(":"):
                self._note_method(call.name.rpartition(".")[2], reach.through(call.gate, call.caught))

    def _wrap(self, module: Module, name: str, reach: _Reach, depth: int) -> None:
        """A decorator of the repository runs its inner functions round the function."""
        for decorator in module.decorators.get(name, ()):
            found = self._names.find(module, decorator)
            if found is not None and found.function:
                for inner in found.module.scopes:
                    if inner.startswith(f"{found.function}."):
                        self._visit(found.module, inner, reach, depth + 1)

    def _enter(self, found: _Found, reach: _Reach, depth: int) -> None:
        """Call a function, or make an object of a class; its module's top level has run by then."""
        self._import(found.module, reach, depth)
        if found.function:
            self._visit(found.module, found.function, reach, depth)
        elif found.kind is not None:
            self._objects.setdefault((found.module.path, found.kind.name), found)
            for method in (*_CONSTRUCTORS, *self._methods_that_run(found)):
                self._enter_method(found, method, reach, depth)

    def _methods_that_run(self, found: _Found) -> list[str]:
        """The properties and validators of a class."""
        kind = found.kind
        if kind is None:
            return []
        decorators = {method: found.module.decorators.get(f"{kind.name}.{method}", ()) for method in kind.methods}
        return sorted(method for method, names in decorators.items() if any(map(runs_with_object, names)))

    def _enter_method(self, found: _Found, method: str, reach: _Reach, depth: int) -> None:
        target = self._names.method(found, method)
        if target is not None:
            self._visit(target.module, target.function, reach, depth)

    def _note_method(self, name: str, reach: _Reach) -> None:
        self._methods[name] = max(reach, self._methods.get(name, reach))

    def _call_methods(self) -> None:
        """Methods called on objects of unknown class are those of the objects that the program makes; a framework calls the methods of
        classes that extend its own. Each round may make more objects."""
        for _ in range(DEPTH):
            before = len(self._scopes)
            for found in list(self._objects.values()):
                for method, reach in list(self._methods.items()):
                    self._enter_method(found, method, reach, DEPTH - 2)
                if found.kind is not None and self._names.extends_unknown(found):
                    for method in found.kind.methods:
                        self._visit(found.module, f"{found.kind.name}.{method}", _LATER, DEPTH - 2)
            if len(self._scopes) == before:
                return

    # --- What was met --------------------------------------------------------------------------------------------------------

    def _program(self, module: Module, start: Location | None) -> Program:
        entry = start or self._starter
        signs = {sign.means for _, scope, _ in self._scopes for sign in scope.signs}
        packages = (name.partition(".")[0] for each in self._modules.values() for name in each.aliases.values())
        return Program(
            path=module.path,
            entry=entry,
            fallbacks=self._fallbacks(entry),
            assertions=tuple(dict.fromkeys(self._assertions(entry))),
            raising=tuple(dict.fromkeys(self._raisings(Gate.RUNS))),
            trains="trains" in signs,
            serves="serves" in signs or self._handled,
            on_cpu=self._on_cpu(),
            device_defaults=tuple(dict.fromkeys(self._device_defaults())),
            imports=frozenset(packages),
            modules=tuple(self._modules),
            compiling=tuple(dict.fromkeys(self._compiling())),
            import_touches=tuple(self._import_touches()),
            environment=tuple(self._environment()),
            launches=tuple(dict.fromkeys(self._launches())),
            config_files=tuple(dict.fromkeys(self._config_files())),
            cpu_modes=tuple(place for _, scope, reach in self._scopes if reach.gate is not Gate.NEVER for place in scope.cpu_modes),
        )

    def _config_files(self) -> Iterator[ConfigFile]:
        for module, scope, reach in self._scopes:
            for call in scope.calls if reach.gate is not Gate.NEVER else ():
                name = config_file(call.name, {key: answer.value for key, answer in call.arguments.items()}) if call.arguments else ""
                if name and call.gate is not Gate.NEVER:
                    yield ConfigFile(name, module.path, call.name == "hydra.main")

    def _environment(self) -> Iterator[EnvironmentWrite]:
        for _, scope, reach in self._scopes:
            if scope.name in (TOP, MAIN) and reach.gate is Gate.RUNS:
                yield from (write for write in scope.environment if write.gate is Gate.RUNS)

    def _launches(self) -> Iterator[Launch]:
        for _, scope, reach in self._scopes:
            if reach.gate is not Gate.NEVER:
                yield from (launch._replace(gate=min(launch.gate, reach.gate)) for launch in scope.launches)

    def _import_touches(self) -> Iterator[Call]:
        certain = (scope for scope, reach in self._at_import if reach.gate is Gate.RUNS)
        calls = (call for scope in certain for call in scope.calls if call.gate is Gate.RUNS and not call.handed)
        yield from filter(is_touch, calls)

    def _compiling(self) -> Iterator[tuple[str, Location]]:
        """The calls on the path that compile code at run time, and the functions on it that a decorator makes such ones. What only a GPU
        lets run counts; what an option or another condition decides does not."""
        for module, scope, reach in self._scopes:
            if reach.gate is not Gate.MAY:
                calls = (call for call in scope.calls if call.gate is not Gate.MAY and compiles_at_run_time(call.name))
                yield from ((call.name, call.location) for call in calls)
                decorators = module.decorators.get(scope.name, ())
                yield from ((name, scope.location) for name in decorators if compiles_at_run_time(name))

    def _fallbacks(self, entry: Location | None) -> tuple[Fallback, ...]:
        """A return ends the program where it started, and is a fallback elsewhere; a library that is told to use the CPU falls nowhere.

        Of a library's defaults the first one stands for all. Where the start itself may end without a GPU, by the code's own choice of a
        device, only what certainly runs is a fallback: what a later request may meet, it may never meet.
        """
        on_cpu = self._on_cpu()
        if "*" in on_cpu:
            return ()
        least = Gate.RUNS if self._may_end_at_start() else Gate.MAY
        reached = (scope for _, scope, reach in self._scopes if reach.gate >= least)
        found = dict.fromkeys(
            fallback
            for scope in reached
            for fallback in scope.fallbacks
            if not (fallback.kind is FallbackKind.RETURN and scope.location == entry)
            and not (fallback.kind is FallbackKind.DEFAULT and fallback.framework in on_cpu)
        )
        defaults = {fallback.framework: fallback for fallback in reversed(found) if fallback.kind is FallbackKind.DEFAULT}
        return (*(fallback for fallback in found if fallback.kind is not FallbackKind.DEFAULT), *reversed(defaults.values()))

    def _on_cpu(self) -> frozenset[str]:
        return frozenset(name for _, scope, reach in self._scopes if reach.gate is Gate.RUNS for name in scope.on_cpu)

    def _may_end_at_start(self) -> bool:
        return next(self._raisings(Gate.MAY), None) is not None

    def _assertions(self, entry: Location | None) -> Iterator[Assertion]:
        for module, scope, reach in self._scopes:
            if reach.starting and reach.free and reach.gate is not Gate.NEVER:
                for assertion in (*scope.assertions, *self._demanded(module, scope)):
                    if assertion.kind is not AssertionKind.RETURN or scope.location == entry:
                        yield assertion._replace(gate=min(assertion.gate, reach.gate))

    def _demanded(self, module: Module, scope: Scope) -> Iterator[Assertion]:
        """The calls of a function that insists on what it is given, where that says that there is no GPU."""
        for check in scope.checks:
            found = self._names.find(module, check.name) if check.gate is not Gate.NEVER else None
            demands = found.module.scopes[found.function].demands if found is not None and found.function else ()
            for demand in demands:
                if not check.answers.isdisjoint({demand.parameter, demand.position}):
                    place = demand.location if demand.kind is AssertionKind.ASSERT else check.location
                    yield Assertion(place, demand.kind, check.name, check.gate)

    def _raisings(self, least: Gate) -> Iterator[Raising]:
        """What raises as the program starts, as surely as that at least; of a function of the repository its own scope tells, whatever
        its name says."""
        for module, scope, reach in self._scopes:
            for raising in scope.raising:
                if reach == _START and raising.gate >= least and self._names.find(module, raising.name) is None:
                    yield raising

    def _device_defaults(self) -> Iterator[DeviceDefault]:
        for _, scope, reach in self._scopes:
            if reach.gate is not Gate.NEVER:
                yield from scope.device_defaults


class _Resolver:
    """Finds what a qualified name stands for among the modules of the repository."""

    def __init__(self, modules: Modules, roots: tuple[str, ...]) -> None:
        self._modules = modules
        self._roots = roots
        self._cache: dict[tuple[str, str], _Found | None] = {}
        self._relevant: dict[str, Module | None] = {}

    def relevant(self, path: str) -> Module | None:
        """The module at a path, where it says anything of a GPU by its words; None else, so that it need not be parsed."""
        if path not in self._relevant:
            source = self._modules.source(path)
            speaks = source is not None and any(anchor in source.lowered for anchor in import_anchors())
            self._relevant[path] = self._modules.module(path) if speaks else None
        return self._relevant[path]

    def imported(self, module: Module, name: str) -> Iterator[str]:
        """The files of the repository that an import of this name runs: the packages on the way, and the module itself."""
        found = next(self._files(module.path, name), None)
        if found is None:
            return
        path, _ = found
        folders = path.split("/")[:-1]
        for length in range(1, len(folders) + 1):
            package = "/".join([*folders[:length], "__init__.py"])
            if package in self._modules:
                yield package
        yield path

    def find(self, module: Module, name: str, depth: int = 0) -> _Found | None:
        """The function or class that a qualified name stands for when it is used in this module; None for anything outside."""
        key = (module.path, name)
        if key not in self._cache:
            self._cache[key] = None
            self._cache[key] = self._find(module, name, depth)
        return self._cache[key]

    def _find(self, module: Module, name: str, depth: int) -> _Found | None:
        if depth > _DEEPEST_NAME or name.startswith("*"):
            return None
        if name.startswith(":"):
            return self._inside(module, name[1:].split("."), depth)
        if "." not in name:
            candidates = (self.find(module, f"{star}.{name}", depth + 1) for star in module.stars)
            return next(filter(None, candidates), None)
        for path, rest in self._files(module.path, name):
            other = self._modules.module(path) if rest else None
            if other is not None:
                return self._inside(other, rest, depth)
        return None

    def _inside(self, module: Module, parts: Sequence[str], depth: int) -> _Found | None:
        """What a name stands for in its module: a function, a class, a method, what the module imports, or a method of an object."""
        name = ".".join(parts)
        if name in module.classes:
            return _Found(module, kind=module.classes[name])
        if name in module.scopes and name not in (TOP, MAIN):
            return _Found(module, name)
        if len(parts) > 1 and ".".join(parts[:-1]) in module.classes:
            return self.method(_Found(module, kind=module.classes[".".join(parts[:-1])]), parts[-1], depth)
        first, rest = parts[0], list(parts[1:])
        known = module.scopes[first].returned if rest and first in module.scopes else module.variables.get(first)
        onward = module.aliases.get(first, "") or (known.made_by if known and rest else "")
        if onward and onward != f":{name}":
            return self.find(module, ".".join([onward, *rest]), depth + 1)
        stars = (self.find(module, f"{star}.{name}", depth + 1) for star in module.stars)
        return next(filter(None, stars), None)

    def method(self, found: _Found, name: str, depth: int = 0) -> _Found | None:
        """A method of a class, looked up in its bases too."""
        if found.kind is None or depth > _DEEPEST_NAME:
            return None
        if name in found.kind.methods:
            return _Found(found.module, f"{found.kind.name}.{name}")
        bases = (self.find(found.module, base, depth + 1) for base in found.kind.bases)
        return next(filter(None, (self.method(base, name, depth + 1) for base in bases if base is not None)), None)

    def extends_unknown(self, found: _Found) -> bool:
        """Whether a class has a base outside the repository, which may call its methods."""
        bases = found.kind.bases if found.kind else ()
        return any(base not in ("object", "ABC", "abc.ABC") and self.find(found.module, base) is None for base in bases)

    def _files(self, path: str, name: str) -> Iterator[tuple[str, list[str]]]:
        """The file that the longest beginning of a dotted name is, in each folder that counts, and the parts behind it."""
        dots = len(name) - len(name.lstrip("."))
        parts = name[dots:].split(".")
        folder = dirname(path)
        for _ in range(dots - 1):
            folder = dirname(folder)
        for root in (folder,) if dots else self._roots:
            stems = (("/".join(filter(None, (root, *parts[:length]))), length) for length in range(len(parts), 0, -1))
            files = ((f"{stem}{end}", parts[length:]) for stem, length in stems for end in (".py", "/__init__.py"))
            own = ((f"{root}/__init__.py".lstrip("/"), parts),) if dots else ()
            found = next(((file, rest) for file, rest in (*files, *own) if file in self._modules), None)
            if found is not None:
                yield found
