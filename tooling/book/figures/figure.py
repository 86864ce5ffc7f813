"""A figure: its name, and the function that draws it. Its texts are in a page, see `texts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Sheet

if TYPE_CHECKING:
    from tooling.book.figures.facts import Facts

Draw: TypeAlias = "Callable[[Facts, Sheet], Canvas]"


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
