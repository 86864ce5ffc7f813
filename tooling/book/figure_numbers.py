"""The numbers of figures: that of the puzzle and a running one, in the order of the contents."""

from __future__ import annotations

import re
from collections import Counter

from tooling.book.chapters import chapter_files
from tooling.book.editions import Edition
from tooling.mdbook.includes import find_directives

_OF_PUZZLE = re.compile(r"puzzle_(\d+)/")


def figures_of(text: str) -> list[str]:
    """The names of the figures that a chapter shows, in its order."""
    return [each.argument.strip() for each in find_directives(text) if each.name == "figure"]


def number_figures(source: Edition) -> dict[str, str]:
    """The number of each figure of a puzzle's pages, such as `16.2`; the others have none.

    Args:
        source: the edition in the source language: translations have the same numbers, even while pages of
            theirs are missing or old.
    """
    counts: Counter[int] = Counter()
    numbers: dict[str, str] = {}
    for chapter in chapter_files(source):
        found = _OF_PUZZLE.match(chapter.path)
        if found is None:
            continue
        puzzle = int(found[1])
        for name in figures_of(chapter.text):
            if name not in numbers:
                counts[puzzle] += 1
                numbers[name] = f"{puzzle}.{counts[puzzle]}"
    return numbers
