"""POSIX shell and bash, as far as a linter needs them: the simple commands of a script with their words, and where each stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from gpulint.deferred import NamedTuple, dataclass, regex
from gpulint.parse.shell_expand import ExpandedWord, Scope, UnknownWord, expand_value, expand_word
from gpulint.parse.shell_reader import DECLARING, NOT_EXPORTING, Reader
from gpulint.parse.shell_split import split
from gpulint.parse.shell_syntax import HOLE, AssignmentSyntax, Block, Names, Node, PartKind, ShellError, Simple, Word
from gpulint.parse.shell_words import NAME
from gpulint.source import Location, Text, Unknown, Value, as_written

__all__ = ["Assignment", "Redirect", "Script", "SimpleCommand", "UnknownWord", "expand", "parse", "split"]


class Assignment(NamedTuple):
    """`NAME=value`, alone or before a command; `exported` by `export` or because it stands before a command."""

    name: Text
    value: Value
    exported: bool


class Redirect(NamedTuple):
    """`> file`, `2>&1`, `< file`: the operator and its target; a heredoc's target is its body."""

    operator: str
    target: Value


@dataclass(frozen=True, eq=False)
class SimpleCommand:
    """One command: its words after quoting and known variables, and what it stands in.

    `words` holds an UnknownWord for each word with an expansion that the script does not decide. A word that is one known variable
    stands where the variable was set; `tokens` holds for each word the place of its token here, quotes included. `operator` is what
    joins the command to the one before it: "" at the start of a list, else `;`, `&&`, `||`, `|`, `&`; a newline counts as `;`. `block`
    names the compound commands around it from the outside in: "if" for a condition, "then", "else", "while", "for", "case",
    "function NAME", "subshell", "group", "substitution".
    """

    words: tuple[Value, ...]
    location: Location
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    operator: str = ""
    block: tuple[str, ...] = ()
    tokens: tuple[Location, ...] = ()
    negated: bool = False

    @property
    def name(self) -> Text | None:
        """The program's word where it is known."""
        first = self.words[0] if self.words else None
        return first if isinstance(first, Text) else None

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The words for a look-up: an unknown one as it is written."""
        return tuple(map(as_written, self.words))

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The words as plain strings: an unknown one as an empty string, which is no name of anything."""
        return tuple([str(word) if isinstance(word, Text) else "" for word in self.words])


@dataclass(frozen=True, eq=False)
class Script:
    """A parsed script: its simple commands, each before those that are substituted in it, and where reading stopped if it did."""

    commands: tuple[SimpleCommand, ...]
    error: str = ""
    error_location: Location | None = None


LONGEST_SCRIPT = 256 * 1024
"""How many characters of a script are read: nobody writes one as long by hand."""


def parse(text: Text, variables: Mapping[str, Value] | None = None, holes: Sequence[tuple[int, int]] = ()) -> Script:
    """Read a script, or a piece of one such as a RUN line.

    `variables` are known before its first line (ENV and ARG of a Dockerfile, `env:` of a CI step). `holes` are the ranges of the text
    that another tool fills in before the shell reads it, such as `${{ ... }}` of a workflow; they are unknown, in quotes too. Never
    raises; what cannot be read ends the script there, with `error` saying why.
    """
    if len(text) > LONGEST_SCRIPT:
        return Script((), f"the script is longer than {LONGEST_SCRIPT // 1024} KiB", text.location)
    names = Names()
    reader = Reader(text, _with_holes(text, holes), names)
    error, place = "", None
    try:
        reader.read()
    except ShellError as stopped:
        error, place = stopped.message, stopped.location
    resolver = _Resolver(names, variables or {})
    resolver.run(reader.nodes, ())
    return Script(tuple(resolver.commands), error, place)


def expand(text: Text, variables: Mapping[str, Value] | None = None, holes: Sequence[tuple[int, int]] = ()) -> Value:
    """A string in which `$NAME` and its kin are replaced as between double quotes; what cannot be read is unknown."""
    names = Names()
    reader = Reader(text, _with_holes(text, holes), names)
    try:
        parts = reader.quoted()
    except ShellError:
        return UnknownWord(str(text), text.location, text.cut(0, 0), text.cut(0, 0))
    scope = Scope(names, variables or {})
    return expand_word(Word(parts, 0, len(text)), text, scope)[0] if parts else text


def _with_holes(text: Text, holes: Iterable[tuple[int, int]]) -> str:
    """The text with its holes marked, character by character."""
    parts: list[str] = []
    at = 0
    for start, end in holes:
        parts += (str.__getitem__(text, slice(at, start)), HOLE * (end - start))
        at = end
    return "".join((*parts, str.__getitem__(text, slice(at, None))))


_CONDITIONAL = ("&&", "||", "|")
_NAME_OF_ASSIGNMENT = regex(rf"({NAME})(=|\Z)")


