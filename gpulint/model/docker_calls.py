"""Calls of a library that start a container: `client.containers.run(image, device_requests=[...])` of docker, `docker.run` of others.

Which calls and arguments there are is in gpulint/facts/docker_cli.json. An argument becomes the options of `docker run` that it stands
for, so that both are read alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpulint.deferred import NamedTuple
from gpulint.facts.docker_cli import LibraryCall, call_options, library_calls
from gpulint.facts.requests import drivers
from gpulint.model.command import RunCommand
from gpulint.model.container import ASPECTS, Container, Dialect, GpuRequest, RequestKind, RequestState
from gpulint.model.image import parse_image
from gpulint.model.options import Option
from gpulint.model.python_literals import HOLE, Literals, unknown
from gpulint.model.python_names import Outline, path_of
from gpulint.model.run_options import RunOptions
from gpulint.parse.shell import split
from gpulint.source import Location, Piece, Text, Unknown, Value

_HOST_CONFIG = ("create_host_config", "HostConfig")
_REQUESTS = "device_requests"
_OF_HOST_CONFIG = frozenset({"gpu", "shm"})
_SWITCHES = frozenset({"privileged", "detach", "rm"})


class _Arguments(NamedTuple):
    """The arguments of a call by their names, those of its host configuration among them, and what it may yet be given."""

    named: dict[str, ast.expr]
    open: frozenset[str]


def read_docker_calls(tree: ast.Module, literals: Literals) -> Iterator[Container]:
    """The containers that calls of a known library start."""
    aliases = Outline(tree).aliases
    libraries = {name.partition(".")[0] for name in aliases.values()}
    calls = [call for call in library_calls() if call.library in libraries]
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if calls else []
    for node in nodes:
        call = next((each for each in calls if _is_call(node, each, aliases, literals)), None)
        if call is not None:
            yield _container(node, call, literals)


def _is_call(node: ast.Call, call: LibraryCall, aliases: dict[str, str], literals: Literals) -> bool:
    """Whether a call is that one: by its last names, and by what it is called on where the facts say what that must be."""
    receiver, last = path_of(node.func) or _path_behind_call(node.func), call.call
    if receiver != last and not receiver.endswith(f".{last}"):
        return False
    return not call.on or _made_by(receiver.removesuffix(last).rstrip("."), aliases, literals) in call.on


def _path_behind_call(node: ast.expr) -> str:
    """The attributes that are asked of what a call gives: `.containers.run` of `docker.from_env().containers.run`."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(["", *reversed(parts)])


def _made_by(name: str, aliases: dict[str, str], literals: Literals) -> str:
    """The qualified name of what stands under a name: an import, or the call that makes it."""
    first, dot, rest = literals.made_by(name).partition(".")
    return aliases.get(first, first) + dot + rest


# --- The container --------------------------------------------------------------------------------------------------------------


def _container(node: ast.Call, call: LibraryCall, literals: Literals) -> Container:
    given = _arguments(node, call, literals)
    place = literals.location(node)
    image = literals.value_or_default(given.named["image"]) if "image" in given.named else None
    options = tuple(_options(given, call, literals))
    read = RunOptions(options)
    entrypoint, command = (_words(given.named.get(name), literals) for name in ("entrypoint", "command"))
    requests, opened_by_requests = _requests(given.named.get(_REQUESTS), literals)
    return Container(
        Dialect.LIBRARY,
        read.last("name"),
        place,
        image=parse_image(image) if image is not None else None,
        entrypoint=entrypoint,
        arguments=command,
        working_directory=read.last("workdir"),
        env=read.env,
        requests=(*requests, *read.requests),
        privileged=read.privileged,
        devices=read.devices,
        mounts=read.mounts,
        shared_memory=read.shared_memory,
        ipc=read.last("ipc"),
        pid=read.last("pid"),
        security_options=read.values("security-opt"),
        user=read.last("user"),
        groups=read.values("group-add"),
        open=given.open | opened_by_requests | read.open | frozenset(_unknown_parts(image, command, entrypoint)),
        command=RunCommand(Text(call.call, literals.location(node.func), ()), place, "python", options),
    )


def _unknown_parts(image: Value | None, *commands: tuple[Value, ...] | None) -> Iterator[str]:
    if image is None or isinstance(image, Unknown):
        yield "image"
    if any(isinstance(word, Unknown) for words in commands for word in words or ()):
        yield "command"


def _arguments(node: ast.Call, call: LibraryCall, literals: Literals) -> _Arguments:
    named = dict(zip(call.positional, node.args, strict=False))
    named.update((each.arg, each.value) for each in node.keywords if each.arg is not None)
    if any(each.arg is None for each in node.keywords) or any(isinstance(each, ast.Starred) for each in node.args):
        return _Arguments(named, ASPECTS)
    config = literals.resolved(named.pop("host_config")) if "host_config" in named else None
    if config is None:
        return _Arguments(named, frozenset())
    if not isinstance(config, ast.Call) or path_of(config.func).rpartition(".")[2] not in _HOST_CONFIG:
        return _Arguments(named, _OF_HOST_CONFIG)
    named.update((each.arg, each.value) for each in config.keywords if each.arg is not None)
    return _Arguments(named, _OF_HOST_CONFIG if any(each.arg is None for each in config.keywords) else frozenset())


def _words(node: ast.expr | None, literals: Literals) -> tuple[Value, ...] | None:
    """A command: a list of words, or one string that the library splits as a shell does."""
    if node is None:
        return None
    items = literals.items(node)
    if items is not None:
        return tuple(value for value in map(literals.value, items) if value is not None)
    value = literals.value(node)
    return split(value) if isinstance(value, Text) else None if value is None else (value,)


# --- Options --------------------------------------------------------------------------------------------------------------------


