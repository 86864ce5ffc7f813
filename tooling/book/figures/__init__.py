"""The figures of the book, drawn from the data and runs of the puzzles, in every language."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path

from tooling.book.errors import BookError
from tooling.book.figures.figure import Figure

# Each has a module here, loaded when a page shows its figures.
_OTHERS = ("why", "gpu", "book", "cover")
_PUZZLES = (*sorted(path.stem for path in Path(__file__).parent.glob("p[0-9][0-9].py")), *_OTHERS)


def every_figure() -> tuple[Figure, ...]:
    """All figures, in the order of the puzzles."""
    return tuple(figure for puzzle in _PUZZLES for figure in _figures(puzzle))


def find_figure(name: str) -> Figure:
    """The figure of a name such as `p15` or `p15-steps`.

    Raises:
        BookError: there is none.
    """
    puzzle = name.split("-", 1)[0]
    for figure in _figures(puzzle) if puzzle in _PUZZLES else ():
        if figure.name == name:
            return figure
    names = ", ".join(figure.name for figure in every_figure())
    raise BookError(f"there is no figure `{name}`", hint=f"one of: {names}")


@lru_cache
def _figures(puzzle: str) -> tuple[Figure, ...]:
    figures: tuple[Figure, ...] = import_module(f"{__name__}.{puzzle}").FIGURES
    return figures
