"""The page of a directive."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from tooling.book.editions import Edition
from tooling.book.figure_numbers import FigureNumber
from tooling.book.listings import Listings
from tooling.book.puzzle_index import PuzzleIndex


class PageContext(Struct):
    """What a directive can read about its page.

    Attributes:
        edition: the language that is being built.
        path: the chapter file, relative to `src`.
        text: the chapter as written.
        puzzle_index: the puzzles.
        numbers: of the figures that have one, by their names.
        groups: how many groups of tabs the page has so far.
        listings: of the page so far.
    """

    edition: Edition
    path: str
    text: str
    puzzle_index: PuzzleIndex
    numbers: Mapping[str, FigureNumber] = field(default_factory=dict)
    groups: int = 0
    listings: Listings = field(default_factory=dict)

    @property
    def language(self) -> str:
        return self.edition.language

    @property
    def up(self) -> str:
        """From the page to the root of its edition: `../` for each folder."""
        return "../" * self.path.count("/")

    def next_group(self) -> int:
        """A number for ids, unique in the page."""
        self.groups += 1
        return self.groups


Words = list[str]
Renderer = Callable[[PageContext, Words], str]
