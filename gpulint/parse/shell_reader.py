"""The grammar of POSIX shell and bash: from text to simple commands and the blocks around them, with words not yet expanded.

One pass by hand over the text, each character looked at a bounded number of times.
"""

from __future__ import annotations

import re

from gpulint.deferred import NamedTuple, regex
from gpulint.parse.shell_syntax import (
    HOLE,
    MOST_COMMANDS,
    AssignmentSyntax,
    Block,
    Names,
    Node,
    Part,
    PartKind,
    RedirectSyntax,
    Section,
    Simple,
    Word,
    joined,
)
from gpulint.parse.shell_words import NAME, PLAIN_IN_TEST, SPACE, WordReader
from gpulint.source import Text

_JOIN = regex(r";;&|;;|;&|&&|\|\||\|&|&(?!>)|[;|\n]")
_RESERVED = regex(
    rf"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|in|function|coproc|[{{}}!]|\[\[)(?=[{SPACE};&|()<>]|\\\r?\n[{SPACE}]|\Z)"
    r"|\(\(?|time(?=[ \t]+(?:(?:for|while|until|select|if|case|\[\[|!)[ \t]|[{(]))"
)
_NAME = regex(NAME)
_FUNCTION_PARENTHESES = regex(r"[ \t]*\([ \t]*\)")
_ASSIGNMENT = regex(rf"({NAME})(\[[^\]\s]{{0,200}}\])?(\+?)=")
_REDIRECT = regex(r"(?:\d*|\{\w+\})(?:<<<|<<-?|<>|<&|<(?!\()|>&|>>|>\||>(?!\())|&>>|&>")
_BEGINS_REDIRECT = frozenset("<>&{0123456789")

_FUNCTION_NAME = regex(rf"[^{SPACE}'\"\\$`;&|<>(){{}}=]+")
_QUOTED_ASSIGNMENT = regex(rf"[\"']({NAME})=")
_HEREDOC = regex(r"(?<!<)<<-?\Z")
_EXPANDED_IN_HEREDOC = regex(rf"[$`\\{HOLE}]")
_LINE_BEHIND_TABS = regex(r"\t*([^\n]*\n?)")
_BACKTICKS = regex(r"`([^`\\]*(?:\\.[^`\\]*)*)`", re.DOTALL)
_RUN_IN_BACKTICKS = regex(r"[^\\]+|\\([`\\$])|\\")
_END_OF_TEST = regex(rf"\]\](?=[{SPACE};&|)]|\Z)")

DECLARING = frozenset({"export", "readonly", "local", "declare", "typeset"})
"""Builtins whose arguments are assignments."""
_LOCAL = frozenset({"local", "declare", "typeset"})
NOT_EXPORTING = _LOCAL | {"readonly"}
_SETTING = frozenset({"read", "mapfile", "readarray", "getopts", "unset", "let"})
_CHANGING = _LOCAL | _SETTING | {"printf"}
_FORGETTING = frozenset({".", "source", "eval"})


class _Heredoc(NamedTuple):
    """A heredoc whose body is yet to come: where its redirection is kept, and what ends it."""

    redirects: list[RedirectSyntax]
    position: int
    delimiter: str
    literal: bool


