"""YAML and JSON files as trees of Mapping, Sequence and Scalar, each with its place.

A file is read document by document, so that a broken one costs only itself. PyYAML's C parser reads them; where it refuses one,
ruamel.yaml, which knows YAML 1.2, is asked as well. No value is converted: each consumer reads quantities and booleans as its own
tool does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.parse.compose_nodes import Composer, Event, Mark, SyntaxProblem
from gpulint.parse.json import as_yaml, is_json
from gpulint.parse.nodes import EMPTY_MAPPING, EMPTY_SEQUENCE, NOWHERE, Entry, Mapping, Node, Scalar, Sequence
from gpulint.parse.yaml_problems import explain, has_conflict, is_past_a_bound, looks_templated
from gpulint.source import Location, Source

__all__ = [
    "EMPTY_MAPPING",
    "EMPTY_SEQUENCE",
    "NOWHERE",
    "Document",
    "Entry",
    "Mapping",
    "Node",
    "Part",
    "Scalar",
    "Sequence",
    "SyntaxProblem",
    "YamlSyntax",
    "documents",
    "parse",
]

MAX_SECOND_OPINION = 10_000
"""How many characters of one file ruamel.yaml is asked about: it reads some 100,000 a second. A short document counts for 500."""

MAX_DIRECTIVES = 100
"""Directives before a document. The C parser compares each with all before it."""

MAX_DOCUMENTS = 10_000
"""Documents of one file: each costs a parser of its own."""

MAX_VALUES = 500_000
"""What a document may hold, by the lines and marks that values stand behind. A megabyte of real YAML has some 50,000."""

_VALUE_MARKS = ("\n", ",", "[", "{")
_MARKER = regex(r"\n(---|\.\.\.)(?=[ \t\r\n]|\Z)")
_PROLOGUE = regex(r"(?:(?:[ \t\r\ufeff]*(?:#[^\n\r\x85\u2028\u2029]*\r?)?|%[^\n]*|\.\.\.[^\n]*)(?:\n|\Z))*")
_DIRECTIVE = regex(r"^%", re.MULTILINE)
_OTHER_LINE_BREAK = regex("\r(?!\n)|[\x85\u2028\u2029]")


@dataclass(frozen=True, eq=False)
class Document:
    """One YAML document. `template` says that it was a template whose actions were replaced: then what is absent may yet be rendered."""

    root: Node | None
    location: Location
    template: bool = False


@dataclass(frozen=True, eq=False)
class YamlSyntax:
    """The documents of a file, and what is wrong with those that could not be read, or not in all parts."""

    documents: tuple[Document, ...]
    problems: tuple[SyntaxProblem, ...] = ()


class Part(NamedTuple):
    """The offsets in a source's text between which a document stands, with its directives and markers."""

    start: int
    end: int


def documents(source: Source) -> list[Part]:
    """The parts of a file that hold its documents, found by their markers alone.

    YAML lets no `---` or `...` stand at the start of a line within a document, not even in a block of text or in quotes.
    """
    parts = []
    begin = 0
    for start, end in _between_markers(source.text):
        prologue = _PROLOGUE.match(source.text, start, end)
        if prologue is None or prologue.end() < end:
            parts.append(Part(begin, end))
        elif _DIRECTIVE.search(prologue[0]):
            continue  # What is declared here holds for the next document.
        begin = end
    return parts


def _between_markers(text: str) -> Iterator[tuple[int, int]]:
    """The pieces of a text that `---` begins and `...` ends."""
    start = 0
    for marker in _MARKER.finditer("\n" + text):
        end = marker.start()
        if marker[1] == "...":
            end = text.find("\n", end) + 1 or len(text)
        if end > start:
            yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def parse(source: Source, wanted: Callable[[str], bool] | None = None) -> YamlSyntax:
    """Read a YAML or JSON file (comments allowed in JSON). Never raises.

    Of a YAML file with several documents, `wanted` says from the text of each whether it is to be read at all.
    """
    text, parts = source.text, documents(source)
    if is_json(source.path):
        text, parts = as_yaml(text), [Part(0, len(text))]
    reader = _Reader(source, text, wanted)
    for part in parts[:MAX_DOCUMENTS]:
        if wanted is None or wanted(text[part.start : part.end]):
            reader.read(part)
    for part in parts[MAX_DOCUMENTS : MAX_DOCUMENTS + 1]:
        reader.refuse(part, f"the file holds more than {MAX_DOCUMENTS:,} documents")
    return reader.syntax()


