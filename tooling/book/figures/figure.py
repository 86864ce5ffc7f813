"""What a figure is: its words, and the function that draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts
from tooling.catalog.model import Text


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a puzzle.

    Attributes:
        name: what `{{#figure …}}` asks for: the puzzle, with a part after a dash where it has several.
        caption: the line below it.
        description: what it shows, for those who cannot see it.
        draw: draws it; labels come from `Canvas.say`.
    """

    name: str
    caption: Text
    description: Text
    draw: Callable[[Facts, Callable[[int, int], Canvas]], Canvas]

    @property
    def puzzle(self) -> str:
        return self.name.split("-", 1)[0]

    def files(self, shade: str) -> str:
        """The picture's file, relative to the page: `media/15-w.svg` for `w` (light), `-b` for `b` (dark)."""
        return f"media/{self.name.removeprefix('p')}-{shade}.svg"
