"""Draws figures into the books, and finds those that are out of date."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tooling.book.editions import editions
from tooling.book.figures.canvas import SHADES, Canvas
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure, picture_file
from tooling.book.puzzle_index import PuzzleIndex


def pictures(puzzle_index: PuzzleIndex, figure: Figure) -> Iterator[tuple[Path, str]]:
    """Every picture of a figure: the file it belongs in, and its text. One for each language and shade.

    A figure with a narrow form has the same number of narrow pictures.
    """
    facts = Facts(puzzle_index, figure.puzzle)
    for edition in editions(puzzle_index.project):
        folder = edition.source / figure.folder
        if edition.prefix and all(page.name == "SUMMARY.md" for page in folder.glob("*.md")):
            continue  # no translated page can show it
        for shade in SHADES:
            sheet = partial(Canvas, shade=shade, language=edition.language)
            for narrow, draw in ((False, figure.draw), (True, figure.narrow)):
                if draw is not None:
                    canvas = draw(facts, sheet)
                    yield (
                        folder / picture_file(figure.name, shade.name, narrow=narrow),
                        canvas.svg(canvas.say(figure.caption), canvas.say(figure.description)),
                    )


def outdated(puzzle_index: PuzzleIndex, figure: Figure) -> list[tuple[Path, str]]:
    """The pictures whose file is missing or differs from a new drawing."""
    return [
        (path, text)
        for path, text in pictures(puzzle_index, figure)
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
