"""Draws the figures of a page, or each into a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tooling.book.editions import editions
from tooling.book.errors import BookError
from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.texts import text_of
from tooling.book.puzzle_index import PuzzleIndex


def draw(puzzle_index: PuzzleIndex, figure: Figure, language: str) -> list[Canvas]:
    """A figure in one language: for wide screens, and for narrow ones if it has a form for these.

    Raises:
        BookError: its data are missing, or its code cannot draw them.
    """
    facts, sheet = Facts(puzzle_index, figure.puzzle), partial(Canvas, language=language)
    forms = (figure.draw,) if figure.narrow is None else (figure.draw, figure.narrow)
    try:
        return [form(facts, sheet) for form in forms]
    except (ArithmeticError, AssertionError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise BookError(
            f"the figure `{figure.name}` cannot be drawn",
            why=f"its data are not as its code expects: {type(error).__name__}: {error}",
            hint=f"if the program has changed: `tooling figure {figure.puzzle} --trace`",
        ) from error


def drawing_files(puzzle_index: PuzzleIndex, figure: Figure, folder: Path) -> Iterator[tuple[Path, str]]:
    """A figure in each language and form: the file in the folder, and its contents. Raises as `draw`."""
    for edition in editions(puzzle_index.project):
        text = text_of(puzzle_index.project, edition, figure.name)
        for canvas, form in zip(draw(puzzle_index, figure, edition.language), ("", "-narrow"), strict=False):
            path = folder / edition.language / f"{figure.name}{form}.svg"
            yield path, canvas.svg(text.caption, text.description)
