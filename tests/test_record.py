"""Records: what type checkers take for dataclasses behaves as one."""

from __future__ import annotations

import pickle
from typing import ClassVar

import pytest

from tooling.record import Record, as_plain, made, replace


class Point(Record):
    """Two numbers."""

    axes: ClassVar[int] = 2
    x: int
    y: int = 0

    @property
    def total(self) -> int:
        return self.x + self.y


class Path(Record, frozen=False):
    points: list[Point] = made(default_factory=list)


class Named(Point):
    name: str = "origin"


class Token(Record, frozen=False, eq=False):
    text: str


def test_fields_come_by_place_or_name_with_defaults() -> None:
    assert Point(1) == Point(x=1, y=0) != Point(1, 2)
    assert Point(3, 4).total == 7
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"
    assert Named(1, 2).name == "origin"
    assert Point.axes == 2


def test_records_match_by_position() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_a_frozen_record_does_not_change() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="a Point does not change: x"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert {point, Point(1)} == {Point(1)}


def test_other_fields_than_the_named_are_refused() -> None:
    with pytest.raises(TypeError):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Path().other = 1


def test_a_field_without_a_default_comes_first() -> None:
    class Late(Record):
        first: int = 1
        second: int  # type: ignore[misc]

    with pytest.raises(TypeError, match="Late: a field without a default follows one that has one"):
        Late(1, 2)


def test_made_defaults_are_not_shared() -> None:
    one, other = Path(), Path()
    one.points.append(Point(1))
    assert other.points == []
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_identity_where_asked_for() -> None:
    token = Token("a")
    assert token == token  # noqa: PLR0124
    assert token != Token("a")
    token.text = "b"
    assert len({token, Token("b")}) == 2


def test_replace_pickle_and_plain_values() -> None:
    assert replace(Point(1, 2), y=5) == Point(1, 5)
    assert pickle.loads(pickle.dumps(Named(1, 2, "end"))) == Named(1, 2, "end")
    assert as_plain(Path([Point(1), Point(2)])) == {"points": [{"x": 1, "y": 0}, {"x": 2, "y": 0}]}
