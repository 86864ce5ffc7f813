"""Puzzle 3: eight threads for four elements."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.maps import draw_map
from tooling.text import Text


def draw_guarded(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a`, all threads of the block, and what those with an element wrote."""
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    return draw_map(sheet, facts.trace("p03"), {(1, "a"): a}, (0, "output"), "+ 10", narrow=narrow)


FIGURES = (
    Figure(
        "p03",
        Text("Eight threads, four elements: threads 4 to 7 have none, and do nothing."),
        Text(
            "Three rows. Above, the elements of a: 0, 1, 2, 3. In the middle eight threads with i = 0 to "
            "i = 7. Below, the elements of output: 10, 11, 12, 13. An arrow leads from each element "
            "straight down through the thread with the same index to the element of output with that "
            "index. Threads 4 to 7 are pale: there is no element above or below them, and no arrow "
            "touches them."
        ),
        draw_guarded,
        traces=("p03",),
        narrow=partial(draw_guarded, narrow=True),
    ),
)
