"""Scripts by hand: words, quotes, expansions, variables, blocks and heredocs, and where each stands."""

from __future__ import annotations

import re

import pytest

from gpulint.parse.shell import Script, SimpleCommand, UnknownWord, expand, parse, split
from gpulint.source import Piece, Source, Text, Unknown, Value


def whole(text: str) -> Text:
    return Source("run.sh", text.encode()).cut(0, len(text))


def read(text: str, variables: dict[str, Value] | None = None) -> Script:
    script = parse(whole(text), variables)
    assert script.error == ""
    return script


def shown(value: Value) -> str:
    """A known value as it is, an unknown one behind a question mark, two where it may be any number of words."""
    if isinstance(value, Unknown):
        return ("??" if isinstance(value, UnknownWord) and value.many else "?") + value.raw
    return str(value)


def words(text: str, variables: dict[str, Value] | None = None) -> list[list[str]]:
    return [[shown(word) for word in command.words] for command in read(text, variables).commands]


def last(text: str) -> list[str]:
    """The words of the last command."""
    return words(text)[-1]


def command(text: str, program: str) -> SimpleCommand:
    return next(each for each in read(text).commands if each.name == program)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", ["a", "b", "c"]),
        ("a 'b c'", ["a", "b c"]),
        ("a 'b'\"c\"d", ["a", "bcd"]),
        (r"a b\ c \'", ["a", "b c", "'"]),
        (r'a "b\"c\$d\e"', ["a", 'b"c$d\\e']),
        ("a '' \"\"", ["a", "", ""]),
        ("a \\\n  b", ["a", "b"]),
        ("a b\\\nc", ["a", "bc"]),
        ("a \\\r\n b\r\n", ["a", "b"]),
        ("a $'b\\tc\\x41\\u00e9\\'' $'d'", ["a", "b\tcA\u00e9'", "d"]),
        ('a $"b"', ["a", "b"]),
        ("a # b", ["a"]),
        ("a b#c", ["a", "b#c"]),
        ("docker run --gpus '\"device=0,1\"' x", ["docker", "run", "--gpus", '"device=0,1"', "x"]),
        (r"docker run --gpus \"device=0,1\" x", ["docker", "run", "--gpus", '"device=0,1"', "x"]),
        ('docker run --gpus "device=0,1" x', ["docker", "run", "--gpus", "device=0,1", "x"]),
        ("a {b,c} {1..3} {d} x{}y", ["a", "??{b,c}", "??{1..3}", "{d}", "x{}y"]),
        ("a '{b,c}'", ["a", "{b,c}"]),
        ("a @(b|c) $", ["a", "?@(b|c)", "$"]),
        ("echo 'docker run x'", ["echo", "docker run x"]),
        ("a\xa0b", ["a\xa0b"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a $X ${X} "$X"', ["a", "??$X", "??${X}", "?$X"]),
        ('a $1 $@ "$@" $* "$*" $# $? $$', ["a", "??$1", "??$@", "??$@", "??$*", "?$*", "?$#", "?$?", "?$$"]),
        ('a "${ARGS[@]}" "${ARGS[*]}" "${@:2}"', ["a", "??${ARGS[@]}", "?${ARGS[*]}", "??${@:2}"]),
        ('a $(b) "$(b)" `b`', ["a", "??$(b)", "?$(b)", "??`b`"]),
        ("a $((1 + 2)) $(( (1) ))", ["a", "?$((1 + 2))", "?$(( (1) ))"]),
        ("a <(b) >(c)", ["a", "?<(b)", "?>(c)"]),
        ("a x$X:y", ["a", "?x$X:y"]),
        ("a ${X:-b} ${X-b} ${X:=b} ${Y:-$X}", ["a", "b", "b", "b", "b"]),
        ('a ${X:-b c} "${X:-b c}" ${1:-d}', ["a", "b", "c", "b c", "d"]),
        ('a ${X:-} ${X:-""} ${X:+b} ${X:?b}', ["a", "??${X:-}", '??${X:-""}', "??${X:+b}", "??${X:?b}"]),
        ("a ${#X} ${X%%.*} ${X//a/b} ${!X} ${X:1:2}", ["a", "??${#X}", "??${X%%.*}", "??${X//a/b}", "??${!X}", "??${X:1:2}"]),
        ("a ${X:-${Y:-b}} ${X:-'}'}", ["a", "b", "}"]),
        ('a "${X:-it\'s}"', ["a", "it's"]),
        ("a img:${TAG:-1.2}-gpu", ["a", "img:1.2-gpu"]),
    ],
)
def test_expansions_of_what_the_script_does_not_set(text: str, expected: list[str]) -> None:
    assert words(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('X=b\na $X ${X}c "$X" ${X:-d} ${X:+e} ${X:?f}', ["a", "b", "bc", "b", "b", "e", "b"]),
        ("X='--rm -it'\na $X \"$X\" y$X", ["a", "--rm", "-it", "--rm -it", "y--rm", "-it"]),
        ('X=\na $X "$X" ${X:-b} ${X-b} ${X:+c}', ["a", "", "b"]),
        ("X=b; X=c; a $X", ["a", "c"]),
        ("X=b; a $X\u00e9", ["a", "b\u00e9"]),
        ("X=b Y=$X; a $Y", ["a", "b"]),
        ("X=b; X+=c; a $X", ["a", "bc"]),
        ("X=${X:-b}; a $X", ["a", "b"]),
        (": ${X:=b}; a $X", ["a", "b"]),
        ('export X=b "Y=c"; a $X $Y', ["a", "b", "c"]),
        ("readonly X=b; declare -r Y=c; a $X $Y", ["a", "b", "c"]),
        ("X=b y; a $X", ["a", "??$X"]),
        ("X=$1; a $X ${X:-b}", ["a", "??$X", "??${X:-b}"]),
        ('X=(b c); a $X "${X[@]}"', ["a", "??$X", "??${X[@]}"]),
        ("X=b; X[1]=c; a $X", ["a", "??$X"]),
        ("X=b; read -r X; a $X", ["a", "??$X"]),
        ("X=b; ((X++)); a $X", ["a", "b"]),
        ("X=b; unset X; a $X", ["a", "??$X"]),
        ("X=b; printf -v X %s c; a $X", ["a", "??$X"]),
        ("X=b; source ./c; a $X", ["a", "??$X"]),
        ('X=b; eval "$c"; a $X', ["a", "??$X"]),
        ("source ./c; X=b; a $X", ["a", "b"]),
        ("X=b; y=$(source ./c); a $X", ["a", "b"]),
        ("X=b; (X=c); a $X", ["a", "b"]),
        ("X=b; { X=c; }; a $X", ["a", "c"]),
        ("X=b; y=$(X=c); a $X", ["a", "b"]),
    ],
)
def test_variables_on_a_straight_path(text: str, expected: list[str]) -> None:
    assert last(text) == expected


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("if y; then X=b; a $X; fi", True),
        ("if y; then X=b; fi; a $X", False),
        ("X=c; if y; then X=b; fi; a $X", False),
        ("X=b; if y; then z; fi; a $X", True),
        ("X=b; case y in z) a $X ;; esac", True),
        ("case y in z) X=b ;; esac; a $X", False),
        ("X=b; while y; do a $X; done", True),
        ("X=b; while y; do a $X; X=c; done", False),
        ("for X in b; do a $X; done", False),
        ("y && X=b && a $X", True),
        ("y && X=b; a $X", False),
        ("y || X=b; a $X", False),
        ("y | X=b; a $X", False),
        ("X=b; f() { a $X; }", True),
        ("X=b; f() { a $X; }; X=c", False),
        ("f() { a $X; }; X=b", False),
        ("f() { X=b; a $X; }", True),
        ("f() { X=b; }; X=b; f; a $X", False),
        ("f() { local X=b; }; X=b; f; a $X", True),
        ("f() { local X=$1; X=c; }; X=b; f; a $X", True),
        ("f() { X=b; g; a $X; }; g() { X=c; }", False),
    ],
)
def test_variables_on_branching_paths(text: str, known: bool) -> None:
    argument = next(each for each in read(text).commands if each.name == "a").words[1]
    assert (shown(argument) == "b") == known


