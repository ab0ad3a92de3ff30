"""ConfigMaps that kustomizations make, and what they put into the environment of containers.

A container that takes its environment from one has the variables as its own, each standing where the kustomization or an env file has it.
Secrets, and ConfigMaps that are written out, are not read: of them nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from gpulint.deferred import regex
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Entry, Mapping, Node, Scalar, Sequence
from gpulint.project.kustomization import Kustomization
from gpulint.project.patch_target import Name, text_at
from gpulint.project.transform import Resource, read_resource
from gpulint.project.tree import Tree
from gpulint.source import Source, Text

_KIND = "ConfigMap"
_VARIABLE = regex(r"^[ \t]*(?P<name>[A-Za-z_][\w.-]*)=(?P<value>[^\r\n]*)", re.MULTILINE)
_MOST_VARIABLES = 1000
"""Variables of one list or file: far more than anyone writes."""
_MOST_GENERATORS = 100
"""Entries of a kustomization that each make a ConfigMap."""
_DEEPEST_POD = 50
"""How deep in an object a container may stand: a bound for recursion."""


def with_generated(given: tuple[Resource, ...], by: Kustomization, tree: Tree) -> tuple[Resource, ...]:
    """The resources with the ConfigMaps that a kustomization makes, or merges into those that are there; without any
    ConfigMap where it makes more of them than anyone writes."""
    generators = by.root.sequence("configMapGenerator")
    if len(generators) > _MOST_GENERATORS:
        return tuple(each for each in given if kind_of(each.root) != _KIND)
    found = list(given)
    for generator in generators.mappings():
        made = _generated(generator, by, tree)
        old = next((index for index, each in enumerate(found) if _is_same(each, made)), None)
        behavior = text_at(generator, "behavior")
        if old is None:
            found.append(made if behavior in ("", "create") else _opened(made))
        else:
            found[old] = replace(found[old], root=made.root if behavior == "replace" else _merged(found[old].root, made.root))
    return tuple(found)


def _is_same(resource: Resource, made: Resource) -> bool:
    return kind_of(resource.root) == _KIND and made.names[0] in resource.names


def _generated(generator: Mapping, by: Kustomization, tree: Tree) -> Resource:
    """The ConfigMap of one entry. Its data are open where some of them are not known."""
    variables = dict(islice(_literals(generator), _MOST_VARIABLES))
    is_open = len(generator.sequence("literals")) > _MOST_VARIABLES
    for path in by.env_files(generator):
        source = tree.source(path) if path is not None else None
        variables.update(_lines(source) if source is not None else ())
        is_open = is_open or source is None
    place = generator.location
    data = Mapping(tuple(Entry(key, value) for key, value in variables.items()), place, open=is_open)
    identity = [entry for entry in generator if entry.key in ("name", "namespace")]
    return read_resource(
        Mapping(
            (_entry("kind", Scalar(_KIND, place, ())), _entry("metadata", Mapping(tuple(identity), place)), _entry("data", data)), place
        ),
        False,
    )


def _entry(key: str, value: Mapping | Scalar) -> Entry:
    return Entry(Scalar(key, value.location, ()), value)


def _literals(generator: Mapping) -> Iterator[tuple[Scalar, Scalar]]:
    for item in generator.sequence("literals"):
        equals = item.find("=") if isinstance(item, Scalar) else -1
        if isinstance(item, Scalar) and equals > 0:
            quoted = len(item) > equals + 2 and item[equals + 1] == item[-1] and item[-1] in "\"'"
            yield _scalar(item.cut(0, equals)), _scalar(item.cut(equals + 1 + quoted, len(item) - quoted))


def _lines(source: Source) -> Iterator[tuple[Scalar, Scalar]]:
    """The variables of an env file, whose values are taken as they stand."""
    for match in islice(_VARIABLE.finditer(source.text), _MOST_VARIABLES):
        yield _scalar(source.cut(*match.span("name"))), _scalar(source.cut(*match.span("value")))


def _scalar(text: Text) -> Scalar:
    return Scalar(text, text.location, text.pieces, plain=False)


def _merged(old: Mapping, new: Mapping) -> Mapping:
    """A ConfigMap with the data of another over its own."""
    data = {str(entry.key): entry for mapping in (old, new) for entry in mapping.mapping("data")}
    merged = Mapping(tuple(data.values()), old.location, open=old.mapping("data").open or new.mapping("data").open)
    return Mapping(tuple(Entry(entry.key, merged) if entry.key == "data" else entry for entry in old), old.location)


def _opened(made: Resource) -> Resource:
    """A ConfigMap whose data are those of one that is not read, with its own over them."""
    data = made.root.mapping("data")
    open_data = Entry(Scalar("data", data.location, ()), Mapping(data.entries, data.location, open=True))
    return replace(made, root=Mapping(tuple(open_data if entry.key == "data" else entry for entry in made.root), made.root.location))


# --- The environment of containers ----------------------------------------------------------------------------------------------


def with_environment(resources: tuple[Resource, ...]) -> tuple[Resource, ...]:
    """What a kustomization builds, with the data of its ConfigMaps in the containers that take their environment from them."""
    maps = [each for each in resources if kind_of(each.root) == _KIND]
    workloads = (each for each in resources if kind_of(each.root) != _KIND)
    return tuple(_filled(each, maps) for each in workloads) if maps else resources


def _filled(resource: Resource, maps: Iterable[Resource]) -> Resource:
    namespace = resource.names[-1].namespace
    known: dict[str, Mapping] = {}
    for each in maps:
        data = each.root.mapping("data")
        if each.names[-1].namespace == namespace and not data.open:
            known.update(dict.fromkeys(map(_name, each.names), data))
    root = _below(resource.root, known, 0)
    return replace(resource, root=root) if root is not resource.root and isinstance(root, Mapping) else resource


def _name(name: Name) -> str:
    return name.name


def _below(node: Node, known: dict[str, Mapping], depth: int) -> Node:
    """The node with the environments of the containers below it put in; itself where there are none."""
    if depth > _DEEPEST_POD or not isinstance(node, (Mapping, Sequence)):
        return node
    step = partial(_below, known=known, depth=depth + 1)
    if isinstance(node, Sequence):
        items = tuple(map(step, node))
        return (
            node if all(new is old for new, old in zip(items, node, strict=True)) else Sequence(items, node.location, node.tag, node.open)
        )
    if any(node.sequence("envFrom").mappings()):
        return _with_variables(node, known)
    entries = tuple(Entry(key, step(value), merged) for key, value, merged in node.entries)
    is_same = all(new.value is old.value for new, old in zip(entries, node.entries, strict=True))
    return node if is_same else Mapping(entries, node.location, node.tag, node.open)


def _with_variables(container: Mapping, known: dict[str, Mapping]) -> Mapping:
    """The container with the variables of known ConfigMaps before its own, which win over them."""
    variables: dict[str, Node] = {}
    unknown: list[Node] = []
    for item in container.sequence("envFrom"):
        data = known.get(text_at(item, "configMapRef", "name")) if isinstance(item, Mapping) else None
        if data is None or not isinstance(item, Mapping):
            unknown.append(item)
        else:
            variables.update((f"{text_at(item, 'prefix')}{key}", _variable(text_at(item, "prefix"), key, value)) for key, value, _ in data)
    own = container.sequence("env")
    for item in own.mappings():
        variables.pop(text_at(item, "name"), None)
    values = {
        "env": Sequence((*variables.values(), *own), own.location if own.items else container.location, open=own.open),
        "envFrom": Sequence(tuple(unknown), container.location) if unknown else None,
    }
    kept = tuple(entry for entry in container if entry.key not in values)
    new = (Entry(Scalar(key, container.location, ()), value) for key, value in values.items() if value is not None)
    return Mapping((*kept, *new), container.location, container.tag, container.open)


def _variable(prefix: str, key: Scalar, value: Node) -> Mapping:
    name = Scalar(f"{prefix}{key}", key.location, () if prefix else key.pieces, plain=False)
    return Mapping((_entry("name", name), Entry(Scalar("value", value.location, ()), value)), key.location)
