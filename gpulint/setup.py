"""The verb `setup`: the table [machines] of gpulint.toml, from what the machines themselves print."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from re import MULTILINE
from typing import TYPE_CHECKING, Any

from gpulint.deferred import regex
from gpulint.errors import GpulintError
from gpulint.model.machines import Machines
from gpulint.parse.nodes import Mapping, Node, Scalar, Sequence
from gpulint.session import STANDARD_INPUT, counted, read_standard_input

if TYPE_CHECKING:
    from gpulint.model.cluster_node import ClusterNode
    from gpulint.project.fleet import Fleet

COMMANDS = "kubectl get nodes -o json, or nvidia-smi -q -x"
LARGEST_INPUT = 256 * 1024 * 1024
"""More than the nodes of the largest cluster take."""
NAMED_NODES = 3
"""How many nodes of a pool a comment names."""

_NOT_XML = regex(r"NVSMI LOG|\| NVIDIA-SMI |^GPU \d+: ", MULTILINE)
_NO_DRIVER = regex(r"^NVIDIA-SMI has failed[^\n]*", MULTILINE)
_TABLE_OF_NODES = regex(r"^NAME\s+STATUS\s+ROLES\s")


def setup(path: str) -> str:
    """The TOML for a file that holds what kubectl or nvidia-smi printed, "-" for standard input. Raises GpulintError."""
    where, text = _read(path)
    if not text.strip():
        raise GpulintError(f"{where} is empty: did the command before the pipe fail? it takes what this prints: {COMMANDS}")
    failed = _NO_DRIVER.search(text)
    if failed:
        raise GpulintError(f"{where}: nvidia-smi found no driver to ask: {failed[0]}")
    if text.lstrip().startswith("<"):
        return _of_machine(text, where)
    if _NOT_XML.search(text):
        raise GpulintError(f"{where} is nvidia-smi's report for people; give it as XML: nvidia-smi -q -x")
    if _TABLE_OF_NODES.match(text):
        raise GpulintError(f"{where} is kubectl's table for people; give it as JSON: kubectl get nodes -o json")
    return _of_cluster(_objects(text, where), where)


def _read(path: str) -> tuple[str, str]:
    """What to call the input, and its text."""
    if path == STANDARD_INPUT:
        return "standard input", read_standard_input(LARGEST_INPUT).decode("utf-8-sig", errors="replace")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_INPUT + 1)
    except OSError as error:
        raise GpulintError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(data) > LARGEST_INPUT:
        raise GpulintError(f"{path}: has more than {LARGEST_INPUT // 1024 // 1024} MiB")
    return os.path.basename(path), data.decode("utf-8-sig", errors="replace")


# --- One machine ----------------------------------------------------------------------------------------------------------------


def _of_machine(text: str, where: str) -> str:
    from gpulint.model.smi_report import read_report

    machines = read_report(text)
    if machines is None:
        raise GpulintError(f"{where} is XML, but no report of nvidia-smi -q -x")
    if machines == Machines():
        raise GpulintError(f"{where}: the report of nvidia-smi names neither a driver nor a GPU")
    return "".join(f"{line}\n" for line in ("# What nvidia-smi says of this machine.", "[machines]", *_facts(machines)))


# --- A cluster ------------------------------------------------------------------------------------------------------------------


def _objects(text: str, where: str) -> Any:
    """What kubectl printed as JSON or YAML, as plain values."""
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text)
        return {"items": [_plain(root) for root in _documents(text)]}
    except (ValueError, RecursionError) as error:
        raise GpulintError(f"{where} cannot be read: {error}; it takes what this prints: {COMMANDS}") from None


def _documents(text: str) -> Iterator[Node]:
    from gpulint.parse.yaml import parse
    from gpulint.source import Source

    syntax = parse(Source("nodes.yaml", text.encode()))
    for problem in syntax.problems:
        raise ValueError(f"line {problem.location.line}: {problem.message}")
    yield from (document.root for document in syntax.documents if document.root is not None)


def _plain(node: Node) -> Any:
    if isinstance(node, Mapping):
        return {str(key): _plain(value) for key, value, _ in node}
    if isinstance(node, Sequence):
        return [_plain(item) for item in node]
    return str(node) if isinstance(node, Scalar) else None


def _of_cluster(data: Any, where: str) -> str:
    from gpulint.model.cluster_node import read_nodes
    from gpulint.project.fleet import fold

    nodes = list(read_nodes(data))
    if not nodes:
        raise GpulintError(f"{where} holds no node; it takes what this prints: {COMMANDS}")
    with_gpu = [node for node in nodes if node.has_gpu]
    if not with_gpu:
        raise GpulintError(
            f"{where}: of {counted(len(nodes), 'node')} none offers a GPU or has a label of one: is the device plugin running?"
        )
    return "".join(f"{line}\n" for line in _fleet_lines(fold(nodes), len(with_gpu), len(nodes)))


def _fleet_lines(fleet: Fleet, with_gpu: int, of: int) -> Iterator[str]:
    yield f"# What the nodes say of themselves: {with_gpu} of {counted(of, 'node')} {'has' if with_gpu == 1 else 'have'} a GPU."
    yield "[machines]"
    yield from _facts(fleet.machines)
    if fleet.machines.gpus_total:
        yield "# autoscaled = true  # where nodes come and go"
    for pool in fleet.machines.pools:
        yield ""
        yield f"# {_named(fleet.members[pool.name])}"
        yield f"[machines.pools.{pool.name}]"
        labels = ", ".join(f"{_quoted(key)} = {_quoted(value)}" for key, value in pool.labels.items())
        yield f"labels = {{ {labels} }}"
        yield from _facts(pool.machines)
    if fleet.unselected:
        yield ""
        yield f"# No pool, since no label of theirs picks them alone: {_named(fleet.unselected)}"


def _named(nodes: tuple[ClusterNode, ...]) -> str:
    names = [node.name for node in nodes]
    rest = len(names) - NAMED_NODES
    return ", ".join(names[:NAMED_NODES]) + (f" and {rest} more" if rest > 0 else "")


def _facts(machines: Machines) -> Iterator[str]:
    """The lines of a table of facts, those that are stated."""
    for key, value in machines._asdict().items():
        if key != "pools" and value is not None:
            yield f"{key} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    return _quoted(value) if isinstance(value, str) else str(value).lower()


def _quoted(word: str) -> str:
    """A word of printable ASCII, as all are that the readers let through, in TOML's quotes."""
    return json.dumps(word)