def test_a_default_is_not_known_where_the_script_may_have_set_another_value() -> None:
    assert last("if y; then X=--gpus; fi; a ${X:-b}") == ["a", "??${X:-b}"]


def test_variables_from_outside() -> None:
    variables: dict[str, Value] = {"X": whole("1.2"), "Y": Unknown("$Y", whole("y").location)}
    assert words("a $X ${Y:-b} $Y; source c; a $X", variables) == [["a", "1.2", "b", "??$Y"], ["source", "c"], ["a", "1.2"]]


def test_values_that_double_one_another_end_at_a_bound() -> None:
    doubling = "X=aaaaaaaaaaaaaaaa\n" + "X=$X$X\n" * 60 + "a $X\n"
    assert last(doubling) == ["a", "??$X"]


def test_what_is_known_of_an_unknown_word() -> None:
    word = command('docker run "--volume=$PWD:/data"', "docker").words[2]
    assert isinstance(word, UnknownWord)
    assert (word.raw, word.prefix, word.suffix, word.many) == ("--volume=$PWD:/data", "--volume=", ":/data", False)
    assert str(word.prefix.location) == "run.sh:1:13"
    assert str(word.suffix.location) == "run.sh:1:26"


def places(text: str) -> list[tuple[int, int, int, int]]:
    return [tuple(word.location[1:]) for word in read(text).commands[-1].words]  # type: ignore[misc]


