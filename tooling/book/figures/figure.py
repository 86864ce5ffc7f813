"""A figure: its texts, and the function that draws it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from tooling.book.figures.canvas import Sheet
from tooling.text import Sentence

if TYPE_CHECKING:  # pages need only the names of pictures, and drawing imports a lot
    from tooling.book.figures.canvas import Canvas
    from tooling.book.figures.facts import Facts

Draw: TypeAlias = "Callable[[Facts, Sheet], Canvas]"


def picture_file(figure: str, shade: str, *, narrow: bool = False) -> str:
    """The file of a figure's picture, relative to the page.

    Args:
        figure: its name, such as `p15-steps`.
        shade: `w` for the light page, `b` for the dark one: `media/15-steps-w.svg`.
        narrow: the form for narrow screens: `media/15-steps-narrow-w.svg`.
    """
    return f"media/{figure.removeprefix('p')}-{'narrow-' if narrow else ''}{shade}.svg"


class Figure(Struct, frozen=True):
    """One figure of a puzzle.

    Attributes:
        name: as in `{{#figure …}}`: the puzzle, with a suffix after a dash where it has several.
        caption: the line below it, with code between backticks.
        description: the alternative text.
        draw: draws it; labels come from `Canvas.say`.
        traces: the runs that it shows: `p23 --tiled` for a solution, `p32 --two-way unsolved` for a problem.
        narrow: draws it for narrow screens, to avoid scrolling.
    """

    name: str
    caption: Sentence
    description: Sentence
    draw: Draw
    traces: tuple[str, ...] = ()
    narrow: Draw | None = None

    @property
    def puzzle(self) -> str:
        return self.name.split("-", 1)[0]

    @property
    def folder(self) -> str:
        """The folder of its page, below `src`."""
        number = self.puzzle.removeprefix("p")
        return f"puzzle_{number}" if number.isdigit() else {"gpu": "basics"}.get(self.puzzle, ".")

    def every_file(self) -> tuple[str, ...]:
        """All its pictures."""
        widths = (False,) if self.narrow is None else (False, True)
        return tuple(
            picture_file(self.name, shade, narrow=narrow) for narrow in widths for shade in ("w", "b")
        )
