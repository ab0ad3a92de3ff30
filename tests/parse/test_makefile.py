"""Makefiles and justfiles: recipes as the shell gets them, variables as the file decides them, and where each word stands."""

from __future__ import annotations

import pytest
from work import calls

from gpulint.parse.makefile import parse, parse_rules
from gpulint.parse.recipe import Recipe
from gpulint.parse.shell import UnknownWord
from gpulint.source import Source, Unknown, Value


def recipes(text: str, path: str = "Makefile") -> dict[str, Recipe]:
    return {str(recipe.target): recipe for recipe in parse(Source(path, text.encode()))}


def shown(value: Value) -> str:
    if isinstance(value, Unknown):
        return ("??" if isinstance(value, UnknownWord) and value.many else "?") + value.raw
    return str(value)


def words(recipe: Recipe) -> list[list[str]]:
    assert recipe.script.error == ""
    return [[shown(word) for word in command.words] for command in recipe.script.commands]


def of_rule(text: str) -> list[list[str]]:
    """The words of the one recipe."""
    (recipe,) = recipes(text).values()
    return words(recipe)


def test_recipes_and_their_targets() -> None:
    found = recipes("a b: c\n\t@echo 1\n\n# comment\n\t-echo 2\nd: ; echo 3\ne: f\n%.o: %.c | g\n\t+@cc $<\nh &: i\n\techo 4\n")
    assert {target: words(recipe) for target, recipe in found.items()} == {
        "a b": [["echo", "1"], ["echo", "2"]],
        "d": [["echo", "3"]],
        "%.o": [["cc", "??$<"]],
        "h": [["echo", "4"]],
    }


def test_continued_lines_are_one_command_and_keep_their_places() -> None:
    (recipe,) = recipes("run:\n\t@docker run \\\n\t  --gpus all \\\n\t  img\n").values()
    (command,) = recipe.script.commands
    assert [str(word) for word in command.words] == ["docker", "run", "--gpus", "all", "img"]
    assert [word.location[1:] for word in command.words] == [(2, 3, 2, 9), (2, 10, 2, 13), (3, 4, 3, 10), (3, 11, 3, 14), (4, 4, 4, 7)]


@pytest.mark.parametrize(
    ("head", "reference", "expected"),
    [
        ("X = b", "$(X) ${X}", ["b", "b"]),
        ("X := b c # comment", "$(X)", ["b", "c"]),
        ("X ?= b", "$(X)", ["b"]),
        ("X ?= b\nX ?= c", "$(X)", ["b"]),
        ("X = b\nX ?= c", "$(X)", ["b"]),
        ("X = b\nX = c", "$(X)", ["c"]),
        ("X = b\nX += c", "$(X)", ["b", "c"]),
        ("X += b", "$(X)", ["b"]),
        ("export X = b", "$(X)", ["b"]),
        ("override X ::= b", "$(X)", ["b"]),
        ("X = b \\\n  c", "$(X)", ["b", "c"]),
        ("X = $(Y)/d\nY = b", "$(X)", ["b/d"]),
        ("X = 'b c'", "$(X)", ["b c"]),
        ("X = b\\#c", "$(X)", ["b#c"]),
        ("X =", "$(X) z", ["z"]),
        ("X ?=", "$(X)", ["??$(X)"]),
        ("", "$(X) $(X)/y", ["??$(X)", "?$(X)/y"]),
        ("X = $(shell pwd)", "$(X)", ["??$(X)"]),
        ("X = b/$(shell pwd)", "$(X)", ["?b/$(shell pwd)"]),
        ("X != pwd", "$(X)", ["??$(X)"]),
        ("X = $(X)", "$(X)", ["??$(X)"]),
        ("ifeq ($(Y),1)\nX = b\nelse\nX = c\nendif", "$(X)", ["??$(X)"]),
        ("ifdef Y\nX = b\nendif\nX = c", "$(X)", ["c"]),
        ("X = b\ninclude c.mk", "$(X)", ["??$(X)"]),
        ("-include c.mk\nX = b", "$(X)", ["b"]),
        ("define X\nb\nendef", "$(X)", ["??$(X)"]),
        ("X = b\nother: X = c", "$(X)", ["??$(X)"]),
        ("X = b.c", "$(X:.c=.o) $(subst b,c,$(X))", ["??$(X:.c=.o)", "??$(subst b,c,$(X))"]),
        ("X = b", "'$(X)' \"$(X)\" '$(Y)'", ["b", "b", "?$(Y)"]),
        ("X = b", "$$X $$(c) $$$$", ["??$X", "??$(c)", "?$$"]),
        ("", "$@ $* $(@D)", ["??$@", "??$*", "??$(@D)"]),
    ],
)
def test_variables(head: str, reference: str, expected: list[str]) -> None:
    (command, *_) = of_rule(f"{head}\nrule:\n\ta {reference}\n")
    assert command == ["a", *expected]


def test_a_variable_that_is_set_behind_the_rule_counts() -> None:
    assert of_rule("rule:\n\ta $(X)\nX = b\n") == [["a", "b"]]