def test_a_word_stands_inside_its_quotes_where_these_are_all_of_it() -> None:
    assert places("a 'b c' \"d\" e") == [(1, 1, 1, 2), (1, 4, 1, 7), (1, 10, 1, 11), (1, 13, 1, 14)]


def test_a_word_of_several_runs_stands_as_a_whole_and_each_part_where_it_is() -> None:
    word = command("docker run \\\n  --env='A=b c'd", "docker").words[2]
    assert isinstance(word, Text)
    assert word == "--env=A=b cd"
    assert word.location[1:] == (2, 3, 2, 17)
    assert word.cut(8, 11).location[1:] == (2, 12, 2, 15)
    assert word.cut(11, 12).location[1:] == (2, 16, 2, 17)


def test_a_word_that_is_continued_on_the_next_line() -> None:
    word = command("docker b\\\nc", "docker").words[1]
    assert isinstance(word, Text)
    assert (word, word.location[1:]) == ("bc", (1, 8, 2, 2))
    assert word.cut(1, 2).location[1:] == (2, 1, 2, 2)


def test_a_variable_alone_stands_where_it_is_set_and_its_token_where_it_is_used() -> None:
    run = command('TAG="1.2"\ndocker "$TAG" x$TAG', "docker")
    assert [word.location[1:3] for word in run.words] == [(2, 1), (1, 6), (2, 15)]
    assert [token[1:] for token in run.tokens] == [(2, 1, 2, 7), (2, 8, 2, 14), (2, 15, 2, 20)]


def test_a_default_stands_inside_its_braces() -> None:
    word = command("docker ${TAG:-1.2}", "docker").words[1]
    assert (shown(word), word.location[1:]) == ("1.2", (1, 15, 1, 18))


def test_the_place_of_a_command_runs_from_its_first_word_to_its_last() -> None:
    assert command("  X=1 docker run \\\n    'a' > b && c", "docker").location[1:] == (1, 3, 2, 12)


def test_a_block_scalar_keeps_the_places_of_its_lines() -> None:
    source = Source("ci.yml", b"run: |\n    docker run \\\n      a\n")
    first, second = source.cut(11, 24), source.cut(28, 32)
    text = Text(first + second, first.location.to(second.location), (*_pieces(first, 0), *_pieces(second, len(first))))
    assert [word.location[1:3] for word in parse(text).commands[0].words] == [(2, 5), (2, 12), (3, 7)]


