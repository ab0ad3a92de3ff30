"""What is made when it is first used behaves as what it stands for."""

from __future__ import annotations

import ast
import re
from dataclasses import field, replace
from pathlib import Path

import pytest

from gpulint import deferred
from gpulint.deferred import NamedTuple, dataclass, regex


class Point(NamedTuple):
    """A place on a plane."""

    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y

    def __str__(self) -> str:
        return f"{self.x}/{self.y}"


@dataclass(frozen=True)
class Named:
    name: str
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Size:
    cards: int


@dataclass(frozen=True, eq=False)
class Placed(Named):
    point: Point = Point(1)


def test_a_named_tuple_has_its_fields_before_its_first_instance() -> None:
    class Unused(NamedTuple):
        first: int
        second: int = 0

    assert Unused._fields == ("first", "second")
    assert Unused(1) == (1, 0)


def test_a_named_tuple_is_a_tuple_with_names() -> None:
    point = Point(y=3, x=1)
    x, y = point
    assert (x, y, point.x, point.y, point.sum, str(point), repr(point)) == (1, 3, 1, 3, 4, "1/3", "Point(x=1, y=3)")
    assert point._replace(y=5) == Point(1, 5) == (1, 5)
    assert point._asdict() == {"x": 1, "y": 3}
    assert Point(1) == Point(1, 2)
    assert not hasattr(point, "__dict__")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_a_data_class_gets_the_fields_of_its_bases() -> None:
    placed = Placed("here", point=Point(4))
    assert (placed.name, placed.tags, placed.point.x) == ("here", [], 4)
    assert replace(placed, name="there").name == "there"
    assert Named("here") == Named("here", [])


def test_a_data_class_that_is_frozen_can_be_a_key() -> None:
    assert len({Size(1), Size(1), Size(2)}) == 2


def test_a_pattern_is_compiled_with_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def count(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return re.compile(pattern, flags)

    word = regex(r"[a-z]+(?=!)", re.IGNORECASE)
    monkeypatch.setattr(deferred, "re", type("re", (), {"compile": staticmethod(count)}))
    assert compiled == []
    assert [bool(word.fullmatch("Word!")), bool(word.match("Word!")), bool(word.match("word!"))] == [False, True, True]
    assert word.pattern == r"[a-z]+(?=!)"
    assert set(compiled) == {word.pattern}


ENGINE = Path(deferred.__file__).parent
EAGER = {"re.compile", "typing.NamedTuple", "dataclasses.dataclass"}
MADE_FROM_TUPLES = {"source.py", "parse/nodes.py"}
"""Whose named tuples are also made by tuple.__new__, past the constructor, so that they must be ready on import."""


def made_on_import(path: Path) -> set[str]:
    """What a module has made on import of that which it could defer."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    imported = {f"{node.module}.{alias.name}" for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assigned = {ast.unparse(node.value.func) for node in body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)}
    return (imported | assigned) & EAGER


def test_the_engine_makes_nothing_on_import_that_it_could_defer() -> None:
    paths = {str(path.relative_to(ENGINE)): path for path in ENGINE.rglob("*.py")}
    eager = {name: made for name, path in paths.items() if name not in MADE_FROM_TUPLES and (made := made_on_import(path))}
    assert eager == {}