def test_a_command_from_a_variable_is_split_as_the_shell_splits_it() -> None:
    assert of_rule('RUN = docker run -v "$(CURDIR):/w"\nrule:\n\t$(RUN) img\n') == [["docker", "run", "-v", "?$(CURDIR):/w", "img"]]


def test_a_variable_before_the_first_word_holds_a_prefix() -> None:
    assert of_rule("rule:\n\t$(Q)docker run img\n") == [["docker", "run", "img"]]
    assert of_rule("Q = @\nrule:\n\t$(Q)docker run img\n") == [["docker", "run", "img"]]
    assert of_rule("rule:\n\t$(BIN)/tool x\n") == [["?$(BIN)/tool", "x"]]


def test_what_a_variable_brings_stands_at_its_reference() -> None:
    (recipe,) = recipes("IMAGE = repo/img:1\nrun:\n\tdocker run $(IMAGE) x\n").values()
    assert [word.location[1:] for word in recipe.script.commands[0].words] == [(3, 2, 3, 8), (3, 9, 3, 12), (3, 13, 3, 21), (3, 22, 3, 23)]


def test_a_line_of_a_definition_is_no_recipe() -> None:
    assert recipes("a: b\ndefine X\n\tdocker run img\nendef\n") == {}


def test_an_error_of_one_line_leaves_the_others() -> None:
    (recipe,) = recipes("a:\n\techo 'b\n\techo c\n").values()
    assert recipe.script.error == "a single quote is not closed"
    assert [str(command.name) for command in recipe.script.commands] == ["echo"]


JUSTFILE = """
image := "x"
set shell := ["bash", "-c"]

@run arg="1" *rest: build
  @docker run --gpus all \\
    {{image}}:{{ tag }} '{{rest}}'

  -echo done

script:
    #!/usr/bin/env bash
    X=a
    docker run $X

other:
    #!/usr/bin/env python
    docker run

alias r := run
"""


def test_recipes_of_a_justfile() -> None:
    found = recipes(JUSTFILE, "deploy/justfile")
    assert list(found) == ["run", "script"]
    assert words(found["run"]) == [["docker", "run", "--gpus", "all", "?{{image}}:{{ tag }}", "?{{rest}}"], ["echo", "done"]]
    assert words(found["script"]) == [[], ["docker", "run", "a"]]
    assert found["run"].script.commands[0].words[1].location[1:] == (6, 11, 6, 14)


def test_what_targets_need() -> None:
    text = "all: train ; echo done\n\ntrain: data.csv \\\n  model # not this\n\tpython train.py\n\n.PHONY: all\n"
    found = parse_rules(Source("Makefile", text.encode()))
    assert [(str(rule.target), rule.needs) for rule in found] == [
        ("all", ("train",)),
        ("train", ("data.csv", "model")),
        (".PHONY", ("all",)),
    ]
    just = parse_rules(Source("justfile", b'both: one (two "x")\none:\n  ls\ntwo what: one # no\n  ls\n'))
    assert [(str(rule.target), rule.needs) for rule in just] == [("both", ("one", "two")), ("one", ()), ("two", ("one",))]


@pytest.mark.parametrize("path", ["justfile", ".justfile", "Justfile", "a/b.just"])
def test_names_of_justfiles(path: str) -> None:
    assert list(recipes("r:\n    a {{b}}\n", path)) == ["r"]


_HOSTILE = {
    "references": "a:\n\t" + "$(" * 50_000,
    "references in a line": "$($(" * 40_000 + "\n",
    "blanks": "a" + " " * 100_000 + "\n",
    "blank value": "X = " + " " * 100_000 + "b\n",
    "continued lines": "X = a \\\n" * 20_000,
    "includes": "X = 1\ninclude a\n" * 10_000,
    "doubling": "".join(f"X{i} = $(X{i + 1})$(X{i + 1})\n" for i in range(60)) + "X60 = aaaaaaaa\na:\n\tb $(X0)\n",
    "loops": "X = $(Y)$(Y)\nY = $(X)$(X)\na:\n\tb $(X)\n",
    "many uses": "X = " + "b " * 1000 + "\na:\n" + "\tc $(X)\n" * 2000,
    "conditionals": "endif\n" * 20_000 + "ifdef\n" * 20_000,
    "rules": "a:\n" * 30_000,
    "interpolations": "{{" * 20_000 + ":\n " + "{{a" * 20_000,
    "NUL": "\0" * 100_000,
}


@pytest.mark.parametrize("path", ["Makefile", "justfile"])
@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE)
def test_reading_hostile_input_takes_a_bounded_number_of_calls(text: str, path: str) -> None:
    assert calls(lambda: parse(Source(path, text.encode()))) < 6_000_000


def test_a_file_longer_than_any_script_is_not_read() -> None:
    assert parse(Source("Makefile", b"all:\n\tdocker run a\n" + b"# \n" * 100_000)) == ()