def _pieces(text: Text, offset: int) -> list[Piece]:
    return [Piece(offset, text.location.line, text.location.column)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b & c && d || e | f |& g\nh", ["", ";", "&", "&&", "||", "|", "|", ";"]),
        ("\n\na &&\n\n b", ["", "&&"]),
        ("a \\\n && b", ["", "&&"]),
        ("(a; b) && c", ["", ";", "&&"]),
        ("a &>b; c 2>&1", ["", ";"]),
    ],
)
def test_operators(text: str, expected: list[str]) -> None:
    assert [each.operator for each in read(text).commands] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if a; then b; elif c; then d; else e; fi", {"a": "if", "b": "then", "c": "if", "d": "then", "e": "else"}),
        ("while a; do b; done < x", {"a": "while", "b": "while"}),
        ("until a\ndo b\ndone", {"a": "while", "b": "while"}),
        ("for i in 1 2 $(a); do b; done", {"a": "for substitution", "b": "for"}),
        ("for ((i=0; i<3; i++)); do b; done", {"b": "for"}),
        ("for i\ndo b; done; select j in a; do c; done", {"b": "for", "c": "for"}),
        ("case $x in a|'b') a ;; (c) b;& *) c;; esac", {"a": "case", "b": "case", "c": "case"}),
        ("case x in\nesac; a", {"a": ""}),
        (
            "f() { a; }; function g { b; }; function h() ( c )",
            {"a": "function f group", "b": "function g group", "c": "function h subshell"},
        ),
        ("f()\n{\na\n}", {"a": "function f group"}),
        ("(a; (b)); { c; }", {"a": "subshell", "b": "subshell subshell", "c": "group"}),
        ("((a) ; b)", {"a": "subshell subshell", "b": "subshell"}),
        ("a $(b `c`) <(d)", {"a": "", "b": "substitution", "c": "substitution substitution", "d": "substitution"}),
        ("a `b \\`c\\``", {"b": "substitution", "c": "substitution substitution"}),
        ("x=$(a | b)", {"a": "substitution", "b": "substitution"}),
        ("[[ $x =~ ^(a|b)$ && ! -f $(c) ]] && d", {"[[": "", "c": "substitution", "d": ""}),
        ("[[ a && ( b )]]; c", {"c": ""}),
        ("(( x > 1 )) && a", {"a": ""}),
        ("time for i in a; do b; done", {"b": "for"}),
        ("coproc a", {"a": ""}),
        ("echo if then; a", {"echo": "", "a": ""}),
        ("if a;then\\\n b;\\\n else\\\n c;\\\nfi", {"a": "if", "b": "then", "c": "else"}),
    ],
)
def test_blocks(text: str, expected: dict[str, str]) -> None:
    found = {str(each.name): " ".join(each.block) for each in read(text).commands if each.name}
    assert {name: found.get(name) for name in expected} == expected


def test_a_command_behind_an_exclamation_mark_is_negated() -> None:
    assert [each.negated for each in read("if ! a; then ! ! b; fi").commands] == [True, False]


def test_redirections_are_no_words() -> None:
    run = command("a >b 2>&1 < $c <<< 'd e' &>> f g", "a")
    assert [shown(word) for word in run.words] == ["a", "g"]
    assert [(each.operator, shown(each.target)) for each in run.redirects] == [
        (">", "b"),
        ("2>&", "1"),
        ("<", "?$c"),
        ("<<<", "d e"),
        ("&>>", "f"),
    ]


def test_assignments() -> None:
    script = read("A=1\nB=2 C=$x cmd\nexport D=3 E\nexport A\nlocal F=4\nG=(1 2)")
    found = [(str(each.name), shown(each.value), each.exported) for one in script.commands for each in one.assignments]
    assert found == [
        ("A", "1", False),
        ("B", "2", True),
        ("C", "?$x", True),
        ("D", "3", True),
        ("A", "1", True),
        ("F", "4", False),
        ("G", "?G=(1 2)", False),
    ]


def test_a_heredoc_is_text_and_no_commands() -> None:
    script = read("cat <<EOF > x; b\ndocker run x\nEOF\nc")
    assert [str(each.name) for each in script.commands] == ["cat", "b", "c"]
    body = script.commands[0].redirects[0].target
    assert isinstance(body, Text)
    assert (body, body.location[1:3]) == ("docker run x\n", (2, 1))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("a <<'E'\n$x\nE\n", "$x\n"),
        ("a <<\\E\n$x\nE\n", "$x\n"),
        ("a <<E\n$x\nE\n", "?$x\n"),
        ("a <<-E\n\tb\n\t\tc\n\tE\n", "b\nc\n"),
        ("a <<E\nE\n", ""),
        ("a <<E\nb\n E\n", "b\n E\n"),
        ("a <<E\r\nb\r\nE\r\n", "b\r\n"),
        ("a $(b) <<E && c\nd\nE\n", "d\n"),
    ],
)
def test_heredoc_bodies(text: str, body: str) -> None:
    assert shown(read(text).commands[0].redirects[0].target) == body


