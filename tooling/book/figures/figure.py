"""A figure: its name, and the function that draws it. Its texts are in a page, see `texts`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Sheet

if TYPE_CHECKING:
    from tooling.book.figures.facts import Facts

Draw: TypeAlias = "Callable[[Facts, Sheet], Canvas]"


class DrawBoth(Protocol):
    """Draws both forms of a figure."""

    def __call__(self, facts: Facts, sheet: Sheet, /, *, narrow: bool = False) -> Canvas: ...


class Figure(Struct, frozen=True):
    """One figure of a puzzle.

    Attributes:
        name: as in `{{#figure …}}`: the puzzle, with a suffix after a dash where it has several.
        draw: draws it; labels come from `Canvas.say`.
        traces: the runs that it shows: `p23 --tiled` for a solution, `p32 --two-way unsolved` for a problem.
        narrow: draws it for narrow screens, to avoid scrolling.
    """

    name: str
    draw: Draw
    traces: tuple[str, ...] = ()
    narrow: Draw | None = None

    @property
    def puzzle(self) -> str:
        return self.name.split("-", 1)[0]


def responsive(name: str, draw: DrawBoth, traces: tuple[str, ...] = ()) -> Figure:
    """A figure with a form for wide and one for narrow screens, which one function draws."""
    return Figure(name, draw, traces, partial(draw, narrow=True))