class _Resolver:
    """Goes through a script's nodes as they would run and lists its commands with what is known of their words."""

    def __init__(self, names: Names, variables: Mapping[str, Value]) -> None:
        self.commands: list[SimpleCommand] = []
        self._scope = Scope(names, variables)

    def run(self, nodes: Sequence[Node], block: tuple[str, ...]) -> None:
        """List the commands of a list. What is set behind `&&` is known down the chain, and undecided after it."""
        conditional: int | None = None
        for node in nodes:
            if conditional is not None and node.operator != "&&":
                self._scope.undecide(self._scope.changed_since(conditional))
                conditional = None
            if conditional is None and node.operator in _CONDITIONAL:
                conditional = self._scope.mark()
            if isinstance(node, Simple):
                self._simple(node, block)
            else:
                self._block(node, block)
        if conditional is not None:
            self._scope.undecide(self._scope.changed_since(conditional))

    def _block(self, node: Block, block: tuple[str, ...]) -> None:
        """List the commands of a compound command. Only a group changes variables for what follows; others leave theirs undecided."""
        if node.kind == "group":
            for section in node.sections:
                self.run(section.nodes, (*block, section.label))
            return
        if node.kind in ("while", "for"):
            self._scope.undecide(node.assigned)
        function, epoch = self._scope.function, self._scope.epoch
        self._scope.function = node.function or function
        for section in node.sections:
            mark = self._scope.mark()
            self.run(section.nodes, (*block, section.label))
            self._scope.undo(mark)
        self._scope.function = function
        if node.kind in ("subshell", "substitution"):
            self._scope.epoch = epoch
        if node.kind in ("if", "case"):
            self._scope.undecide(node.assigned)

    def _simple(self, node: Simple, block: tuple[str, ...]) -> None:
        words, tokens = self._words(node)
        redirects = tuple(Redirect(each.operator, expand_value(each.word, node.text, self._scope)) for each in node.redirects)
        at = len(self.commands)
        for substitution in node.substitutions:
            self._block(substitution, block)
        assignments = tuple(self._assign(node, words))
        place = _place(node, tokens)
        command = SimpleCommand(tuple(words), place, assignments, redirects, node.operator, block, tuple(tokens), node.negated)
        self.commands.insert(at, command)
        self._scope.undecide(node.changes)
        if node.forgets:
            self._scope.forget()

    def _words(self, node: Simple) -> tuple[list[ExpandedWord], list[Location]]:
        """The words of a command, and for each the place of its token."""
        words: list[ExpandedWord] = []
        tokens: list[Location] = []
        for word in node.words:
            expanded = expand_word(word, node.text, self._scope)
            words += expanded
            tokens += [_token(word, node.text, expanded)] * len(expanded)
        return words, tokens

    def _assign(self, node: Simple, words: list[ExpandedWord]) -> Iterator[Assignment]:
        """The assignments of a command, which hold for what follows where they stand alone or behind `export` and its kin."""
        program = words[0] if words and isinstance(words[0], Text) else ""
        for assignment in chain(self._assignments(node, program), self._exports(node, words, program)):
            if not node.words or program in DECLARING:
                self._scope.put(str(assignment.name), assignment.value)
            yield assignment

    def _assignments(self, node: Simple, program: str) -> Iterator[Assignment]:
        exported = bool(node.words) and program not in NOT_EXPORTING
        for each in node.assignments:
            name = node.text.cut(each.start, each.start + len(each.name))
            yield Assignment(name, self._assigned_value(each, node.text), exported)

    def _assigned_value(self, assignment: AssignmentSyntax, text: Text) -> Value:
        value = expand_value(assignment.word, text, self._scope) if assignment.word else None
        if value is not None and not assignment.append:
            return value
        before = self._scope.get(assignment.name)
        if isinstance(before, Text) and isinstance(value, Text) and self._scope.affords(before):
            return Text(before + value, value.location, ())
        whole = text.cut(assignment.start, assignment.end)
        return Unknown(str(whole), whole.location)

    def _exports(self, node: Simple, words: list[ExpandedWord], program: str) -> Iterator[Assignment]:
        """What `export` and its kin set by a word in quotes, or export of what was set before."""
        known = {each.name for each in node.assignments}
        exported = program not in NOT_EXPORTING
        for word in words[1:] if program in DECLARING else ():
            text = word.prefix if isinstance(word, UnknownWord) else word
            match = _NAME_OF_ASSIGNMENT.match(text)
            if match is None or match[1] in known:
                continue
            name = text.cut(*match.span(1))
            before = self._scope.get(match[1])
            if isinstance(word, UnknownWord):
                yield Assignment(name, Unknown(word.raw, word.location), exported)
            elif match[2]:
                yield Assignment(name, text.cut(match.end(), len(text)), exported)
            elif program == "export" and isinstance(before, Text):
                yield Assignment(name, before, exported)


def _place(node: Simple, tokens: list[Location]) -> Location:
    """The place of a command with all that belongs to it."""
    words_alone = tokens and node.start == node.words[0].start and node.end == node.words[-1].end
    return tokens[0].to(tokens[-1]) if words_alone else _region(node.text, node.start, node.end)


def _token(word: Word, text: Text, expanded: list[ExpandedWord]) -> Location:
    """The place of a word as it is written."""
    part = word.parts[0] if len(word.parts) == 1 else None
    if part and part.kind is PartKind.LITERAL and (part.start, part.end) == (word.start, word.end):
        return expanded[0].location
    return _region(text, word.start, word.end)


def _region(text: Text, start: int, end: int) -> Location:
    """The place of the characters from `start` up to `end`, of which there is one at least."""
    return text.cut(start, start + 1).location.to(text.cut(end - 1, end).location)
