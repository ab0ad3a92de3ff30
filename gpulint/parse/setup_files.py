"""What a setup.py or setup.cfg says as literals: the packages that it asks for, and the commands that it installs. Nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpulint.deferred import regex
from gpulint.parse.requirement import Package, python_name, python_package
from gpulint.parse.requirements import Requirements
from gpulint.source import Location, Source, Text

_MOST_CHARACTERS = 200_000  # nobody writes a longer one by hand


def parse_setup(source: Source) -> Requirements:
    """Read `install_requires` and `extras_require` of the call of setup(), where they are lists of strings, or a name for one. Never
    raises: what cannot be read names no package."""
    tree = _tree(source)
    names = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return _requirements(source, tuple(_packages_of_call(source, tree, names)), tuple(_files_of_call(source, tree)))


def console_scripts(source: Source) -> Iterator[tuple[str, Text]]:
    """The commands that a setup.py or setup.cfg installs, each with the `module:function` that it calls. Never raises."""
    found = _scripts_of_cfg(source) if source.path.endswith(".cfg") else _scripts_of_call(source)
    for line in found:
        match = _SCRIPT.fullmatch(line)
        if match:
            yield match["name"], line.cut(*match.span("target"))


def _scripts_of_cfg(source: Source) -> Iterator[Text]:
    return (line for section, option, line in _lines_of_cfg(source) if (section, option) == ("options.entry_points", "console_scripts"))


def _scripts_of_call(source: Source) -> Iterator[Text]:
    """The strings below the key `console_scripts` of a mapping, wherever that stands."""
    for node in ast.walk(_tree(source)):
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and key.value == "console_scripts":
                inner = (each for each in ast.walk(value) if isinstance(each, ast.Constant) and isinstance(each.value, str))
                yield from (_text(source, each, line.strip()) for each in inner for line in str(each.value).splitlines())


_SCRIPT = regex(r"(?P<name>[\w.-]+)\s*=\s*(?P<target>[\w.]+:\w+)(?:\s*\[.*\])?")


def _tree(source: Source) -> ast.Module:
    """A setup.py's syntax; an empty one where it cannot be read."""
    try:
        return ast.parse(source.text) if len(source.text) <= _MOST_CHARACTERS else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _files_of_call(source: Source, tree: ast.Module) -> Iterator[Text]:
    """The files whose lines are given as `install_requires`: those that the value opens, by itself or through names and functions. None
    where some lines may be left out: more than comments, blanks and options."""
    named = _definitions(tree)
    found: list[Text] = []
    for call in (statement.value for statement in tree.body if isinstance(statement, ast.Expr)):
        if isinstance(call, ast.Call) and _called(call.func) == "setup":
            following: list[ast.AST] = [keyword.value for keyword in call.keywords if keyword.arg == "install_requires"]
            seen: set[str] = set()
            while following:
                for node in ast.walk(following.pop()):
                    if isinstance(node, ast.comprehension) and not all(map(_is_of_form, node.ifs)):
                        return
                    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(_LISTS):
                        found.append(_text(source, node, node.value))
                    elif isinstance(node, ast.Name) and node.id in named and node.id not in seen:
                        seen.add(node.id)
                        following += named[node.id]
    yield from found


def _is_of_form(condition: ast.expr) -> bool:
    """Whether a condition leaves a line out by its form alone: `if line and not line.startswith("#")`."""
    constants = (node.value for node in ast.walk(condition) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return all(not constant or constant[0] in "#- \n" for constant in constants)


_LISTS = (".txt", ".in")


def _definitions(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """What stands for each name of a module: what is assigned to it, its function, or what it is opened as."""
    found: dict[str, list[ast.AST]] = {}
    statements = [each for node in tree.body for each in ([node, *node.body] if isinstance(node, ast.With) else [node])]
    for node in statements:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.With):
            opened = ((item.optional_vars, item.context_expr) for item in node.items)
            for name, value in opened:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def _packages_of_call(source: Source, tree: ast.Module, names: dict[str, ast.expr]) -> Iterator[Package]:
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or _called(call.func) != "setup":
            continue
        given = {keyword.arg: _value(keyword.value, names) for keyword in call.keywords}
        yield from _listed(source, given.get("install_requires"), names)
        extras = given.get("extras_require")
        if isinstance(extras, ast.Dict):
            for key, value in zip(extras.keys, extras.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    group = python_name(key.value)
                    yield from (package._replace(group=group) for package in _listed(source, _value(value, names), names))


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _value(node: ast.expr, names: dict[str, ast.expr]) -> ast.expr:
    return names.get(node.id, node) if isinstance(node, ast.Name) else node


def _listed(source: Source, node: ast.expr | None, names: dict[str, ast.expr]) -> Iterator[Package]:
    for element in node.elts if isinstance(node, (ast.List, ast.Tuple)) else ():
        value = _value(element, names)
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield python_package(_text(source, value, value.value))


def _text(source: Source, node: ast.Constant, value: str) -> Text:
    """The string where it stands within its quotes, if it stands there as it is."""
    line = source.line(node.lineno)
    at = line.find(value, len(line.encode()[: node.col_offset].decode(errors="ignore")))
    if at < 0 or not value:
        return Text(value, source.line_location(node.lineno), ())
    return Text(value, Location(source.path, node.lineno, at + 1, node.lineno, at + 1 + len(value)))


_SECTION = regex(r"\[([^\]]+)\]\s*")
_OPTION = regex(r"([A-Za-z][\w.-]*)\s*[=:]\s*(.*)")


def parse_setup_cfg(source: Source) -> Requirements:
    """Read `install_requires` and the extras of a setup.cfg. Never raises."""
    return _requirements(source, tuple(_packages_of_cfg(source)))


def _packages_of_cfg(source: Source) -> Iterator[Package]:
    for section, option, line in _lines_of_cfg(source):
        is_extra = section == "options.extras_require" and option
        if is_extra or (section, option) == ("options", "install_requires"):
            yield python_package(line)._replace(group=python_name(option) if is_extra else "")


def _lines_of_cfg(source: Source) -> Iterator[tuple[str, str, Text]]:
    """The lines of values, each with its section and option, without comments."""
    section, option = "", ""
    for number in range(1, source.line_count + 1):
        line = source.line(number)
        if match := _SECTION.fullmatch(line):
            section, option = match[1], ""
            continue
        if match := _OPTION.fullmatch(line):
            option, start = match[1], match.start(2)
        else:
            start = len(line) - len(line.lstrip())
        written = line[start:].rstrip()
        if written and written[0] not in "#;":
            yield section, option, Text(written, Location(source.path, number, start + 1, number, start + 1 + len(written)))


def _requirements(source: Source, packages: tuple[Package, ...], files: tuple[Text, ...] = ()) -> Requirements:
    return Requirements("pip", packages, files, (), (), source.location(0, len(source.text)))
