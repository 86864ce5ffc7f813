"""Puzzle 1: four threads, four elements."""

from __future__ import annotations

from collections.abc import Callable

from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.maps import draw_map
from tooling.text import Text


def draw_add_ten(facts: Facts, sheet: Callable[[int, int], Canvas]) -> Canvas:
    """`a`, the threads, and what they wrote."""
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    return draw_map(sheet, facts.trace("p01"), {(1, "a"): a}, (0, "output"))


FIGURES = (
    Figure(
        "p01",
        Text(
            "Four threads at the same time: each reads the element with its index, adds 10, and writes "
            "the result."
        ),
        Text(
            "Three rows. Above, the elements of a: 0, 1, 2, 3. In the middle four threads with i = 0 to i "
            "= 3. Below, the elements of output: 10, 11, 12, 13. An arrow leads from each element "
            "straight down through the thread with the same index to the element of output with that "
            "index."
        ),
        draw_add_ten,
        traces=("p01",),
    ),
)