class Reader(WordReader):
    """Reads a text, or the part of it from `start` up to `end`, into `nodes`.

    `source` is the text with its holes marked. What was read before an error is in `nodes`.
    """

    def __init__(self, text: Text, source: str, names: Names, start: int = 0, end: int | None = None, depth: int = 0) -> None:
        super().__init__(text, source, names, start, len(source) if end is None else end, depth)
        self.nodes: list[Node] = []
        self._substitutions: list[Block] = []
        self._heredocs: list[_Heredoc] = []

    def read(self) -> None:
        """Read everything. Raises ShellError where that cannot be done."""
        self._list(self.nodes, frozenset())
        if self.at < self.end:
            self._unexpected()

    def quoted(self) -> tuple[Part, ...]:
        """Read everything as it stands between double quotes, where a quote itself is a character like any other."""
        parts: list[Part] = []
        while self.at < self.end:
            if self.source[self.at] == '"':
                self._take_literal(parts, self.at + 1, quoted=True)
            else:
                self._in_quotes(parts)
        return tuple(parts)

    # --- lists of commands ---

    def _list(self, nodes: list[Node], closers: frozenset[str]) -> None:
        """Read commands up to a closing word, a closing parenthesis, the end of a case arm, or the end."""
        operator, complete = "", False
        while True:
            self._skip_blanks()
            if self.at >= self.end:
                return
            join = _JOIN.match(self.source, self.at, self.end)
            if join:
                if join[0] in (";;", ";&", ";;&"):
                    return
                self._skip_join(join[0])
                operator, complete = _next_operator(operator, join[0], bool(nodes)), False
            elif self.source[self.at] == ")":
                return
            else:
                reserved = self._reserved()
                if reserved in closers:
                    return
                if complete:
                    self._unexpected()
                self._command(reserved, nodes, operator)
                operator, complete = ";", True

    def _skip_join(self, join: str) -> None:
        if join == "\n":
            self._newline()
        else:
            self.at += len(join)

    def _command(self, reserved: str, nodes: list[Node], operator: str) -> None:
        """Read the command that begins here, with this reserved word or with none."""
        negated = False
        while reserved in ("!", "time"):
            negated = negated != (reserved == "!")
            self.at += len(reserved)
            self._skip_blanks()
            reserved = self._reserved()
        if reserved in _COMPOUND:
            _COMPOUND[reserved](self, nodes, operator)
        elif reserved == "[[":
            self._test(nodes, operator, negated)
        elif reserved in ("", "in"):
            self._simple(nodes, operator, negated)
        else:
            self._unexpected()

    def _section(self, block: Block, label: str, *closers: str) -> None:
        section = Section(label, [])
        block.sections.append(section)
        self._list(section.nodes, frozenset(closers))

    def _open(self, kind: str, nodes: list[Node], operator: str, function: int = 0) -> Block:
        block = Block(kind, operator, [], set(), function)
        nodes.append(block)
        self._deeper()
        self.names.enter(block)
        return block

    def _close(self, block: Block) -> None:
        """End a compound command: what it redirects is read and dropped."""
        self.names.leave()
        self._depth -= 1
        self._skip_blanks()
        while self._redirect([]):
            self._skip_blanks()
        self._keep_substitutions(block, block.kind)

    def _keep_substitutions(self, block: Block, label: str) -> None:
        """Put what was substituted in the words of a compound command itself into the block."""
        if self._substitutions:
            block.sections.append(Section(label, [*self._substitutions]))
            self._substitutions = []

    # --- compound commands ---

    def _if(self, nodes: list[Node], operator: str) -> None:
        block = self._open("if", nodes, operator)
        word = self._expect("if")
        while word in ("if", "elif"):
            self._section(block, "if", "then")
            self._expect("then")
            self._section(block, "then", "elif", "else", "fi")
            word = self._expect("elif", "else", "fi")
        if word == "else":
            self._section(block, "else", "fi")
            self._expect("fi")
        self._close(block)

    def _while(self, nodes: list[Node], operator: str) -> None:
        block = self._open("while", nodes, operator)
        self._expect("while", "until")
        self._section(block, "while", "do")
        self._body(block, "while")

    def _for(self, nodes: list[Node], operator: str) -> None:
        block = self._open("for", nodes, operator)
        self._expect("for", "select")
        self._skip_blanks()
        if self.source.startswith("((", self.at):
            self._arithmetic(self.at + 2)
        else:
            self._loop_variable()
        self._keep_substitutions(block, "for")
        self._skip_lines()
        if self.source.startswith(";", self.at):
            self.at += 1
            self._skip_lines()
        self._body(block, "for")

    def _loop_variable(self) -> None:
        name = _NAME.match(self.source, self.at, self.end)
        if not name:
            self._unexpected()
        self.names.assign(name[0])
        self.at = name.end()
        self._skip_lines()
        if self._reserved() == "in":
            self._expect("in")
            self._skip_blanks()
            while self.at < self.end and not _JOIN.match(self.source, self.at, self.end):
                self._progressing_word()
                self._skip_blanks()

    def _body(self, block: Block, label: str) -> None:
        self._expect("do")
        self._section(block, label, "done")
        self._expect("done")
        self._close(block)

    def _case(self, nodes: list[Node], operator: str) -> None:
        block = self._open("case", nodes, operator)
        self._expect("case")
        self._skip_blanks()
        self._progressing_word()
        self._skip_lines()
        self._expect("in")
        self._keep_substitutions(block, "case")
        self._skip_lines()
        while self._reserved() != "esac":
            self._pattern()
            self._section(block, "case", "esac")
            join = _JOIN.match(self.source, self.at, self.end)
            if join:
                self.at = join.end()
            self._skip_lines()
        self._expect("esac")
        self._close(block)

    def _pattern(self) -> None:
        """The patterns of one arm, up to the closing parenthesis."""
        if self.source.startswith("(", self.at):
            self.at += 1
        self._skip_lines()
        while not self.source.startswith(")", self.at):
            if self.source.startswith("|", self.at):
                self.at += 1
            else:
                self._progressing_word()
            self._skip_lines()
        self.at += 1

    def _function(self, nodes: list[Node], operator: str) -> None:
        self._expect("function")
        self._skip_blanks()
        name = _FUNCTION_NAME.match(self.source, self.at, self.end)
        if not name:
            self._unexpected()
        self.at = name.end()
        parentheses = _FUNCTION_PARENTHESES.match(self.source, self.at, self.end)
        self.at = parentheses.end() if parentheses else self.at
        self._function_body(name[0], nodes, operator)

    def _function_body(self, name: str, nodes: list[Node], operator: str) -> None:
        self.names.function_count += 1
        block = self._open("function", nodes, operator, self.names.function_count)
        self._skip_lines()
        section = Section(f"function {name}", [])
        block.sections.append(section)
        if self.at >= self.end:
            self._unexpected()
        self._command(self._reserved(), section.nodes, "")
        self._close(block)

    def _subshell(self, nodes: list[Node], operator: str) -> None:
        block = self._open("subshell", nodes, operator)
        self.at += 1
        self._section(block, "subshell")
        self._expect_closing_parenthesis()
        self._close(block)

    def _group(self, nodes: list[Node], operator: str) -> None:
        block = self._open("group", nodes, operator)
        self._expect("{")
        self._section(block, "group", "}")
        self._expect("}")
        self._close(block)

    def _double_parenthesis(self, nodes: list[Node], operator: str) -> None:
        """`((arithmetic))`, or a subshell that begins with another."""
        if not self._arithmetic(self.at + 2):
            self._subshell(nodes, operator)

    def _coprocess(self, nodes: list[Node], operator: str) -> None:
        self._expect("coproc")
        self._skip_blanks()
        reserved = self._reserved()
        if self.at < self.end and reserved != "coproc":
            self._command(reserved, nodes, operator)

    def _test(self, nodes: list[Node], operator: str, negated: bool) -> None:
        """`[[ ... ]]`: a command whose words are split at blanks alone."""
        start = self.at
        words: list[Word] = []
        while not _END_OF_TEST.match(self.source, self.at, self.end):
            closing = self.source.startswith(")", self.at)
            words.append(self._characters(1) if closing else self._progressing_word(PLAIN_IN_TEST))
            self._skip_lines()
        words.append(self._characters(2))
        nodes.append(Simple(self.text, start, self.at, (), tuple(words), [], self._taken_substitutions(), operator, negated, (), False))
        self._skip_blanks()
        while self._redirect([]):
            self._skip_blanks()

    def _characters(self, count: int) -> Word:
        """A word of the next characters as they stand."""
        start = self.at
        self.at += count
        return Word((Part(PartKind.LITERAL, start, self.at),), start, self.at)

    # --- simple commands ---

    def _simple(self, nodes: list[Node], operator: str, negated: bool) -> None:
        self.names.command_count += 1
        if self.names.command_count > MOST_COMMANDS:
            self._stop(f"there are more than {MOST_COMMANDS:,} commands")
        start = end = self.at
        words: list[Word] = []
        assignments: list[AssignmentSyntax] = []
        redirects: list[RedirectSyntax] = []
        program = ""
        while self._redirect(redirects) or self._assign(program, words, assignments) or self._argument(words):
            end = self.at
            if len(words) == 1 and not program and end == words[0].end:
                program = self._plain(words[0])
                if not assignments and self._begins_function(program):
                    self._function_body(program, nodes, operator)
                    return
            self._skip_blanks()
        if end == start:
            self._unexpected()
        changes = self._changes(program, words)
        substitutions = self._taken_substitutions()
        forgets = program in _FORGETTING
        all_words, all_assignments = tuple(words), tuple(assignments)
        nodes.append(
            Simple(self.text, start, end, all_assignments, all_words, redirects, substitutions, operator, negated, changes, forgets)
        )

    def _argument(self, words: list[Word]) -> bool:
        word = self._word()
        if word.end == word.start:
            return False
        words.append(word)
        return True

    def _begins_function(self, program: str) -> bool:
        match = _FUNCTION_PARENTHESES.match(self.source, self.at, self.end)
        if not match or not program:
            return False
        self.at = match.end()
        return True

    def _assign(self, program: str, words: list[Word], assignments: list[AssignmentSyntax]) -> bool:
        """Read an assignment, before the command's words or as an argument of `export` and its kin."""
        if words and program not in DECLARING:
            return False
        match = _ASSIGNMENT.match(self.source, self.at, self.end)
        if match:
            assignments.append(self._assignment(match, program in _LOCAL))
            if words:
                words.append(self._as_word(assignments[-1], match.end()))
        elif words:
            quoted = _QUOTED_ASSIGNMENT.match(self.source, self.at, self.end)
            if quoted:
                self.names.assign(quoted[1], program in _LOCAL)
        return match is not None

    def _assignment(self, match: re.Match[str], local: bool) -> AssignmentSyntax:
        self.names.assign(match[1], local)
        self.at = match.end()
        word = None
        if self.source.startswith("(", self.at):
            self._array()
        else:
            word = self._word()
        return AssignmentSyntax(match[1], None if match[2] else word, bool(match[3]), match.start(), self.at)

    def _as_word(self, assignment: AssignmentSyntax, value_start: int) -> Word:
        name = Part(PartKind.LITERAL, assignment.start, value_start)
        value = assignment.word.parts if assignment.word else (Part(PartKind.UNKNOWN, value_start, self.at),)
        return Word((name, *value), assignment.start, self.at)

    def _array(self) -> None:
        """The words of an array, which are not kept."""
        self.at += 1
        self._skip_lines()
        while not self.source.startswith(")", self.at):
            self._progressing_word()
            self._skip_lines()
        self.at += 1

    def _plain(self, word: Word) -> str:
        """The word where it consists of characters alone, else nothing."""
        if all(part.kind is PartKind.LITERAL for part in word.parts):
            return "".join(self.source[part.start : part.end] for part in word.parts)
        return ""

    def _changes(self, program: str, words: list[Word]) -> tuple[str, ...]:
        """The names that a builtin sets to what cannot be known."""
        if program not in _CHANGING:
            return ()
        arguments = [self._plain(word) for word in words[1:]]
        names: list[str] = []
        if program in _SETTING or (program == "printf" and "-v" in arguments):
            names = [match[0] for match in map(_NAME.match, arguments) if match]
        elif program in _LOCAL:
            names = [word for word in arguments if _NAME.fullmatch(word)]
        for name in names:
            self.names.assign(name, local=program in _LOCAL)
        return tuple(names)

    def _taken_substitutions(self) -> tuple[Block, ...]:
        taken = tuple(self._substitutions)
        self._substitutions = []
        return taken

    # --- redirections and heredocs ---

    def _redirect(self, redirects: list[RedirectSyntax]) -> bool:
        if self.source[self.at : self.at + 1] not in _BEGINS_REDIRECT:
            return False
        match = _REDIRECT.match(self.source, self.at, self.end)
        if not match:
            return False
        self.at = match.end()
        self._skip_blanks()
        word = self._word()
        redirects.append(RedirectSyntax(match[0], word))
        if _HEREDOC.search(match[0]):
            delimiter = "".join(self.source[part.start : part.end] for part in word.parts if part.kind is PartKind.LITERAL)
            literal = any(part.quoted for part in word.parts)
            self._heredocs.append(_Heredoc(redirects, len(redirects) - 1, delimiter, literal))
        return True

    def _newline(self) -> None:
        self.at += 1
        heredocs, self._heredocs = self._heredocs, []
        for heredoc in heredocs:
            operator = heredoc.redirects[heredoc.position].operator
            heredoc.redirects[heredoc.position] = RedirectSyntax(operator, self._heredoc_body(heredoc, operator.endswith("-")))

    def _heredoc_body(self, heredoc: _Heredoc, strip_tabs: bool) -> Word:
        tabs = r"\t*" if strip_tabs else ""
        pattern = re.compile(rf"^{tabs}{re.escape(heredoc.delimiter)}\r?$", re.MULTILINE)
        start = self.at
        match = pattern.search(self.source, start, self.end)
        end = match.start() if match else self.end
        self.at = min(match.end() + 1, self.end) if match else self.end
        if not heredoc.literal and _EXPANDED_IN_HEREDOC.search(self.source, start, end):
            return Word((Part(PartKind.UNKNOWN, start, end, True),), start, end)
        return Word(tuple(self._lines(start, end, strip_tabs)), start, end)

    def _lines(self, start: int, end: int, strip_tabs: bool) -> list[Part]:
        if not strip_tabs:
            return [Part(PartKind.LITERAL, start, end, True)]
        lines = _LINE_BEHIND_TABS.finditer(self.source, start, end)
        return [Part(PartKind.LITERAL, *line.span(1), True) for line in lines if line[1]]

    # --- substitutions ---

    def _substitution(self, start: int) -> None:
        self.at = start + 2
        outer, self._substitutions = self._substitutions, []
        block = self._open("substitution", [], "")
        self._section(block, "substitution")
        self._expect_closing_parenthesis()
        self._end_substitution(block, outer)

    def _backticks(self) -> None:
        match = _BACKTICKS.match(self.source, self.at, self.end)
        if not match:
            self._stop("a backtick is not closed")
        outer, self._substitutions = self._substitutions, []
        block = self._open("substitution", [], "")
        reader = self._inner_reader(*match.span(1))
        block.sections.append(Section("substitution", reader.nodes))
        reader.read()
        self.at = match.end()
        self._end_substitution(block, outer)

    def _end_substitution(self, block: Block, outer: list[Block]) -> None:
        self.names.leave()
        self._depth -= 1
        outer.append(block)
        self._substitutions = outer

    def _inner_reader(self, start: int, end: int) -> Reader:
        """A reader of the commands between backticks, where a backslash hides the next special character once more."""
        if self.source.find("\\", start, end) < 0:
            return Reader(self.text, self.source, self.names, start, end, self._depth)
        runs = [run.span(1 if run[1] else 0) for run in _RUN_IN_BACKTICKS.finditer(self.source, start, end)]
        text = joined([self.text.cut(*run) for run in runs], self.text.cut(start, end).location)
        source = "".join(self.source[low:high] for low, high in runs)
        return Reader(text, source, self.names, depth=self._depth)

    # --- small steps ---

    def _skip_lines(self) -> None:
        """Pass blanks, comments and ends of lines."""
        self._skip_blanks()
        while self.at < self.end and self.source[self.at] == "\n":
            self._newline()
            self._skip_blanks()

    def _reserved(self) -> str:
        match = _RESERVED.match(self.source, self.at, self.end)
        return match[0] if match else ""

    def _expect(self, *words: str) -> str:
        word = self._reserved()
        if word not in words:
            self._unexpected()
        self.at += len(word)
        return word

    def _expect_closing_parenthesis(self) -> None:
        if not self.source.startswith(")", self.at) or self.at >= self.end:
            self._unexpected()
        self.at += 1


_COMPOUND = {
    "if": Reader._if,
    "while": Reader._while,
    "until": Reader._while,
    "for": Reader._for,
    "select": Reader._for,
    "case": Reader._case,
    "function": Reader._function,
    "coproc": Reader._coprocess,
    "{": Reader._group,
    "(": Reader._subshell,
    "((": Reader._double_parenthesis,
}


def _next_operator(operator: str, join: str, follows: bool) -> str:
    """What joins the next command to the ones before: ends of lines after `&&` and its kin do not count."""
    if join in ("\n", ";"):
        if operator in ("&&", "||", "|", "&"):
            return operator
        return ";" if follows else ""
    return "|" if join == "|&" else join
