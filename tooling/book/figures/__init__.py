"""The figures of the book: drawn from the puzzles' own data and runs, light and dark, in every language."""

from __future__ import annotations

from tooling.book.errors import BookError
from tooling.book.figures import p01, p12, p15, p23, p34
from tooling.book.figures.figure import Figure

FIGURES: tuple[Figure, ...] = (*p01.FIGURES, *p12.FIGURES, *p15.FIGURES, *p23.FIGURES, *p34.FIGURES)


def find_figure(name: str) -> Figure:
    """The figure of a name such as `p15` or `p15-steps`.

    Raises:
        BookError: there is none.
    """
    for figure in FIGURES:
        if figure.name == name:
            return figure
    names = ", ".join(figure.name for figure in FIGURES)
    raise BookError(f"there is no figure `{name}`", hint=f"one of: {names}")
