"""The graph of a project as text, as a Mermaid flowchart, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpulint.report.terminal import printable, width

if TYPE_CHECKING:
    from gpulint.project.five_links import FiveLink
    from gpulint.project.graph import Chain, Graph, Link
    from gpulint.source import Location

VERSION = 1
"""The version of the JSON form; it changes where a key changes its meaning or goes."""

_KIND_WIDTH = 9


def render(form: str, graph: Graph) -> str:
    """A graph in one of report.GRAPHS: whole lines."""
    return {"text": _text, "mermaid": _mermaid, "json": _json}[form](graph)


def render_links(form: str, chain: Chain, links: Sequence[FiveLink]) -> str:
    """The five links of a container: a table, or JSON; as Mermaid the container's chain."""
    if form == "mermaid":
        return _lines(("flowchart LR", *_chart([chain])))
    if form == "json":
        return _dumped({"version": VERSION, "container": _of_container(chain), "links": [_of_five(link) for link in links]})
    return _lines((_title(chain), "", *_table(links)))


def _lines(lines: Iterator[str] | Sequence[str]) -> str:
    return "".join(f"{printable(line)}\n" for line in lines)


# --- Text -----------------------------------------------------------------------------------------------------------------------


def _text(graph: Graph) -> str:
    """A paragraph for each container, and a line for each Dockerfile that nothing runs. What comes from a file stands as it is."""
    paragraphs = [_lines(tuple(_paragraph(chain))) for chain in graph.chains]
    paragraphs += [_lines((f"{path}  (no container here is known to run it)",)) for path in graph.unused]
    return "\n".join(paragraphs) or "no containers\n"


def _paragraph(chain: Chain) -> Iterator[str]:
    yield _title(chain)
    for link in chain.links:
        yield _line(link.kind, _shown(link))
    if chain.open:
        yield _line("open", ", ".join(chain.open))
    for gap in chain.gaps:
        yield _line("open", f"{gap.reason} ({gap.location})")


def _title(chain: Chain) -> str:
    return f"{chain.name}  ({chain.container.dialect.value}, {chain.container.location})"


def _line(kind: str, text: str) -> str:
    return f"  {_KINDS.get(kind, kind):{_KIND_WIDTH}}{text}"


_KINDS = {"configuration": "config"}


def _shown(link: Link) -> str:
    """A link in words: `train.py: by python train.py (compose.yaml:4:20); it is /app/train.py of the container (Dockerfile:3:6)`."""
    found = ": ".join(filter(None, (link.name, link.how))) + _at(link.location)
    return f"{found}; {link.by}{_at(link.origin)}" if link.by else found


def _at(location: Location | None) -> str:
    return f" ({location})" if location is not None else ""


_COLUMNS: Mapping[str, Callable[[FiveLink], str]] = {
    "link": lambda link: link.link,
    "known": lambda link: "known" if link.known else "unknown",
    "value": lambda link: link.value,
    "place": lambda link: ", ".join([*dict.fromkeys(map(str, link.places))][:3]),
    "prove it with": lambda link: link.proof,
}


def _table(links: Sequence[FiveLink]) -> Iterator[str]:
    rows = [list(_COLUMNS), *([printable(cell(link)) for cell in _COLUMNS.values()] for link in links)]
    widths = [max(width(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        yield "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()


# --- Mermaid --------------------------------------------------------------------------------------------------------------------


def _mermaid(graph: Graph) -> str:
    """A flowchart of the containers and what the links of each lead to. A shared file is one node, and a gap hangs on a dotted line."""
    lines = ["flowchart LR", *_chart(graph.chains)]
    lines += [f"  u{number}[{_label(f'{path} (no container here is known to run it)')}]" for number, path in enumerate(graph.unused)]
    return _lines(lines)


def _chart(chains: Sequence[Chain]) -> Iterator[str]:
    nodes: dict[tuple[str, str], str] = {}
    drawn: set[str] = set()
    for number, chain in enumerate(chains):
        yield f"  c{number}([{_label(_title(chain))}])"
        before = f"c{number}"
        for link in chain.links:
            is_file = link.kind in _FILES
            name = f"{link.kind}: {link.name}{'' if is_file else _at(link.location)}"
            node = nodes.setdefault((link.kind, name), f"n{len(nodes)}")
            arrow = _arrow(f"{link.how}{_at(link.location) if is_file else ''}".strip())
            edge = f"  {before if link.kind in _ON_PATH else f'c{number}'} {arrow} {node}[{_label(name)}]"
            before = node if link.kind in _LEADING else before
            if edge not in drawn:
                drawn.add(edge)
                yield edge
        for at, gap in enumerate(chain.gaps):
            yield f"  c{number} -.-> g{number}_{at}[{_label(f'open: {gap.reason}{_at(gap.location)}')}]"


def _arrow(text: str) -> str:
    return f"-->|{_label(text)}|" if text else "-->"


_FILES = frozenset({"built", "script", "Makefile", "configuration", "program", "imports"})
_ON_PATH = frozenset({"script", "Makefile", "configuration", "program", "starts", "imports", "asserts", "falls"})
_LEADING = frozenset({"script", "Makefile", "configuration", "program"})
_ENTITIES = {character: f"#{ord(character)};" for character in '#"&<>`%;\\{}[]|'}


def _label(text: str) -> str:
    """A text in quotes, with the characters that mean something to Mermaid or HTML as entities."""
    return '"' + "".join(_ENTITIES.get(character, character) for character in printable(text)) + '"'


# --- JSON -----------------------------------------------------------------------------------------------------------------------


def _json(graph: Graph) -> str:
    containers = [{**_of_container(chain), **_of_chain(chain)} for chain in graph.chains]
    return _dumped({"version": VERSION, "containers": containers, "unused": list(graph.unused)})


def _dumped(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _of_container(chain: Chain) -> dict[str, Any]:
    return {"name": chain.name, "kind": chain.container.dialect.value, "place": _place(chain.container.location)}


def _of_chain(chain: Chain) -> dict[str, Any]:
    gaps = [{"reason": gap.reason, "place": _place(gap.location)} for gap in chain.gaps]
    return {"links": [_of_link(link) for link in chain.links], "gaps": gaps, "open": list(chain.open)}


def _of_link(link: Link) -> dict[str, Any]:
    place, origin = _place(link.location), _place(link.origin)
    file = link.path or None
    return {"kind": link.kind, "name": link.name, "how": link.how, "place": place, "file": file, "by": link.by, "origin": origin}


def _of_five(link: FiveLink) -> dict[str, Any]:
    places = [_place(place) for place in link.places]
    return {"link": link.link, "value": link.value, "known": link.known, "places": places, "proof": link.proof}


def _place(location: Location | None) -> dict[str, Any] | None:
    return {"path": location.path, "line": location.line, "column": location.column} if location is not None else None
