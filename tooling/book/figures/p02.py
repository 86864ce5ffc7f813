"""Puzzle 2: four threads, and four elements of each of two vectors."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.maps import draw_map
from tooling.text import Text


def draw_zip(facts: Facts, sheet: Sheet) -> Canvas:
    """`a` and `b`, the threads, and what they wrote."""
    data = facts.inputs("default")
    a, b = (data[name].reshape(-1).tolist() for name in ("a", "b"))
    return draw_map(sheet, facts.trace("p02"), {(1, "a"): a, (2, "b"): b}, (0, "output"), "+")


FIGURES = (
    Figure(
        "p02",
        Text("Each thread reads the elements of both vectors at its index and writes their sum."),
        Text(
            "Above, two rows close together: the elements of a, 0, 1, 2, 3, and those of b, 0, 1, 2, 3. "
            "Elements with the same index are in one frame, one below the other. In the middle four "
            "threads with i = 0 to i = 3. Below, the elements of output: 0, 2, 4, 6. An arrow leads from "
            "each frame straight down to the thread with the same index, and from there to the element of "
            "output with that index."
        ),
        draw_zip,
        traces=("p02",),
    ),
)