def test_two_heredocs_of_one_line() -> None:
    targets = command("a <<X <<Y\n1\nX\n2\nY\nb", "a").redirects
    assert [str(each.target) for each in targets] == ["1\n", "2\n"]


def test_a_heredoc_in_a_substitution() -> None:
    assert words("x=$(cat <<E\n)\nE\n)\nb") == [[], ["cat"], ["b"]]


def test_holes_are_unknown_wherever_they_stand() -> None:
    text = "docker run ${{ a || 'b' }} x:${{ c }} '${{ d }}e' \"${{ f }}\" # ${{ g\n"
    holes = [match.span() for match in re.finditer(r"\$\{\{.*?(\}\}|$)", text, re.MULTILINE)]
    script = parse(whole(text), holes=holes)
    assert script.error == ""
    assert [shown(word) for word in script.commands[0].words] == [
        "docker",
        "run",
        "??${{ a || 'b' }}",
        "?x:${{ c }}",
        "?${{ d }}e",
        "?${{ f }}",
    ]


@pytest.mark.parametrize(
    ("text", "message", "commands"),
    [
        ("a; b 'c", "a single quote is not closed", 1),
        ('a; b "c', "a double quote is not closed", 1),
        ("a; b `c", "a backtick is not closed", 1),
        ("a; b ${c", "a brace is not closed", 1),
        ("a; b $(c", "the script ends inside a command", 1),
        ("a; if b; then c", "the script ends inside a command", 3),
        ("a; fi", "unexpected `fi`", 1),
        ("a )", "unexpected `)`", 1),
        ("a; f() { b; c 'd", "a single quote is not closed", 2),
        ("a; echo b(c)", "unexpected `(`", 2),
        ("a ; ; b;; c", "unexpected `;`", 2),
    ],
)
def test_what_stands_before_an_error_is_read(text: str, message: str, commands: int) -> None:
    script = parse(whole(text))
    assert (script.error, len(script.commands)) == (message, commands)
    assert script.error_location is not None


def test_nesting_ends_at_a_bound() -> None:
    assert parse(whole("(" + "(x); " * 3 + ")" * 1)).error == ""
    assert parse(whole("$(x " * 49 + ")" * 49)).error == ""
    assert "levels" in parse(whole("$(x " * 51 + ")" * 51)).error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a \"b c\" 'd'e f\\ g", ["a", "b c", "de", "f g"]),
        ("a && b; $X `c`", ["a", "&&", "b;", "$X", "`c`"]),
        ("a $$X '$$' $", ["a", "$X", "$", "$"]),
        ("a '' \"\" b", ["a", "", "", "b"]),
        ("a 'b", ["a", "b"]),
        ('a "b\\"c', ["a", 'b"c']),
        ("a \\\n b\\\nc", ["a", "bc"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert list(split(whole(text))) == expected


def test_split_keeps_places() -> None:
    assert [word.location[1:] for word in split(whole("a 'b c' d\"e\""))] == [(1, 1, 1, 2), (1, 4, 1, 7), (1, 9, 1, 13)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("", ""),
        ("$X/b", "1/b"),
        ("${X}:${Y:-2}", "1:2"),
        ("a:$Y", "?a:$Y"),
        ("a 'b' \"$X\"", "a 'b' \"1\""),
        ("${X", "?${X"),
    ],
)
def test_expand(text: str, expected: str) -> None:
    assert shown(expand(whole(text), {"X": whole("1")})) == expected


def test_a_text_longer_than_any_script_is_not_read() -> None:
    text = "docker run a\n" + "# \n" * 100_000
    script = parse(Source("run.sh", text.encode()).cut(0, len(text)))
    assert (script.commands, script.error) == ((), "the script is longer than 256 KiB")
