"""Bake files of buildx: the targets of a docker-bake.hcl or docker-bake.json, as far as their values stand there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpulint.deferred import NamedTuple, regex
from gpulint.source import Location, Source, Text, Unknown, Value

BAKE_FILES = ("docker-bake.hcl", "docker-bake.override.hcl", "docker-bake.json", "docker-bake.override.json")
"""The names by which bake finds its files."""

Settings = Mapping[str, tuple[Value, ...]]


class BakeTarget(NamedTuple):
    """A target: its name, and the values of each of its settings that are strings or lists of strings, with those it inherits."""

    name: str
    location: Location
    settings: Settings

    def value(self, key: str) -> Value | None:
        """The one value of a setting, None where it has none."""
        return next(iter(self.settings.get(key, ())), None)


def parse_bake(source: Source) -> tuple[BakeTarget, ...]:
    """The targets of a bake file. Never raises: what cannot be read gives no target, and a value with an expression is an Unknown."""
    own = dict(_of_json(source) if source.path.endswith(".json") else _of_hcl(source))
    done: dict[str, Settings] = {}
    return tuple(BakeTarget(name, location, _with_inherited(name, own, done, ())) for name, (location, _) in own.items())


_Own = dict[str, tuple[Location, Settings]]
_MOST_PARENTS = 50


def _with_inherited(name: str, own: _Own, done: dict[str, Settings], below: tuple[str, ...]) -> Settings:
    """A target's settings over those of the targets that it inherits, the last of them first; each is worked out once."""
    if name in done:
        return done[name]
    if name not in own or name in below or len(below) > _MOST_PARENTS:
        return {}
    settings = own[name][1]
    merged: dict[str, tuple[Value, ...]] = {}
    for parent in settings.get("inherits", ()):
        if isinstance(parent, Text):
            merged.update(_with_inherited(str(parent), own, done, (*below, name)))
    done[name] = {**merged, **settings}
    return done[name]


# --- HCL ------------------------------------------------------------------------------------------------------------------------

_TOKEN = regex(
    r"""(?P<comment>\#[^\n]*|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)|"(?P<string>(?:[^"\\\n]|\\.)*)"|(?P<word>[\w.-]+)|(?P<mark>[{}\[\]=,()])"""
)
_VARIABLE = regex(r"\$\{(\w+)\}")


class _Token(NamedTuple):
    kind: str
    text: Text


def _of_hcl(source: Source) -> Iterator[tuple[str, tuple[Location, Settings]]]:
    tokens = [
        _Token(str(match.lastgroup), source.cut(*match.span(str(match.lastgroup))))
        for match in _TOKEN.finditer(source.text)
        if match.lastgroup != "comment"
    ]
    blocks = list(_blocks(tokens))
    defaults = {str(label): body for kind, label, body in blocks if kind == "variable"}
    variables = {name: settings["default"][0] for name, body in defaults.items() if (settings := _settings(body, {})).get("default")}
    for kind, label, body in blocks:
        if kind == "target":
            yield str(label), (label.location, _settings(body, variables))


def _blocks(tokens: list[_Token]) -> Iterator[tuple[str, Text, list[_Token]]]:
    """The blocks of a file with one label: `target "app" { ... }`."""
    at = 0
    while at + 2 < len(tokens):
        word, label, brace = tokens[at : at + 3]
        if word.kind == "word" and label.kind == "string" and brace.text == "{" and brace.kind == "mark":
            end = _closing(tokens, at + 2)
            yield str(word.text), label.text, tokens[at + 3 : end]
            at = end
        at += 1


def _closing(tokens: list[_Token], opening: int) -> int:
    """The index of the mark that closes a brace, bracket or parenthesis; the end where none does."""
    depth = 0
    for at in range(opening, len(tokens)):
        if tokens[at].kind == "mark":
            depth += (tokens[at].text in "{[(") - (tokens[at].text in "}])")
            if depth == 0:
                return at
    return len(tokens)


def _settings(body: list[_Token], variables: Mapping[str, Value]) -> Settings:
    """The settings of a block whose values are a string or a list of strings; other values are Unknown, and inner blocks left out."""
    found: dict[str, tuple[Value, ...]] = {}
    at = 0
    while at + 2 < len(body):
        key, equals, first = body[at : at + 3]
        if key.kind != "word" or equals.text != "=":
            at = _closing(body, at + 1) if equals.text == "{" else at + 1
            continue
        end = _closing(body, at + 2) if first.kind == "mark" else at + 2
        inner = body[at + 3 : end] if first.text == "[" else [first] if end == at + 2 else []
        found[str(key.text)] = tuple(_value(token, variables) for token in inner if token.kind != "mark")
        at = end + 1
    return found


def _value(token: _Token, variables: Mapping[str, Value]) -> Value:
    """A string with the variables that have a default; Unknown where another expression stands in it or for it."""
    if token.kind == "word":
        return variables.get(str(token.text), Unknown(str(token.text), token.text.location))
    parts = _VARIABLE.split(token.text)
    values = [part if index % 2 == 0 else variables.get(part) for index, part in enumerate(parts)]
    if len(parts) == 1 and "${" not in token.text and "%{" not in token.text:
        return token.text
    known = [str(value) for value in values if isinstance(value, str)]
    text = "".join(known)
    is_known = len(known) == len(values) and "${" not in text and "%{" not in text
    return Text(text, token.text.location, ()) if is_known else Unknown(str(token.text), token.text.location)


# --- JSON -----------------------------------------------------------------------------------------------------------------------


def _of_json(source: Source) -> Iterator[tuple[str, tuple[Location, Settings]]]:
    from gpulint.parse.yaml import Mapping as Node
    from gpulint.parse.yaml import parse

    roots = [document.root for document in parse(source).documents if isinstance(document.root, Node)]
    for entry in (entry for root in roots for entry in root.mapping("target")):
        if isinstance(entry.value, Node):
            yield str(entry.key), (entry.key.location, {str(each.key): _strings(each.value) for each in entry.value})


def _strings(node: object) -> tuple[Value, ...]:
    from gpulint.parse.yaml import Sequence as Nodes

    return tuple(each for each in (node if isinstance(node, Nodes) else [node]) if isinstance(each, (Text, Unknown)))