class _Reader:
    """Reads the parts of one file, and gathers documents and problems."""

    def __init__(self, source: Source, text: str, wanted: Callable[[str], bool] | None) -> None:
        self.documents: list[Document] = []
        self.problems: list[SyntaxProblem] = []
        self._path = source.path
        self._text = text
        self._wanted = wanted
        self._line = 1
        self._counted = 0
        self._composer = Composer(source.path)
        self._second_opinion_left = MAX_SECOND_OPINION

    def syntax(self) -> YamlSyntax:
        return YamlSyntax(tuple(self.documents), tuple(self.problems))

    def read(self, part: Part) -> None:
        text = self._text[part.start : part.end]
        if len(text) > MAX_VALUES and sum(map(text.count, _VALUE_MARKS)) > MAX_VALUES:
            if not self._read_items(part, text):
                self.refuse(part, f"the document holds more than {MAX_VALUES:,} values")
            return
        first_line = self._line_of(part.start)
        try:
            roots = self._roots(_events(text), text, first_line)
        except Exception as error:
            roots = [] if is_past_a_bound(error) else self._second_opinion(text, first_line)
            if not roots:
                self.problems.append(explain(error, self._path, text, first_line))
        self.documents.extend([Document(root, self._location(text, first_line)) for root in roots])

    def _read_items(self, part: Part, text: str) -> bool:
        """Read a long list of objects item by item, each as a document of its own. Whether it is such a list."""
        from gpulint.parse.object_list import items

        parts = [Part(part.start + start, part.start + end) for start, end in items(text)]
        for item in parts[:MAX_DOCUMENTS]:
            if self._wanted is None or self._wanted(self._text[item.start : item.end]):
                done = len(self.documents)
                self.read(item)
                self.documents[done:] = [document for each in self.documents[done:] for document in _each_item(each)]
        for item in parts[MAX_DOCUMENTS : MAX_DOCUMENTS + 1]:
            self.refuse(item, f"the list holds more than {MAX_DOCUMENTS:,} objects")
        return bool(parts)

    def refuse(self, part: Part, message: str) -> None:
        """Note why a part is not read."""
        line = self._line_of(part.start)
        self.problems.append(SyntaxProblem(message, Location(self._path, line, 1, line, 1)))

    def _line_of(self, offset: int) -> int:
        """The line of an offset. The offsets asked for grow, so that each line is counted once."""
        self._line += self._text.count("\n", self._counted, offset)
        self._counted = offset
        return self._line

    def _location(self, text: str, first_line: int) -> Location:
        """The place of a part without the blanks around it."""
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        line, end_line = (first_line + text.count("\n", 0, offset) for offset in (start, end))
        column, end_column = (offset - text.rfind("\n", 0, offset) for offset in (start, end))
        return Location(self._path, line, column, end_line, end_column)

    def _roots(self, events: Iterable[Event], text: str, first_line: int) -> list[Node | None]:
        if ("\r" in text or not text.isascii()) and _OTHER_LINE_BREAK.search(text):
            events = _with_our_lines(events, text)
        roots = list(self._composer.roots(events, text, first_line))
        self.problems.extend(self._composer.problems)
        return roots

    def _second_opinion(self, text: str, first_line: int) -> list[Node | None]:
        """What ruamel.yaml makes of a document that PyYAML refused: nothing where it refuses it too, or is not worth its time."""
        if len(text) > self._second_opinion_left or looks_templated(text) or has_conflict(text):
            return []
        self._second_opinion_left -= max(len(text), 500)
        try:
            return self._roots(_events_of_yaml_1_2(text), text, first_line)
        except Exception:  # It raises more than its own errors.
            return []


def _each_item(document: Document) -> Iterator[Document]:
    """An item of a list as a document; in YAML it was read with its dash, as a list of one."""
    roots = document.root.items if isinstance(document.root, Sequence) else (document.root,)
    return (Document(root, document.location, document.template) for root in roots)


def _events(text: str) -> Iterator[Event]:
    """The events of PyYAML's C parser, or of the slower one in Python where the C library is not there."""
    import yaml

    if text.count("\n%") > MAX_DIRECTIVES:
        raise yaml.YAMLError(f"more than {MAX_DIRECTIVES} directives")
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(text)
    return iter(loader.get_event, None)


def _events_of_yaml_1_2(text: str) -> Iterator[Event]:
    from ruamel.yaml import YAML

    for event in YAML(typ="safe", pure=True).parse(text):
        if type(event).__name__ == "ScalarEvent":
            # JSON writes a character beyond U+FFFF as two escapes.
            event.value = event.value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield event


def _with_our_lines(events: Iterable[Event], text: str) -> Iterator[Event]:
    """The events with marks whose lines end at `\\n` alone, as all our places do; YAML knows four more line breaks."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for event in events:
        for name in ("start_mark", "end_mark"):
            index = getattr(event, name).index
            line = bisect_right(starts, index) - 1
            setattr(event, name, Mark(index, line, index - starts[line]))
        yield event
