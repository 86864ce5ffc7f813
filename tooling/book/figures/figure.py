"""What a figure is: its words, and the function that draws it."""

from __future__ import annotations

from collections.abc import Callable

from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts
from tooling.catalog.model import Text
from tooling.record import Record

Draw = Callable[[Facts, Callable[[int, int], Canvas]], Canvas]


class Figure(Record):
    """One figure of a puzzle.

    Attributes:
        name: what `{{#figure …}}` asks for: the puzzle, with a part after a dash where it has several.
        caption: the line below it.
        description: what it shows, for those who cannot see it.
        draw: draws it; labels come from `Canvas.say`.
        traces: the runs that it shows: `p23 --tiled` for a solution, `p32 --two-way unsolved` for a problem.
        narrow: draws it for narrow screens, where it would otherwise have to be scrolled.
    """

    name: str
    caption: Text
    description: Text
    draw: Draw
    traces: tuple[str, ...] = ()
    narrow: Draw | None = None

    @property
    def puzzle(self) -> str:
        return self.name.split("-", 1)[0]

    def files(self, shade: str, *, narrow: bool = False) -> str:
        """The picture's file, relative to the page: `media/15-w.svg` for `w` (light), `-b` for `b` (dark)."""
        return f"media/{self.name.removeprefix('p')}-{'narrow-' if narrow else ''}{shade}.svg"

    def every_file(self) -> tuple[str, ...]:
        """All its pictures."""
        widths = (False,) if self.narrow is None else (False, True)
        return tuple(self.files(shade, narrow=narrow) for narrow in widths for shade in ("w", "b"))
