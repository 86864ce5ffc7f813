"""The numbers of figures: that of the puzzle and a running one, in the order of the contents."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from msgspec import Struct

from tooling.book.chapters import chapter_files
from tooling.book.editions import Edition
from tooling.mdbook.includes import find_directives

_OF_PUZZLE = re.compile(r"puzzle_(\d+)/")
_WITHOUT = frozenset({"cover.md"})  # its drawings introduce the book, and no text refers to them


class FigureNumber(Struct, frozen=True):
    """The number of a figure.

    Attributes:
        number: such as `16.2` or `G.1`.
        page: the chapter that shows the figure, relative to `src`.
    """

    number: str
    page: str

    @property
    def anchor(self) -> str:
        return f"figure-{self.number.replace('.', '-').lower()}"


def figures_of(text: str) -> list[str]:
    """The names of the figures that a chapter shows, in its order."""
    return _names(text, "figure")


def numbered_in(text: str) -> list[str]:
    """The names of the figures whose numbers a chapter shows: its own, and those that it refers to."""
    return [*figures_of(text), *_names(text, "figure_ref")]


def _names(text: str, directive: str) -> list[str]:
    return [each.argument.strip() for each in find_directives(text) if each.name == directive]


def number_figures(source: Edition) -> dict[str, FigureNumber]:
    """The number of each figure but those of the cover.

    Figures of a puzzle's pages begin with its number, such as `16.2`; those of any other page with the first
    letter of its name, such as `G.1` in `basics/gpu.md`. Pages with the same letter are counted together.

    Args:
        source: the edition in the source language: translations have the same numbers, even while pages of
            theirs are missing or old.
    """
    counts: Counter[str] = Counter()
    numbers: dict[str, FigureNumber] = {}
    for chapter in chapter_files(source):
        if chapter.path in _WITHOUT:
            continue
        group = _group(chapter.path)
        for name in figures_of(chapter.text):
            if name not in numbers:
                counts[group] += 1
                numbers[name] = FigureNumber(f"{group}.{counts[group]}", chapter.path)
    return numbers


def _group(path: str) -> str:
    """What the numbers of a chapter's figures begin with."""
    found = _OF_PUZZLE.match(path)
    return str(int(found[1])) if found else PurePosixPath(path).name[0].upper()
