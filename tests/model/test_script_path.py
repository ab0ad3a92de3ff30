"""Where the commands of a script run, and which paths their words name."""

from __future__ import annotations

import pytest

from gpulint.model.script import read_script
from gpulint.model.script_path import ROOT, START, ScriptPath, places
from gpulint.parse.makefile import parse
from gpulint.source import Source


def shown(path: ScriptPath | None) -> str:
    return f"{path.base.value}:{path.path}" if path else "?"


def named(script: str, start: ScriptPath | None = START, anew: bool = False) -> list[str]:
    """What the words behind each `use` of a script name, as `base:path`; "?" for what is not known."""
    source = Source("ci/build.sh", script.encode())
    commands = read_script(source.cut(0, len(source.text)), {}).commands
    found = ((place, command.words[1:]) for command, place in places(commands, start, anew) if command.name == "use")
    return [shown(place.path(word)) for place, words in found for word in words]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("use . a ./b ../c", "start:. start:a start:b start:../c"),
        ("cd a && use . b", "start:a start:a/b"),
        ("cd a; cd ../b; use .", "start:b"),
        ("cd a || exit 1\nuse .", "start:a"),
        ("cd -- a\nuse .", "start:a"),
        ("cd a; cd -; use .", "start:."),
        ("pushd a; use .; popd; use .", "start:a start:."),
        ("(cd a; use .); use .", "start:a start:."),
        ("(cd a; use .); (cd b; use .); use .", "start:a start:b start:."),
        ("( (cd a; use .); cd b; use .); use .", "start:a start:b start:."),
        ("{ cd a; use .; }; use .", "start:a start:a"),
        ('bash -c "cd a && use ."; use .', "start:a start:."),
        ("X=$(cd a && pwd); use .", "start:."),
        ("if [ -d a ]; then cd a; use .; fi; use .", "start:a ?"),
        ("if [ -d a ]; then cd a; cd ..; fi; use .", "start:."),
        ("for d in a b; do (cd $d; use .); done; use .", "? start:."),
        ("cd a; f() { use .; }; f", "start:a"),
        ("f() { use .; }; cd a; f", "?"),
        ("f() { cd a; use .; }; f", "start:a"),
        ("cd; use .", "?"),
        ("cd $X; use .", "?"),
        ("cd /srv; use a", "start:/srv/a"),
        ("use $X $X/a ~/a https://example.com/a.git git@example.com:a", "? ? ? ? ?"),
    ],
)
def test_a_path_counts_from_where_the_script_went(script: str, expected: str) -> None:
    assert named(script) == expected.split()


@pytest.mark.parametrize(
    "expression",
    [
        "$(dirname $0)",
        '$(dirname "$0")',
        '$(dirname -- "$0")',
        "`dirname $0`",
        "${0%/*}",
        "${BASH_SOURCE%/*}",
        '$(dirname "${BASH_SOURCE[0]}")',
        '$(dirname "${BASH_SOURCE[0]:-$0}")',
        '$(dirname "$(readlink -f "$0")")',
        '$(dirname "$(realpath "${BASH_SOURCE[0]}")")',
        '$(cd "$(dirname "$0")" && pwd)',
        '$( cd "$( dirname "${BASH_SOURCE[0]}" )" >/dev/null 2>&1 && pwd -P )',
        '$(realpath "$(dirname "$0")")',
    ],
)
def test_the_folder_of_the_script_itself(expression: str) -> None:
    assert named(f'HERE="{expression}"\nuse "$HERE" "$HERE/../a" "{expression}/b"') == ["script:.", "script:../a", "script:b"]
    assert named(f'cd "{expression}/.."\nuse a') == ["script:../a"]


def test_other_folders_that_a_script_asks_for() -> None:
    assert named("TOP=$(git rev-parse --show-toplevel)\nuse $TOP/a") == ["root:a"]
    assert named("cd a\nuse $PWD $(pwd)/b `pwd`") == ["start:a", "start:a/b", "start:a"]
    assert named("use $(PWD)/a $(CURDIR)", anew=True) == ["start:a", "start:."]
    assert named('HERE=$(dirname "$0"); HERE=$1; use $HERE') == ["?"]
    assert named('use $(dirname "$1") $(git rev-parse HEAD) $(ls) $(cd a) $(dirname $(which a))') == ["?"] * 5


def test_each_line_of_a_recipe_starts_anew() -> None:
    assert named("cd a\nuse .") == ["start:a"]
    source = Source("Makefile", b"x:\n\tcd a && use .\n\tuse .\n")
    (recipe,) = parse(source)
    found = [shown(place.folder) for command, place in places(recipe.script.commands, anew=True) if command.name == "use"]
    assert found == ["start:a", "start:."]


def test_where_the_first_command_runs() -> None:
    assert named("use a", ROOT.to("b")) == ["root:b/a"]
    assert named("use a", None) == ["?"]
    assert named('cd "$(dirname "$0")"; use a', None) == ["script:a"]


def test_substitutions_without_end_are_let_be() -> None:
    word = "$(realpath " * 20 + "." + ")" * 20
    assert named(f"use {word}") == ["?"]
    assert named(f'HERE=$(dirname "$0")\nuse $HERE/{"a" * 400}') == ["?"]


def test_from_the_root() -> None:
    (word,) = named('use "$(dirname "$0")/../a"')
    assert word == "script:../a"
    assert START.to("a").from_root("here", "ci") == "here/a"
    assert ROOT.to("a").from_root("here", "ci") == "a"