def _options(given: _Arguments, call: LibraryCall, literals: Literals) -> Iterator[Option]:
    """The options that the arguments stand for."""
    known = call_options(call.library)
    for name, node in given.named.items():
        option = known.get(name, "")
        for value, place in _values(node, option, literals) if option else ():
            word = Text(name, place, ())
            if option not in _SWITCHES:
                yield Option(option, value, word, place, attached=False)
            elif isinstance(value, Text) and value != "False":
                yield Option(option, None, word, place, attached=False)


def _values(node: ast.expr, option: str, literals: Literals) -> list[tuple[Value, Location]]:
    """The values of an argument with their places: one for each item of a list or entry of a mapping, else one."""
    node = literals.resolved(node)
    items = literals.items(node)
    if isinstance(node, ast.Dict):
        found = [(_entry(key, value, literals), literals.location(key or value)) for key, value in zip(node.keys, node.values, strict=True)]
    elif items is not None:
        found = [(_item(each, option, literals), literals.location(each)) for each in items]
    else:
        found = [(literals.value(node), literals.location(node))]
    return [(value, place) for value, place in found if value is not None]


def _item(node: ast.expr, option: str, literals: Literals) -> Value | None:
    """An item of a list; one of several fields is a mount, or a volume with its source, target and mode."""
    fields = literals.items(node)
    return literals.value(node) if fields is None else _joined([literals.value(each) for each in fields], "," if option == "mount" else ":")


def _entry(key: ast.expr | None, value: ast.expr, literals: Literals) -> Value | None:
    """An entry of a mapping: `NAME=value` of variables, `source:target` of volumes, which are mappings themselves."""
    value = literals.resolved(value)
    if key is None:
        return literals.value(value)
    if not isinstance(value, ast.Dict):
        return _joined([literals.value(key), literals.value(value)], "=")
    targets = [literals.value(each) for name, each in zip(value.keys, value.values, strict=True) if _is_target(name)]
    return _joined([literals.value(key), *targets], ":")


def _is_target(name: ast.expr | None) -> bool:
    return isinstance(name, ast.Constant) and name.value == "bind"


def _joined(values: list[Value | None], mark: str) -> Value:
    """Values with a mark between them, each at its own place."""
    parts = [value for value in values if value is not None]
    texts = [str(part) if isinstance(part, Text) else HOLE for part in parts]
    offsets = [sum(map(len, texts[:index])) + index * len(mark) for index in range(len(texts))]
    raw = mark.join(texts)
    place = parts[0].location.to(parts[-1].location)
    if not all(isinstance(part, Text) for part in parts):
        return unknown(raw, place)
    pieces = tuple(Piece(offset, part.location.line, part.location.column) for offset, part in zip(offsets, parts, strict=True))
    return Text(raw, place, pieces)


# --- Device requests ------------------------------------------------------------------------------------------------------------


def _requests(node: ast.expr | None, literals: Literals) -> tuple[tuple[GpuRequest, ...], frozenset[str]]:
    """The device requests of a call, and what is open where they are not known."""
    resolved = None if node is None else literals.resolved(node)
    if resolved is None or (isinstance(resolved, ast.Constant) and resolved.value is None):
        return (), frozenset()
    items = literals.items(resolved)
    if items is None:
        return (), frozenset({"gpu"})
    found = [_request(literals.resolved(item), literals) for item in items]
    return tuple(each for each in found if each is not None), frozenset() if all(found) else frozenset({"gpu"})


def _request(node: ast.expr, literals: Literals) -> GpuRequest | None:
    """One device request: a call of its class, or a mapping with the same names. Without a count and ids it asks for none."""
    fields = _fields(node)
    if fields is None:
        return None
    ids = _texts(fields.get("deviceids"), literals)
    count = literals.value(fields["count"]) if "count" in fields else None
    driver = literals.value(fields["driver"]) if "driver" in fields else None
    place = literals.location(node)
    is_zero = not ids and (count is None or (isinstance(count, Text) and count == "0"))
    return GpuRequest(
        RequestKind.GPUS,
        RequestState.ZERO if is_zero else RequestState.ASKED,
        place,
        drivers()[driver].vendor if isinstance(driver, Text) and driver in drivers() else "",
        _counted(count) if not ids else None,
        ids,
        _capabilities(fields.get("capabilities"), literals),
        driver if isinstance(driver, Unknown) or driver else None,
    )


def _counted(count: Value | None) -> Value | None:
    return Text("all", count.location, ()) if isinstance(count, Text) and count.startswith("-") else count


def _fields(node: ast.expr) -> dict[str, ast.expr] | None:
    """The fields of a device request by their names in small letters, without underscores; None where they are not known."""
    if isinstance(node, ast.Call):
        named = [(each.arg, each.value) for each in node.keywords]
    elif isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        named = [(key if isinstance(key, str) else None, value) for key, value in zip(keys, node.values, strict=True)]
    else:
        return None
    fields = {name.lower().replace("_", ""): value for name, value in named if name is not None}
    return fields if len(fields) == len(named) else None


def _texts(node: ast.expr | None, literals: Literals) -> tuple[Value, ...]:
    """The items of a list; one unknown where they cannot be told."""
    resolved = None if node is None else literals.resolved(node)
    if resolved is None or (isinstance(resolved, ast.Constant) and resolved.value is None):
        return ()
    items = literals.items(resolved)
    if items is None:
        return (unknown(HOLE, literals.location(resolved)),)
    return tuple(value for value in map(literals.value, items) if value is not None)


def _capabilities(node: ast.expr | None, literals: Literals) -> tuple[Value, ...]:
    """The capabilities of the first set of a list of sets."""
    items = None if node is None else literals.items(node)
    return _texts(items[0], literals) if items else ()
